/// A state change of an alarm or of an occurrence, for the log and for messages.
public struct Event: Hashable, Sendable {
  /// The action.
  public let action: LogEntry.Action
  /// The occurrence; nil for an action on the whole alarm.
  public let occurrence: CivilDateTime?
  /// True if the occurrence was completed or skipped without a user's action.
  public let auto: Bool
  /// The facts beyond the action; nil if there are none.
  public let payload: LogPayload?
  /// For `done`: the time of completion that the user gave; nil if it is the time of the action.
  public let effective: Instant?
  /// For `undone`: the log entry that was undone.
  public let undoes: Identifier?
  /// The revision of the occurrence's record at the time of the event.
  public let revision: Int
  /// For `undone`: the restored state of the occurrence.
  public let state: OccurrenceRecord.State?

  /// Creates an event from its parts.
  public init(
    _ action: LogEntry.Action, _ occurrence: CivilDateTime? = nil, auto: Bool = false,
    payload: LogPayload? = nil, effective: Instant? = nil, undoes: Identifier? = nil,
    revision: Int = 0,
    state: OccurrenceRecord.State? = nil
  ) {
    self.action = action
    self.occurrence = occurrence
    self.auto = auto
    self.payload = payload
    self.effective = effective
    self.undoes = undoes
    self.revision = revision
    self.state = state
  }
}

/// An alarm after a transition, with the events to log.
public struct Transition: Hashable, Sendable {
  /// The alarm after the transition.
  public var alarm: Alarm
  /// The events in the order in which they happened.
  public var events: [Event]

  /// Creates a transition from its parts.
  public init(alarm: Alarm, events: [Event]) {
    self.alarm = alarm
    self.events = events
  }
}

extension Timeline {
  /// Returns the record of an occurrence for a person's answer.
  ///
  /// An answer that no longer counts (cleared, or skipped under another schedule) is returned as reopened, so that no
  /// merge restores it over the new answer.
  func writableRecord(of civil: CivilDateTime) -> OccurrenceRecord {
    guard let known = alarm.progress.occurrences[civil] else { return OccurrenceRecord(.open) }
    if known.answer == .open || record(of: civil)?.answer == known.answer { return known }
    var reopened = known.reopened(since: nil)
    reopened.exhausted = false
    return reopened
  }

  /// True if a pending occurrence stays pending when the next one fires.
  var keepsPending: Bool { alarm.delivery.strict || alarm.schedule.followsCompletion }

  /// Settles the occurrences before another one. Unanswered ones are missed; pending ones are done, unless they stay
  /// pending.
  ///
  /// If very many were missed, only the latest get their own records and log entries.
  func supersede(before current: Occurrence, now: Instant, in transition: inout Transition) {
    guard let limit = settlementLimit(before: current, at: now) else { return }
    let open = due(at: current.at).filter { record(of: $0.civil) == nil && !isPaused($0.civil) }
      .map(\.civil)
    let older = { (civils: [CivilDateTime]) in civils.filter { position(of: $0) < limit } }
    let missed = older(open)
    // The floor does not settle moved occurrences.
    let surplus = missed.filter { !isMoved($0) }.dropFirst(maxKept)
    settleSurplus(surplus, at: now, in: &transition)
    let isRecent = { (civil: CivilDateTime) in
      surplus.first.map { civil > $0 || isMoved(civil) } ?? true
    }
    let recent = Set(missed + older(reopened(at: now) + occurrences(in: .snoozed)))
    for civil in inOrder(recent.filter(isRecent)) {
      settle(civil, as: .missed, now: now, in: &transition)
    }
    if keepsPending { return }
    for civil in older(occurrences(in: .pending)).filter(isRecent) {
      settle(civil, as: .done, now: now, in: &transition)
    }
  }

  /// Returns true if an occurrence does not ring at its own time.
  private func isMoved(_ civil: CivilDateTime) -> Bool {
    alarm.progress.moves[civil]?.time != nil
  }

