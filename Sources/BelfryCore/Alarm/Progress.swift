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
  /// How often it had to be put right after a device with a wrong clock: a higher one stands whole.
  public var generation: Int
  /// When somebody last asked for a rehearsal of the cascade.
  public var rehearsal: Instant?

  public init(
    armed: Instant, cleared: Instant? = nil, floor: CivilDateTime? = nil,
    occurrences: [CivilDateTime: OccurrenceRecord] = [:], generation: Int = 0,
    rehearsal: Instant? = nil
  ) {
    self.rehearsal = rehearsal
    self.generation = generation
    self.armed = armed
    self.cleared = cleared
    self.floor = floor
    self.occurrences = occurrences
  }
}

extension Progress {
  /// The progress without what a device with a wrong clock has put into it; nil when all is plausible.
  ///
  /// A clock that is years ahead settles everything up to its own time, and the alarm would be silent for so long
  /// on every device. What lies more than `Instant.tolerance` ahead is taken back so far that nothing that is
  /// still to ring counts as settled; at most what came due within the last day rings once more. The result stands
  /// over the wrong one wherever the two are joined.
  ///
  /// 1. `armed` comes back to a day ago, `cleared` is forgotten, and the floor is at most a day ago.
  /// 2. What became at a time ahead of an occurrence that has not come is forgotten, and so is any that the clock alone
  ///    has settled then.
  /// 3. An answer at a time ahead to one that has come stays, as of now, and a snooze ends now.
  ///
  /// - Parameter zone: the zone in which the occurrences come; nil where it is not known, for the zone in which they
  ///   come first.
  public func corrected(at now: Instant, in zone: TimeZoneRules? = nil) -> Progress? {
    let past = now.adding(seconds: -Instant.tolerance)
    // Civil times lie up to 14 hours to either side of UTC's.
    func civil(_ days: Int64) -> CivilDateTime {
      TimeZoneRules.utc.civil(at: now.adding(seconds: days * 86_400))
    }
    let limit = zone.map { $0.civil(at: now) } ?? civil(2)
    var result = self
    if armed.isImplausible(at: now) { result.armed = past }
    if cleared?.isImplausible(at: now) == true { result.cleared = nil }
    if rehearsal?.isImplausible(at: now) == true { result.rehearsal = nil }
    for (occurrence, record) in occurrences where record.since?.isImplausible(at: now) == true {
      if occurrence > limit || record.isSettledByClock {
        result.occurrences[occurrence] = nil
      } else {
        result.occurrences[occurrence]?.since = now
        if record.state == .snoozed { result.occurrences[occurrence]?.until = now }
        result.occurrences[occurrence]?.naps.removeAll { $0.at.isImplausible(at: now) }
        if record.revived != nil { result.occurrences[occurrence]?.revived = now }
      }
    }
    // A cascade whose last step has had its time has come.
    for (occurrence, record) in result.occurrences
    where occurrence > limit && record.state == .open && record.exhausted {
      result.occurrences[occurrence] = nil
    }
    // The same clock may have raised the floor over occurrences that have come here and not yet elsewhere.
    if let floor, floor >= limit || result != self { result.floor = min(floor, civil(-1)) }
    if result == self { return nil }
    result.generation += 1
    return result
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
  /// Done without anybody's word, because the next occurrence fired; skipped, because it came in a pause.
  public var auto: Bool
  /// Missed, and somebody has taken note of it.
  public var dismissed: Bool
  /// When somebody took back what had cleared it; what was cleared before then counts again.
  public var revived: Instant?
  /// Skipped ahead: the stamp of the schedule that the skip was made for.
  public var schedule: Stamp?
  /// Snoozed, of an alarm with a cascade: each word of it, in order. Who rings next is reckoned from them.
  public var naps: [CascadeRun.Snooze]
  /// All steps have had their time, and nobody had answered.
  public var exhausted: Bool
  /// Stopped, of an alarm with a cascade: the device that it was stopped on, which is asked too whether it was done.
  public var by: Identifier?

  /// So many snoozes of one occurrence are remembered: more than a day of nine minutes each.
  public static let mostNaps = 200

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
    revived: Instant? = nil, schedule: Stamp? = nil, naps: [CascadeRun.Snooze] = [],
    exhausted: Bool = false, by: Identifier? = nil
  ) {
    self.naps = naps
    self.exhausted = exhausted
    self.by = by
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

  /// True for an occurrence that the clock alone has settled: missed, or left out in a pause. One that is done by
  /// itself somebody has stopped.
  var isSettledByClock: Bool { state == .missed || (state == .skipped && auto) }

  /// Moves the end of a snooze that is over to the present, so that the alarm rings again now.
  mutating func endSnooze(at now: Instant) {
    guard let until, until <= now else { return }
    self.until = now
    if let last = naps.indices.max(by: { naps[$0].until < naps[$1].until }) {
      naps[last] = CascadeRun.Snooze(at: naps[last].at, until: now, by: naps[last].by)
      naps.sort(by: CascadeRun.precedes)
    }
  }

  /// Changes the state.
  ///
  /// When a person takes it to a lower one, that is an explicit reopening: a higher `revision`. What the
  /// clock does is none: it must not stand against an answer that somebody gave elsewhere.
  mutating func move(to state: State, at now: Instant, byPerson: Bool = true) {
    if byPerson, state < self.state {
      revision += 1
      exhausted = false
    }
    if state != .snoozed { naps = [] }
    by = nil
    self.state = state
    since = now
    until = nil
    auto = false
    dismissed = false
    revived = nil
    schedule = nil
  }
}
