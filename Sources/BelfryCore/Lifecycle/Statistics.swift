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
    var tally = Tally()
    for entry in entries { tally.add(entry) }
    self = tally.statistics(skipBreaksStreak: skipBreaksStreak)
  }

  fileprivate init() {}

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

extension Statistics {
  /// The statistics of an alarm whose log entries are added one by one, in any order.
  public struct Tally: Sendable {
    private var occurrences: [CivilDateTime: OccurrenceTally] = [:]

    /// Creates a tally without entries.
    public init() {}

    /// Adds a log entry of the alarm.
    public mutating func add(_ entry: LogEntry) {
      if let civil = entry.occurrence {
        occurrences[civil, default: OccurrenceTally()].add(entry)
      }
    }

    /// Returns the statistics of the added entries.
    ///
    /// - Parameter skipBreaksStreak: true if a skipped occurrence ends a streak, too.
    public func statistics(skipBreaksStreak: Bool) -> Statistics {
      var result = Statistics()
      result.outcomes.reserveCapacity(occurrences.count)
      result.doneAt.reserveCapacity(occurrences.count)
      for (civil, occurrence) in occurrences.sorted(by: { $0.key < $1.key }) {
        guard let outcome = occurrence.outcome else { continue }
        result.outcomes[civil] = outcome
        if let doneAt = occurrence.doneAt { result.doneAt[civil] = doneAt }
        switch outcome {
        case .done: result.streak += 1
        case .skipped: if skipBreaksStreak { result.streak = 0 }
        case .missed, .autoCompleted: result.streak = 0
        }
        result.longestStreak = max(result.longestStreak, result.streak)
      }
      return result
    }
  }
}

/// The entries of one occurrence with the highest revision so far.
private struct OccurrenceTally {
  private var revision = Int.min
  private var isStopped = false
  private var isMissed = false
  /// The highest outcome, apart from a miss.
  private var settled: Statistics.Outcome?
  /// The earliest time at which the occurrence was done.
  private(set) var doneAt: Instant?

  /// The outcome of the occurrence; nil if it has none.
  ///
  /// A stop on one device makes the occurrence pending on all devices, including those that logged a miss.
  var outcome: Statistics.Outcome? { settled ?? (isMissed && !isStopped ? .missed : nil) }

  mutating func add(_ entry: LogEntry) {
    if entry.revision < revision { return }
    if entry.revision > revision {
      self = OccurrenceTally()
      revision = entry.revision
    }
    switch entry.action {
    case .stopped: isStopped = true
    case .missed: isMissed = true
    default:
      guard let outcome = Statistics.Outcome(entry) else { return }
      settled = settled.map { max($0, outcome) } ?? outcome
      if outcome == .done {
        let time = entry.effective ?? entry.at
        doneAt = min(doneAt ?? time, time)
      }
    }
  }
}

extension Statistics.Outcome {
  /// Returns nil for an entry that settles nothing, and for a miss.
  fileprivate init?(_ entry: LogEntry) {
    switch entry.action {
    case .done: self = entry.auto ? .autoCompleted : .done
    case .skipped: self = .skipped
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
