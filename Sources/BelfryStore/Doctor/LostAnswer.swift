import BelfryCore

/// What the log says was answered, and the alarm's record does not know.
enum LostAnswer {
  /// The occurrences above the floor whose record is of the same reopening and below what was logged.
  static func all(
    _ alarm: Alarm, _ entries: [LogEntry], at now: Instant
  ) -> [(CivilDateTime, Statistics.Outcome)] {
    // An answer at a time that has not come was given by a clock that was ahead.
    let entries = entries.filter { $0.at <= now.adding(seconds: Instant.tolerance) }
    let revisions = Dictionary(grouping: entries.filter { $0.occurrence != nil }) { $0.occurrence }
      .compactMapValues { $0.map(\.revision).max() }
    return Statistics(entries).outcomes.filter { civil, outcome in
      guard outcome == .done, alarm.progress.floor.map({ civil > $0 }) ?? true else { return false }
      let record = alarm.progress.occurrences[civil]
      return record?.revision ?? 0 <= revisions[civil] ?? 0 && record?.state != .done
        && (record?.state != .skipped)
    }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The alarm with what its log knows.
  static func mended(_ alarm: Alarm, _ entries: [LogEntry], at now: Instant) -> Alarm {
    var alarm = alarm
    for (civil, _) in all(alarm, entries, at: now) {
      let told = entries.filter { $0.occurrence == civil && $0.action == .done && !$0.auto }
      guard let latest = told.max(by: { ($0.revision, $0.at) < ($1.revision, $1.at) }) else {
        continue
      }
      let record = OccurrenceRecord(
        .done, revision: latest.revision, since: latest.effective ?? latest.at)
      alarm.progress.occurrences[civil] =
        alarm.progress.occurrences[civil].map { OccurrenceRecord.join($0, record) } ?? record
    }
    return alarm
  }
}
