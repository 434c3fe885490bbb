import BelfryCore
import BelfryStore

/// The tasks that the folder should have: one for each open occurrence.
///
/// | occurrence | task |
/// |---|---|
/// | ringing, snoozed, pending, missed and not dismissed | open, overdue |
/// | ahead, within the horizon; at least the next one of each alarm | open |
/// | done | completed, if it had a task; removed a week later |
/// | skipped, withdrawn | removed |
struct Projection {
  private let store: Store
  private let settings: Settings
  private let ledger: DeliveryLedger
  private let options: PhoneOptions
  private let now: Instant
  private let end: Instant

  /// The number of days ahead for which occurrences have tasks, beside today.
  static let horizon = 30
  /// The maximum number of tasks of one alarm, such as one that rings every ten minutes.
  static let maxTasks = 200

  /// Creates the projection of a store at its present time.
  ///
  /// The horizon ends at midnight, so that the folder changes once a day only.
  init(_ store: Store, _ options: PhoneOptions, settings: Settings) {
    self.store = store
    self.settings = settings
    self.options = options
    ledger = store.ledger.read()
    now = store.context.now
    let today = store.context.zones.local.civil(at: now).date
    end = store.context.zones.local.instant(
      of: CivilDateTime(today.adding(days: Projection.horizon + 1), .midnight))
  }

  /// Returns true if an alarm is to be published.
  func includes(_ alarm: Alarm) -> Bool {
    !alarm.isDeleted && alarm.enabled
      && (options.tags.isEmpty || !options.tags.isDisjoint(with: alarm.tags))
  }

  /// Returns the open tasks of an alarm.
  func tasks(of alarm: Alarm) -> [PhoneTask] {
    guard includes(alarm) else { return [] }
    let timeline = store.timeline(alarm)
    let status = timeline.status(at: now, settings: settings, ledger: ledger)
    var tasks: [OccurrenceID: PhoneTask] = [:]
    func add(_ task: PhoneTask) { if tasks[task.id] == nil { tasks[task.id] = task } }
    let isOpen = status.state == .ringing || status.state == .snoozed
    for civil in (isOpen ? [status.current].compactMap { $0 } + status.alsoRinging : [])
      + status.missed
    {
      add(task(timeline.occurrence(civil), of: timeline, status))
    }
    for pending in status.pending {
      var task = task(timeline.occurrence(pending.occurrence), of: timeline, status)
      task.acknowledged = max(pending.since, task.due)
      // A strict alarm rings at its follow-ups: the one that rings has replaced this task's state.
      if tasks[task.id] == nil || !isOpen { tasks[task.id] = task }
    }
    var count = 0
    for occurrence in timeline.upcoming(after: now) {
      if count > 0, occurrence.at >= end { break }
      add(task(occurrence, of: timeline, status))
      count += 1
      if count >= Projection.maxTasks { break }
    }
    return Array(tasks.values)
  }

  /// Returns the task of an occurrence that needs no answer any more; nil for one that is withdrawn.
  func settledTask(_ id: OccurrenceID, of alarm: Alarm) -> PhoneTask? {
    guard includes(alarm) else { return nil }
    let timeline = store.timeline(alarm)
    let status = timeline.status(at: now, settings: settings, ledger: ledger)
    switch timeline.phase(of: id.occurrence, at: now, status: status) {
    case .done, .autoCompleted:
      let record = alarm.progress.occurrences[id.occurrence]
      var task = task(timeline.occurrence(id.occurrence), of: timeline, status)
      task.status = .done(record?.since ?? task.due)
      return task
    default: return nil
    }
  }

  private func task(
    _ occurrence: Timeline.Occurrence, of timeline: Timeline, _ status: AlarmStatus
  ) -> PhoneTask {
    let alarm = timeline.alarm
    var task = PhoneTask(
      id: OccurrenceID(alarm: alarm.id, occurrence: occurrence.civil), title: alarm.title,
      note: alarm.note, footer: footer(of: alarm), due: occurrence.at, time: occurrence.time,
      ringsSince: occurrence.at,
      alert: timeline.phoneAlert(of: occurrence.civil, at: now, settings: settings)
        ?? occurrence.at, warnings: timeline.phoneWarnings(of: occurrence.civil),
      acknowledged: nil, isSnoozed: false, status: .open, tags: alarm.tags.map(\.text).sorted(),
      isImportant: alarm.delivery.persistent,
      created: alarm.mergeState.stamps.values.map(\.time).max() ?? alarm.progress.armed)
    if let record = alarm.progress.occurrences[occurrence.civil], record.answer == .snoozed {
      // The acknowledgment stays after the snooze: the phone's file has it, too.
      task.acknowledged = record.answered
      task.ringsSince = max(task.ringsSince, record.snooze.until ?? task.ringsSince)
    }
    if let snooze = status.snooze, snooze.occurrence == occurrence.civil {
      task.ringsSince = snooze.until
      task.isSnoozed = true
    }
    if options.isNeutral {
      task.title = Projection.neutralTitle
      task.note = nil
      task.tags = []
    }
    return task
  }

  /// The title of every task if titles are neutral.
  static let neutralTitle = "Reminder"

  /// Returns the line of the description that says what answers do.
  private func footer(of alarm: Alarm) -> String {
    if case .once = alarm.schedule.recurrence {
      return "Belfry: completing this marks the alarm as done; deleting this deletes the alarm."
    }
    return "Belfry: completing this marks it as done; deleting this skips it once."
  }
}
