/// The records that count, of those that the alarm has.
extension Timeline {
  /// Returns the record of an occurrence; nil if the occurrence is open.
  ///
  /// 1. A person's answer counts, unless it was given to something else: disabling cleared it, it is a skip ahead of time
  ///    under another schedule, it was given at the occurrence's own time without the knowledge of its move, or it was
  ///    given before the occurrence was due by this device's clock, as one that is ahead does. In this last case, it counts
  ///    as soon as the occurrence has rung here, and the clock has ended it.
  /// 2. An automatic outcome counts if no person has answered, or if it followed the answer: a pending occurrence is done
  ///    when the next one fires. It does not count if the definition that led to it was edited without its knowledge, or
  ///    if the occurrence is not due here yet.
  /// 3. Records up to the floor do not count, except for moved occurrences.
  ///
  /// The result has at most one automatic outcome: the one that counts.
  public func record(of civil: CivilDateTime) -> OccurrenceRecord? {
    guard let record = alarm.progress.occurrences[civil], !isBelowFloor(civil) else { return nil }
    let result = counting(withoutEarlyAnswers(record, civil).folded, civil)
    assert(result?.state != .open, "a record that counts has an answer or an outcome")
    assert(result?.automatic.count ?? 0 <= 1, "at most one automatic outcome counts")
    assert(result?.others.isEmpty ?? true, "one answer counts")
    return result
  }

  /// Returns the parts of a record that count.
  private func counting(_ record: OccurrenceRecord, _ civil: CivilDateTime) -> OccurrenceRecord? {
    let hasAnswer = answerCounts(record, civil)
    if hasAnswer, record.answer.isSettled { return record.keeping(nil) }
    let outcome = record.automatic.keys.sorted().last { counts(record, $0, civil) }
    if let outcome { return (hasAnswer ? record : record.unanswered).keeping(outcome) }
    return hasAnswer ? record.keeping(nil) : nil
  }

  /// Returns true if an occurrence is settled because of the floor. A moved one has its own record.
  func isBelowFloor(_ civil: CivilDateTime) -> Bool {
    guard let floor = alarm.progress.floor, civil <= floor else { return false }
    return alarm.progress.moves[civil]?.time == nil
  }

  /// Returns true if a person's answer counts.
  private func answerCounts(_ record: OccurrenceRecord, _ civil: CivilDateTime) -> Bool {
    if record.answer == .open { return false }
    if record.answer.isSettled {
      if isDueAgain(record.answerCompleted, civil) { return false }
    } else if isCompleted(civil) || isCleared(record) {
      return false
    }
    if record.answer == .skipped, let made = record.schedule {
      // A skip ahead of time counts only under the schedule and the move for which it was made, unless its time had passed
      // when the schedule changed.
      return made == alarm.timingStamp(of: civil) || occurrence(civil).at <= alarm.progress.armed
    }
    return !isUnawareOfMove(record, civil)
  }

  /// Returns true if an answer was given before the time to which an occurrence was moved, on a device that did not know
  /// of the move. What is done is done, whenever that was.
  private func isUnawareOfMove(_ record: OccurrenceRecord, _ civil: CivilDateTime) -> Bool {
    guard let time = alarm.progress.moves[civil]?.time, record.answer != .done,
      let answered = record.answered
    else { return false }
    let due = otherZones.reduce(zone.instant(of: time)) { min($0, $1.instant(of: time)) }
    return answered < due.adding(seconds: -Instant.tolerance)
  }

  private func isCleared(_ record: OccurrenceRecord) -> Bool {
    if !alarm.enabled { return true }
    guard let cleared = alarm.progress.cleared, let since = record.revived ?? record.answered else {
      return false
    }
    return since <= cleared
  }

