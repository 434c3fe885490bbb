/// Why an action cannot be taken back.
public enum UndoError: Error, Equatable, Sendable {
  /// Something else was done to the alarm since: the field or the occurrence that it was done to.
  case changedSince(Subject)
  /// The occurrence is no longer in the record.
  case tooLongAgo(CivilDateTime)
  /// The alarm has been deleted since.
  case deletedSince

  public enum Subject: Hashable, Sendable {
    case field(Alarm.Field)
    /// It has come, or somebody answered.
    case progress
    case occurrence(CivilDateTime, OccurrenceRecord.State)
  }
}

extension Timeline {
  /// This alarm with one earlier action taken back: what led from `before` to `after`.
  ///
  /// 1. A field that it edited has its earlier value again, under a new stamp.
  /// 2. An occurrence that it answered is what it was, as an explicit reopening (a higher `revision`).
  /// 3. What disabling or another schedule had ended, ringing or pending, is open again.
  /// 4. A new alarm is deleted, if nothing has come of it yet; a deleted one is back.
  ///
  /// Whatever else happened to the alarm since stays. Throws when something happened to the same field
  /// or occurrence.
  ///
  /// - Parameters:
  ///   - before: nil when the action made the alarm.
  ///   - acted: when the action was.
  public func undoing(
    _ after: Alarm, before: Alarm?, acted: Instant, at now: Instant, device: Identifier
  ) throws(UndoError) -> Alarm {
    if alarm.isDeleted, !after.isDeleted { throw .deletedSince }
    guard let before else {
      if let field = alarm.changedFields(from: after).first { throw .changedSince(.field(field)) }
      let isAnswered = alarm.progress.occurrences.keys.contains { record(of: $0) != nil }
      guard !isAnswered, alarm.progress.floor == nil, current(at: now) == nil
      else { throw .changedSince(.progress) }
      return alarm.deleted()
    }
    var result = alarm
    let fields = after.changedFields(from: before)
    // By value: an undo of something later has stamped it anew.
    for field in fields
    where field != .cascade && alarm.text(of: field) != after.text(of: field) {
      throw .changedSince(.field(field))
    }
    var stamped = fields
    if after.isDeleted, !before.isDeleted, stamped.isEmpty { stamped = [.enabled] }
    let stamp = Stamp.next(after: alarm.latestStamp, now: now, device: device)
    for field in stamped {
      if field == .cascade {
        // What somebody else has changed in the list since stays.
        guard
          let cascade = (alarm.cascade ?? Cascade()).undoing(after.cascade, before: before.cascade)
        else { throw .changedSince(.field(.cascade)) }
        result.cascade = cascade.stamped(against: alarm.cascade, at: now, by: { _ in stamp })
      } else {
        result.take(field, from: before)
      }
      result.stamps[field] = stamp
    }
    try reopen(after, before, acted: acted, now: now, in: &result)
    if before.enabled, !Set(fields).isDisjoint(with: [.enabled, .schedule, .zone]) {
      revive(before, acted: acted, now: now, in: &result)
    }
    return result
  }

  /// The second rule of `undoing`.
  private func reopen(
    _ after: Alarm, _ before: Alarm, acted: Instant, now: Instant, in result: inout Alarm
  ) throws(UndoError) {
    // What the action itself made old enough to be dropped.
    for civil in before.progress.occurrences.keys.sorted()
    where after.progress.occurrences[civil] == nil
      && !(before.progress.occurrences[civil]?.state.isSettled ?? true)
    {
      throw .tooLongAgo(civil)
    }
    for (civil, done) in after.progress.occurrences.sorted(by: { $0.key < $1.key }) {
      let earlier = before.progress.occurrences[civil]
      if earlier == done { continue }
      guard let current = alarm.progress.occurrences[civil] else { throw .tooLongAgo(civil) }
      // Follow-ups that were sent since are no other answer.
      guard current.state == done.state,
        // Nor is a snooze that another device gave, and the answer stood over.
        current.snoozes == done.snoozes || done.state != .snoozed,
        current.dismissed == done.dismissed,
        current.auto == done.auto
      else { throw .changedSince(.occurrence(civil, current.state)) }
      var restored = earlier ?? OccurrenceRecord(.open)
      restored.revision = current.revision + 1
      restored.followUps = max(restored.followUps, current.followUps)
      restored.exhausted = false
      if restored.state == .open { restored.since = now }
      // A snooze that is over rings now: a delivery of its own end may be recorded already.
      if restored.state == .snoozed { restored.endSnooze(at: now) }
      // Cleared meanwhile, it would not count.
      if let cleared = alarm.progress.cleared, let since = restored.since, since <= cleared {
        restored.revived = max(now, Instant(milliseconds: cleared.milliseconds + 1))
      }
      result.progress.occurrences[civil] = restored
    }
  }

  /// The third rule of `undoing`.
  private func revive(_ before: Alarm, acted: Instant, now: Instant, in result: inout Alarm) {
    let old = Timeline(before, zone: zone)
    let ended = Timeline(result, zone: zone)
    let floor = alarm.progress.floor
    for civil in old.occurrences(in: .pending) + old.occurrences(in: .snoozed)
    where floor.map({ civil > $0 }) ?? true && ended.record(of: civil) == nil {
      guard var record = before.progress.occurrences[civil] else { continue }
      record.revision = (alarm.progress.occurrences[civil]?.revision ?? record.revision) + 1
      let cleared = alarm.progress.cleared.map { Instant(milliseconds: $0.milliseconds + 1) }
      record.revived = max(now, cleared ?? now)
      result.progress.occurrences[civil] = record
    }
    for civil in old.due(at: acted).map(\.civil)
    where old.record(of: civil) == nil && floor.map({ civil > $0 }) ?? true {
      guard alarm.progress.occurrences[civil]?.state ?? .open == .open else { continue }
      let revision = alarm.progress.occurrences[civil]?.revision ?? 0
      result.progress.occurrences[civil] = OccurrenceRecord(
        .open, revision: revision + 1, since: now)
    }
  }
}

extension Event {
  /// That a log entry no longer counts, and what its occurrence is instead.
  ///
  /// - Parameter restored: the alarm as it is once the action is undone.
  public init(undoing entry: LogEntry, in restored: Alarm) {
    let record = entry.occurrence.flatMap { restored.progress.occurrences[$0] }
    self.init(
      .undone, entry.occurrence, auto: record?.auto ?? false, detail: entry.action.rawValue,
      effective: record?.state == .done ? record?.since : nil, undoes: entry.id,
      revision: record?.revision ?? 0, state: record?.state)
  }
}
