import BelfryCore

extension StoreHistory {
  /// The statistics of a part of the log.
  private struct Part: Sendable {
    var tallies: [Identifier: Statistics.Tally] = [:]
    var problems: [(path: String, error: RecordError)] = []
  }

  /// The number of days from which on the log is read on all cores.
  private static let parallelDays = 64

  /// Returns the tallies of alarms from the whole log, which is read on all cores. Each tally is of a part of the log.
  ///
  /// - Parameters:
  ///   - alarms: The alarms; nil for all.
  ///   - report: Receives the path and the error of each file that is not a valid entry. The path is relative to the
  ///     store.
  private func tallies(
    of alarms: Set<Identifier>?, report: (String, RecordError) -> Void
  ) -> [Identifier: [Statistics.Tally]] {
    let days = Array(LogReader.days(store))
    let only = alarms?.count == 1 ? alarms?.first : nil
    let store = store
    let parts = Chunks.map(days.count, parallelFrom: StoreHistory.parallelDays) { range in
      var part = Part()
      var problems: [(path: String, error: RecordError)] = []
      let reader = LogReader(store, of: only) { problems.append((path: $0, error: $1)) }
      reader.forEachEntry(of: days[range]) { entry in
        if let alarms, !alarms.contains(entry.alarm) { return }
        part.tallies[entry.alarm, default: Statistics.Tally()].add(entry)
      }
      part.problems = problems
      return [part]
    }
    for problem in parts.flatMap(\.problems) { report(problem.path, problem.error) }
    var tallies: [Identifier: [Statistics.Tally]] = [:]
    for part in parts {
      for (alarm, tally) in part.tallies { tallies[alarm, default: []].append(tally) }
    }
    return tallies
  }
}

/// The statistics of an alarm, with its settled occurrences and their delays.
public struct AlarmStatistics: Sendable {
  /// The alarm.
  public let summary: AlarmSummary
  /// The counts and streaks.
  public let statistics: Statistics
  /// The settled occurrences in ascending order.
  public let responses: [Statistics.Response]

  /// Creates the statistics of an alarm from its parts.
  public init(
    _ summary: AlarmSummary, _ statistics: Statistics, _ responses: [Statistics.Response]
  ) {
    self.summary = summary
    self.statistics = statistics
    self.responses = responses
  }
}

extension StoreHistory {
  /// Returns the statistics of alarms from the whole log, in the order of the alarms.
  ///
  /// - Parameters:
  ///   - dates: The dates of the occurrences that count; nil for all.
  ///   - skipBreaksStreak: True if a skipped occurrence ends a streak.
  ///   - report: Receives the path and the error of each file that is not a valid entry. The path is relative to the
  ///     store.
  public func statistics(
    of summaries: [AlarmSummary], on dates: ClosedRange<CivilDate>? = nil, skipBreaksStreak: Bool,
    report: (String, RecordError) -> Void = { _, _ in }
  ) -> [AlarmStatistics] {
    if summaries.isEmpty { return [] }
    let tallies = tallies(of: Set(summaries.map(\.id)), report: report)
    let zones = context.zones
    return Chunks.map(summaries.count, parallelFrom: 2) { range in
      summaries[range].map { summary in
        let statistics = Statistics.Tally.statistics(
          of: tallies[summary.id] ?? [], skipBreaksStreak: skipBreaksStreak, on: dates)
        let zone = zones.zone(recorded: summary.zone) ?? zones.local
        return AlarmStatistics(
          summary, statistics, statistics.responses { zone.instant(of: $0) })
      }
    }
  }
}
