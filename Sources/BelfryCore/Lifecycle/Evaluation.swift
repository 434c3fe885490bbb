/// One alarm's part of a tick.
public struct Evaluation: Hashable, Sendable {
  /// The alarm as it is once the tick is over; its events.
  public var transition: Transition
  /// What is to ring now: at most the current occurrence, and pending ones of a strict alarm.
  public var ledger: [Firing] = []
  /// What is to be asked now.
  public var followUps: [FollowUp] = []
  /// What is to be told now ahead of its time; at most one.
  public var warnings: [Warning] = []
  /// The rehearsal of its cascade that this device is to take part in now: when it was asked for.
  public var rehearsal: Instant?
  /// Who is to be called or sent word now by whichever device can.
  public var callouts: [Callout] = []
  /// Changes of the record that belong to no occurrence.
  public var upkeep: [Upkeep] = []
  /// When the alarm needs the next look; nil when never.
  public var nextWake: Instant?

  /// True if the alarm's record has to be written.
  public var needsCommit: Bool { !transition.events.isEmpty || !upkeep.isEmpty }

  public enum Upkeep: Hashable, Sendable {
    /// A clock that was ahead had settled what has not come.
    case rearmed
    /// The first device of a cascade is in another time zone than the record says.
    case cascadeZone(String)
  }

  public struct Firing: Hashable, Sendable {
    public let occurrence: CivilDateTime
    /// Its time, the end of its snooze, or that of a strict alarm's follow-up.
    public let due: Instant
    /// More than a minute after it was due.
    public let late: Bool
    /// The place in the cascade, the first is 1; 0 when it rings first.
    public let step: Int
    /// Rings here because none of the alarm's own devices is known to be alive.
    public let isStandIn: Bool
  }

  /// A later step whose turn has come, and that is no device of the store.
  public struct Callout: Hashable, Sendable {
    public let occurrence: CivilDateTime
    public let target: CascadeTarget
    /// When its turn came.
    public let due: Instant
    /// Whether it is only rehearsed.
    public let isTest: Bool
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
  /// 7. The first device of a cascade records the time zone that it is in.
  ///
  /// While the devices are in different time zones see `Timeline.comesEverywhere` for the third and the fifth.
  ///
  /// An alarm that rings on other devices only is settled by the same rules, but nobody is told of it here.
  public func evaluate(at now: Instant, settings: Settings, ledger: DeliveryLedger) -> Evaluation {
    var result = Evaluation(transition: Transition(alarm: alarm, events: []))
    if !alarm.enabled || alarm.isDeleted { return result }
    if !settings.tier.confirmsCompletion { result.transition = completingPending(at: now) }
    if isCorrected { result.upkeep.append(.rearmed) }
    let skipped = unsettledByPause(at: now)
    skip(skipped.filter { comesEverywhere($0) <= now }, at: now, in: &result.transition)
    var wakes = [next(after: now)?.at, nextPauseChange(at: now)].compactMap { $0 }
    wakes += skipped.map(comesEverywhere).filter { $0 > now }
    let view = with(result.transition.alarm)
    if let current = view.current(at: now, ledger: ledger) {
      view.supersede(before: current, now: now, in: &result.transition)
      if let later = view.unsettled(before: current, at: now).next { wakes.append(later) }
      if let exhausted = view.noteExhausted(current, at: now, in: &result.transition) {
        wakes.append(exhausted)
      }
      view.callOut(for: current, at: now, in: &result, wakes: &wakes)
      switch view.ringing(current, at: now, settings: settings, ledger: ledger)?.ringing {
      case .toRing(let due):
        result.ledger.append(
          Evaluation.Firing(
            current.civil, due: due, now: now, step: view.step(of: current),
            isStandIn: view.role == .standIn))
        if !alarm.delivery.persistent { wakes.append(now.adding(seconds: settings.ringTimeout)) }
      case .ringing(let until):
        if let until { wakes.append(until) }
        if let silence = view.silenceElsewhere(after: now) { wakes.append(silence) }
      case .snoozed(let until), .unheard(let until), .waiting(let until):
        wakes.append(until)
      case .missed:
        if let later = mayBeMissed(current.civil, settings: settings), now < later {
          wakes.append(later)
          break
        }
        let isExhausted =
          result.transition.alarm.progress.occurrences[current.civil]?.exhausted == true
        with(result.transition.alarm).settle(
          current.civil, as: .missed, now: now,
          detail: isExhausted ? "the whole cascade was unanswered" : nil, in: &result.transition)
      case nil: break
      }
    }
    let rest = with(result.transition.alarm)
    rest.rehearse(at: now, ledger: ledger, in: &result, wakes: &wakes)
    if ringsHere {
      let (warning, next) = rest.warnings(at: now, ledger: ledger)
      result.warnings = [warning].compactMap { $0 }
      if let next { wakes.append(next) }
    }
    rest.ask(at: now, settings: settings, ledger: ledger, in: &result, wakes: &wakes)
    if !result.transition.events.isEmpty { compact(&result.transition, now: now) }
    with(result.transition.alarm).recordZone(at: now, in: &result)
    result.nextWake = wakes.min()
    return result
  }

