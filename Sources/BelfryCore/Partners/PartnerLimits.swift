/// What a person lets a partner do.
public struct PartnerLimits: Hashable, Sendable {
  /// The number of requests that are accepted on one day of the receiver's, and the number of times that all of them
  /// together ring on one.
  public var perDay: Int
  /// How many characters a message may have.
  public var longest: Int
  /// How far ahead a request may ask, in seconds.
  public var ahead: Int64
  /// When nothing may ring; nil for never.
  public var quiet: QuietHours?
  /// Nothing is taken.
  public var isMuted: Bool

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

  /// What each may be set to.
  public static let perDays = 0...200
  public static let lengths = 1...PartnerRequest.longestMessage
  public static let reaches: ClosedRange<Int64> = 60...(366 * 86_400)
}

/// A part of each day on the receiver's wall clock, possibly over midnight.
public struct QuietHours: Hashable, Sendable {
  public let from: CivilTime
  public let until: CivilTime

  /// Nil when it would be empty, or the whole day: for that there is muting.
  public init?(from: CivilTime, until: CivilTime) {
    guard from != until else { return nil }
    self.from = from
    self.until = until
  }

  /// Reads `23:00-06:00`; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let from = CivilTime(parts[0]), let until = CivilTime(parts[1]) else {
      return nil
    }
    self.init(from: from, until: until)
  }

  /// The night.
  public static let standard = QuietHours(
    from: CivilTime(minuteOfDay: 23 * 60), until: CivilTime(minuteOfDay: 6 * 60))

  public func contains(_ time: CivilTime) -> Bool {
    from < until ? time >= from && time < until : time >= from || time < until
  }
}

extension QuietHours: CustomStringConvertible {
  /// `23:00-06:00`.
  public var description: String { "\(from)-\(until)" }
}

/// What a receiver makes of a request.
public enum PartnerVerdict: Hashable, Sendable {
  case accepted
  case expired
  case refused(PartnerRefusal)
}

/// Why a request is not set.
public enum PartnerRefusal: Hashable, Sendable {
  case muted
  case tooMany(perDay: Int)
  case tooLong(limit: Int)
  case tooFarAhead(seconds: Int64)
  case quietHours(QuietHours)
  /// The receiver's system has no such zone.
  case unknownZone(String)
  /// Its schedule has no occurrence ahead, or not at the time that it names.
  case neverComes
  /// The two are no partners, or not yet.
  case notPaired
  /// The pairing has lasted its year.
  case outlived
  /// The tier does not have it.
  case tier

  /// For the receiver: `quiet hours, 23:00-06:00`.
  public var wordsHere: String { words.replacing(" there", with: "") }

  /// For the sender: `quiet hours there, 23:00-06:00`.
  public var words: String {
    switch self {
    case .muted: "muted there"
    case .tooMany(let count): "more than \(count) a day"
    case .tooLong(let limit): "longer than \(limit) characters"
    case .tooFarAhead(let seconds): "more than \(Span.length(seconds)) ahead"
    case .quietHours(let hours): "quiet hours there, \(hours)"
    case .unknownZone(let name): "the time zone \(name) is not known there"
    case .neverComes: "it has no time to come"
    case .notPaired: "you are not paired"
    case .outlived: "the pairing is past its year: pair anew"
    case .tier: "the tier there has no partners"
    }
  }
}

extension PartnerLimits {
  /// Judges a request.
  ///
  /// - Parameters:
  ///   - accepted: how many of this partner's were taken today.
  ///   - rings: how often alarms of this partner's ring on each day, by the receiver's wall clock: see `ringsByDay`.
  ///     Asked for last.
  ///   - local: the receiver's wall clock.
  ///   - zone: the rules of a zone's name; nil where this system has none.
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
      guard repeats.schedule.contains(civil), rules.instant(of: civil) == request.at else {
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
