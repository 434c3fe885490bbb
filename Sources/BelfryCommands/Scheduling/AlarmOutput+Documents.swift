import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

extension AlarmOutput {
  /// Returns the document of an alarm.
  ///
  /// - Parameters:
  ///   - actions: the check of the alarm's actions on this device; nil to check none.
  ///   - scheduler: the state of the scheduler on this device; nil to leave it out.
  func document(
    _ alarm: Alarm, _ status: AlarmStatus, actions: ActionCheck? = nil,
    scheduler: SchedulerState? = nil
  ) -> AlarmDocument {
    AlarmDocument(
      alarm, status, batteryWarning: batteryWarnings[alarm.id],
      actionProblems: actions?.problems(of: alarm) ?? [], scheduler: scheduler, now: now,
      zones: zones)
  }

  /// Returns the document of an action.
  ///
  /// - Parameters:
  ///   - skipped: the skipped occurrences, for `skip`.
  ///   - scheduler: the state of the scheduler on this device; nil to leave it out.
  func document(
    _ alarm: Alarm, _ status: AlarmStatus, event: Event, skipped: [CivilDateTime]? = nil,
    scheduler: SchedulerState? = nil
  ) -> ActionDocument {
    ActionDocument(
      alarm, status, event: event, skipped: skipped, batteryWarning: batteryWarnings[alarm.id],
      scheduler: scheduler, zones: zones)
  }
}
