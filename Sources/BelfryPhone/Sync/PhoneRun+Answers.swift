import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryInput
import BelfryStore

/// The recording of what a person has done on the phone.
extension PhoneRun {
  /// An answer that will be recorded, with the file that has it.
  private struct Pending {
    var name: String
    var id: OccurrenceID
    var answer: PhoneAnswer
    /// True if the file is missing.
    var isDeletion = false
  }

  /// Records the answers in the files that were read, and those of deleted files. Returns true if the store has changed.
  mutating func recordAnswers() throws -> Bool {
    var pending: [Pending] = []
    for (name, file) in read.sorted(by: { $0.key < $1.key }) {
      guard let id = file.reading.id, names[id] == name, !consumed.contains(name),
        let alarm = alarms[id.alarm], !alarm.isDeleted,
        // Another device may have published something that this one does not know yet.
        !file.reading.isUntouched
      else { continue }
      let task = tasks[id] ?? projection.settledTask(id, of: alarm)
      let written = state.entries[name].flatMap { TaskRevision($0.revision) }
      pending += file.reading.answers(task, written: written, at: now).filter(isAccepted).map {
        Pending(name: name, id: id, answer: $0)
      }
    }
    pending += deletions().map { id in
      Pending(name: TaskProperty.fileName(id), id: id, answer: .skip, isDeletion: true)
    }
    let captures = options.acceptsEdits ? newTasks() : []
    if pending.isEmpty, captures.isEmpty { return false }
    // Each answer has a time of its own, by which the log tells after a crash whether it was recorded.
    state.intents = pending.enumerated().map { index, pending in
      PhoneState.Intent(
        name: pending.name, signature: pending.isDeletion ? nil : files[pending.name],
        id: pending.id, at: time(index))
    }
    let times = pending.indices.map(time)
    state.lastAnswer = times.last ?? state.lastAnswer
    try save()
    try sync.didReach(.intended)
    for (time, pending) in zip(times, pending) {
      let recorded = try record(pending, at: time)
      report.recorded += recorded
      try sync.didReach(.recorded)
    }
    for (name, reading) in captures { report.recorded += try capture(name, reading) }
    return true
  }

  /// Returns the time of an answer, which no earlier one has.
  private func time(_ index: Int) -> Instant {
    var first = now.milliseconds
    if let last = state.lastAnswer?.milliseconds, last - first < PhoneRun.maxLead {
      first = max(first, last + 1)
    }
    return Instant(milliseconds: first + Int64(index))
  }

  private func isAccepted(_ answer: PhoneAnswer) -> Bool {
    switch answer {
    case .done, .skip, .snooze, .stop: true
    case .rename, .note:
      options.acceptsEdits && !options.isNeutral
    case .move: options.acceptsEdits
    }
  }

  // MARK: Deletions

  /// Returns the occurrences to skip because their tasks were deleted. Too many at once are held.
  ///
  /// Apps and servers delete tasks one after another. So the daemon lets them rest for a moment, and decides about all of
  /// them together.
  private mutating func deletions() -> [OccurrenceID] {
    func isDeleted(_ id: OccurrenceID) -> Bool { tasks[id] != nil && names[id] == nil }
    let held = state.held.filter { isDeleted($0.id) }
    let skipped = decision == .skip ? held.map(\.id) : []
    state.deletions = state.deletions.filter { deletion in
      switch deletion.state {
      case .applied: now.seconds(since: min(deletion.noticed, now)) <= PhoneRun.deletionWindow
      case .noticed: isDeleted(deletion.id) && decision != .restore
      case .held: decision == .none && isDeleted(deletion.id) && holdEnd(of: deletion) > now
      }
    }
    let known = Set(state.deletions.filter { $0.state != .applied }.map(\.id))
    for id in newDeletions() where !known.contains(id) {
      state.deletions.removeAll { $0.id == id }
      state.deletions.append(PhoneState.Deletion(id: id, noticed: now, state: .noticed))
    }
    let noticed = state.deletions.filter { $0.state == .noticed }
    guard let latest = noticed.map(\.noticed).max() else { return skipped }
    func change(to state: PhoneState.Deletion.State) {
      for index in self.state.deletions.indices where self.state.deletions[index].state == .noticed
      {
        self.state.deletions[index].state = state
      }
    }
    // Those that are held already belong to the same series.
    let earlier = state.deletions.count { $0.state != .noticed }
    if earlier + noticed.count > PhoneRun.maxDeletions, decision != .skip {
      change(to: .held)
      // One that is due soon does not wait for a decision.
      state.deletions = state.deletions.filter { $0.state != .held || holdEnd(of: $0) > now }
      report.newlyHeld = state.held.count - held.count
      return skipped
    }
    let rest = now.milliseconds - min(latest, now).milliseconds
    if rest < sync.deletionRest * 1000 { return skipped }
    change(to: .applied)
    return skipped + noticed.map(\.id)
  }

  // MARK: Actions

