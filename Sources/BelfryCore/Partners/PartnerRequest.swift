/// The partner and the request that created an alarm.
public struct PartnerOrigin: Hashable, Sendable {
  /// The user's name for the partner.
  public let name: String
  /// The partnership of the request.
  public let partnership: Identifier
  /// The identifier that the sender gave to the request.
  public let request: Identifier
  /// The receiver's quiet hours; nil for none. They are part of the alarm so that all devices of the receiver know
  /// them.
  public var quiet: QuietHours?

  /// Creates an origin.
  public init(
    name: String, partnership: Identifier, request: Identifier, quiet: QuietHours? = nil
  ) {
    self.name = name
    self.partnership = partnership
    self.request = request
    self.quiet = quiet
  }

  /// The maximum length of a partner's name, in characters.
  public static let longestName = 40

  /// Returns a name that a user may choose: one line of visible characters; nil if the text is empty or too long.
  public static func name(_ text: String) -> String? {
    recordedName(text).flatMap { AlarmText.hasInvisible($0) ? nil : $0 }
  }

  /// Returns a name that a record may contain: one line without terminal control characters; nil for any other text.
  public static func recordedName(_ text: String) -> String? {
    guard let name = try? AlarmText.title(text), name.count <= longestName,
      name.unicodeScalars.count <= longestName * 8,
      !name.unicodeScalars.contains(where: \.isHidden)
    else { return nil }
    return name
  }

  /// The requirements of a name, as a hint for the user.
  public static let nameRule = "Use at most \(longestName) visible characters on one line."

  /// The title of the alarm: `From Alex`.
  public var title: String { "\(PartnerOrigin.titlePrefix)\(name)" }
  /// The text before the name in a title.
  public static let titlePrefix = "From "
}

/// A partner's request for an alarm on another person's devices.
public struct PartnerRequest: Hashable, Sendable {
  /// The identifier that the sender chose. It identifies repeated deliveries of the request.
  public let id: Identifier
  /// The message, which becomes the note of the alarm.
  public let message: String
  /// The time at which the alarm rings, for a repeated request the first time.
  public let at: Instant
  /// The repetition; nil for a request that rings once.
  public let repeats: Repetition?
  /// The name of a sound; nil for the device's default.
  public let sound: String?
  /// True if the alarm rings until it is acknowledged.
  public let persistent: Bool
  /// The time after which the receiver does not set the alarm.
  public let expires: Instant

  /// A recurrence in the civil time of a zone.
  public struct Repetition: Hashable, Sendable {
    /// The schedule.
    public let schedule: Schedule
    /// The IANA name of the schedule's time zone.
    public let zone: String

    /// True if a request can have a schedule: it repeats, and its occurrences are the same in every store.
    public static func allows(_ schedule: Schedule) -> Bool {
      if case .once = schedule.recurrence { return false }
      return !schedule.usesCalendar && !schedule.followsCompletion
    }

    /// The occurrences.
    public var occurrences: Occurrences { Occurrences(schedule, in: .standard) }

    /// Creates a repetition.
    public init(schedule: Schedule, zone: String) {
      self.schedule = schedule
      self.zone = zone
    }
  }

  /// Creates a request.
  public init(
    id: Identifier, message: String, at: Instant, repeats: Repetition? = nil,
    sound: String? = nil, persistent: Bool = false, expires: Instant
  ) {
    self.id = id
    self.message = message
    self.at = at
    self.repeats = repeats
    self.sound = sound
    self.persistent = persistent
    self.expires = expires
  }

  /// The maximum length of a message, in characters. A receiver can set a lower limit.
  public static let longestMessage = 1000
  /// The maximum average number of Unicode scalars per character of a text.
  public static let scalarsPerCharacter = 8
  /// The default time after which a request expires, counted from its time, in seconds.
  public static let lateness: Int64 = 600
  /// The default for a repeated request, counted from its first time, in seconds.
  public static let latenessRepeated: Int64 = 31 * 86_400
  /// The maximum that a sender can set for a request that rings once, in seconds. Receivers enforce it.
  public static let longestLateness: Int64 = 86_400

  /// The time from which no receiver accepts the request.
  public var latestUse: Instant {
    let longest =
      repeats == nil ? PartnerRequest.longestLateness : PartnerRequest.latenessRepeated
    return min(expires, at.adding(seconds: longest))
  }

