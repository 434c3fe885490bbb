/// The reason why an action cannot be undone.
public enum UndoError: Error, Equatable, Sendable {
  /// A later change affects the same field or occurrence.
  case changedSince(Subject)
  /// The occurrence no longer has a record.
  case tooLongAgo(CivilDateTime)
  /// The alarm was deleted later.
  case deletedSince

  /// The subject of the later change.
  public enum Subject: Hashable, Sendable {
    /// A field of the definition.
    case field(Alarm.Field)
    /// The progress: the alarm has fired or was answered.
    case progress
    /// An occurrence, with its present state.
    case occurrence(CivilDateTime, OccurrenceRecord.State)
  }
}

extension Timeline {
  /// Returns the alarm with one earlier action undone, which led from `before` to `after`.
  ///
  /// 1. A field that the action edited gets its earlier value back, with a new stamp.
  /// 2. The answer that the action gave to an occurrence is taken back. The occurrence gets its earlier state back, as an
  ///    explicit reopening (a higher `revision`), unless another device answered it meanwhile: that answer then counts.
  /// 3. An occurrence that was ringing, snoozed or pending until the action deleted, disabled or rescheduled the alarm is
  ///    open again, and rings again.
  /// 4. A new alarm is deleted if it has not fired and was not answered. A deleted alarm is restored.
  /// 5. An outcome that followed from a change of the settings, in the same action, is taken back with it.
  /// 6. An occurrence that the action moved rings at its earlier time again.
  /// 7. Skips ahead of time count under a restored schedule as they did before.
  ///
  /// All other changes since then stay.
  ///
  /// - Parameters:
  ///   - after: the alarm after the action.
  ///   - before: the alarm before the action; nil if the action created it.
  ///   - acted: the time of the action.
  ///   - takesBackOutcomes: true for a change of the settings.
  /// - Throws: `UndoError` if a later change affects the same field or occurrence.
  public func undoing(
    _ after: Alarm, before: Alarm?, acted: Instant, takesBackOutcomes: Bool = false,
    at now: Instant, device: Identifier
  ) throws(UndoError) -> Alarm {
    if alarm.isDeleted, !after.isDeleted { throw .deletedSince }
    // The undo of a deletion is taken back.
    if let before, before.isDeleted, !after.isDeleted { return alarm.deleted() }
    guard let before else {
      if let field = alarm.changedFields(from: after).first { throw .changedSince(.field(field)) }
      let isAnswered = alarm.progress.occurrences.keys.contains { record(of: $0) != nil }
      guard !isAnswered, alarm.progress.floor == nil, current(at: now) == nil
      else { throw .changedSince(.progress) }
      return alarm.deleted()
    }
    var result = alarm
    let fields = after.changedFields(from: before)
    // Compare values, because the undo of a later action has stamped the field again.
    for field in fields
    where field != .cascade && field != .tags && alarm.text(of: field) != after.text(of: field) {
      throw .changedSince(.field(field))
    }
    // Later edits of other tags stay.
    let tags = after.changedTags(from: before)
    if tags.contains(where: { alarm.tags.contains($0) != after.tags.contains($0) }) {
      throw .changedSince(.field(.tags))
    }
    var stamped = fields
    if after.isDeleted, !before.isDeleted, stamped.isEmpty { stamped = [.enabled] }
    let stamp = Stamp.next(after: alarm.latestStamp, now: now, device: device)
    for field in stamped {
      if field == .tags {
        result.take(tags, from: before)
        for tag in tags { result.mergeState.tagStamps[tag] = stamp }
      } else if field == .cascade {
        // Later edits of other parts of the cascade stay.
        guard
          let cascade = (alarm.cascade ?? Cascade()).undoing(after.cascade, before: before.cascade)
        else { throw .changedSince(.field(.cascade)) }
        result.cascade = cascade.stamped(against: alarm.cascade, at: now, by: { _ in stamp })
      } else {
        result.take(field, from: before)
      }
      result.mergeState.stamps[field] = stamp
    }
    result.keepOutcomes(earlier: alarm.mergeState.stamps, Set(stamped))
    try reopen(after, before, acted: acted, now: now, in: &result)
    try moveBack(after, before, stamp, in: &result)
    if stamped.contains(.schedule) { keepSkips(before, in: &result) }
    if takesBackOutcomes { takeBackOutcomes(after, before, in: &result) }
    let isRestored = after.isDeleted && !before.isDeleted
    if before.enabled,
      isRestored || !Set(fields).isDisjoint(with: [.enabled, .schedule, .zone])
    {
      revive(before, acted: acted, now: now, in: &result)
    }
    return result
  }

