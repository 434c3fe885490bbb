/// The record of one occurrence: the answers of people, and the outcomes that the clock decided.
///
/// ```
/// answer      open ─ missed (dismissed) ─ snoozed ─ pending ─ skipped ─ done
/// automatic          missed ─ skipped ─ done        each names the definition under which it was made
/// ```
///
/// An answer replaces the answers that its device knew of: usually there is one. Answers that two devices gave apart are
/// both kept until a later one replaces them, and the one of the highest rank counts. So an undo takes back its own
/// answer only: one that another device gave meanwhile counts then.
///
/// An automatic outcome never overrides a person's answer to the same occurrence that it did not know of, and counts
/// only under the definition that it names: see `Timeline.record(of:)`.
public struct OccurrenceRecord: Hashable, Sendable {
  /// The number of explicit reopenings (undo, unskip). In a join, the higher revision wins over what the other record has
  /// without a stamp, such as automatic outcomes.
  public var revision: Int
  /// The identity of the answer: its time and its device; nil if it is unknown, as in records of version 0.1.
  public var stamp: Stamp?
  /// The state that a person's latest answer gave the occurrence; `open` if there is none, `missed` if a person dismissed
  /// it.
  public var answer: State
  /// The time at which a person gave the answer, or reopened the occurrence; nil if it is unknown.
  public var answered: Instant?
  /// The other answers, which people gave on devices that did not know of each other, by stamp.
  public var others: [Stamp?: Answered]
  /// The latest answer of each device that the record has seen. An earlier one that the record lacks was replaced.
  public var seen: [Identifier: Stamp]
  /// The outcomes that the clock decided, by state: missed, skipped by a pause, or done because the next occurrence
  /// fired. Usually there is one at most.
  public var automatic: [State: AutomaticOutcome]
  /// The end, number and history of the snoozes.
  public var snooze: Snooze
  /// The number of the latest follow-up that was sent; 0 if none was. After downtime, earlier overdue follow-ups are
  /// left out.
  public var followUps: Int
  /// The time at which undo restored the record after it had been cleared; nil if it was not. A clearing before this
  /// time does not end the occurrence.
  public var revived: Instant?
  /// For an occurrence that was skipped ahead of its time: the stamp of the schedule for which the skip counts. The
  /// occurrence fires after the schedule changes.
  public var schedule: Stamp?
  /// For an answer to an occurrence of a schedule that follows completions: the date from which the next period counts,
  /// in the alarm's civil time.
  public var answerCompleted: CivilDate?
  /// True if every step of the cascade rang without an answer.
  public var exhausted: Bool
  /// For a stopped occurrence of an alarm with a cascade: the device on which it was stopped, which also sends the
  /// follow-ups.
  public var by: Identifier?
  /// The devices by whose clocks the answer was given before the occurrence was due. It does not count on them until
  /// they have rung: see `Timeline.record(of:)`.
  public var doubts: Set<Identifier> = []

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

  /// An answer of a person.
  public struct Answered: Hashable, Sendable {
    /// The state that it gave the occurrence.
    public var state: State
    /// See the properties of the record.
    public var since: Instant?
    /// The end of the snooze.
    public var until: Instant?
    /// The snoozes of an alarm with a cascade.
    public var history: [CascadeRun.Snooze]
    /// See the properties of the record.
    public var revived: Instant?
    /// See the properties of the record.
    public var schedule: Stamp?
    /// See the properties of the record.
    public var completed: CivilDate?
    /// See the properties of the record.
    public var by: Identifier?
    /// See the properties of the record.
    public var doubts: Set<Identifier>

    /// Creates an answer from its parts.
    public init(
      _ state: State, since: Instant? = nil, until: Instant? = nil,
      history: [CascadeRun.Snooze] = [], revived: Instant? = nil, schedule: Stamp? = nil,
      completed: CivilDate? = nil, by: Identifier? = nil, doubts: Set<Identifier> = []
    ) {
      self.state = state
      self.since = since
      self.until = until
      self.history = history
      self.revived = revived
      self.schedule = schedule
      self.completed = completed
      self.by = by
      self.doubts = doubts
    }
  }

