import BelfryCore
import BelfryStore

/// Something that a person has done with a task on the phone.
enum PhoneAnswer: Hashable, Sendable {
  /// Completed it, at a time.
  case done(at: Instant)
  /// Cancelled or deleted it.
  case skip
  /// Snoozed its reminder at a time, until another one.
  case snooze(until: Instant, at: Instant)
  /// Ended its reminder without completing it.
  case stop(at: Instant)
  /// Gave it another title.
  case rename(String)
  /// Gave it another note; nil for none.
  case note(String?)
  /// Moved it to another time.
  case move(TaskTime)
}

extension TaskReading {
  /// Returns what a person has done with the task since Belfry has written it.
  ///
  /// | the file | the answer |
  /// |---|---|
  /// | completed | done, at its time or else at that of the last change |
  /// | cancelled | skip |
  /// | the end of a snooze after its acknowledgment, or a reminder of Belfry that became later | snooze |
  /// | an acknowledgment since the due time that Belfry does not know | stop |
  /// | another title, note or due time | rename, note, move |
  /// | no reminder, no due time, a reopened task, another priority or tag | none: Belfry writes its own again |
  ///
  /// - Parameters:
  ///   - task: The task as Belfry would write it now; nil if the occurrence needs no answer any more.
  ///   - written: The revision that Belfry has written, for an app that has removed it from the file.
  ///   - now: The present time. Later ones of the phone's clock count as now.
  func answers(
    _ task: PhoneTask?, written: TaskRevision? = nil, at now: Instant
  ) -> [PhoneAnswer] {
    let revision = revision ?? written
    let wasOpen = revision.map { $0.status == TaskRevision.hash(PhoneTask.openStatus) } ?? true
    switch status {
    case .completed(let time):
      if !wasOpen || task?.status != .open && task != nil { return [] }
      return [.done(at: min(time ?? modified ?? now, now))] + edits(task, since: revision)
    case .cancelled: return wasOpen ? [.skip] : []
    case .open: break
    }
    guard let task, task.status == .open else { return [] }
    return edits(task, since: revision) + reactions(task, at: now)
  }

  /// Returns the changes of the title, the note and the due time.
  private func edits(_ task: PhoneTask?, since revision: TaskRevision?) -> [PhoneAnswer] {
    guard let task else { return [] }
    let wanted = task.revision
    let known = revision ?? wanted
    var edits: [PhoneAnswer] = []
    // A change of Belfry since then stays: it is merged with those of other devices already.
    if TaskRevision.hash(title) != known.title, known.title == wanted.title,
      TaskRevision.hash(title) != TaskRevision.hash("")
    {
      edits.append(.rename(title))
    }
    if TaskRevision.hash(note) != known.note, known.note == wanted.note {
      edits.append(.note(note.isEmpty ? nil : note))
    }
    if status == .open, let due, known.due == wanted.due, isMoved(from: task) {
      edits.append(.move(due))
    }
    return edits
  }

  /// Returns true if the due time is another one, to the minute. A date alone keeps the time of day.
  func isMoved(from task: PhoneTask) -> Bool {
    switch due {
    case .instant(let instant): instant.seconds / 60 != task.due.seconds / 60
    case .civil(let civil, _): civil != task.time
    case .date(let date): date != task.time.date
    case nil: false
    }
  }

  /// Returns the snooze or the end of a reminder.
  private func reactions(_ task: PhoneTask, at now: Instant) -> [PhoneAnswer] {
    let seen = acknowledged.map { min($0, now) }
    // While it is snoozed, another snooze can end earlier.
    let since = task.isSnoozed ? task.due : task.ringsSince
    let isNews = seen.map { $0 >= since && $0 > task.acknowledged ?? .distantPast }
    // A snooze can be over before Belfry reads of it: the phone has rung again, and nobody has answered.
    if let until = postponed(task, at: now), until > seen ?? now, until != task.alert,
      isNews ?? true
    {
      return [.snooze(until: until, at: seen ?? min(modified ?? now, now))]
    }
    if let seen, isNews == true, !isFromTasksOrg { return [.stop(at: seen)] }
    return []
  }

  /// Returns the time to which the person has postponed the reminder; nil for none.
  ///
  /// Apps write a property, or move the reminder, or add a second one. One that was added before the occurrence has rung is
  /// no snooze.
  private func postponed(_ task: PhoneTask, at now: Instant) -> Instant? {
    let since = task.isSnoozed ? task.due : task.ringsSince
    if let snoozedUntil, snoozedUntil > since { return snoozedUntil }
    guard modified ?? now >= task.ringsSince else { return nil }
    return alerts.compactMap(\.time)
      .filter { $0 > task.alert && $0 > task.ringsSince && $0 > now }.min()
  }
}

extension Instant {
  /// A time before all others.
  fileprivate static let distantPast = Instant(milliseconds: .min)
}
