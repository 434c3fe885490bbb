import BelfryCore
import BelfryExchange
import BelfryStore

/// Writes a task into a document. What the app has added to the file stays.
enum TaskWriting {
  /// The end of the UIDs of Belfry's reminders.
  static let alarmDomain = "-belfry"

  /// Returns the document of a new file.
  static func document(_ task: PhoneTask) -> TaskDocument {
    var document = TaskDocument()
    var component = TaskComponent("VTODO")
    component.set("UID", TaskProperty.uid(task.id))
    component.set("DTSTAMP", CalendarTime.utc(task.created))
    component.set("SUMMARY", ContentLine.escaped(task.title))
    component.set("DESCRIPTION", ContentLine.escaped(task.description))
    // No start: apps hide a task until then.
    component.set("DUE", CalendarTime.utc(task.due))
    setLabels(task, nil, &component)
    setStatus(task, nil, &component)
    setAlerts(task, [], &component)
    setMarks(task, &component)
    document.task = component
    return document
  }

  /// Changes a document so that it has the task, in everything that Belfry writes.
  ///
  /// - Parameters:
  ///   - reading: The document as it was read.
  ///   - now: The time of the change.
  static func update(
    _ document: inout TaskDocument, _ reading: TaskReading, to task: PhoneTask, at now: Instant
  ) {
    guard var component = document.task else { return }
    let before = component
    let wanted = task.revision
    if TaskRevision.hash(reading.title) != wanted.title {
      component.set("SUMMARY", ContentLine.escaped(task.title))
    }
    if reading.revision?.title != wanted.title {
      setAlertTitles(task.title, reading.alerts, &component)
    }
    if TaskRevision.hash(reading.note) != wanted.note || !reading.hasFooter
      || reading.revision?.labels != wanted.labels
    {
      component.set("DESCRIPTION", ContentLine.escaped(task.description))
    }
    if reading.isMoved(from: task) || reading.due == nil {
      component.set("DUE", CalendarTime.utc(task.due))
      component.remove("DURATION")
      // A start behind the due time is not valid.
      if component.first("DTSTART") != nil { component.set("DTSTART", CalendarTime.utc(task.due)) }
    }
    component.remove("RRULE")
    if reading.revision?.labels != wanted.labels { setLabels(task, reading, &component) }
    setStatus(task, reading.status, &component)
    if task.status == .open, needsAlerts(task, reading) {
      setAlerts(task, reading.alerts, acknowledged: reading.acknowledged, &component)
    }
    setMarks(task, &component)
    guard component != before else { return }
    if component.first("LAST-MODIFIED") != nil {
      component.set("LAST-MODIFIED", CalendarTime.utc(now))
    }
    document.task = component
  }

  // MARK: Parts

  /// Sets the tags and the priority. Those of the app stay.
  private static func setLabels(
    _ task: PhoneTask, _ reading: TaskReading?, _ component: inout TaskComponent
  ) {
    func isSame(_ text: String, _ tag: String) -> Bool { (try? AlarmTag(text))?.text == tag }
    let kept = (reading?.tags ?? []).filter { text in
      reading?.ownTags.contains(text) != true || task.tags.contains { isSame(text, $0) }
    }
    let new = task.tags.filter { tag in !kept.contains { isSame($0, tag) } }
    if kept + new == [] {
      component.remove("CATEGORIES")
    } else {
      component.set("CATEGORIES", (kept + new).map(ContentLine.escaped).joined(separator: ","))
    }
    var own = reading?.hasOwnPriority ?? false
    if task.isImportant, component.first("PRIORITY") == nil {
      component.set("PRIORITY", "1")
      own = true
    } else if !task.isImportant, own {
      component.remove("PRIORITY")
      own = false
    }
    let tags = task.tags.filter { tag in
      new.contains(tag) || reading?.ownTags.contains(tag) == true
    }
    component.set(
      TaskProperty.labels,
      (own ? "1/" : "/") + tags.map(ContentLine.escaped).joined(separator: ","))
  }

