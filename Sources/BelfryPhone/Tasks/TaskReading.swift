import BelfryCore
import BelfryExchange
import BelfryStore

/// The facts in a task's file that Belfry reads.
struct TaskReading: Hashable, Sendable {
  /// The state of a task.
  enum Status: Hashable, Sendable {
    case open
    /// Completed, at a time if the app writes one.
    case completed(Instant?)
    case cancelled
  }

  /// A reminder.
  struct Alert: Hashable, Sendable {
    /// The time; nil if it is not understood.
    let time: Instant?
    /// True if it is the end of a snooze (RFC 9074, 9).
    let isSnooze: Bool
    /// The time at which the person ended the reminder; nil for never.
    let acknowledged: Instant?
    /// True if Belfry has written it.
    let isOwn: Bool
  }

  /// The UID; empty if there is none.
  let uid: String
  /// The occurrence; nil for a task that Belfry has not written.
  let id: OccurrenceID?
  /// The revision that Belfry has written last; nil if the app has removed it.
  let revision: TaskRevision?
  let title: String
  /// The note: the description without Belfry's last line.
  let note: String
  /// True if the description has Belfry's last line.
  let hasFooter: Bool
  /// The time at which the task is due; nil for none.
  let due: TaskTime?
  /// The time at which the task starts; nil for none.
  let start: TaskTime?
  let status: Status
  let alerts: [Alert]
  /// The times of the reminders that Belfry has written, in their order.
  let ownAlerts: [Instant]
  /// The latest acknowledgment of a reminder.
  let acknowledged: Instant?
  /// The end of a snooze; nil for none.
  let snoozedUntil: Instant?
  /// The time of the last change; nil if the app writes none.
  let modified: Instant?
  /// True if the task recurs.
  let recurs: Bool
  /// The texts of the tags.
  let tags: [String]
  /// The tags among them that Belfry has written.
  let ownTags: Set<String>
  /// True if Belfry has written the priority.
  let hasOwnPriority: Bool
  /// True if Tasks.org has written the file. It leaves the acknowledgment of a snooze in it, and writes no other.
  let isFromTasksOrg: Bool
  /// True if the task is a part of another one.
  let isSubtask: Bool
  /// True for the task of a test of the setup.
  let isTest: Bool

