/// The outcomes of an alarm's occurrences, from its log. Records keep only recent occurrences.
public struct Statistics: Hashable, Sendable {
  /// The outcomes of an occurrence.
  public enum Outcome: String, CaseIterable, Comparable, Sendable {
    /// The outcomes in ascending rank. As in records, an automatic completion has a higher rank than a skip.
    case missed, skipped, autoCompleted, done

    private var rank: Int { Outcome.allCases.firstIndex(of: self) ?? 0 }
    /// Returns true if `a` has a lower rank than `b`.
    public static func < (a: Outcome, b: Outcome) -> Bool { a.rank < b.rank }
  }

  /// The outcome of each settled occurrence.
  public var outcomes: [CivilDateTime: Outcome] = [:]
  /// The time at which each confirmed occurrence was done.
  public var doneAt: [CivilDateTime: Instant] = [:]
  /// The length of the current streak of confirmed occurrences.
  public var streak = 0
  /// The length of the longest streak.
  public var longestStreak = 0

  /// Returns the number of occurrences with an outcome.
  public func count(_ outcome: Outcome) -> Int { outcomes.values.count { $0 == outcome } }

  /// The latest time at which an occurrence was done; nil if none was.
  public var lastDone: Instant? { doneAt.values.max() }

  /// Computes the statistics from the log.
  ///
  /// Each occurrence counts once, even if several devices logged it. As in records, the entries with the highest
  /// revision count, and among them the highest outcome. An occurrence that was missed or completed automatically ends
  /// a streak. A skipped one neither ends nor extends it.
  ///
  /// - Parameters:
  ///   - entries: the log entries of one alarm, in any order.
  ///   - skipBreaksStreak: true if a skipped occurrence ends a streak, too.
  public init(_ entries: some Sequence<LogEntry>, skipBreaksStreak: Bool = false) {
    for (civil, entries) in Dictionary(grouping: entries, by: \.occurrence) {
      guard let civil, let latest = entries.map(\.revision).max() else { continue }
      let isStopped = entries.contains { $0.action == .stopped && $0.revision == latest }
      for entry in entries where entry.revision == latest {
        // A stop on one device makes the occurrence pending on all devices, including those that logged a miss.
        if isStopped, entry.action == .missed { continue }
        guard let outcome = Outcome(entry) else { continue }
        outcomes[civil] = max(outcomes[civil] ?? outcome, outcome)
        if outcome == .done {
          let moment = entry.effective ?? entry.at
          doneAt[civil] = min(doneAt[civil] ?? moment, moment)
        }
      }
    }
    for (_, outcome) in outcomes.sorted(by: { $0.key < $1.key }) {
      switch outcome {
      case .done: streak += 1
      case .skipped: if skipBreaksStreak { streak = 0 }
      case .missed, .autoCompleted: streak = 0
      }
      longestStreak = max(longestStreak, streak)
    }
  }

  /// Returns the delays from due time to completion in seconds, ascending; negative for an early completion.
  public func lateness(due: (CivilDateTime) -> Instant) -> [Int64] {
    doneAt.map { $0.value.seconds(since: due($0.key)) }.sorted()
  }

  /// Returns the median of numbers in ascending order, or the mean of the two middle ones; nil if there are none.
  public static func median(_ numbers: [Int64]) -> Int64? {
    guard !numbers.isEmpty else { return nil }
    return (numbers[(numbers.count - 1) / 2] + numbers[numbers.count / 2]) / 2
  }
}

extension Statistics.Outcome {
  fileprivate init?(_ entry: LogEntry) {
    switch entry.action {
    case .done: self = entry.auto ? .autoCompleted : .done
    case .skipped: self = .skipped
    case .missed: self = .missed
    case .undone:
      switch entry.state {
      case .done: self = entry.auto ? .autoCompleted : .done
      case .skipped: self = .skipped
      case .missed: self = .missed
      case .open, .snoozed, .pending, nil: return nil
      }
    default: return nil
    }
  }
}
