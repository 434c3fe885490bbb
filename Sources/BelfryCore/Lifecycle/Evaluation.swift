/// The result of a tick for one alarm.
public struct Evaluation: Hashable, Sendable {
  /// The alarm after the tick, with the events to log.
  public var transition: Transition
  /// The occurrences to ring now: at most the current one, and pending ones of a strict alarm.
  public var firings: [Firing] = []
  /// The follow-ups to send now.
  public var followUps: [FollowUp] = []
  /// The advance warnings to send now, at most one.
  public var warnings: [Warning] = []
  /// The request time of the rehearsal that this device has to join now; nil if there is none.
  public var rehearsal: Instant?
  /// The calls and messages of the cascade that are due now. Any capable device can make them.
  public var callouts: [Callout] = []
  /// The changes of the record that belong to no occurrence.
  public var corrections: [Correction] = []
  /// The time of the next evaluation; nil if never.
  public var nextWake: Instant?

  /// True if the alarm's record has to be written.
  public var needsCommit: Bool { !transition.events.isEmpty || !corrections.isEmpty }

  /// A change of the record that belongs to no occurrence.
  public enum Correction: Hashable, Sendable {
    /// A clock that was ahead had settled future occurrences; this is corrected.
    case rearmed
    /// An occurrence has rung although it was answered by a clock that differs from this device's. The answer counts.
    case answerAccepted
    /// The primary device of the cascade is in another zone than the recorded one. The payload is its zone name.
    case cascadeZone(String)
  }

  /// An occurrence to ring.
  public struct Firing: Hashable, Sendable {
    /// The occurrence.
    public let occurrence: CivilDateTime
    /// The due time: that of the occurrence, the end of the quiet hours or of its snooze, or that of a strict alarm's
    /// follow-up.
    public let due: Instant
    /// True if the occurrence has been due for more than a minute, or has waited for the end of quiet hours.
    public let late: Bool
    /// The step of this device in the cascade, starting at 1; 0 if it rings at the alarm's time.
    public let step: Int
    /// True if this device rings because none of the alarm's own devices is known to be alive.
    public let isStandIn: Bool
  }
}

extension Timeline {
  /// Returns the effects of the clock on the alarm.
  ///
  /// 1. The latest due and unanswered occurrence rings if this device has not rung for it, and if it has been due for
  ///    no longer than the grace period.
  /// 2. An occurrence that has rung for the ring timeout is missed, unless the alarm is persistent.
  /// 3. Older unanswered occurrences are missed. Older pending ones are done, marked `auto`, unless the alarm is
  ///    strict or follows completions. On the free tier, every pending occurrence is done.
  /// 4. The remaining pending occurrences send their follow-ups, or ring again if the alarm is strict. Of several
  ///    overdue follow-ups, only the latest is sent.
  /// 5. Occurrences that come due in a pause are skipped.
  /// 6. Of the advance warnings that are due, the latest is sent.
  /// 7. The primary device of a cascade records its time zone.
  ///
  /// If devices are in different time zones, `Timeline.dueEverywhere` delays rules 3 and 5.
  ///
  /// An alarm that rings only on other devices is settled by the same rules, but this device delivers nothing.
  public func evaluate(at now: Instant, settings: Settings, ledger: DeliveryLedger) -> Evaluation {
    var result = Evaluation(transition: Transition(alarm: alarm, events: []))
    if !alarm.enabled || alarm.isDeleted { return result }
    if !settings.tier.confirmsCompletion { result.transition = completingPending(at: now) }
    if isCorrected { result.corrections.append(.rearmed) }
    let skipped = unsettledByPause(at: now)
    skip(skipped.filter { dueEverywhere($0) <= now }, at: now, in: &result.transition)
    var wakes = [next(after: now)?.at, nextPauseChange(at: now)].compactMap { $0 }
    wakes += skipped.map(dueEverywhere).filter { $0 > now }
    let view = with(result.transition.alarm)
    if let current = view.current(at: now, ledger: ledger) {
      view.supersede(before: current, now: now, in: &result.transition)
      if let later = view.unsettled(before: current, at: now).next { wakes.append(later) }
      if let exhausted = view.recordExhaustion(
        current, at: now, ledger: ledger, in: &result.transition)
      {
        wakes.append(exhausted)
      }
      view.addCallouts(for: current, at: now, ledger: ledger, in: &result, wakes: &wakes)
      switch view.ringing(current, at: now, settings: settings, ledger: ledger)?.ringing {
      case .toRing(let due):
        result.firings.append(
          Evaluation.Firing(
            current.civil, due: due, now: now, step: view.step(of: current, ledger),
            isStandIn: view.role == .standIn,
            isDelayed: view.quietEnd(of: current.civil, ledger: ledger) != nil))
        if !alarm.delivery.persistent { wakes.append(now.adding(seconds: settings.ringTimeout)) }
      case .ringing(let until):
        if let until { wakes.append(until) }
        if let silence = view.silenceElsewhere(after: now) { wakes.append(silence) }
      case .snoozed(let until), .undelivered(let until), .waiting(let until):
        wakes.append(until)
      case .missed:
        if let later = earliestMiss(of: current.civil, settings: settings), now < later {
          wakes.append(later)
          break
        }
        let isExhausted =
          result.transition.alarm.progress.occurrences[current.civil]?.exhausted == true
        with(result.transition.alarm).settle(
          current.civil, as: .missed, now: now,
          payload: isExhausted ? .exhaustedCascade : nil, in: &result.transition)
        result.callouts.removeAll { $0.occurrence == current.civil }
      case nil: break
      }
    }
    let updated = with(result.transition.alarm)
    updated.addRehearsal(at: now, ledger: ledger, in: &result, wakes: &wakes)
    if ringsHere {
      let (warning, next) = updated.warnings(at: now, ledger: ledger)
      result.warnings = [warning].compactMap { $0 }
      if let next { wakes.append(next) }
    }
    updated.addFollowUps(at: now, settings: settings, ledger: ledger, in: &result, wakes: &wakes)
    if !result.transition.events.isEmpty {
      compact(&result.transition, now: now)
    } else if result.transition.alarm.progress != alarm.progress {
      result.corrections.append(.answerAccepted)
    }
    with(result.transition.alarm).recordZone(at: now, in: &result)
    result.nextWake = wakes.min()
    assert(
      Set(result.firings.map(\.occurrence)).count == result.firings.count,
      "an occurrence rings once")
    return result
  }

