import BelfryCore
import BelfryScheduler
import BelfryStore

/// An upcoming occurrence: an element of `next`.
package struct NextDocument: JSONDocument, Decodable {
  /// The id of the alarm.
  let alarm: String
  /// The title of the alarm.
  let title: String
  /// The occurrence.
  let occurrence: String
  /// The date and time to which the occurrence was moved.
  let movedTo: String?
  /// The time at which the occurrence rings.
  let at: String
  /// True if a daemon, a timer or cron makes alarms ring on this device.
  let schedulerRunning: Bool

  package init(
    _ alarm: Alarm, _ occurrence: Timeline.Occurrence, scheduler: SchedulerState,
    zones: ZoneLibrary
  ) {
    schedulerRunning = scheduler.isRunning
    self.alarm = alarm.id.text
    title = alarm.title
    self.occurrence = occurrence.civil.description
    movedTo = occurrence.movedTo?.description
    at = zones.text(occurrence.at)
  }
}

/// A pending occurrence: an element of `pending`.
package struct PendingDocument: JSONDocument {
  /// The id of the alarm.
  let alarm: String
  /// The title of the alarm.
  let title: String
  /// The occurrence.
  let occurrence: String
  /// The time when it was stopped.
  let since: String
  /// The number of the latest follow-up that was sent; 0 before the first.
  let followUpsSent: Int
  /// The time of the next follow-up.
  let nextFollowUp: String?

  package init(_ summary: AlarmSummary, _ pending: AlarmStatus.Pending, zones: ZoneLibrary) {
    alarm = summary.id.text
    title = summary.title
    occurrence = pending.occurrence.description
    since = zones.text(pending.since)
    followUpsSent = pending.followUpsSent
    nextFollowUp = pending.nextFollowUp.map { zones.text($0) }
  }
}