  /// The place of this device in the cascade of an occurrence.
  private func step(of current: Occurrence) -> Int {
    cascadeRun(of: current.civil).flatMap { ownStep(in: $0) } ?? 0
  }

  /// The time at which this device evaluates again an alarm of other devices: once none of them is known to be alive,
  /// it rings here.
  private func silenceElsewhere(after now: Instant) -> Instant? {
    guard !ringsHere, let deviceContext else { return nil }
    let plan = alarm.cascade?.plan
    return alarm.silence(deviceContext, plan?.isActive == true ? plan : nil)
      .flatMap { $0 > now && $0 < .distantFuture ? $0 : nil }
  }

  /// Finds the later steps whose turn has come and that are no devices of the store.
  private func callOut(
    for current: Occurrence, at now: Instant, in result: inout Evaluation, wakes: inout [Instant]
  ) {
    guard let cascadeRun = cascadeRun(of: current.civil), cascadeRun.ended == nil,
      let plan = alarm.cascadePlan(at: cascadeRun.due)
    else { return }
    for (index, target) in plan.targets.enumerated() where target.isRemote {
      if let turn = cascadeRun.turn(of: index + 1, at: now) {
        if let end = quietEnd(for: current, due: turn.at, at: now) {
          wakes.append(end)
          continue
        }
        result.callouts.append(
          Evaluation.Callout(
            occurrence: current.civil, target: target, due: turn.at, isTest: false))
      } else if let next = cascadeRun.next(of: index + 1, after: now) {
        wakes.append(next.at)
      }
    }
  }

  /// Finds what is to be rehearsed.
  private func rehearse(
    at now: Instant, ledger: DeliveryLedger, in result: inout Evaluation, wakes: inout [Instant]
  ) {
    guard isRehearsing(at: now), let asked = alarm.progress.rehearsal,
      let plan = alarm.cascadePlan(at: now)
    else { return }
    result.rehearsal = rehearsal(at: now, ledger: ledger)
    let key = Timeline.rehearsalKey(asked)
    if let told = ledger[DeliveryLedger.Key(alarm: alarm.id, occurrence: key)] {
      let end = told.at.adding(seconds: Timeline.rehearsalLength)
      if end > now { wakes.append(end) }
    }
    result.callouts += plan.targets.filter(\.isRemote).map {
      Evaluation.Callout(occurrence: key, target: $0, due: asked, isTest: true)
    }
  }

  /// The fourth rule of `evaluate`.
  private func ask(
    at now: Instant, settings: Settings, ledger: DeliveryLedger, in result: inout Evaluation,
    wakes: inout [Instant]
  ) {
    for civil in occurrences(in: .pending) {
      guard var record = record(of: civil) else { continue }
      let outlook = followUps(
        of: civil, record, at: now, settings: settings,
        ledger: alarm.delivery.strict ? nil : ledger)
      if let next = outlook.next { wakes.append(next) }
      if let retry = ledger[DeliveryLedger.Key(alarm: alarm.id, occurrence: civil)]?
        .nextAttempt(after: now)
      {
        wakes.append(retry)
      }
      // Where it has not come nobody knows what is asked for.
      guard hasCome(civil, at: now, ledger: ledger) else {
        wakes.append(occurrence(civil).at)
        continue
      }
      guard asks(about: civil, record), let overdue = outlook.overdue else { continue }
      guard
        let again = reringing(of: civil, record, at: now, settings: settings, ledger: ledger)
      else {
        result.followUps.append(overdue)
        continue
      }
      let followUp = again.followUp
      switch again.ringing {
      case .toRing(let due):
        result.ledger.append(Evaluation.Firing(civil, due: due, now: now))
        if !alarm.delivery.persistent { wakes.append(now.adding(seconds: settings.ringTimeout)) }
      case .ringing(let until):
        if let until { wakes.append(until) }
      case .snoozed(let until), .unheard(let until), .waiting(let until):
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
  fileprivate init(
    _ occurrence: CivilDateTime, due: Instant, now: Instant, step: Int = 0, isStandIn: Bool = false
  ) {
    self.init(
      occurrence: occurrence, due: due, late: now > due.adding(seconds: 60), step: step,
      isStandIn: isStandIn)
  }
}