  private static func setStatus(
    _ task: PhoneTask, _ status: TaskReading.Status?, _ component: inout TaskComponent
  ) {
    switch (task.status, status) {
    case (.open, .open): break
    case (.done, .completed): break
    case (.open, _):
      component.set("STATUS", "NEEDS-ACTION")
      component.remove("COMPLETED")
      component.remove("PERCENT-COMPLETE")
    case (.done(let time), _):
      component.set("STATUS", "COMPLETED")
      component.set("COMPLETED", CalendarTime.utc(time))
      component.set("PERCENT-COMPLETE", "100")
    }
  }

  /// Returns true unless the file has exactly Belfry's reminders, acknowledged as they should be.
  private static func needsAlerts(_ task: PhoneTask, _ reading: TaskReading) -> Bool {
    let wanted = Set([task.alert] + task.warnings)
    let own = reading.alerts.filter { isReplaced($0, by: wanted) && !$0.isSnooze }
    if Set(own.compactMap(\.time)) != wanted || own.count != wanted.count { return true }
    if let wanted = task.acknowledged, reading.acknowledged.map({ $0 < wanted }) ?? true {
      return true
    }
    guard let until = reading.snoozedUntil else { return false }
    return !task.isSnoozed || until != task.alert
  }

  /// Returns true for a reminder that Belfry's reminders replace: an earlier one of Belfry, the end of a snooze, or one at
  /// the same time.
  private static func isReplaced(_ alert: TaskReading.Alert, by wanted: Set<Instant>) -> Bool {
    alert.isOwn || alert.isSnooze || alert.time.map(wanted.contains) == true
  }

  /// - Parameter alerts: the reminders in the file, in their order.
  private static func setAlerts(
    _ task: PhoneTask, _ alerts: [TaskReading.Alert], acknowledged: Instant? = nil,
    _ component: inout TaskComponent
  ) {
    // An acknowledgment that Belfry does not count is no reason to ring again.
    let acknowledged = task.acknowledged.map { max($0, acknowledged ?? $0) }
    let times = [task.alert] + task.warnings.filter { $0 != task.alert }
    var index = 0
    component.items.removeAll { item in
      guard case .component(let alarm) = item, alarm.name == "VALARM" else { return false }
      defer { index += 1 }
      return alerts.indices.contains(index) && isReplaced(alerts[index], by: Set(times))
    }
    component.remove(TaskProperty.snooze)
    if let acknowledged {
      component.set(TaskProperty.acknowledged, CalendarTime.utc(acknowledged))
    }
    for (index, time) in times.enumerated() {
      var alarm = TaskComponent("VALARM")
      let name = index == 0 ? "alarm" : "warning\(index)"
      alarm.set("UID", "\(TaskProperty.fileName(task.id).dropLast(4))-\(name)\(alarmDomain)")
      alarm.set("ACTION", "DISPLAY")
      alarm.set("DESCRIPTION", ContentLine.escaped(task.title))
      alarm.set("TRIGGER;VALUE=DATE-TIME", CalendarTime.utc(time))
      if index == 0, let acknowledged {
        alarm.set("ACKNOWLEDGED", CalendarTime.utc(acknowledged))
      }
      component.items.append(.component(alarm))
    }
  }

  /// Sets the title of Belfry's reminders, which some apps show.
  ///
  /// - Parameter alerts: the reminders in the file, in their order.
  private static func setAlertTitles(
    _ title: String, _ alerts: [TaskReading.Alert], _ component: inout TaskComponent
  ) {
    var rest = alerts[...]
    component.items = component.items.map { item in
      guard case .component(var alarm) = item, alarm.name == "VALARM",
        rest.popFirst()?.isOwn == true
      else { return item }
      alarm.set("DESCRIPTION", ContentLine.escaped(title))
      return .component(alarm)
    }
  }

  private static func setMarks(_ task: PhoneTask, _ component: inout TaskComponent) {
    component.set(TaskProperty.occurrence, "\(task.id.alarm.text)/\(task.id.occurrence)")
    if task.status == .open {
      let times = ([task.alert] + task.warnings).map(CalendarTime.utc)
      component.set(TaskProperty.alerts, times.joined(separator: ","))
    }
    component.set(TaskProperty.revision, task.revision.text)
  }
}