  private mutating func record(
    _ pending: Pending, at moment: Instant
  ) throws -> [PhoneReport.Recorded] {
    let store = store.at(moment)
    let (id, settings) = (pending.id, sync.settings)
    func answer(
      _ answer: Answer, at time: Instant? = nil
    ) throws -> [PhoneReport.Recorded] {
      let action = AnswerAlarms(
        answer, toPossible: [id], settings: settings, at: time.map { min($0, moment) },
        logTime: moment)
      return try perform(action, in: store)
    }
    switch pending.answer {
    case .done(let time): return try answer(.done(at: min(time, moment), early: true))
    case .stop(let time): return try answer(.stop, at: time)
    case .snooze(let until, let time):
      guard let snooze = Answer.snooze(until: until, at: min(time, moment)) else { return [] }
      return try answer(snooze, at: time)
    case .skip:
      guard let alarm = alarms[id.alarm] else { return [] }
      guard case .once = alarm.schedule.recurrence, alarm.schedule.times.count == 1 else {
        return try answer(.skip())
      }
      return try perform(DeleteAlarms([id.alarm]), in: store)
    case .rename(let title): return try rename(id.alarm, to: title, in: store)
    case .note(let note):
      let clean = note.flatMap(ForeignAlarm.note)
      return try perform(EditAlarms.noting([id.alarm], clean), in: store)
    case .move(let time):
      guard let moment = self.moment(of: time, id) else { return [] }
      return try perform(
        MoveOccurrences(
          [id.alarm], occurrence: id.occurrence, to: .moment(moment), settings: settings),
        in: store, moving: id.occurrence)
    }
  }

  /// Performs an action. One that is not possible any more changes nothing: the answer came after the fact.
  ///
  /// - Parameter occurrence: The occurrence that the action moves; nil for another action.
  private mutating func perform<Action: AlarmAction>(
    _ action: Action, in store: Store, moving occurrence: CivilDateTime? = nil
  ) throws -> [PhoneReport.Recorded] where Action.Outcome == [AlarmChange] {
    do {
      let changes = try action.taken(at: PhoneSync.place).perform(in: store)
      return changes.flatMap { change in
        change.events.map { event in
          if event.action == .done, !event.auto {
            report.completions.append(.init(alarm: change.alarm, event: event))
          }
          return PhoneReport.Recorded(
            alarm: change.alarm.id, title: change.alarm.title, occurrence: event.occurrence,
            action: event.action)
        }
      }
    } catch ActionError.notMovable(let alarm, let reason) {
      if case .wrongPhase = reason { return [] }
      if let occurrence {
        report.refusals.append(.init(alarm: alarm, occurrence: occurrence, reason: reason))
      }
      return []
    } catch is ActionError {
      return []
    } catch StoreError.noSuchAlarm {
      return []
    }
  }

  /// Gives an alarm another title. The title of an alarm that was not understood may say more now.
  private mutating func rename(
    _ id: Identifier, to title: String, in store: Store
  ) throws -> [PhoneReport.Recorded] {
    if let alarm = alarms[id], alarm.tags.contains(PhoneCapture.inbox),
      let words = PhoneCapture.readings(of: title, sync.input.at(store.context.now)).first
    {
      let edit = EditAlarms(
        [id],
        stating: { _ in StatedParts(fields: [.title, .schedule], tags: [PhoneCapture.inbox]) },
        edit: { alarm in
          alarm.title = words.title
          alarm.schedule = words.schedule
          alarm.tags.remove(PhoneCapture.inbox)
        })
      return try perform(edit, in: store)
    }
    guard let clean = ForeignAlarm.title(title) else { return [] }
    return try perform(EditAlarms.renaming([id], to: clean), in: store)
  }

  /// Returns the moment of a new due time; nil if it is the present one.
  private func moment(of time: TaskTime, _ id: OccurrenceID) -> Moment? {
    guard let alarm = alarms[id.alarm] else { return nil }
    let timeline = store.timeline(alarm)
    switch time {
    case .date(let date):
      return date == timeline.occurrence(id.occurrence).time.date ? nil : .date(date)
    case .civil(let civil, _): return .civil(civil)
    case .instant(let instant): return .civil(timeline.zone.civil(at: instant))
    }
  }

  // MARK: New tasks

  /// Returns the files of tasks that are new on the phone.
  private func newTasks() -> [(String, TaskReading)] {
    read.compactMap { name, file in
      guard file.reading.id == nil, file.reading.status == .open, !file.reading.isTest,
        !isPart(file.reading),
        alarms[PhoneCapture.identifier(file.reading)] == nil,
        state.entries[name]?.problem.isEmpty ?? true
      else { return nil }
      return (name, file.reading)
    }.sorted { $0.0 < $1.0 }
  }

  /// Returns true for a part of one of Belfry's tasks, which the person manages on the phone alone.
  private func isPart(_ reading: TaskReading) -> Bool { reading.isSubtask }

  private mutating func capture(
    _ name: String, _ reading: TaskReading
  ) throws -> [PhoneReport.Recorded] {
    let document = read[name]?.document ?? TaskDocument()
    let captured = PhoneCapture(reading, document, store, sync.input)
    do {
      let change = try captured.perform(settings: sync.settings)
      return [
        PhoneReport.Recorded(
          alarm: change.alarm.id, title: change.alarm.title, occurrence: nil, action: .created)
      ]
    } catch let error as StoreError {
      guard case .alarmLimit = error else { throw error }
      state.entries[name] = PhoneState.Entry(
        signature: files[name], problem: "the tier allows no other alarm")
      return []
    }
  }
}

extension Store {
  /// Returns the store at another time.
  func at(_ moment: Instant) -> Store {
    var context = context
    context.now = moment
    return with(context)
  }
}
