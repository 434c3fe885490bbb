/// Who set an alarm from outside: a partner, by a request.
public struct PartnerOrigin: Hashable, Sendable {
  /// What this person calls the partner.
  public let name: String
  /// The partnership that it came through.
  public let partnership: Identifier
  /// The request, by its sender's identifier.
  public let request: Identifier
  /// The hours in which it does not begin to ring, by the receiver's limits; nil for none. In the alarm, so that all
  /// of the receiver's devices know it.
  public var quiet: QuietHours?

  public init(
    name: String, partnership: Identifier, request: Identifier, quiet: QuietHours? = nil
  ) {
    self.name = name
    self.partnership = partnership
    self.request = request
    self.quiet = quiet
  }

  /// The longest name of a partner, in characters as people count them.
  public static let longestName = 40

  /// A name as somebody may choose it: one line, and each part of it can be seen; nil when nothing is left of it, or
  /// too much.
  public static func name(_ text: String) -> String? {
    recordedName(text).flatMap { AlarmText.hasInvisible($0) ? nil : $0 }
  }

  /// A name as a record may have it: nothing that a terminal obeys. An alarm rings, whatever it was called.
  public static func recordedName(_ text: String) -> String? {
    guard let name = try? AlarmText.title(text), name.count <= longestName,
      name.unicodeScalars.count <= longestName * 8,
      !name.unicodeScalars.contains(where: \.isHidden)
    else { return nil }
    return name
  }

  /// The requirements of a name, in words.
  public static let nameRule =
    "At most \(longestName) characters on one line, none of them invisible."

  /// The title of such an alarm: `From Alex`.
  public var title: String { "\(PartnerOrigin.titlePrefix)\(name)" }
  public static let titlePrefix = "From "
}

/// What a partner asks for: an alarm on somebody else's devices.
public struct PartnerRequest: Hashable, Sendable {
  /// Given by the sender, so that a request that comes twice is one.
  public let id: Identifier
  public let message: String
  /// When it is to ring, the first time if it repeats.
  public let at: Instant
  /// Nil for one time.
  public let repeats: Repetition?
  /// The name of a sound; nil for the device's own choice.
  public let sound: String?
  /// Rings on until it is answered.
  public let persistent: Bool
  /// When it is of no use any more to set it.
  public let expires: Instant

  /// A schedule on the wall clock of a place.
  public struct Repetition: Hashable, Sendable {
    public let schedule: Schedule
    /// The IANA name of the zone that its times are meant in.
    public let zone: String

    public init(schedule: Schedule, zone: String) {
      self.schedule = schedule
      self.zone = zone
    }
  }

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

  /// The most characters that any message has, whatever a receiver allows.
  public static let longestMessage = 1000
  /// The most Unicode scalars per character of a text, on average.
  public static let scalarsPerCharacter = 8
  /// How long after its time a request may still be set, in seconds, unless its sender says otherwise; and one that
  /// repeats after its first.
  public static let lateness: Int64 = 600
  public static let latenessRepeated: Int64 = 31 * 86_400
  /// The most that a sender may say instead for one that rings once; and no receiver allows more, whatever a request
  /// says.
  public static let longestLateness: Int64 = 86_400

  /// The time from which no receiver accepts it.
  public var latestUse: Instant {
    let longest =
      repeats == nil ? PartnerRequest.longestLateness : PartnerRequest.latenessRepeated
    return min(expires, at.adding(seconds: longest))
  }

  /// Returns true where it would ring at once for a time that has passed.
  func ringsAtOnce(at now: Instant) -> Bool {
    at <= now && (repeats == nil || now.seconds(since: at) <= PartnerRequest.lateness)
  }

  /// The alarm that the request makes.
  ///
  /// - Parameters:
  ///   - id: the same on each device of the receiver's.
  ///   - here: the receiver's zone, where it has a name; what comes once is shown on its wall clock.
  ///   - now: a time that has passed by then rings at once, as what was due while the device was off.
  public func alarm(
    id: Identifier, from origin: PartnerOrigin, here: TimeZoneRules?, at now: Instant,
    device: Identifier
  ) throws(ScheduleError) -> Alarm {
    let schedule: Schedule
    let zone: String
    if let repeats {
      (schedule, zone) = (repeats.schedule, repeats.zone)
    } else {
      // A wall time that comes twice, or a zone of odd seconds, would be another moment.
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
    alarm.stamps[.partner] = alarm.stamps[.title]
    // Of one that repeats what has passed for longer is not made up for.
    if ringsAtOnce(at: now) { alarm.progress.armed = at.adding(seconds: -60) }
    return alarm
  }
}

/// What a receiver tells of a request.
public struct PartnerReceipt: Hashable, Sendable {
  /// In the order in which they are reported when they happen at one moment; see `current(in:repeats:)` for which of
  /// them stands.
  public enum State: String, CaseIterable, Comparable, Sendable {
    /// The alarm is set; the detail says how it can be heard there.
    case scheduled
    /// It came too late.
    case expired
    /// It was not set; the detail says why.
    case refused
    /// The sender has taken it back.
    case recalled
    case rung, snoozed, stopped, missed, skipped
    /// ❤️
    case acknowledged
    /// The receiver has taken back what was told last, or has changed the alarm; the detail says how.
    case changed
    /// The receiver has deleted the alarm, or switched it off, as the detail says.
    case withdrawn
    /// The detail is what the receiver says.
    case reply

    private var rank: Int { State.allCases.firstIndex(of: self) ?? 0 }
    public static func < (a: State, b: State) -> Bool { a.rank < b.rank }
  }

  public let request: Identifier
  public let state: State
  public let at: Instant
  /// The time of the occurrence that it is about; nil for what is about the request or its alarm.
  public let due: Instant?
  /// The revision of the occurrence that it belongs to, as in `OccurrenceRecord`.
  public let revision: Int
  public let detail: String?

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

  /// The same without its words.
  public var withoutDetail: PartnerReceipt {
    PartnerReceipt(state, of: request, at: at, due: due, revision: revision)
  }

  /// The longest detail, in characters.
  public static let longestDetail = 300
}