  /// Applies rule 2 of `undoing`.
  private func reopen(
    _ after: Alarm, _ before: Alarm, acted: Instant, now: Instant, in result: inout Alarm
  ) throws(UndoError) {
    // The action itself dropped these records.
    for civil in before.progress.occurrences.keys.sorted()
    where after.progress.occurrences[civil] == nil
      && !(before.progress.occurrences[civil]?.state.isSettled ?? true)
    {
      throw .tooLongAgo(civil)
    }
    for (civil, done) in after.progress.occurrences.sorted(by: { $0.key < $1.key }) {
      let earlier = before.progress.occurrences[civil]
      // What the clock decided at the same time stays.
      if (earlier ?? OccurrenceRecord(.open)).answersOnly == done.answersOnly { continue }
      guard let current = alarm.progress.occurrences[civil] else { throw .tooLongAgo(civil) }
      let state = record(of: civil)?.state ?? current.answer
      // Follow-ups that were sent since then are not another answer.
      guard current.answer == done.answer,
        state == done.answer || current.automatic == done.automatic,
        let stamp = current.stamp(ofAnswerIn: done),
        // A snooze on another device that lost to this answer is not another answer either.
        current.snooze.count == done.snooze.count || done.answer != .snoozed
      else { throw .changedSince(.occurrence(civil, state)) }
      result.progress.occurrences[civil] = withdrawing(
        stamp, from: current, restoring: earlier ?? OccurrenceRecord(.open), at: now)
    }
  }

  /// Applies rule 6 of `undoing`.
  private func moveBack(
    _ after: Alarm, _ before: Alarm, _ stamp: Stamp, in result: inout Alarm
  ) throws(UndoError) {
    for (civil, move) in after.progress.moves.sorted(by: { $0.key < $1.key }) {
      let earlier = before.progress.moves[civil]
      if move == earlier { continue }
      guard alarm.progress.moves[civil]?.time == move.time else {
        throw .changedSince(.occurrence(civil, record(of: civil)?.state ?? .open))
      }
      // At its own time, it would count as settled.
      if earlier?.time == nil, let floor = alarm.progress.floor, civil <= floor {
        throw .tooLongAgo(civil)
      }
      // An import does not repeat a move that a person took back.
      result.progress.moves[civil] = OccurrenceMove(
        to: earlier?.time, stamp: stamp,
        isImported: earlier?.isImported == true && !move.isImported)
      // The restored answer and outcomes belong to the earlier time.
      if let skipped = result.progress.occurrences[civil]?.schedule,
        skipped == before.timingStamp(of: civil)
      {
        result.progress.occurrences[civil]?.schedule = stamp
      }
      result.keepOutcomes(of: civil, earlier: before.stamps(for: civil), [.schedule])
    }
  }

  /// Lets the skips ahead of time count again under the restored schedule.
  private func keepSkips(_ before: Alarm, in result: inout Alarm) {
    for (civil, record) in before.progress.occurrences where record.answer == .skipped {
      guard let made = record.schedule, made == before.timingStamp(of: civil),
        result.progress.occurrences[civil]?.answer == .skipped
      else { continue }
      let stamp = result.timingStamp(of: civil)
      result.progress.occurrences[civil]?.schedule = stamp
    }
  }

  /// Applies rule 5 of `undoing`. An outcome that a later one has replaced stays.
  private func takeBackOutcomes(_ after: Alarm, _ before: Alarm, in result: inout Alarm) {
    for (civil, ended) in after.progress.occurrences {
      let earlier = before.progress.occurrences[civil]?.automatic ?? [:]
      guard ended.automatic != earlier, var current = alarm.progress.occurrences[civil],
        current.automatic == ended.automatic
      else { continue }
      current.revision += 1
      current.automatic = earlier
      result.progress.occurrences[civil] = current
    }
  }