  /// Settles the oldest of very many missed occurrences with one event, by raising the floor. Open and pending
  /// occurrences below the new floor get their own events.
  ///
  /// - Parameter civils: the occurrences, newest first.
  private func settleSurplus(
    _ civils: ArraySlice<CivilDateTime>, at now: Instant, in transition: inout Transition
  ) {
    guard let newest = civils.first, let oldest = civils.last else { return }
    settleAll(upTo: newest, at: now, in: &transition)
    let earlier = LogPayload.EarlierOccurrences(count: civils.count - 1, first: oldest)
    transition.events.append(
      Event(.missed, newest, payload: civils.count > 1 ? .earlier(earlier) : nil))
    transition.alarm.raiseFloor(to: newest, zone, at: now)
  }

  /// Settles the occurrences with unsettled records, up to and including another one, except for moved ones.
  private func settleAll(
    upTo last: CivilDateTime, at now: Instant, in transition: inout Transition
  ) {
    let view = with(transition.alarm)
    let reopened = Set(view.reopened(at: now))
    for civil in transition.alarm.progress.occurrences.keys.sorted()
    where civil <= last && !isMoved(civil) {
      switch view.record(of: civil)?.state {
      case .pending:
        let isDone = !keepsPending
        settle(civil, as: isDone ? .done : .missed, now: now, in: &transition)
      case nil where !reopened.contains(civil): break
      case .snoozed, nil: settle(civil, as: .missed, now: now, in: &transition)
      case .open, .missed, .skipped, .done: break
      }
    }
  }

  /// Returns true if an occurrence up to and including another one is pending or snoozed, or still has to ring.
  private func hasUnsettled(upTo last: CivilDateTime, at now: Instant) -> Bool {
    due(at: now).contains {
      $0.civil <= last && !isMoved($0.civil) && record(of: $0.civil) == nil && !isPaused($0.civil)
    }
      || (reopened(at: now) + occurrences(in: .pending) + occurrences(in: .snoozed))
        .contains { $0 <= last && !isMoved($0) }
  }

  /// Skips unanswered occurrences that came due in a pause.
  ///
  /// If there are very many, only the latest get their own records and log entries, as soon as no earlier occurrence is
  /// unsettled.
  ///
  /// - Parameter occurrences: the occurrences, newest first.
  func skip(_ occurrences: [CivilDateTime], at now: Instant, in transition: inout Transition) {
    // The floor does not settle moved occurrences.
    let surplus = occurrences.filter { !isMoved($0) }.dropFirst(Timeline.maxOccurrences)
    if let newest = surplus.first, let oldest = surplus.last,
      !with(transition.alarm).hasUnsettled(upTo: newest, at: now)
    {
      let earlier = LogPayload.EarlierOccurrences(count: surplus.count - 1, first: oldest)
      transition.events.append(
        Event(
          .skipped, newest, auto: true,
          payload: .skippedByPause(surplus.count > 1 ? earlier : nil)))
      transition.alarm.raiseFloor(to: newest, zone, at: now)
    }
    for civil in occurrences.reversed()
    where surplus.first.map({ civil > $0 || isMoved(civil) }) ?? true {
      settle(civil, as: .skipped, now: now, payload: .skippedByPause(nil), in: &transition)
    }
  }

  /// Settles an occurrence without a user's action: as missed, skipped or done.
  ///
  /// It never raises the revision, because the clock must not override a user's answer from another device. An answer that
  /// this device has doubted counts from then on, so that there is no event.
  ///
  /// - Parameter completed: the date from which the next period counts, of a schedule that follows completions.
  func settle(
    _ civil: CivilDateTime, as state: OccurrenceRecord.State, now: Instant,
    payload: LogPayload? = nil, completed: CivilDate? = nil, in transition: inout Transition
  ) {
    assert(state.isSettled, "the clock decides that an occurrence is missed, skipped or done")
    var record = transition.alarm.progress.occurrences[civil] ?? OccurrenceRecord(.open)
    // An answer that no longer counts was reopened in the log: see the event `unskipped` of an edited schedule.
    let isReopened = record.answer != .open && self.record(of: civil)?.answer != record.answer
    record.automatic[state] = outcome(state, at: now, of: record, civil, completed: completed)
    transition.alarm.progress.occurrences[civil] = record
    if let device, record.isDoubted(by: device) { return }
    let action: LogEntry.Action =
      switch state {
      case .done: .done
      case .skipped: .skipped
      case .open, .missed, .snoozed, .pending: .missed
      }
    transition.events.append(
      Event(
        action, civil, auto: action != .missed, payload: payload,
        revision: record.revision + (isReopened ? 1 : 0)))
  }

