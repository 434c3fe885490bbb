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
  /// The civil times to which occurrences were moved.
  public var movedTo: [CivilDateTime: CivilDateTime] = [:]
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
  /// revision count, and among them the highest outcome. An undo takes back a single answer. Other answers of
  /// users count, too, unless they were reopened otherwise. An occurrence that was missed or completed automatically ends
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
  ///
  /// - Parameter due: returns the instant of a civil time. Moved occurrences are due at their new times.
  public func lateness(due: (CivilDateTime) -> Instant) -> [Int64] {
    doneAt.map { $0.value.seconds(since: due(movedTo[$0.key] ?? $0.key)) }.sorted()
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
        if let movedTo = occurrence.movedTo { result.movedTo[civil] = movedTo }
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

/// The entries of one occurrence.
private struct OccurrenceTally {
  /// An answer of a user that settles the occurrence.
  private struct Answer {
    let entry: Identifier
    let revision: Int
    let outcome: Statistics.Outcome
    let time: Instant
  }

  /// The highest revision so far. The following properties are about its entries.
  private var revision = Int.min
  private var isStopped = false
  private var isMissed = false
  private var isPaused = false
  /// The highest outcome, apart from a miss and from a skip in a pause.
  private var settled: Statistics.Outcome?
  private var earliestDone: Instant?
  /// The answers of all revisions.
  private var answers: [Answer] = []
  /// The moves of all revisions.
  private var moves: [(entry: Identifier, at: Instant, to: CivilDateTime)] = []
  /// The entries that were undone.
  private var undone: Set<Identifier> = []
  /// The revisions that an undo has raised. It takes back the entry that it names, and no other one.
  private var undoRevisions: Set<Int> = []

  /// The outcome of the occurrence; nil if it has none.
  ///
  /// A stop on one device makes the occurrence pending on all devices, including those that logged a miss. A skip in a
  /// pause counts only if no device rang.
  var outcome: Statistics.Outcome? {
    if let settled = (remaining.map(\.outcome) + [settled].compactMap { $0 }).max() {
      return settled
    }
    if isStopped { return nil }
    return isMissed ? .missed : isPaused ? .skipped : nil
  }

  /// The earliest time at which the occurrence was done.
  var doneAt: Instant? {
    let times = remaining.filter { $0.outcome == .done }.map(\.time)
    return (times + [earliestDone].compactMap { $0 }).min()
  }

  /// The time of the latest move that was not undone.
  var movedTo: CivilDateTime? {
    moves.filter { !undone.contains($0.entry) }.max { ($0.at, $0.entry) < ($1.at, $1.entry) }?.to
  }

  /// The answers of lower revisions that no undo has taken back.
  private var remaining: [Answer] {
    if revision <= 0 { return [] }
    return answers.filter { answer in
      guard answer.revision < revision, !undone.contains(answer.entry) else { return false }
      // Only an undo reopens what is done. Any other reopening did not know of it.
      return answer.outcome == .done
        || (answer.revision + 1...revision).allSatisfy { undoRevisions.contains($0) }
    }
  }

  mutating func add(_ entry: LogEntry) {
    let outcome = Statistics.Outcome(entry)
    if case .move(_, let to) = entry.payload { moves.append((entry.id, entry.at, to)) }
    if entry.action == .undone {
      if let undoes = entry.undoes { undone.insert(undoes) }
      undoRevisions.insert(entry.revision)
    } else if let outcome, !entry.auto {
      answers.append(
        Answer(
          entry: entry.id, revision: entry.revision, outcome: outcome,
          time: entry.effective ?? entry.at))
    }
    if entry.revision < revision { return }
    if entry.revision > revision {
      revision = entry.revision
      (isStopped, isMissed, isPaused, settled, earliestDone) = (false, false, false, nil, nil)
    }
    switch entry.action {
    case .stopped: isStopped = true
    // Dismissing a snoozed occurrence that was missed raises the revision.
    case .missed, .dismissed: isMissed = true
    case .skipped where entry.auto: isPaused = true
    default:
      guard let outcome else { return }
      settled = settled.map { max($0, outcome) } ?? outcome
      if outcome == .done {
        let time = entry.effective ?? entry.at
        earliestDone = min(earliestDone ?? time, time)
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