  /// Returns the answers to an occurrence that were given too early, and do not count on this device yet.
  public func earlyAnswers(to civil: CivilDateTime) -> [OccurrenceRecord.Answered] {
    guard let record = alarm.progress.occurrences[civil], !isBelowFloor(civil) else { return [] }
    return record.answers.values.filter { isTooEarly($0, to: record, civil) }
  }

  /// Returns a record without the answers that were given too early.
  private func withoutEarlyAnswers(
    _ record: OccurrenceRecord, _ civil: CivilDateTime
  ) -> OccurrenceRecord {
    let answers = record.answers
    let counting = answers.filter { !isTooEarly($0.value, to: record, civil) }
    if counting.count == answers.count { return record }
    var result = record
    result.answers = counting
    return result
  }

  /// Returns true if a person gave an answer by a clock that was ahead, which let the occurrence ring too early, or which
  /// would let the snooze end too late; or if a person dismissed a miss elsewhere before the occurrence is due here.
  ///
  /// An answer to a due occurrence counts, whatever its time. So does a skip ahead of time.
  private func isTooEarly(
    _ given: OccurrenceRecord.Answered, to record: OccurrenceRecord, _ civil: CivilDateTime
  ) -> Bool {
    if let device, given.doubts.contains(device), record.automatic.isEmpty { return true }
    guard let answered = given.since, given.state != .open else { return false }
    if given.state == .missed, answered < occurrence(civil).at { return true }
    guard let clock, answered.isImplausible(at: clock) else { return false }
    if given.state == .snoozed { return true }
    return given.schedule == nil && occurrence(civil).at > clock.adding(seconds: Instant.tolerance)
  }

  /// Returns true if an automatic outcome of a record counts.
  private func counts(
    _ record: OccurrenceRecord, _ state: OccurrenceRecord.State, _ civil: CivilDateTime
  ) -> Bool {
    guard let outcome = record.automatic[state], !isPremature(outcome, state, civil),
      !isDueAgain(outcome.completed, civil)
    else { return false }
    // A later snooze is an answer that the outcome did not know of.
    if record.answer == .snoozed, outcome.until != record.snooze.until { return false }
    return unseenEdits(state, outcome, of: civil).isEmpty
  }

  /// Returns the names of the fields and settings that were edited without the knowledge of the clock that decided an
  /// outcome of an occurrence. It counts if there are none. A move is an edit of the schedule.
  public func unseenEdits(
    _ state: OccurrenceRecord.State, _ outcome: AutomaticOutcome, of civil: CivilDateTime
  ) -> [String] {
    outcome.unseenEdits(state, alarm.stamps(for: civil), settings?.stamps, at: clock)
  }

  /// Returns an outcome that the clock decides now, under the present definition.
  func outcome(
    _ state: OccurrenceRecord.State, at now: Instant, of record: OccurrenceRecord,
    _ civil: CivilDateTime, completed: CivilDate? = nil
  ) -> AutomaticOutcome {
    AutomaticOutcome(
      since: now,
      basis: AutomaticOutcome.Basis(of: state, alarm.stamps(for: civil), settings?.stamps ?? [:]),
      // Two devices can have snoozed it apart.
      until: record.answer == .snoozed ? record.folded.snooze.until : nil, completed: completed)
  }

  /// Returns the time at which an occurrence rings again on this device, because it stopped after a miss that does not
  /// count: the definition was edited without the knowledge of the device that recorded it. Nil if there is no such time.
  func unfoundedMiss(
    of current: Occurrence, at now: Instant, ledger: DeliveryLedger
  ) -> Instant? {
    guard let record = alarm.progress.occurrences[current.civil], record.answer == .open,
      let missed = record.automatic[.missed], let since = missed.since, since > current.at,
      since <= now, !unseenEdits(.missed, missed, of: current.civil).isEmpty,
      let firing = ledger[.occurrence(id(of: current.civil), .firing)]
    else { return nil }
    // A delivery that is still going on need not start again.
    return firing.owner == nil ? since : firing.due
  }
}
