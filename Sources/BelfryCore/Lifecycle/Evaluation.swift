/// One alarm's part of a tick.
public struct Evaluation: Hashable, Sendable {
  /// The alarm as it is once the tick is over; its events.
  public var transition: Transition
  /// What is to ring now: at most the current occurrence, and pending ones of a strict alarm.
  public var firings: [Firing] = []
  /// What is to be asked now.
  public var followUps: [FollowUp] = []
  /// What is to be told now ahead of its time; at most one.
  public var warnings: [Warning] = []
  /// When the alarm needs the next look; nil when never.
  public var nextWake: Instant?

  public struct Firing: Hashable, Sendable {
    public let occurrence: CivilDateTime
    /// Its time, the end of its snooze, or that of a strict alarm's follow-up.
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
  /// 3. Older unanswered ones are missed; older pending ones are done, marked `auto`, unless the alarm
  ///    is strict. On the free tier every pending one is.
  /// 4. What stays pending asks as its follow-ups come due, or rings again if the alarm is strict: the
  ///    latest that is overdue, and none of those before it.
  /// 5. What comes due in a pause is skipped.
  /// 6. Of what is to come the latest warning that is due is given.
  ///
  /// An alarm that rings on other devices only is settled by the same rules, but nobody is told of it here.
  public func evaluate(at now: Instant, settings: Settings, firings: Firings) -> Evaluation {
    var result = Evaluation(transition: Transition(alarm: alarm, events: []))
    if !alarm.enabled || alarm.isDeleted { return result }
    if !settings.tier.confirmsCompletion { result.transition = completingPending(at: now) }
    skipPaused(at: now, in: &result.transition)
    var wakes = [next(after: now)?.at, nextPauseChange(at: now)].compactMap { $0 }
    let view = with(result.transition.alarm)
    if let current = view.current(at: now) {
      view.supersede(before: current, now: now, in: &result.transition)
      switch view.ringing(current, at: now, settings: settings, firings: firings)?.ringing {
      case .toRing(let due):
        result.firings.append(Evaluation.Firing(current.civil, due: due, now: now))
        if !alarm.delivery.persistent { wakes.append(now.adding(seconds: settings.ringTimeout)) }
      case .ringing(let until):
        if let until { wakes.append(until) }
      case .snoozed(let until), .unheard(let until):
        wakes.append(until)
      case .missed:
        view.settle(current.civil, as: .missed, now: now, in: &result.transition)
      case nil: break
      }
    }
    let rest = with(result.transition.alarm)
    if ringsHere {
      let (warning, next) = rest.warnings(at: now, firings: firings)
      result.warnings = [warning].compactMap { $0 }
      if let next { wakes.append(next) }
    }
    rest.ask(at: now, settings: settings, firings: firings, in: &result, wakes: &wakes)
    if !result.transition.events.isEmpty { compact(&result.transition.alarm, now: now) }
    result.nextWake = wakes.min()
    return result
  }

  /// The fourth rule of `evaluate`.
  private func ask(
    at now: Instant, settings: Settings, firings: Firings, in result: inout Evaluation,
    wakes: inout [Instant]
  ) {
    for civil in occurrences(in: .pending) {
      guard var record = record(of: civil) else { continue }
      let outlook = followUps(
        of: civil, record, at: now, settings: settings,
        firings: alarm.delivery.strict ? nil : firings)
      if let next = outlook.next { wakes.append(next) }
      if let retry = firings[Firings.Key(alarm: alarm.id, occurrence: civil)]?
        .nextAttempt(after: now)
      {
        wakes.append(retry)
      }
      guard ringsHere, let overdue = outlook.overdue else { continue }
      guard
        let again = reringing(of: civil, record, at: now, settings: settings, firings: firings)
      else {
        result.followUps.append(overdue)
        continue
      }
      let followUp = again.followUp
      switch again.ringing {
      case .toRing(let due):
        result.firings.append(Evaluation.Firing(civil, due: due, now: now))
        if !alarm.delivery.persistent { wakes.append(now.adding(seconds: settings.ringTimeout)) }
      case .ringing(let until):
        if let until { wakes.append(until) }
      case .snoozed(let until), .unheard(let until):
        wakes.append(until)
      case .missed:
        record.followUps = followUp.number
        result.transition.alarm.progress.occurrences[civil] = record
        result.transition.events.append(
          Event(
            .reminded, civil, detail: "\(followUp.number) of \(followUp.count), unanswered",
            revision: record.revision))
      }
    }
  }
}

extension Evaluation.Firing {
  fileprivate init(_ occurrence: CivilDateTime, due: Instant, now: Instant) {
    self.init(occurrence: occurrence, due: due, late: now > due.adding(seconds: 60))
  }
}
