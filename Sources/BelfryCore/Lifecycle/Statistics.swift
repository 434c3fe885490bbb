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

  /// A settled occurrence.
  public struct Settled: Hashable, Sendable {
    /// The civil time, which identifies the occurrence.
    public let civil: CivilDateTime
    /// The outcome.
    public let outcome: Outcome
    /// The time at which it was done; nil if nobody confirmed it.
    public let doneAt: Instant?
    /// The civil time to which it was moved; nil if it was due at its own time.
    public let movedTo: CivilDateTime?
  }

  /// A row of consecutive occurrences that one entry of the log settles. `settled` has the last one only.
  public struct Row: Hashable, Sendable {
    /// The first occurrence.
    public let first: CivilDateTime
    /// The last occurrence, which the entry names.
    public let last: CivilDateTime
    /// The outcome of each of them.
    public let outcome: Outcome
  }

  /// The settled occurrences in ascending order.
  public private(set) var settled: [Settled] = []
  /// The rows of occurrences that one entry settles, in the order of the entries.
  public private(set) var rows: [Row] = []
  /// The length of the current streak of confirmed occurrences.
  public private(set) var streak = 0
  /// The length of the longest streak.
  public private(set) var longestStreak = 0
  /// The latest time at which an occurrence was done; nil if none was.
  public private(set) var lastDone: Instant?

  /// The outcome of each settled occurrence.
  public var outcomes: [CivilDateTime: Outcome] {
    Dictionary(uniqueKeysWithValues: settled.map { ($0.civil, $0.outcome) })
  }

  /// The civil times to which occurrences were moved.
  public var movedTo: [CivilDateTime: CivilDateTime] {
    Dictionary(
      uniqueKeysWithValues: settled.compactMap { occurrence in
        occurrence.movedTo.map { (occurrence.civil, $0) }
      })
  }

  /// Returns the number of occurrences with an outcome.
  public func count(_ outcome: Outcome) -> Int { settled.count { $0.outcome == outcome } }

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

  fileprivate init(rows: [Row]) { self.rows = rows }

  fileprivate mutating func append(_ next: Settled, skipBreaksStreak: Bool) {
    settled.append(next)
    if let doneAt = next.doneAt { lastDone = max(lastDone ?? doneAt, doneAt) }
    switch next.outcome {
    case .done: streak += 1
    case .skipped: if skipBreaksStreak { streak = 0 }
    case .missed, .autoCompleted: streak = 0
    }
    longestStreak = max(longestStreak, streak)
  }

  /// Returns the settled occurrences in ascending order, each with its delay.
  ///
  /// - Parameter due: Returns the instant of a civil time. Moved occurrences were due at their new times.
  public func responses(due: (CivilDateTime) -> Instant) -> [Response] {
    settled.map { occurrence in
      Response(
        civil: occurrence.civil, outcome: occurrence.outcome,
        delay: occurrence.doneAt?.seconds(since: due(occurrence.movedTo ?? occurrence.civil)),
        movedTo: occurrence.movedTo)
    }
  }

  /// Returns the delays from due time to completion in seconds, ascending; negative for an early completion.
  ///
  /// - Parameter due: returns the instant of a civil time. Moved occurrences are due at their new times.
  public func lateness(due: (CivilDateTime) -> Instant) -> [Int64] {
    responses(due: due).compactMap(\.delay).sorted()
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
    /// The entries by `CivilDateTime.minuteNumber`.
    private var occurrences: [Int: OccurrenceTally] = [:]
    private var rows: [Row] = []

    /// Creates a tally without entries.
    public init() {}

    /// Adds a log entry of the alarm.
    public mutating func add(_ entry: LogEntry) {
      if let civil = entry.occurrence {
        occurrences[civil.minuteNumber, default: OccurrenceTally()].add(entry)
      }
      if let row = Row(entry) { rows.append(row) }
    }

    /// Returns the statistics of the added entries.
    ///
    /// - Parameters:
    ///   - skipBreaksStreak: true if a skipped occurrence ends a streak, too.
    ///   - dates: the dates of the occurrences that count; nil for all. A streak begins on the first of them.
    public func statistics(
      skipBreaksStreak: Bool, on dates: ClosedRange<CivilDate>? = nil
    ) -> Statistics {
      Tally.statistics(of: [self], skipBreaksStreak: skipBreaksStreak, on: dates)
    }

    /// Returns the statistics of the entries of several tallies of an alarm.
    public static func statistics(
      of tallies: [Tally], skipBreaksStreak: Bool, on dates: ClosedRange<CivilDate>? = nil
    ) -> Statistics {
      var settled: [Settled] = []
      settled.reserveCapacity(dates == nil ? tallies.reduce(0) { $0 + $1.occurrences.count } : 0)
      for (number, tally) in tallies.enumerated() {
        for (minute, occurrence) in tally.occurrences {
          let civil = CivilDateTime(minuteNumber: minute)
          if let dates, !dates.contains(civil.date) { continue }
          // Few occurrences have entries in several tallies, which are parts of the log.
          if tallies[..<number].contains(where: { $0.occurrences[minute] != nil }) { continue }
          let occurrence = tallies[(number + 1)...].reduce(occurrence) { merged, other in
            other.occurrences[minute].map { merged.merged(with: $0) } ?? merged
          }
          guard let outcome = occurrence.outcome else { continue }
          settled.append(
            Settled(
              civil: civil, outcome: outcome, doneAt: occurrence.doneAt, movedTo: occurrence.movedTo
            ))
        }
      }
      settled.sort { $0.civil < $1.civil }
      var result = Statistics(rows: tallies.flatMap(\.rows))
      result.settled.reserveCapacity(settled.count)
      for occurrence in settled { result.append(occurrence, skipBreaksStreak: skipBreaksStreak) }
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
  /// The answers of all revisions. The first one has a place of its own, as most occurrences have no other.
  private var firstAnswer: Answer?
  private var otherAnswers: [Answer] = []
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
    var best = settled
    for answer in remaining { best = best.map { max($0, answer.outcome) } ?? answer.outcome }
    if let best { return best }
    if isStopped { return nil }
    return isMissed ? .missed : isPaused ? .skipped : nil
  }

  /// The earliest time at which the occurrence was done.
  var doneAt: Instant? {
    var earliest = earliestDone
    for answer in remaining where answer.outcome == .done {
      earliest = earliest.map { min($0, answer.time) } ?? answer.time
    }
    return earliest
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

  private var answers: [Answer] { (firstAnswer.map { [$0] } ?? []) + otherAnswers }

  private mutating func append(_ answer: Answer) {
    if firstAnswer == nil { firstAnswer = answer } else { otherAnswers.append(answer) }
  }

  /// Returns the tally of the entries of both.
  func merged(with other: OccurrenceTally) -> OccurrenceTally {
    var result = revision >= other.revision ? self : other
    let lower = revision >= other.revision ? other : self
    if lower.revision == result.revision {
      result.isStopped = result.isStopped || lower.isStopped
      result.isMissed = result.isMissed || lower.isMissed
      result.isPaused = result.isPaused || lower.isPaused
      if let outcome = lower.settled {
        result.settled = result.settled.map { max($0, outcome) } ?? outcome
      }
      if let time = lower.earliestDone {
        result.earliestDone = result.earliestDone.map { min($0, time) } ?? time
      }
    }
    for answer in lower.answers { result.append(answer) }
    result.moves += lower.moves
    result.undone.formUnion(lower.undone)
    result.undoRevisions.formUnion(lower.undoRevisions)
    return result
  }

  mutating func add(_ entry: LogEntry) {
    let outcome = Statistics.Outcome(entry)
    if case .move(_, let to) = entry.payload { moves.append((entry.id, entry.at, to)) }
    if entry.action == .undone {
      if let undoes = entry.undoes { undone.insert(undoes) }
      undoRevisions.insert(entry.revision)
    } else if let outcome, !entry.auto {
      append(
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

extension Statistics.Row {
  /// Returns nil for an entry that settles no row.
  fileprivate init?(_ entry: LogEntry) {
    guard let last = entry.occurrence else { return nil }
    switch entry.payload {
    case .earlier(let earlier): self.init(first: earlier.first, last: last, outcome: .missed)
    case .skippedByPause(let earlier?):
      self.init(first: earlier.first, last: last, outcome: .skipped)
    default: return nil
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
