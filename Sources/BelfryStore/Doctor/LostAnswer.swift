import BelfryCore

/// Outcomes that the log contains and the alarm's record lacks.
enum LostAnswer {
  /// Returns the occurrences above the floor whose record is older than the log: of no later revision, and neither
  /// done nor skipped.
  static func all(
    _ alarm: Alarm, _ entries: [LogEntry], at now: Instant
  ) -> [(CivilDateTime, Statistics.Outcome)] {
    // An entry in the future was written by a clock that was ahead.
    let entries = entries.filter { !$0.at.isImplausible(at: now) }
    let revisions = Dictionary(grouping: entries.filter { $0.occurrence != nil }) { $0.occurrence }
      .compactMapValues { $0.map(\.revision).max() }
    return Statistics(entries).outcomes.filter { civil, outcome in
      guard outcome == .done, alarm.progress.floor.map({ civil > $0 }) ?? true else { return false }
      let record = alarm.progress.occurrences[civil]
      return record?.revision ?? 0 <= revisions[civil] ?? 0 && record?.answer != .done
        && record?.answer != .skipped
    }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Returns the alarm with the outcomes of its log.
  static func repaired(_ alarm: Alarm, _ entries: [LogEntry], at now: Instant) -> Alarm {
    var alarm = alarm
    for (civil, _) in all(alarm, entries, at: now) {
      let candidates = entries.filter { $0.occurrence == civil && $0.action == .done && !$0.auto }
      guard let latest = candidates.max(by: { ($0.revision, $0.at) < ($1.revision, $1.at) }) else {
        continue
      }
      let known = alarm.progress.occurrences[civil] ?? OccurrenceRecord(.open)
      let record = OccurrenceRecord(
        .done, revision: max(known.revision, latest.revision),
        since: latest.effective ?? latest.at)
      alarm.progress.occurrences[civil] = OccurrenceRecord.join(known, record)
    }
    return alarm
  }
}
