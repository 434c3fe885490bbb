/// The limits that the user sets for the requests of one partner.
public struct PartnerLimits: Hashable, Sendable {
  /// The maximum number of accepted requests per day of the receiver, and of times that they ring on one day.
  public var perDay: Int
  /// The maximum length of a message, in characters.
  public var longest: Int
  /// The maximum time ahead of a request, in seconds.
  public var ahead: Int64
  /// The quiet hours, in which no alarm of the partner begins to ring; nil for none.
  public var quiet: QuietHours?
  /// True if all requests are refused.
  public var isMuted: Bool

  /// Creates limits.
  public init(
    perDay: Int = 20, longest: Int = 500, ahead: Int64 = 31 * 86_400,
    quiet: QuietHours? = .standard, isMuted: Bool = false
  ) {
    self.perDay = perDay
    self.longest = longest
    self.ahead = ahead
    self.quiet = quiet
    self.isMuted = isMuted
  }

  /// The allowed values of `perDay`.
  public static let perDays = 0...200
  /// The allowed values of `longest`.
  public static let lengths = 1...PartnerRequest.longestMessage
  /// The allowed values of `ahead`, in seconds.
  public static let reaches: ClosedRange<Int64> = 60...(366 * 86_400)
}

/// A part of each day on the receiver's wall clock. It may span midnight.
public struct QuietHours: Hashable, Sendable {
  /// The start.
  public let from: CivilTime
  /// The end, exclusive.
  public let until: CivilTime

  /// Creates quiet hours; nil if both times are equal. To cover the whole day, mute the partner.
  public init?(from: CivilTime, until: CivilTime) {
    guard from != until else { return nil }
    self.from = from
    self.until = until
  }

  /// Parses `23:00-06:00`; nil for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let from = CivilTime(parts[0]), let until = CivilTime(parts[1]) else {
      return nil
    }
    self.init(from: from, until: until)
  }

  /// The default: 23:00 to 06:00.
  public static let standard = QuietHours(
    from: CivilTime(minuteOfDay: 23 * 60), until: CivilTime(minuteOfDay: 6 * 60))

  /// Returns true if a time of day lies in the quiet hours.
  public func contains(_ time: CivilTime) -> Bool {
    from < until ? time >= from && time < until : time >= from || time < until
  }
}

extension QuietHours: CustomStringConvertible {
  /// The text that `init(_:)` parses: `23:00-06:00`.
  public var description: String { "\(from)-\(until)" }
}

/// The receiver's decision about a request.
public enum PartnerVerdict: Hashable, Sendable {
  /// The alarm can be set.
  case accepted
  /// The request arrived too late.
  case expired
  /// The request is not allowed.
  case refused(PartnerRefusal)
}

/// The reason why a request is refused.
public enum PartnerRefusal: Hashable, Sendable {
  /// The sender is muted.
  case muted
  /// The daily limit is reached.
  case tooMany(perDay: Int)
  /// The message is too long; the limit is in characters.
  case tooLong(limit: Int)
  /// The time is too far ahead; the limit is in seconds.
  case tooFarAhead(seconds: Int64)
  /// The alarm would ring in the quiet hours.
  case quietHours(QuietHours)
  /// The receiver's device does not know the time zone.
  case unknownZone(String)
  /// The schedule has no future occurrence, or none at the requested time.
  case neverComes
  /// The pairing is not complete or has ended.
  case notPaired
  /// The pairing has expired.
  case outlived
  /// The receiver's tier does not include partners.
  case tier

  /// The reason for the receiver: `quiet hours, 23:00-06:00`.
  public var textForReceiver: String {
    switch self {
    case .muted: "the partner is muted"
    case .quietHours(let hours): "quiet hours, \(hours)"
    case .unknownZone(let name): "unknown time zone \(name)"
    case .tier: "your tier does not include partners"
    default: textForSender
    }
  }

  /// The reason for the sender: `their quiet hours, 23:00-06:00`.
  public var textForSender: String {
    switch self {
    case .muted: "you are muted"
    case .tooMany(let count): "more than \(count) a day"
    case .tooLong(let limit): "longer than \(limit) characters"
    case .tooFarAhead(let seconds): "more than \(Span.length(seconds)) ahead"
    case .quietHours(let hours): "their quiet hours, \(hours)"
    case .unknownZone(let name): "their device does not know the time zone \(name)"
    case .neverComes: "it has no future occurrence"
    case .notPaired: "you are not paired"
    case .outlived: "the pairing has expired; pair again"
    case .tier: "their tier does not include partners"
    }
  }
}

extension PartnerLimits {
  /// Returns the decision about a request.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - now: the current time.
  ///   - accepted: the number of this partner's requests that were accepted today.
  ///   - rings: the number of times that this partner's alarms ring on each day, as in `ringsByDay`. Evaluated only if
  ///     all other limits are met.
  ///   - local: the rules of the receiver's time zone.
  ///   - zone: returns the rules of a named time zone; nil if this system does not know the name.
  public func verdict(
    on request: PartnerRequest, at now: Instant, accepted: Int,
    rings: @autoclosure () -> [CivilDate: Int] = [:], local: TimeZoneRules,
    zone: (String) -> TimeZoneRules?
  ) -> PartnerVerdict {
    if request.latestUse <= now { return .expired }
    if isMuted { return .refused(.muted) }
    if request.message.count > longest { return .refused(.tooLong(limit: longest)) }
    if request.at > now.adding(seconds: ahead) {
      return .refused(.tooFarAhead(seconds: ahead))
    }
    if let repeats = request.repeats {
      guard let rules = zone(repeats.zone) else { return .refused(.unknownZone(repeats.zone)) }
      let civil = rules.civil(at: request.at)
      guard repeats.occurrences.contains(civil), rules.instant(of: civil) == request.at else {
        return .refused(.neverComes)
      }
    }
    let moments = request.moments(from: request.at, zone: zone)
    if let quiet, isQuiet(moments, of: request, at: now, local: local) {
      return .refused(.quietHours(quiet))
    }
    if accepted >= perDay { return .refused(.tooMany(perDay: perDay)) }
    let days = PartnerRequest.ringsByDay([request], at: now, local: local, zone: zone)
    if days.values.contains(where: { $0 > perDay }) { return .refused(.tooMany(perDay: perDay)) }
    let others = rings()
    let isFull = days.contains { day, count in count + (others[day] ?? 0) > perDay }
    return isFull ? .refused(.tooMany(perDay: perDay)) : .accepted
  }
}
