/// How an alarm has gone so far, by its log: the records keep only what is recent.
public struct Statistics: Hashable, Sendable {
  public enum Outcome: String, CaseIterable, Comparable, Sendable {
    /// In the order in which one stands over another: as in the records, done by itself is done.
    case missed, skipped, autoCompleted, done

    private var rank: Int { Outcome.allCases.firstIndex(of: self) ?? 0 }
    public static func < (a: Outcome, b: Outcome) -> Bool { a.rank < b.rank }
  }

  /// How each occurrence ended; those that have not are left out.
  public var outcomes: [CivilDateTime: Outcome] = [:]
  /// When each that somebody has done was done.
  public var doneAt: [CivilDateTime: Instant] = [:]
  /// The latest occurrences in a row that were confirmed.
  public var streak = 0
  public var longestStreak = 0

  public func count(_ outcome: Outcome) -> Int { outcomes.values.count { $0 == outcome } }

  /// When something was last done.
  public var lastDone: Instant? { doneAt.values.max() }

  /// Reads an alarm's log.
  ///
  /// An occurrence counts once, however many devices told of it, and as the records have it: of its entries those
  /// of the latest reopening, and of them the highest outcome. What nobody confirmed (missed, done by itself)
  /// ends a streak; what was skipped neither ends nor lengthens it.
  ///
  /// - Parameters:
  ///   - entries: of one alarm, in any order.
  ///   - skipBreaksStreak: a skipped occurrence ends a streak too.
  public init(_ entries: some Sequence<LogEntry>, skipBreaksStreak: Bool = false) {
    for (civil, entries) in Dictionary(grouping: entries, by: \.occurrence) {
      guard let civil, let latest = entries.map(\.revision).max() else { continue }
      let isStopped = entries.contains { $0.action == .stopped && $0.revision == latest }
      for entry in entries where entry.revision == latest {
        // Stopped on one device, it is pending on all, also where nobody had answered.
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

  /// How long after its time each was done, in seconds, ascending; negative when it was done before.
  public func lateness(due: (CivilDateTime) -> Instant) -> [Int64] {
    doneAt.map { $0.value.seconds(since: due($0.key)) }.sorted()
  }

  /// The middle one of ascending numbers, or the mean of the two in the middle; nil when there are none.
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