  /// The states in ascending rank. In a join, the answer with the higher rank wins.
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
  ///
  /// A state that the clock alone gives becomes an automatic outcome: missed and not dismissed, and skipped or done with
  /// `auto`.
  ///
  /// - Parameter basis: the definition under which the clock decided; nil if it is unknown.
  public init(
    _ state: State, revision: Int = 0, since: Instant? = nil, until: Instant? = nil,
    snoozes: Int = 0, followUps: Int = 0, auto: Bool = false, dismissed: Bool = false,
    revived: Instant? = nil, schedule: Stamp? = nil, snoozeHistory: [CascadeRun.Snooze] = [],
    completed: CivilDate? = nil, exhausted: Bool = false, by: Identifier? = nil,
    basis: AutomaticOutcome.Basis? = nil
  ) {
    let isAutomatic =
      state == .missed ? !dismissed : auto && (state == .skipped || state == .done)
    self.revision = revision
    others = [:]
    seen = [:]
    answer = isAutomatic ? .open : state
    answered = isAutomatic ? nil : since
    answerCompleted = isAutomatic ? nil : completed
    automatic =
      isAutomatic
      ? [
        state: AutomaticOutcome(since: since, basis: basis, until: until, completed: completed)
      ] : [:]
    snooze = Snooze(
      until: isAutomatic ? nil : until, count: snoozes, history: isAutomatic ? [] : snoozeHistory)
    self.followUps = followUps
    self.exhausted = exhausted
    self.by = isAutomatic ? nil : by
    self.revived = isAutomatic ? nil : revived
    self.schedule = isAutomatic ? nil : schedule
  }

