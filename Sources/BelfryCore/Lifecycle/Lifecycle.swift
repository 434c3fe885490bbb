/// What a person answers to an occurrence.
public enum Answer: Hashable, Sendable {
  case stop
  case done
  /// Fires again after so many seconds.
  case snooze(seconds: Int64)

  /// `stop`, `done`, `snooze`.
  public var verb: String {
    switch self {
    case .stop: "stop"
    case .done: "done"
    case .snooze: "snooze"
    }
  }
}

/// Why an action is not possible.
public enum LifecycleError: Error, Equatable, Sendable {
  /// The alarm is in a state that the action does not start from.
  case notPossible(AlarmStatus.State, next: CivilDateTime?)
}

/// An occurrence that came into a state, for the log and for a person.
public struct Event: Hashable, Sendable {
  public let action: LogEntry.Action
  public let occurrence: CivilDateTime?
  public let auto: Bool
  public let detail: String?

  public init(
    _ action: LogEntry.Action, _ occurrence: CivilDateTime? = nil, auto: Bool = false,
    detail: String? = nil
  ) {
    self.action = action
    self.occurrence = occurrence
    self.auto = auto
    self.detail = detail
  }
}

/// An alarm after a transition, and what is to be logged of it.
public struct Transition: Hashable, Sendable {
  public var alarm: Alarm
  public var events: [Event]
}

/// One alarm's part of a tick.
public struct Evaluation: Hashable, Sendable {
  /// The alarm as it is once the tick is over; its events.
  public var transition: Transition
  /// What is to ring now.
  public var firing: Firing?
  /// When the alarm needs the next look; nil when never.
  public var nextWake: Instant?

  public struct Firing: Hashable, Sendable {
    public let occurrence: CivilDateTime
    /// Its time, or the end of its snooze.
    public let due: Instant
    /// More than a minute after it was due.
    public let late: Bool
  }
}

extension Timeline {
  /// What the clock alone does to the alarm.
  ///
  /// 1. The latest occurrence that is due and unanswered rings, if this device has not rung for it and
  ///    it is due for no longer than the grace.
  /// 2. One that has rung for the ring time-out is missed, unless the alarm is persistent.
  /// 3. Older unanswered ones are missed; older pending ones are done, marked `auto`.
  public func evaluate(at now: Instant, settings: Settings, firings: Firings) -> Evaluation {
    var result = Evaluation(transition: Transition(alarm: alarm, events: []))
    if !alarm.enabled || alarm.isDeleted { return result }
    var wakes = [next(after: now)?.at].compactMap { $0 }
    if let current = self.current(at: now) {
      supersede(before: current, now: now, in: &result.transition)
      let known = self.record(of: current.civil)
      if known == nil || known?.state == .snoozed {
        switch Ringing(
          current, record: known, alarm: alarm, now: now, settings: settings, firings: firings)
        {
        case .toRing(let due):
          result.firing = Evaluation.Firing(
            occurrence: current.civil, due: due, late: now > due.adding(seconds: 60))
          if !alarm.delivery.persistent { wakes.append(now.adding(seconds: settings.ringTimeout)) }
        case .ringing(let until):
          if let until { wakes.append(until) }
        case .snoozed(let until):
          wakes.append(until)
        case .missed:
          settle(current.civil, as: .missed, now: now, in: &result.transition)
        }
      }
    }
    if !result.transition.events.isEmpty { compact(&result.transition.alarm, now: now) }
    result.nextWake = wakes.min()
    return result
  }

  /// What a person's answer does to the alarm.
  ///
  /// | answer | from | to |
  /// |---|---|---|
  /// | stop | ringing, snoozed | pending; on the free tier done |
  /// | done | ringing, snoozed, pending, missed | done |
  /// | snooze | ringing, snoozed | snoozed, fires again after the delay |
  ///
  /// Throws `LifecycleError.notPossible` from any other state.
  public func answer(
    _ answer: Answer, at now: Instant, settings: Settings, firings: Firings
  ) throws(LifecycleError) -> Transition {
    let status = self.status(at: now, settings: settings, firings: firings)
    let refusal = LifecycleError.notPossible(status.state, next: status.next?.civil)
    var transition = Transition(alarm: alarm, events: [])
    let isOpen = status.state == .ringing || status.state == .snoozed
    let target: CivilDateTime? =
      if isOpen { status.current } else if answer == .done {
        status.pending.last?.occurrence ?? (status.state == .missed ? status.current : nil)
      } else { nil }
    guard let target, status.state != .disabled else { throw refusal }
    if isOpen { supersede(before: occurrence(target), now: now, in: &transition) }

    var record = transition.alarm.progress.occurrences[target] ?? OccurrenceRecord(.open)
    record.since = now
    record.until = nil
    switch answer {
    case .snooze(let seconds):
      record.state = .snoozed
      record.until = now.adding(seconds: seconds)
      record.snoozes += 1
      transition.events.append(
        Event(.snoozed, target, detail: "until \(now.adding(seconds: seconds))"))
    case .stop where settings.tier != .free:
      record.state = .pending
      transition.events.append(Event(.stopped, target))
    case .stop, .done:
      record.state = .done
      record.auto = false
      transition.events.append(Event(.done, target))
    }
    transition.alarm.progress.occurrences[target] = record
    compact(&transition.alarm, now: now)
    return transition
  }

  /// Settles what came before an occurrence: unanswered is missed, pending is done by itself.
  private func supersede(
    before current: Occurrence, now: Instant, in transition: inout Transition
  ) {
    let open = due(at: current.at).filter {
      $0.civil < current.civil && record(of: $0.civil) == nil
    }
    let older = { (civils: [CivilDateTime]) in civils.filter { $0 < current.civil } }
    for civil in (open.map(\.civil) + older(occurrences(in: .snoozed))).sorted() {
      settle(civil, as: .missed, now: now, in: &transition)
    }
    for civil in older(occurrences(in: .pending)) {
      settle(civil, as: .done, auto: true, now: now, in: &transition)
    }
  }

  private func settle(
    _ civil: CivilDateTime, as state: OccurrenceRecord.State, auto: Bool = false, now: Instant,
    in transition: inout Transition
  ) {
    var record = transition.alarm.progress.occurrences[civil] ?? OccurrenceRecord(.open)
    record.state = state
    record.since = now
    record.until = nil
    record.auto = auto
    transition.alarm.progress.occurrences[civil] = record
    transition.events.append(Event(state == .done ? .done : .missed, civil, auto: auto))
  }

  /// How many of the latest settled occurrences stay in the record, and for how long at least, so
  /// that they can be undone, and that a device which was away still finds them to join with.
  private static let keptOccurrences = 4
  private static let keptSeconds: Int64 = 7 * 86_400

  /// Raises the floor over what was settled long ago. It never passes one that is open or pending.
  private func compact(_ alarm: inout Alarm, now: Instant) {
    let records = alarm.progress.occurrences
    let settled = records.keys.sorted()
      .prefix { records[$0]?.state.isSettled ?? false }
    let old = settled.dropLast(Timeline.keptOccurrences).prefix { civil in
      zone.instant(of: civil) < now.adding(seconds: -Timeline.keptSeconds)
    }
    guard let floor = old.last else { return }
    // Everything due up to the new floor must be settled: the records say so for what they hold, and
    // `armed` or the old floor for the rest.
    let below = due(at: now).filter { $0.civil <= floor && records[$0.civil] == nil }
    guard below.isEmpty else { return }
    alarm.progress.floor = max(floor, alarm.progress.floor ?? floor)
    alarm.progress.occurrences = records.filter { $0.key > floor }
  }
}
