/// An immutable fact about an alarm or one of its occurrences: what happened, when, on which device.
public struct LogEntry: Hashable, Sendable {
  public let id: Identifier
  public let alarm: Identifier
  /// The title at that time, so that the log can be read without the alarm.
  public let title: String
  /// Absent where the whole alarm is meant (created, edited, deleted …).
  public let occurrence: CivilDateTime?
  public let action: Action
  public let at: Instant
  public let device: Identifier
  /// Done without anybody's word.
  public let auto: Bool
  /// More, in words: which fields were edited, until when it is snoozed.
  public let detail: String?
  /// When it was really done, where somebody said so later.
  public let effective: Instant?
  /// Undone: the entry that no longer counts.
  public let undoes: Identifier?
  /// Which reopening of the occurrence it belongs to, as in its record: a later one stands over it.
  public let revision: Int
  /// Undone: what the occurrence is again.
  public let state: OccurrenceRecord.State?
  /// Keys that this version does not know, as canonical JSON.
  public let extras: [String: String]

  public enum Action: String, CaseIterable, Sendable {
    case created, edited, enabled, disabled, deleted, paused, resumed
    case fired, stopped, reminded, snoozed, done, skipped, unskipped, missed, dismissed, cleared
    case undone
    /// Of an alarm with a cascade: all have had their time; one was called, or sent word; it was rehearsed.
    case exhausted, called, rehearsed
  }

  public init(
    id: Identifier, alarm: Identifier, title: String, occurrence: CivilDateTime? = nil,
    action: Action, at: Instant, device: Identifier, auto: Bool = false, detail: String? = nil,
    effective: Instant? = nil, undoes: Identifier? = nil, revision: Int = 0,
    state: OccurrenceRecord.State? = nil, extras: [String: String] = [:]
  ) {
    self.id = id
    self.alarm = alarm
    self.title = title
    self.occurrence = occurrence
    self.action = action
    self.at = at
    self.device = device
    self.auto = auto
    self.detail = detail
    self.effective = effective
    self.undoes = undoes
    self.revision = revision
    self.state = state
    self.extras = extras
  }

  /// The entry of an event.
  public init(
    _ event: Event, of alarm: Alarm, id: Identifier, at: Instant, device: Identifier
  ) {
    self.init(
      id: id, alarm: alarm.id, title: alarm.title, occurrence: event.occurrence,
      action: event.action, at: at, device: device, auto: event.auto, detail: event.detail,
      effective: event.effective, undoes: event.undoes, revision: event.revision,
      state: event.state)
  }
}

/// One clone of the store, as its own record tells.
public struct Device: Hashable, Sendable {
  public let id: Identifier
  /// What people call it; `BELFRY_DEVICE` or the host's name.
  public var name: String
  /// When this clone was made.
  public let created: Instant
  /// When the device itself wrote this; nil in records of early versions, and in those that a person wrote.
  public var stamp: Stamp?
  /// What it is: `laptop`, `phone`, `speaker` …; nil where it has not said so.
  public var kind: Kind?
  /// Whose it is, where it is somebody else's than the store's: a person's name.
  public var owner: String?
  /// Whether it can place calls.
  public var calls: Bool
  /// The time zone that the device is in: an IANA name, or `UTC-08:00` where the zone has no name. Nil in records of
  /// early versions.
  public var zone: String?
  /// The device whose folder this clone was copied from, as after a restore from a backup; nil for a new clone.
  public var copyOf: Identifier?
  /// The devices whose place this one has taken over by `belfry device adopt`, each with the time of that.
  public var replaced: [Identifier: Instant]
  public var extras: [String: String]

  public enum Kind: String, CaseIterable, Sendable {
    case laptop, desktop, phone, tablet, speaker, watch, server
  }

  public init(
    id: Identifier, name: String, created: Instant, stamp: Stamp? = nil, kind: Kind? = nil,
    owner: String? = nil, calls: Bool = false, zone: String? = nil, copyOf: Identifier? = nil,
    replaced: [Identifier: Instant] = [:], extras: [String: String] = [:]
  ) {
    self.kind = kind
    self.owner = owner
    self.calls = calls
    self.zone = zone
    self.copyOf = copyOf
    self.replaced = replaced
    self.stamp = stamp
    self.id = id
    self.name = name
    self.created = created
    self.extras = extras
  }
}