  /// Reads the task of a document; nil if there is none.
  init?(_ document: TaskDocument, zones: ZoneLibrary) {
    guard let task = document.task else { return nil }
    func instant(_ line: ContentLine?) -> Instant? {
      line.flatMap { TaskTime($0, zones: zones) }?.instant(in: zones.local)
    }
    uid = task.first("UID")?.text ?? ""
    id = TaskProperty.identity(of: task)
    revision = task.first(TaskProperty.revision).flatMap { TaskRevision($0.value) }
    title = task.first("SUMMARY")?.text ?? ""
    let description = task.first("DESCRIPTION")?.text ?? ""
    note = PhoneTask.note(in: description)
    hasFooter = note != description
    let due = TaskReading.due(of: task, zones: zones)
    start = task.first("DTSTART").flatMap { TaskTime($0, zones: zones) }
    isFromTasksOrg =
      document.calendar.first("PRODID")?.value.lowercased().contains("tasks.org") == true
    // It writes midnight if the time was removed from a due date, beside a start with a time. Other times have a second.
    self.due =
      isFromTasksOrg ? due.map { TaskReading.withoutMidnight($0, in: zones.local) } : due
    isSubtask = task.all("RELATED-TO").contains {
      ($0.parameter("RELTYPE") ?? "PARENT").uppercased() == "PARENT"
    }
    isTest = task.first(PhoneTest.mark) != nil
    recurs = task.first("RRULE") != nil
    modified = instant(task.first("LAST-MODIFIED"))
    tags = task.all("CATEGORIES").flatMap { CalendarText.list($0.value) }
    let labels = task.first(TaskProperty.labels)?.value.split(
      separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    ownTags = Set(labels.map { CalendarText.list(String($0.last ?? "")) } ?? [])
    hasOwnPriority = labels?.first?.isEmpty == false
    status = TaskReading.status(of: task, completed: task.first("COMPLETED"), zones)
    let anchors = (start: instant(task.first("DTSTART")), due: instant(task.first("DUE")))
    ownAlerts = TaskReading.ownAlerts(of: task, due: anchors.due, zones: zones)
    let own = Set(ownAlerts)
    alerts = task.components("VALARM").map { alarm in
      let time = TaskReading.time(of: alarm, anchors, zones)
      let isOwn =
        alarm.first("UID")?.value.hasSuffix(TaskWriting.alarmDomain) == true
        || time.map(own.contains) == true
      return Alert(
        time: time,
        isSnooze: alarm.all("RELATED-TO").contains {
          $0.parameter("RELTYPE")?.uppercased() == "SNOOZE"
        },
        acknowledged: [alarm.first("ACKNOWLEDGED"), alarm.first(TaskProperty.acknowledged)]
          .compactMap(instant).max(), isOwn: isOwn)
    }
    acknowledged =
      (alerts.map(\.acknowledged) + [instant(task.first(TaskProperty.acknowledged))])
      .compactMap { $0 }.max()
    snoozedUntil =
      (alerts.filter(\.isSnooze).map(\.time)
      + [instant(task.first(TaskProperty.snooze))]
      + task.components("VALARM").map { instant($0.first(TaskProperty.snooze)) })
      .compactMap { $0 }.max()
  }

  /// Returns the due time: the property, or the end of the duration after the start.
  private static func due(of task: TaskComponent, zones: ZoneLibrary) -> TaskTime? {
    if let due = task.first("DUE") { return TaskTime(due, zones: zones) }
    guard let start = task.first("DTSTART").flatMap({ TaskTime($0, zones: zones) }),
      let duration = task.first("DURATION").flatMap({ CalendarDuration(correcting: $0.value) })
    else { return nil }
    return .instant(start.instant(in: zones.local).adding(seconds: Int64(duration.total)))
  }

  private static func withoutMidnight(_ time: TaskTime, in zone: TimeZoneRules) -> TaskTime {
    guard case .instant(let instant) = time, instant.seconds % 60 == 0 else { return time }
    let civil = zone.civil(at: instant)
    return civil.time == .midnight ? .date(civil.date) : time
  }

  private static func status(
    of task: TaskComponent, completed: ContentLine?, _ zones: ZoneLibrary
  ) -> Status {
    var time: Instant?
    // A date alone says less than the time of the last change.
    if let read = completed.flatMap({ TaskTime($0, zones: zones) }) {
      if case .date = read {} else { time = read.instant(in: zones.local) }
    }
    // Some apps write only the progress.
    let isComplete = completed != nil || task.first("PERCENT-COMPLETE")?.value == "100"
    switch task.first("STATUS")?.value.uppercased() {
    case "COMPLETED": return .completed(time)
    case "CANCELLED": return .cancelled
    default: return isComplete ? .completed(time) : .open
    }
  }

  /// Returns the times of the reminders that Belfry has written. Without a record of them, it is the due time.
  private static func ownAlerts(
    of task: TaskComponent, due: Instant?, zones: ZoneLibrary
  ) -> [Instant] {
    guard let times = task.first(TaskProperty.alerts)?.value else {
      return TaskProperty.identity(of: task) == nil ? [] : [due].compactMap { $0 }
    }
    return times.split(separator: ",").compactMap { text in
      TaskTime(ContentLine("DUE", String(text)), zones: zones)?.instant(in: zones.local)
    }
  }

  /// Returns the time of a reminder, absolute or relative (RFC 5545, 3.8.6.3).
  private static func time(
    of alarm: TaskComponent, _ anchors: (start: Instant?, due: Instant?), _ zones: ZoneLibrary
  ) -> Instant? {
    guard let trigger = alarm.first("TRIGGER") else { return nil }
    if let time = TaskTime(trigger, zones: zones) { return time.instant(in: zones.local) }
    guard let duration = CalendarDuration(correcting: trigger.value) else { return nil }
    let isAtEnd = trigger.parameter("RELATED")?.uppercased() == "END"
    let anchor = isAtEnd ? anchors.due ?? anchors.start : anchors.start ?? anchors.due
    return anchor?.adding(seconds: Int64(duration.total))
  }

  /// True if the task is as Belfry has written it, in everything that counts as an answer.
  var isUntouched: Bool {
    guard let revision, case .instant(let due) = due else { return false }
    return TaskRevision.hash(title) == revision.title && TaskRevision.hash(note) == revision.note
      && TaskRevision.hash(CalendarTime.utc(due)) == revision.due
      && (status == .open) == (revision.status == TaskRevision.hash(PhoneTask.openStatus))
      && hasOwnAlerts(revision)
  }

  /// Returns true if the reminders and the acknowledgment are those of a revision.
  private func hasOwnAlerts(_ revision: TaskRevision) -> Bool {
    guard Set(alerts.compactMap(\.time)) == Set(ownAlerts), snoozedUntil == nil else {
      return false
    }
    return [false, true].contains { isSnoozed in
      revision.alerts
        == TaskRevision.hash(
          PhoneTask.alertText(ownAlerts, acknowledged: acknowledged, isSnoozed: isSnoozed))
    }
  }
}
