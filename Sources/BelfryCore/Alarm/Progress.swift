/// How far an alarm has come: what is settled, and what is open.
public struct Progress: Hashable, Sendable {
  /// Nothing due at or before it fires. Set by creating, enabling and schedule edits.
  public var armed: Instant
  /// What was pending or snoozed at or before it was cleared, by disabling or enabling.
  public var cleared: Instant?
  /// All occurrences up to it are settled and dropped from `occurrences`.
  public var floor: CivilDateTime?
  /// What is known of the occurrences above the floor; one that is not here is open.
  public var occurrences: [CivilDateTime: OccurrenceRecord]

  public init(
    armed: Instant, cleared: Instant? = nil, floor: CivilDateTime? = nil,
    occurrences: [CivilDateTime: OccurrenceRecord] = [:]
  ) {
    self.armed = armed
    self.cleared = cleared
    self.floor = floor
    self.occurrences = occurrences
  }
}

/// What is known of one occurrence.
public struct OccurrenceRecord: Hashable, Sendable {
  /// Counts explicit reopenings (undo, unskip): a higher one stands against any state of a lower.
  public var revision: Int
  public var state: State
  /// When it came into this state.
  public var since: Instant?
  /// Snoozed: when it fires again.
  public var until: Instant?
  /// How often it was snoozed.
  public var snoozes: Int
  /// The number of the latest follow-up that was sent. After downtime those before it were left out.
  public var followUps: Int
  /// Done without anybody's word, because the next occurrence fired.
  public var auto: Bool
  /// Missed, and somebody has taken note of it.
  public var dismissed: Bool
  /// When somebody took back what had cleared it; what was cleared before then counts again.
  public var revived: Instant?
  /// Skipped ahead: the stamp of the schedule that the skip was made for.
  public var schedule: Stamp?

  /// In the order of their rank: where two devices differ, the higher stands.
  public enum State: String, CaseIterable, Comparable, Sendable {
    case open, missed, snoozed, pending, skipped, done

    private var rank: Int { State.allCases.firstIndex(of: self) ?? 0 }
    public static func < (a: State, b: State) -> Bool { a.rank < b.rank }

    /// Whether it needs nobody any more.
    public var isSettled: Bool { self == .missed || self == .skipped || self == .done }
  }

  public init(
    _ state: State, revision: Int = 0, since: Instant? = nil, until: Instant? = nil,
    snoozes: Int = 0, followUps: Int = 0, auto: Bool = false, dismissed: Bool = false,
    revived: Instant? = nil, schedule: Stamp? = nil
  ) {
    self.state = state
    self.revision = revision
    self.since = since
    self.until = until
    self.snoozes = snoozes
    self.followUps = followUps
    self.auto = auto
    self.dismissed = dismissed
    self.revived = revived
    self.schedule = schedule
  }

  /// Changes the state.
  ///
  /// When a person takes it to a lower one, that is an explicit reopening: a higher `revision`. What the
  /// clock does is none: it must not stand against an answer that somebody gave elsewhere.
  mutating func move(to state: State, at now: Instant, byPerson: Bool = true) {
    if byPerson, state < self.state { revision += 1 }
    self.state = state
    since = now
    until = nil
    auto = false
    dismissed = false
    revived = nil
    schedule = nil
  }
}
