/// The state of an alarm's occurrences: the settled ones and the open ones.
public struct Progress: Hashable, Sendable {
  /// The time after which occurrences fire.
  ///
  /// Creating the alarm, enabling it and editing its schedule set it to the present time, so that nothing fires
  /// retroactively.
  public var armed: Instant
  /// The time at which the alarm was last enabled or disabled; nil if it never was.
  ///
  /// Occurrences that were pending or snoozed at or before this time no longer count.
  public var cleared: Instant?
  /// The civil time up to and including which all occurrences are settled and have no records; nil if there is none.
  public var floor: CivilDateTime?
  /// The records of the occurrences above the floor. An occurrence without a record is open.
  public var occurrences: [CivilDateTime: OccurrenceRecord]
  /// The latest date of completion in the dropped records of a schedule that follows completions; nil if there is none.
  public var completed: CivilDate?
  /// The number of corrections after a wrong clock. In a join, the progress with the higher generation wins as a whole.
  public var generation: Int
  /// The time at which a rehearsal of the cascade was last requested; nil if there was none.
  public var rehearsal: Instant?

  /// Creates progress from the parts of its record.
  public init(
    armed: Instant, cleared: Instant? = nil, floor: CivilDateTime? = nil,
    occurrences: [CivilDateTime: OccurrenceRecord] = [:], completed: CivilDate? = nil,
    generation: Int = 0, rehearsal: Instant? = nil
  ) {
    self.completed = completed
    self.rehearsal = rehearsal
    self.generation = generation
    self.armed = armed
    self.cleared = cleared
    self.floor = floor
    self.occurrences = occurrences
  }
}

extension Progress {
  /// Returns the progress without the effects of a wrong clock; nil if all recorded times are plausible.
  ///
  /// A clock that is years ahead settles all occurrences up to its own time. Without a correction, the alarm would be
  /// silent on every device until then. A recorded time is implausible if it is more than `Instant.tolerance` ahead of
  /// `now`. After the correction, no future occurrence counts as settled; at most, occurrences of the last day ring
  /// once more. The result has a higher generation, so that it wins every join with the original.
  ///
  /// 1. An implausible `armed` becomes one day ago. An implausible `cleared` or `rehearsal` is removed. The floor
  ///    becomes at most one day ago.
  /// 2. A record with an implausible time is removed if its occurrence lies in the future, or if the clock alone
  ///    settled it.
  /// 3. Any other record with an implausible time stays, with `now` as its time. A snooze ends now.
  /// 4. A date of completion is at most the present date, or that of the skipped occurrence.
  ///
  /// - Parameters:
  ///   - now: the present time.
  ///   - zone: the zone of the alarm's civil times. If it is nil, only an occurrence that lies in the future in every
  ///     zone counts as a future one.
  public func corrected(at now: Instant, in zone: TimeZoneRules? = nil) -> Progress? {
    let past = now.adding(seconds: -Instant.tolerance)
    // Civil times differ from UTC by up to 14 hours.
    func civil(_ days: Int64) -> CivilDateTime {
      TimeZoneRules.utc.civil(at: now.adding(seconds: days * 86_400))
    }
    let limit = zone.map { $0.civil(at: now) } ?? civil(2)
    var result = self
    if armed.isImplausible(at: now) { result.armed = past }
    if cleared?.isImplausible(at: now) == true { result.cleared = nil }
    if rehearsal?.isImplausible(at: now) == true { result.rehearsal = nil }
    if let completed, completed > limit.date.adding(days: 1) { result.completed = limit.date }
    for (occurrence, record) in occurrences where record.since?.isImplausible(at: now) == true {
      if occurrence > limit || record.isSettledByClock {
        result.occurrences[occurrence] = nil
      } else {
        result.occurrences[occurrence]?.since = now
        if record.state == .snoozed { result.occurrences[occurrence]?.snooze.until = now }
        result.occurrences[occurrence]?.snooze.history.removeAll { $0.at.isImplausible(at: now) }
        if record.revived != nil { result.occurrences[occurrence]?.revived = now }
      }
    }
    // A date of completion postpones the next occurrence.
    for (occurrence, record) in result.occurrences {
      let latest = max(limit.date, occurrence.date)
      if let completed = record.completed, completed > latest.adding(days: 1) {
        result.occurrences[occurrence]?.completed = latest
      }
    }
    // An exhausted cascade implies that the occurrence was due. If it lies in the future, the clock was wrong.
    for (occurrence, record) in result.occurrences
    where occurrence > limit && record.state == .open && record.exhausted {
      result.occurrences[occurrence] = nil
    }
    // The same clock may have raised the floor over occurrences that are due here but not yet elsewhere.
    if let floor, floor >= limit || result != self { result.floor = min(floor, civil(-1)) }
    if result == self { return nil }
    result.generation += 1
    return result
  }
}

