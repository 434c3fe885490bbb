/// The outcomes of an alarm's occurrences in a part of its log, for a calendar.
public struct AgendaLog: Sendable {
  private var tally = Statistics.Tally()
  /// The entries that settle a row of earlier occurrences, too.
  private var rows: [Row] = []

  private struct Row {
    let first: CivilDateTime
    let last: CivilDateTime
    let outcome: Statistics.Outcome
  }

  /// Creates a log without entries.
  public init() {}

  /// Adds an entry of the alarm. Entries can have any order.
  public mutating func add(_ entry: LogEntry) {
    tally.add(entry)
    guard let last = entry.occurrence else { return }
    switch entry.payload {
    case .earlier(let earlier):
      rows.append(Row(first: earlier.first, last: last, outcome: .missed))
    case .skippedByPause(let earlier?):
      rows.append(Row(first: earlier.first, last: last, outcome: .skipped))
    default: break
    }
  }

  /// Returns the outcomes. The occurrences of a row are those of the present schedule.
  public func outcomes(in timeline: Timeline) -> [CivilDateTime: Statistics.Outcome] {
    outcomesAndMoves(in: timeline).outcomes
  }

  /// Returns the outcomes, and the times to which occurrences were moved, both by the occurrences' own times.
  public func outcomesAndMoves(
    in timeline: Timeline
  ) -> (outcomes: [CivilDateTime: Statistics.Outcome], moves: [CivilDateTime: CivilDateTime]) {
    let statistics = tally.statistics(skipBreaksStreak: false)
    var result = statistics.outcomes
    for row in rows {
      var next = timeline.scheduled.first(onOrAfter: row.first)
      while let civil = next, civil < row.last {
        if result[civil] == nil { result[civil] = row.outcome }
        next = timeline.scheduled.next(after: civil)
      }
    }
    return (result, statistics.movedTo)
  }
}

extension Timeline {
  /// Returns true if a settled occurrence of a period has no outcome in a part of the log: a person may have answered it
  /// long before its time.
  public func lacksOutcomes(
    of period: Range<Instant>, in outcomes: [CivilDateTime: Statistics.Outcome]
  ) -> Bool {
    guard let floor = alarm.progress.floor else { return false }
    let from = max(alarm.progress.armed, period.lowerBound.adding(seconds: -1))
    var last = zone.civil(at: from)
    while let civil = scheduled.next(after: last), civil <= floor {
      last = civil
      let at = zone.instant(of: civil)
      if at >= period.upperBound { return false }
      if at > from, outcomes[civil] == nil, isBelowFloor(civil) { return true }
    }
    return false
  }
}
