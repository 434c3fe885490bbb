/// An immutable fact about an alarm or one of its occurrences: an action with its time and device.
public struct LogEntry: Hashable, Sendable {
  /// The identifier of the entry.
  public let id: Identifier
  /// The identifier of the alarm.
  public let alarm: Identifier
  /// The alarm's title at that time, so that the log is readable without the alarm.
  public let title: String
  /// The occurrence; nil for an action on the whole alarm, such as `created`, `edited` or `deleted`.
  public let occurrence: CivilDateTime?
  /// The action.
  public let action: Action
  /// The time of the action.
  public let at: Instant
  /// The device that recorded the action.
  public let device: Identifier
  /// The name of the place outside Belfry where the person acted, such as `phone`; nil for an action in Belfry.
  public var via: String?
  /// True if the occurrence was completed or skipped without a user's action.
  public let auto: Bool
  /// The facts beyond the action, such as the edited fields or the end of a snooze; nil if there are none.
  public let payload: LogPayload?
  /// For `done`: the time of completion that the user gave; nil if it is the time of the action.
  public let effective: Instant?
  /// For `undone`: the entry that was undone.
  public let undoes: Identifier?
  /// The revision of the occurrence's record, which counts its reopenings. Entries of a later revision supersede those
  /// of an earlier one.
  public let revision: Int
  /// For `undone`: the restored state of the occurrence.
  public let state: OccurrenceRecord.State?
  /// Unknown keys, preserved as canonical JSON.
  public let extras: [String: String]

  /// The actions in the log, named as in records.
  ///
  /// An action of a newer version keeps its name, so that its entry stays readable.
  public enum Action: Hashable, Sendable {
    /// Actions on a whole alarm.
    case created, edited, enabled, disabled, deleted, paused, resumed
    /// Actions on an occurrence.
    case fired, stopped, reminded, snoozed, moved, done, skipped, unskipped, missed, dismissed,
      cleared
    /// The reversal of an earlier action.
    case undone
    /// Actions of a cascade: every step was unanswered; a target was called or sent a message; the cascade was
    /// rehearsed.
    case exhausted, called, rehearsed
    /// An action of a newer version.
    case unknown(String)
  }

  /// Creates a log entry from the parts of its record.
  public init(
    id: Identifier, alarm: Identifier, title: String, occurrence: CivilDateTime? = nil,
    action: Action, at: Instant, device: Identifier, auto: Bool = false, payload: LogPayload? = nil,
    effective: Instant? = nil, undoes: Identifier? = nil, revision: Int = 0,
    state: OccurrenceRecord.State? = nil, via: String? = nil, extras: [String: String] = [:]
  ) {
    self.via = via
    self.id = id
    self.alarm = alarm
    self.title = title
    self.occurrence = occurrence
    self.action = action
    self.at = at
    self.device = device
    self.auto = auto
    self.payload = payload
    self.effective = effective
    self.undoes = undoes
    self.revision = revision
    self.state = state
    self.extras = extras
  }

  /// Creates the log entry of an event.
  public init(
    _ event: Event, of alarm: Alarm, id: Identifier, at: Instant, device: Identifier
  ) {
    self.init(
      id: id, alarm: alarm.id, title: alarm.title, occurrence: event.occurrence,
      action: event.action, at: at, device: device, auto: event.auto, payload: event.payload,
      effective: event.effective, undoes: event.undoes, revision: event.revision,
      state: event.state)
  }
}

extension LogEntry.Action: CaseIterable {
  /// The actions that this version knows.
  public static let allCases: [LogEntry.Action] = [
    .created, .edited, .enabled, .disabled, .deleted, .paused, .resumed, .fired, .stopped,
    .reminded, .snoozed, .moved, .done, .skipped, .unskipped, .missed, .dismissed, .cleared,
    .undone,
    .exhausted, .called, .rehearsed,
  ]
}

extension LogEntry.Action: RawRepresentable {
  private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

  /// Creates an action from its name in records.
  public init(rawValue: String) {
    self = LogEntry.Action.byName[rawValue] ?? .unknown(rawValue)
  }

  /// The name in records.
  public var rawValue: String {
    switch self {
    case .created: "created"
    case .edited: "edited"
    case .enabled: "enabled"
    case .disabled: "disabled"
    case .deleted: "deleted"
    case .paused: "paused"
    case .resumed: "resumed"
    case .fired: "fired"
    case .stopped: "stopped"
    case .reminded: "reminded"
    case .snoozed: "snoozed"
    case .moved: "moved"
    case .done: "done"
    case .skipped: "skipped"
    case .unskipped: "unskipped"
    case .missed: "missed"
    case .dismissed: "dismissed"
    case .cleared: "cleared"
    case .undone: "undone"
    case .exhausted: "exhausted"
    case .called: "called"
    case .rehearsed: "rehearsed"
    case .unknown(let name): name
    }
  }
}

/// One clone of the store, as described by its own record.
public struct Device: Hashable, Sendable {
  /// The identifier of the device.
  public let id: Identifier
  /// The display name; initially `BELFRY_DEVICE` or the host name.
  public var name: String
  /// The time at which the clone was made.
  public let created: Instant
  /// The stamp of the device's own last edit; nil in records of early versions and in records that were written by
  /// hand.
  public var stamp: Stamp?
  /// The kind of device, such as `laptop` or `phone`; nil if it is not set.
  public var kind: Kind?
  /// The name of the person who owns the device; nil if that is the owner of the store.
  public var owner: String?
  /// True if the device can place calls.
  public var calls: Bool
  /// The name of the collection of tasks that the device publishes for a phone; nil if it publishes none.
  public var phone: String?
  /// The time zone that the device is in: an IANA name, or `UTC-08:00` if the zone has no name. Nil in records of early
  /// versions.
  public var zone: String?
  /// The device whose store this clone was copied from, for example by restoring a backup; nil for a new clone.
  public var copyOf: Identifier?
  /// The devices that `belfry device adopt` replaced by this one, with the time of each replacement.
  public var replaced: [Identifier: Instant]
  /// Unknown keys, preserved as canonical JSON.
  public var extras: [String: String]

  /// The kinds of device, named as in records.
  public enum Kind: String, CaseIterable, Sendable {
    /// A kind of device.
    case laptop, desktop, phone, tablet, speaker, watch, server
  }

  /// Creates a device from the parts of its record.
  public init(
    id: Identifier, name: String, created: Instant, stamp: Stamp? = nil, kind: Kind? = nil,
    owner: String? = nil, calls: Bool = false, phone: String? = nil, zone: String? = nil,
    copyOf: Identifier? = nil, replaced: [Identifier: Instant] = [:],
    extras: [String: String] = [:]
  ) {
    self.kind = kind
    self.owner = owner
    self.calls = calls
    self.phone = phone
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
