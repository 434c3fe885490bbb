import BelfryCore
import BelfryScheduler
import BelfryStore

/// An action on an alarm: the document of `stop`, `done`, `snooze`, `skip`, `unskip`, `dismiss`, `move`, `enable`,
/// `disable` and `delete`, and an element of `delete --finished`.
package struct ActionDocument: JSONDocument {
  /// The id of the alarm.
  let alarm: String
  /// The title of the alarm.
  let title: String
  /// The occurrence; absent for an action on the whole alarm.
  let occurrence: String?
  /// The action as in the log: `stopped`, `done`, `snoozed`, `skipped`, `moved`, …
  let action: String
  /// The state of the alarm after the action; see `AlarmDocument.state`.
  let state: String
  /// The time of the next occurrence.
  let next: String?
  /// The battery warning for the next occurrence, if the battery may not last until then.
  let batteryWarning: BatteryWarningDocument?
  /// True if a daemon, a timer or cron makes alarms ring on this device; for `enabled`.
  let schedulerRunning: Bool?
  /// The time until which the occurrence is snoozed, for `snoozed`.
  let until: String?
  /// The pending occurrence, for `stopped`; absent if stopping completed it.
  let pending: AlarmDocument.Pending?
  /// The time of completion that the user gave, for `done`.
  let doneAt: String?
  /// The date and time to which the occurrence was moved, for `moved`.
  let movedTo: String?
  /// The skipped occurrences, for `skip`.
  let skipped: [String]?

  package init(
    _ alarm: Alarm, _ status: AlarmStatus, event: Event, skipped: [CivilDateTime]? = nil,
    batteryWarning: BatteryWarning?, scheduler: SchedulerState? = nil, zones: ZoneLibrary
  ) {
    self.alarm = alarm.id.text
    title = alarm.title
    occurrence = event.occurrence?.description
    action = event.action.rawValue
    state = status.state.rawValue
    next = status.next.map { zones.text($0.at) }
    self.batteryWarning = batteryWarning.map(BatteryWarningDocument.init)
    schedulerRunning = scheduler?.isRunning
    until = event.action == .snoozed ? status.snooze.map { zones.text($0.until) } : nil
    pending =
      event.action == .stopped
      ? status.pending.last.map { AlarmDocument.Pending($0, zones) } : nil
    doneAt = event.effective.map { zones.text($0) }
    if case .move(_, let time) = event.payload {
      movedTo = time.description
    } else {
      movedTo = nil
    }
    self.skipped = skipped?.map(\.description)
  }
}

/// An undone action: the document of `undo`.
package struct UndoDocument: JSONDocument {
  /// The subject of the undone commit; absent for `redo`.
  let undone: String?
  /// For `redo`: the subject of the commit that counts again.
  let redone: String?
  /// The changed alarms.
  let alarms: [AlarmDocument]
  /// The names of the changed settings.
  let settings: [String]
  /// The names of the changed holiday calendars.
  let calendars: [String]
  /// The ids of the devices that this device no longer replaces.
  let devices: [String]

  package init(
    undone: String? = nil, redone: String? = nil, alarms: [AlarmDocument], settings: [String],
    calendars: [String], devices: [String]
  ) {
    self.undone = undone
    self.redone = redone
    self.alarms = alarms
    self.settings = settings
    self.calendars = calendars
    self.devices = devices
  }
}

/// An action of this device's user: an element of `undo --list`.
package struct UserActionDocument: JSONDocument {
  /// The number for `undo`: 1 for the latest.
  let number: Int
  /// The subject of its commit.
  let action: String
  /// The time.
  let at: String
  /// False if the action cannot be undone.
  let isUndoable: Bool

  package init(number: Int, action: String, at: String, isUndoable: Bool) {
    self.number = number
    self.action = action
    self.at = at
    self.isUndoable = isUndoable
  }
}
