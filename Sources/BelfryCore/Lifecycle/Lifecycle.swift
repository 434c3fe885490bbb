/// An occurrence that came into a state, for the log and for a person.
public struct Event: Hashable, Sendable {
  public let action: LogEntry.Action
  public let occurrence: CivilDateTime?
  public let auto: Bool
  public let detail: String?
  /// When it was really done, where somebody said so later.
  public let effective: Instant?
  /// Undone: the log entry that no longer counts.
  public let undoes: Identifier?
  /// Which reopening of the occurrence it belongs to: that of its record then.
  public let revision: Int
  /// Undone: what the occurrence is again.
  public let state: OccurrenceRecord.State?

  public init(
    _ action: LogEntry.Action, _ occurrence: CivilDateTime? = nil, auto: Bool = false,
    detail: String? = nil, effective: Instant? = nil, undoes: Identifier? = nil, revision: Int = 0,
    state: OccurrenceRecord.State? = nil
  ) {
    self.action = action
    self.occurrence = occurrence
    self.auto = auto
    self.detail = detail
    self.effective = effective
    self.undoes = undoes
    self.revision = revision
    self.state = state
  }
}

/// An alarm after a transition, and what is to be logged of it.
public struct Transition: Hashable, Sendable {
  public var alarm: Alarm
  /// In the order in which they happened.
  public var events: [Event]

  public init(alarm: Alarm, events: [Event]) {
    self.alarm = alarm
    self.events = events
  }
}

extension Timeline {
  /// What is known of an occurrence, to be changed.
  ///
  /// A record that no longer counts (cleared, or skipped under another schedule) is reopened, so that no
  /// merge brings it back over what comes of it.
  func opened(_ civil: CivilDateTime) -> OccurrenceRecord {
    if let counting = record(of: civil) { return counting }
    guard let stale = alarm.progress.occurrences[civil] else { return OccurrenceRecord(.open) }
    return stale.state == .open ? stale : OccurrenceRecord(.open, revision: stale.revision + 1)
  }

  /// Settles what came before an occurrence: unanswered is missed, pending is done by itself, unless the
  /// alarm is strict. Of very many that were missed only the latest get records and log entries of their own.
  func supersede(before current: Occurrence, now: Instant, in transition: inout Transition) {
    guard let limit = settles(before: current, at: now) else { return }
    let open = due(at: current.at).filter { record(of: $0.civil) == nil && !isPaused($0.civil) }
      .map(\.civil)
    let older = { (civils: [CivilDateTime]) in civils.filter { $0 < limit } }
    let missed = older(open)
    let surplus = missed.dropFirst(mostKept)
    giveUp(surplus, at: now, in: &transition)
    let recent = missed.prefix(mostKept) + older(reopened(at: now) + occurrences(in: .snoozed))
    for civil in Set(recent).sorted() where surplus.first.map({ civil > $0 }) ?? true {
      settle(civil, as: .missed, now: now, in: &transition)
    }
    if alarm.delivery.strict { return }
    for civil in older(occurrences(in: .pending))
    where surplus.first.map({ civil > $0 }) ?? true {
      settle(civil, as: .done, auto: true, now: now, in: &transition)
    }
  }

  /// Settles the oldest of very many missed occurrences by raising the floor over them, with one event for all. What is
  /// open or pending below the new floor is settled with an event of its own.
  ///
  /// - Parameter civils: the newest first.
  private func giveUp(
    _ civils: ArraySlice<CivilDateTime>, at now: Instant, in transition: inout Transition
  ) {
    guard let newest = civils.first, let oldest = civils.last else { return }
    settleAll(upTo: newest, at: now, in: &transition)
    let before = "and \(civils.count - 1) before it, the first on \(oldest.spoken)"
    transition.events.append(
      Event(.missed, newest, detail: civils.count > 1 ? before : nil))
    transition.alarm.progress.raiseFloor(to: newest)
  }

  /// Settles what has a record and waits for somebody, up to an occurrence.
  private func settleAll(
    upTo last: CivilDateTime, at now: Instant, in transition: inout Transition
  ) {
    let view = with(transition.alarm)
    let reopened = Set(view.reopened(at: now))
    for civil in transition.alarm.progress.occurrences.keys.sorted() where civil <= last {
      switch view.record(of: civil)?.state {
      case .pending:
        let isDone = !alarm.delivery.strict
        settle(civil, as: isDone ? .done : .missed, auto: isDone, now: now, in: &transition)
      case nil where !reopened.contains(civil): break
      case .snoozed, nil: settle(civil, as: .missed, now: now, in: &transition)
      case .open, .missed, .skipped, .done: break
      }
    }
  }

  /// Returns true when an occurrence up to one still waits for somebody or has to ring.
  private func hasUnsettled(upTo last: CivilDateTime, at now: Instant) -> Bool {
    due(at: now).contains { $0.civil <= last && record(of: $0.civil) == nil && !isPaused($0.civil) }
      || (reopened(at: now) + occurrences(in: .pending) + occurrences(in: .snoozed))
        .contains { $0 <= last }
  }