  /// The automatic outcome of the highest rank; nil if there is none.
  private var outcome: (state: State, outcome: AutomaticOutcome)? {
    automatic.max { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// Returns the automatic outcome of the highest rank that counts under a definition, or else the one of the highest
  /// rank; nil if there is none.
  ///
  /// - Parameter fields: the stamps of the alarm's fields.
  public func outcome(
    under fields: [Alarm.Field: Stamp]
  ) -> (state: State, outcome: AutomaticOutcome)? {
    let counting = automatic.filter { state, outcome in
      outcome.unseenEdits(state, fields, nil, at: nil).isEmpty
    }
    return counting.max { $0.key < $1.key }.map { ($0.key, $0.value) } ?? outcome
  }

  /// The state of the occurrence, if its automatic outcomes count.
  public var state: State { outcome?.state ?? answer }
  /// The time at which the occurrence entered its state; nil if it is unknown.
  public var since: Instant? { outcome.map(\.outcome.since) ?? answered }
  /// True if the state was set without a user's action: done because the next occurrence fired, or skipped because of a
  /// pause.
  public var auto: Bool { outcome.map { $0.state != .missed } ?? false }
  /// True if a user dismissed the missed occurrence.
  public var dismissed: Bool { automatic.isEmpty && answer == .missed }
  /// The date from which the next period counts; nil if the schedule does not follow completions.
  public var completed: CivilDate? { outcome.map(\.outcome.completed) ?? answerCompleted }
  /// True if the record says no more than a missing one.
  var isEmpty: Bool { self == OccurrenceRecord(.open) }

  /// Returns the record without the decisions of the clock.
  var answersOnly: OccurrenceRecord {
    var result = self
    result.automatic = [:]
    result.exhausted = false
    return result
  }

  /// Returns the record with one of its automatic outcomes, or with none.
  func keeping(_ state: State?) -> OccurrenceRecord {
    var result = self
    result.automatic = automatic.filter { $0.key == state }
    return result
  }

  /// Returns the record as if no person had answered, with its automatic outcomes.
  var unanswered: OccurrenceRecord {
    var result = OccurrenceRecord(
      .open, revision: revision, snoozes: snooze.count, followUps: followUps, exhausted: exhausted)
    result.automatic = automatic
    result.seen = seen
    return result
  }

  /// True if a person, or an action of one, has opened the occurrence again.
  public var isReopened: Bool { answer == .open && revision > 0 }

  /// Returns the record opened again, without its automatic outcomes.
  ///
  /// - Parameter since: the time from which the reopening counts; nil for none.
  func reopened(since: Instant?) -> OccurrenceRecord {
    var result = unanswered
    result.revision += 1
    result.automatic = [:]
    result.answered = since
    return result
  }

  /// Changes the state by a person's answer, which replaces all earlier ones.
  ///
  /// An answer of lower rank than the earlier one is an explicit reopening, which raises `revision`.
  ///
  /// - Parameter device: the device on which the answer is given; nil for an answer without an identity.
  mutating func move(to state: State, at now: Instant, on device: Identifier?) {
    if state < answer {
      revision += 1
      exhausted = false
    }
    let history = state == .snoozed ? snooze.history : []
    replace(by: Answered(state, since: now, history: history), at: now, on: device)
    automatic = [:]
  }
}

// MARK: Answers

extension OccurrenceRecord {
  /// The answer that counts among those of people.
  public var given: Answered {
    get {
      Answered(
        answer, since: answered, until: snooze.until, history: snooze.history, revived: revived,
        schedule: schedule, completed: answerCompleted, by: by, doubts: doubts)
    }
    set {
      answer = newValue.state
      answered = newValue.since
      snooze.until = newValue.until
      snooze.history = newValue.history
      revived = newValue.revived
      schedule = newValue.schedule
      answerCompleted = newValue.completed
      by = newValue.by
      doubts = newValue.doubts
    }
  }

  /// All answers by stamp.
  public var answers: [Stamp?: Answered] {
    get {
      var all = others
      if stamp != nil || given != Answered(.open) { all[stamp] = given }
      return all
    }
    set {
      others = newValue
      let best = newValue.max { Answered.counts($0, $1) }
      stamp = best?.key
      given = best?.value ?? Answered(.open)
      if let best { others[best.key] = nil }
      assert(
        others.values.allSatisfy { $0.state <= answer }, "the answer of the highest rank counts")
    }
  }

  /// Replaces all answers by another one.
  public mutating func replace(by given: Answered, at now: Instant, on device: Identifier?) {
    others = [:]
    stamp = device.map { device in
      Stamp.next(after: seen.values.max(), now: now, device: device)
    }
    if let stamp { seen[stamp.device] = stamp }
    self.given = given
    doubts = []
  }

  /// Returns true if a device doubts one of the answers.
  func isDoubted(by device: Identifier) -> Bool {
    answers.values.contains { $0.doubts.contains(device) }
  }

  /// The record for readers: with the answers of the same state joined into one.
  var folded: OccurrenceRecord {
    if others.isEmpty { return self }
    var result = self
    result.given = others.values.filter { $0.state == answer }.reduce(given, Answered.join)
    result.others = [:]
    return result
  }

  /// Joins the answers of two records.
  ///
  /// An answer that only one of them has stays unless the other has seen it, and so has replaced it. Of answers without
  /// a stamp, those with the higher revision stay.
  static func joinedAnswers(_ a: OccurrenceRecord, _ b: OccurrenceRecord) -> [Stamp?: Answered] {
    let (ours, theirs) = (a.answers, b.answers)
    var result: [Stamp?: Answered] = [:]
    func isReplaced(_ stamp: Stamp?, in other: OccurrenceRecord, _ revision: Int) -> Bool {
      guard let stamp else { return revision < other.revision }
      return other.seen[stamp.device].map { stamp <= $0 } ?? false
    }
    for (stamp, one) in ours {
      if let two = theirs[stamp], stamp != nil || a.revision == b.revision {
        result[stamp] = Answered.join(one, two)
      } else if !isReplaced(stamp, in: b, a.revision) {
        result[stamp] = one
      }
    }
    for (stamp, two) in theirs where result[stamp] == nil && ours[stamp] == nil || stamp == nil {
      if result[stamp] == nil, !isReplaced(stamp, in: a, b.revision) { result[stamp] = two }
    }
    return result
  }
}

extension OccurrenceRecord.Answered {
  /// Joins two answers of the same identity, or of the same state: the higher rank, and between equal ranks the earliest
  /// `since` with its `by`, the latest `until`, `revived` and `schedule`, the earliest `completed`, and the union of the
  /// snoozes and doubts.
  static func join(_ a: Self, _ b: Self) -> Self {
    if a.state != b.state { return a.state > b.state ? a : b }
    var result = a
    result.doubts.formUnion(b.doubts)
    result.since = [a.since, b.since].compactMap { $0 }.min()
    result.by = [a, b].filter { $0.since == result.since }.compactMap(\.by).min()
    result.history =
      a.history == b.history
      ? a.history : Array(Set(a.history + b.history)).sorted(by: CascadeRun.precedes)
    result.until = [a.until, b.until].compactMap { $0 }.max()
    result.schedule = [a.schedule, b.schedule].compactMap { $0 }.max()
    result.completed = [a.completed, b.completed].compactMap { $0 }.min()
    result.revived = [a.revived, b.revived].compactMap { $0 }.max()
    return result
  }

  /// Returns true if the second one of two answers counts: the one of the higher rank, then the earlier one.
  fileprivate static func counts(
    _ a: (key: Stamp?, value: Self), _ b: (key: Stamp?, value: Self)
  ) -> Bool {
    if a.value.state != b.value.state { return a.value.state < b.value.state }
    guard let one = a.key else { return false }
    guard let two = b.key else { return true }
    return one > two
  }
}