  /// Returns a record without one of its answers, with its earlier state again. The answers of other devices stay, and
  /// count if they have a higher rank.
  private func withdrawing(
    _ stamp: Stamp?, from current: OccurrenceRecord, restoring earlier: OccurrenceRecord,
    at now: Instant
  ) -> OccurrenceRecord {
    var restored = current
    restored.revision += 1
    restored.exhausted = false
    restored.automatic = [:]
    let others = stamp == nil ? [:] : current.answers.filter { $0.key != nil && $0.key != stamp }
    if !others.isEmpty, earlier.answer == .open {
      restored.answers = others
      return restored
    }
    restored.automatic = earlier.automatic
    restored.followUps = max(earlier.followUps, current.followUps)
    restored.snooze.count = earlier.snooze.count
    restored.replace(by: earlier.folded.given, at: now, on: device)
    if restored.answer == .open { restored.answered = now }
    // An expired snooze rings now. The ledger may already have a delivery for its original end.
    if restored.answer == .snoozed { restored.snooze.end(at: now) }
    // Without this, a record from before the last clearing would not count.
    if let cleared = alarm.progress.cleared, let since = restored.answered, since <= cleared {
      restored.revived = revivalTime(at: now)
    }
    if !others.isEmpty { restored.answers = restored.answers.merging(others) { $1 } }
    return restored
  }

  /// Returns the present time or, if it is later, the first one after the clearing, which ended everything up to its own
  /// time.
  private func revivalTime(at now: Instant) -> Instant {
    max(now, alarm.progress.cleared.map { Instant(milliseconds: $0.milliseconds + 1) } ?? now)
  }

  /// Applies rule 3 of `undoing`.
  private func revive(_ before: Alarm, acted: Instant, now: Instant, in result: inout Alarm) {
    let old = Timeline(before, zone: zone, calendar: calendar)
    let ended = Timeline(result, zone: zone, calendar: calendar)
    let revived = revivalTime(at: now)
    for civil in old.occurrences(in: .pending) + old.occurrences(in: .snoozed)
    where !isBelowFloor(civil) && ended.record(of: civil) == nil {
      guard var record = before.progress.occurrences[civil] else { continue }
      record.revision = (alarm.progress.occurrences[civil]?.revision ?? record.revision) + 1
      record.revived = revived
      record.automatic = [:]
      result.progress.occurrences[civil] = record
    }
    for civil in old.due(at: acted).map(\.civil)
    where old.record(of: civil) == nil && !isBelowFloor(civil) {
      guard alarm.progress.occurrences[civil]?.state ?? .open == .open else { continue }
      result.progress.occurrences[civil] =
        (alarm.progress.occurrences[civil] ?? OccurrenceRecord(.open)).reopened(since: revived)
    }
  }
}

extension OccurrenceRecord {
  /// Returns the stamp of the answer that another version of the record had; nil if it was replaced.
  ///
  /// An undo of a later answer has restored it with a new stamp.
  fileprivate func stamp(ofAnswerIn earlier: OccurrenceRecord) -> Stamp?? {
    if earlier.stamp == nil || answers[earlier.stamp] != nil { return .some(earlier.stamp) }
    let restored = answers.first { _, given in
      given.state == earlier.answer && (given.state == .open || given.since == earlier.answered)
    }
    if let restored { return .some(restored.key) }
    return earlier.answer == .open && answers.isEmpty ? .some(nil) : nil
  }
}

extension Event {
  /// Creates the event of an undone log entry, with the restored state of its occurrence. There is none if an answer of
  /// another device counts instead, which has its own entry.
  ///
  /// - Parameters:
  ///   - restored: the alarm after the undo.
  ///   - now: the time of the undo.
  public init(undoing entry: LogEntry, in restored: Alarm, at now: Instant) {
    var record = entry.occurrence.flatMap { restored.progress.occurrences[$0] }
    let revision = record?.revision ?? 0
    if let stamp = record?.stamp, stamp.time < now { record = nil }
    self.init(
      .undone, entry.occurrence, auto: record?.auto ?? false, payload: .undone(entry.action),
      effective: record?.state == .done ? record?.since : nil, undoes: entry.id,
      revision: revision, state: record?.state)
  }
}