  /// Returns true if the alarm would ring immediately for a time that has passed.
  func ringsAtOnce(at now: Instant) -> Bool {
    at <= now && (repeats == nil || now.seconds(since: at) <= PartnerRequest.lateness)
  }

  /// Returns the alarm that the request describes.
  ///
  /// - Parameters:
  ///   - id: the identifier of the alarm, which is equal on all devices of the receiver.
  ///   - origin: the partner and the request.
  ///   - here: the receiver's time zone, in which a request without repetition is stored; nil if the zone has no name.
  ///   - now: the current time. If the request's time has passed, the alarm rings immediately, like one that became due
  ///     while the device was off.
  ///   - device: the device that creates the alarm.
  /// - Throws: `ScheduleError` if the schedule is not valid.
  public func alarm(
    id: Identifier, from origin: PartnerOrigin, here: TimeZoneRules?, at now: Instant,
    device: Identifier
  ) throws(ScheduleError) -> Alarm {
    let schedule: Schedule
    let zone: String
    if let repeats {
      (schedule, zone) = (repeats.schedule, repeats.zone)
    } else {
      // UTC is used if the civil time is ambiguous or the zone's offset is not a whole number of minutes.
      let minute = Instant(seconds: at.seconds.floorDivided(by: 60) * 60)
      let rules = here.flatMap { $0.instant(of: $0.civil(at: minute)) == minute ? $0 : nil } ?? .utc
      let civil = rules.civil(at: minute)
      schedule = try Schedule(.once(civil.date), times: [civil.time])
      zone = rules.name
    }
    var alarm = Alarm.created(
      id: id, title: origin.title, note: message, schedule: schedule, zone: .named(zone),
      delivery: Alarm.Delivery(persistent: persistent, sound: sound), at: now, device: device)
    alarm.partner = origin
    alarm.mergeState.stamps[.partner] = alarm.mergeState.stamps[.title]
    // A repeated request whose first time passed long ago rings at its next occurrence.
    if ringsAtOnce(at: now) { alarm.progress.armed = at.adding(seconds: -60) }
    return alarm
  }
}

/// A receiver's report about a request.
public struct PartnerReceipt: Hashable, Sendable {
  /// The reported state, in the order in which simultaneous states are reported.
  ///
  /// `current(in:repeats:)` selects the receipt that counts.
  public enum State: String, CaseIterable, Comparable, Sendable {
    /// The alarm is set. The detail describes the channels of the receiver's device.
    case scheduled
    /// The request arrived too late.
    case expired
    /// The request was refused. The detail is the reason.
    case refused
    /// The sender has recalled the request.
    case recalled
    /// The action or outcome of an occurrence.
    case rung, snoozed, stopped, missed, skipped
    /// The receiver has marked the occurrence as done. It is shown as ❤️.
    case acknowledged
    /// The receiver has undone a response or changed the alarm. The detail describes the change.
    case changed
    /// The receiver has deleted or disabled the alarm. The detail tells which.
    case withdrawn
    /// The receiver has sent a reply. The detail is its text.
    case reply

    private var rank: Int { State.allCases.firstIndex(of: self) ?? 0 }
    /// Returns true if one state is reported before another.
    public static func < (a: State, b: State) -> Bool { a.rank < b.rank }
  }

  /// The request.
  public let request: Identifier
  /// The state.
  public let state: State
  /// The time of the reported event.
  public let at: Instant
  /// The due time of the reported occurrence; nil for a receipt about the request or its alarm.
  public let due: Instant?
  /// The revision of the occurrence, as in `OccurrenceRecord`.
  public let revision: Int
  /// Additional text; nil for none.
  public let detail: String?

  /// Creates a receipt.
  public init(
    _ state: State, of request: Identifier, at: Instant, due: Instant? = nil, revision: Int = 0,
    detail: String? = nil
  ) {
    self.request = request
    self.state = state
    self.at = at
    self.due = due
    self.revision = revision
    self.detail = detail
  }

  /// A copy of the receipt without the detail.
  public var withoutDetail: PartnerReceipt {
    PartnerReceipt(state, of: request, at: at, due: due, revision: revision)
  }

  /// The maximum length of a detail, in characters.
  public static let longestDetail = 300
}