/// The record of one occurrence.
public struct OccurrenceRecord: Hashable, Sendable {
  /// The number of explicit reopenings (undo, unskip). In a join, the record with the higher revision wins, whatever
  /// the states are.
  public var revision: Int
  /// The state of the occurrence.
  public var state: State
  /// The time at which the occurrence entered its state; nil if it is unknown.
  public var since: Instant?
  /// The end, number and history of the snoozes.
  public var snooze: Snooze
  /// The number of the latest follow-up that was sent; 0 if none was. After downtime, earlier overdue follow-ups are
  /// left out.
  public var followUps: Int
  /// True if the state was set without a user's action: done because the next occurrence fired, or skipped because of a
  /// pause.
  public var auto: Bool
  /// For `missed`: true if a user dismissed the occurrence.
  public var dismissed: Bool
  /// The time at which undo restored the record after it had been cleared; nil if it was not. A clearing before this
  /// time no longer applies.
  public var revived: Instant?
  /// For an occurrence that was skipped ahead of its time: the stamp of the schedule to which it belonged. The skip
  /// applies only under that schedule.
  public var schedule: Stamp?
  /// For an occurrence that a user did or skipped, of a schedule that follows completions: the date from which the
  /// next period counts, in the alarm's civil time.
  public var completed: CivilDate?
  /// True if every step of the cascade rang without an answer.
  public var exhausted: Bool
  /// For a stopped occurrence of an alarm with a cascade: the device on which it was stopped, which also sends the
  /// follow-ups.
  public var by: Identifier?

  /// The maximum number of snoozes in a record: more than a day of nine-minute snoozes.
  public static let maxSnoozeHistory = 200

  /// The snoozes of an occurrence.
  public struct Snooze: Hashable, Sendable {
    /// For `snoozed`: the time at which the occurrence fires again.
    public var until: Instant?
    /// The number of snoozes.
    public var count: Int
    /// For a snoozed occurrence of an alarm with a cascade: its snoozes, in order. The cascade run is computed from
    /// them.
    public var history: [CascadeRun.Snooze]

    /// Moves the end of an expired snooze to the present, so that the alarm rings again immediately.
    mutating func end(at now: Instant) {
      guard let until, until <= now else { return }
      self.until = now
      let latest = history.indices.max { history[$0].until < history[$1].until }
      if let latest {
        let snooze = history[latest]
        history[latest] = CascadeRun.Snooze(at: snooze.at, until: now, by: snooze.by)
        history.sort(by: CascadeRun.precedes)
      }
    }
  }

  /// The states in ascending rank. In a join, the state with the higher rank wins.
  public enum State: String, CaseIterable, Comparable, Sendable {
    /// Not answered and not settled.
    case open
    /// Not answered before the ring timeout or the grace period ended.
    case missed
    /// Silenced until a later time.
    case snoozed
    /// Stopped but not confirmed.
    case pending
    /// Skipped by a user or by a pause.
    case skipped
    /// Confirmed by a user, or completed automatically.
    case done

    private var rank: Int { State.allCases.firstIndex(of: self) ?? 0 }
    /// Returns true if `a` has a lower rank than `b`.
    public static func < (a: State, b: State) -> Bool { a.rank < b.rank }

    /// True if the occurrence needs no further answer.
    public var isSettled: Bool { self == .missed || self == .skipped || self == .done }
  }

  /// Creates a record from its parts.
  public init(
    _ state: State, revision: Int = 0, since: Instant? = nil, until: Instant? = nil,
    snoozes: Int = 0, followUps: Int = 0, auto: Bool = false, dismissed: Bool = false,
    revived: Instant? = nil, schedule: Stamp? = nil, snoozeHistory: [CascadeRun.Snooze] = [],
    completed: CivilDate? = nil, exhausted: Bool = false, by: Identifier? = nil
  ) {
    self.completed = completed
    snooze = Snooze(until: until, count: snoozes, history: snoozeHistory)
    self.exhausted = exhausted
    self.by = by
    self.state = state
    self.revision = revision
    self.since = since
    self.followUps = followUps
    self.auto = auto
    self.dismissed = dismissed
    self.revived = revived
    self.schedule = schedule
  }

  /// True if the clock alone settled the occurrence: it was missed, or skipped by a pause. An automatic completion does
  /// not count, because a user stopped the occurrence before.
  var isSettledByClock: Bool { state == .missed || (state == .skipped && auto) }

  /// Changes the state.
  ///
  /// A user's change to a state of lower rank is an explicit reopening, which raises `revision`. A change by the clock
  /// does not raise it, because it must not override a user's answer from another device.
  mutating func move(to state: State, at now: Instant, byPerson: Bool = true) {
    if byPerson, state < self.state {
      revision += 1
      exhausted = false
    }
    if state != .snoozed { snooze.history = [] }
    by = nil
    self.state = state
    since = now
    snooze.until = nil
    auto = false
    dismissed = false
    revived = nil
    schedule = nil
    completed = nil
  }
}