  /// Returns the step of this device in the cascade of an occurrence; 0 if there is none.
  private func step(of current: Occurrence, _ ledger: DeliveryLedger) -> Int {
    cascadeRun(of: current.civil, ledger: ledger).flatMap { ownStep(in: $0) } ?? 0
  }

  /// Returns the time at which this device has to evaluate an alarm of other devices again: it rings here once none of
  /// them is known to be alive.
  private func silenceElsewhere(after now: Instant) -> Instant? {
    guard !ringsHere, let deviceContext else { return nil }
    let plan = alarm.cascade?.plan
    return alarm.silence(deviceContext, plan?.isActive == true ? plan : nil)
      .flatMap { $0 > now && $0 < .distantFuture ? $0 : nil }
  }

  /// Adds the cascade steps whose turn has come and whose targets are not devices of the store.
  private func addCallouts(
    for current: Occurrence, at now: Instant, ledger: DeliveryLedger, in result: inout Evaluation,
    wakes: inout [Instant]
  ) {
    guard let cascadeRun = cascadeRun(of: current.civil, ledger: ledger), cascadeRun.ended == nil,
      let plan = alarm.cascadePlan(at: cascadeRun.due)
    else { return }
    for (index, target) in plan.targets.enumerated() where target.isRemote {
      if let turn = cascadeRun.turn(of: index + 1, at: now) {
        let subject = Callout.Subject.occurrence(
          id(of: current.civil), resumed: resumption(of: current.civil, cascadeRun, at: now))
        result.callouts.append(Callout(subject, target, due: turn.at))
      } else if let next = cascadeRun.next(of: index + 1, after: now) {
        wakes.append(next.at)
      }
    }
  }

  /// Adds the rehearsal of the cascade.
  private func addRehearsal(
    at now: Instant, ledger: DeliveryLedger, in result: inout Evaluation, wakes: inout [Instant]
  ) {
    guard isRehearsing(at: now), let requested = alarm.progress.rehearsal,
      let plan = alarm.cascadePlan(at: now)
    else { return }
    result.rehearsal = rehearsal(at: now, ledger: ledger)
    if let entry = ledger[.rehearsal(alarm: alarm.id, requested: requested)] {
      let end = entry.at.adding(seconds: Timeline.rehearsalLength)
      if end > now { wakes.append(end) }
    }
    let subject = Callout.Subject.rehearsal(alarm: alarm.id, requested: requested)
    result.callouts += plan.targets.filter(\.isRemote).map {
      Callout(subject, $0, due: requested)
    }
  }

  /// Applies rule 4 of `evaluate`.
  private func addFollowUps(
    at now: Instant, settings: Settings, ledger: DeliveryLedger, in result: inout Evaluation,
    wakes: inout [Instant]
  ) {
    for civil in occurrences(in: .pending) {
      guard let record = record(of: civil) else { continue }
      let outlook = followUps(
        of: civil, record, at: now, settings: settings,
        ledger: alarm.delivery.strict ? nil : ledger)
      if let next = outlook.next { wakes.append(next) }
      if let retry = ledger.latest(of: id(of: civil))?.nextAttempt(after: now) {
        wakes.append(retry)
      }
      // The user does not know of an occurrence that is not due here yet, so do not ask about it.
      guard isDueHere(civil, at: now, ledger: ledger) else {
        wakes.append(occurrence(civil).at)
        continue
      }
      guard sendsFollowUps(of: civil, record), let overdue = outlook.overdue else { continue }
      guard
        let again = ringingFollowUp(of: civil, record, at: now, settings: settings, ledger: ledger)
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
      case .snoozed(let until), .undelivered(let until), .waiting(let until):
        wakes.append(until)
      case .missed:
        result.transition.alarm.progress.occurrences[civil]?.followUps = followUp.number
        result.transition.events.append(
          Event(
            .reminded, civil,
            payload: .followUp(
              number: followUp.number, count: followUp.count, isUnanswered: true),
            revision: record.revision))
      }
    }
  }
}

extension Evaluation.Firing {
  fileprivate init(
    _ occurrence: CivilDateTime, due: Instant, now: Instant, step: Int = 0, isStandIn: Bool = false,
    isDelayed: Bool = false
  ) {
    self.init(
      occurrence: occurrence, due: due, late: isDelayed || now > due.adding(seconds: 60),
      step: step, isStandIn: isStandIn)
  }
}