  /// Skips what has come due in a pause and nobody has answered. Of very many only the latest get records and log
  /// entries of their own, once nothing before them waits any more.
  ///
  /// - Parameter occurrences: the newest first.
  func skip(_ occurrences: [CivilDateTime], at now: Instant, in transition: inout Transition) {
    let surplus = occurrences.dropFirst(Timeline.mostOccurrences)
    if let newest = surplus.first, let oldest = surplus.last,
      !with(transition.alarm).hasUnsettled(upTo: newest, at: now)
    {
      let before = "paused, and \(surplus.count - 1) before it, the first on \(oldest.spoken)"
      transition.events.append(
        Event(.skipped, newest, auto: true, detail: surplus.count > 1 ? before : "paused"))
      transition.alarm.progress.raiseFloor(to: newest)
    }
    for civil in occurrences.prefix(Timeline.mostOccurrences).reversed() {
      var record = opened(civil)
      record.move(to: .skipped, at: now, byPerson: false)
      record.auto = true
      transition.alarm.progress.occurrences[civil] = record
      transition.events.append(
        Event(.skipped, civil, auto: true, detail: "paused", revision: record.revision))
    }
  }

  /// Ends an occurrence without anybody's word.
  func settle(
    _ civil: CivilDateTime, as state: OccurrenceRecord.State, auto: Bool = false, now: Instant,
    detail: String? = nil, in transition: inout Transition
  ) {
    var record = opened(civil)
    record.move(to: state, at: now, byPerson: false)
    record.auto = auto
    transition.alarm.progress.occurrences[civil] = record
    transition.events.append(
      Event(
        state == .done ? .done : .missed, civil, auto: auto, detail: detail,
        revision: record.revision))
  }

  /// Completes everything pending, as the free tier knows no pending: for a downgrade.
  public func completingPending(at now: Instant) -> Transition {
    var transition = Transition(alarm: alarm, events: [])
    for civil in occurrences(in: .pending) {
      settle(civil, as: .done, auto: true, now: now, in: &transition)
    }
    return transition
  }

  /// How many of the latest settled occurrences stay in the record, and for how long at least, so
  /// that they can be undone, and that a device which was away still finds them to join with.
  private static let keptOccurrences = 4
  private static let keptSeconds: Int64 = 7 * 86_400
  /// The most of them that stay, however recent they are: the record of an alarm that comes many times a day must not
  /// outgrow its limit after a long downtime.
  static let mostOccurrences = 500
  /// The same of a strict alarm, whose missed and pending occurrences wait for somebody's word.
  private static let mostWaiting = 2_000

  private var mostKept: Int {
    alarm.delivery.strict ? Timeline.mostWaiting : Timeline.mostOccurrences
  }

  /// Raises the floor over what was settled long ago. It passes one that is open or pending only where more than
  /// `mostWaiting` have records: each of those is settled with an event of its own.
  func compact(_ transition: inout Transition, now: Instant) {
    let waiting = transition.alarm.progress.occurrences.keys.sorted()
      .dropLast(Timeline.mostWaiting)
    if let last = waiting.last {
      settleAll(upTo: last, at: now, in: &transition)
      transition.alarm.progress.raiseFloor(to: last)
    }
    let alarm = transition.alarm
    let view = with(alarm)
    let records = alarm.progress.occurrences
    // What does not count any more needs nobody either.
    let settled = records.keys.sorted().prefix { civil in
      guard let record = view.record(of: civil) else { return true }
      // A strict alarm's missed ones wait for somebody's word.
      if alarm.delivery.strict, record.state == .missed, !record.dismissed { return false }
      return record.state.isSettled
    }
    let recent = now.adding(seconds: -Timeline.keptSeconds)
    let old = settled.dropLast(Timeline.keptOccurrences).prefix { civil in
      zone.instant(of: civil) < recent && records[civil]?.since.map { $0 < recent } ?? true
    }
    let surplus = settled.dropLast(Timeline.mostOccurrences)
    guard let floor = [old.last, surplus.last].compactMap({ $0 }).max() else { return }
    // Everything due up to the new floor must be settled: the records say so for what they hold, and
    // `armed` or the old floor for the rest.
    let isOpen = view.due(at: now).contains {
      $0.civil <= floor && view.record(of: $0.civil) == nil
    }
    if isOpen || view.reopened(at: now).contains(where: { $0 <= floor }) { return }
    transition.alarm.progress.raiseFloor(to: floor)
  }
}

extension Progress {
  /// Drops what is known of the occurrences up to one: all of them are settled.
  fileprivate mutating func raiseFloor(to floor: CivilDateTime) {
    self.floor = max(floor, self.floor ?? floor)
    occurrences = occurrences.filter { $0.key > floor }
  }
}