  /// Returns the alarm with every pending occurrence completed, for the free tier, which has no pending state.
  public func completingPending(at now: Instant) -> Transition {
    var transition = Transition(alarm: alarm, events: [])
    for civil in occurrences(in: .pending) {
      let stopped = record(of: civil)?.since ?? now
      // A stop on the free tier is a completion.
      settle(
        civil, as: .done, now: now,
        completed: completion(of: .done(at: stopped), to: civil, at: now),
        in: &transition)
    }
    return transition
  }

  /// The minimum number of settled occurrences that stay in the record. A user can undo them, and a device that was
  /// offline can join with them.
  private static let minKeptCount = 4
  /// The minimum age in seconds at which a settled occurrence can leave the record.
  private static let minKeptAge: Int64 = 7 * 86_400
  /// The maximum number of settled occurrences in the record, whatever their age. It keeps the record of an alarm with
  /// many occurrences a day within its size limit after a long downtime.
  static let maxOccurrences = 500
  /// The same maximum for a strict alarm, whose missed and pending occurrences wait for an answer.
  private static let maxWaiting = 2_000

  private var maxKept: Int {
    alarm.delivery.strict ? Timeline.maxWaiting : Timeline.maxOccurrences
  }

  /// Raises the floor over occurrences that were settled long ago.
  ///
  /// The floor passes an open or pending occurrence only if more than `maxWaiting` occurrences have records. Each such
  /// occurrence is then settled with its own event.
  func compact(_ transition: inout Transition, now: Instant) {
    let waiting = transition.alarm.progress.occurrences.keys.filter { !isMoved($0) }.sorted()
      .dropLast(Timeline.maxWaiting)
    if let last = waiting.last {
      settleAll(upTo: last, at: now, in: &transition)
      transition.alarm.raiseFloor(to: last, zone, at: now)
    }
    let alarm = transition.alarm
    let view = with(alarm)
    let records = alarm.progress.occurrences
    // A record that no longer counts needs no answer.
    let settled = records.keys.sorted().prefix { civil in
      guard let record = view.record(of: civil) else { return true }
      // Missed occurrences of a strict alarm wait for an answer.
      if alarm.delivery.strict, record.state == .missed, !record.dismissed { return false }
      return record.state.isSettled
    }.filter { !isMoved($0) }
    let recent = now.adding(seconds: -Timeline.minKeptAge)
    let old = settled.dropLast(Timeline.minKeptCount).prefix { civil in
      zone.instant(of: civil) < recent && records[civil]?.since.map { $0 < recent } ?? true
    }
    let surplus = settled.dropLast(Timeline.maxOccurrences)
    guard let floor = [old.last, surplus.last].compactMap({ $0 }).max() else { return }
    // Every occurrence that is due up to the new floor must be settled: by its record, by `armed`, or by the old floor.
    let isOpen = view.due(at: now).contains {
      $0.civil <= floor && !isMoved($0.civil) && view.record(of: $0.civil) == nil
    }
    if isOpen || view.reopened(at: now).contains(where: { $0 <= floor }) { return }
    transition.alarm.progress.dropOldMoves(upTo: floor, today: zone.civil(at: now).date) {
      view.record(of: $0)?.state.isSettled == true
    }
    transition.alarm.raiseFloor(to: floor, zone, at: now)
  }
}

extension Alarm {
  /// Drops the records up to and including an occurrence, except for the latest completion and those of moved occurrences.
  /// All of these occurrences must be settled.
  fileprivate mutating func raiseFloor(
    to floor: CivilDateTime, _ zone: TimeZoneRules, at now: Instant
  ) {
    let kept = progress.occurrences.filter { civil, _ in
      civil > floor || progress.moves[civil]?.time != nil
    }
    progress.occurrences = progress.occurrences.filter { $0.key <= floor }
    progress.completed = completed(in: zone, at: now)
    progress.floor = max(floor, progress.floor ?? floor)
    progress.occurrences = kept
  }
}
