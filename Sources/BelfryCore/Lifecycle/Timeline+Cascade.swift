/// The cascade of an occurrence as this device sees it.
///
/// Devices may have different knowledge:
///
/// - The primary device could not sync before the due time: it rings. A device that has not received the alarm or its
///   edit follows the version that it has.
/// - Two devices cannot reach each other: each rings in its turn, because neither knows of the other's answers. After
///   the next sync, both are silent.
/// - A device wakes during the cascade: it rings at once if its turn has come and it knows of no answer. The daemon
///   fetches first.
/// - A device wakes during or after a snooze: it is silent until its next turn.
/// - Clocks differ by 90 seconds: each device rings by its own clock. A later step rings that much early or late, but
///   never out of order by its own clock.
/// - A user edits the cascade of a due occurrence: the occurrence follows the cascade as it was.
extension Timeline {
  /// Returns the cascade run of an occurrence; nil if the alarm has no active cascade.
  ///
  /// - Parameter ledger: the deliveries of this device, which does not wait for the end of quiet hours once it has rung.
  public func cascadeRun(of civil: CivilDateTime, ledger: DeliveryLedger) -> CascadeRun? {
    cascadeRun(of: civil, ledger: ledger, passesOver: true)
  }

  /// Returns the cascade run of an occurrence; nil if the alarm has no active cascade.
  ///
  /// - Parameter passesOver: false if every step keeps its interval, also that of a device that is known to be offline.
  func cascadeRun(
    of civil: CivilDateTime, ledger: DeliveryLedger, passesOver: Bool
  ) -> CascadeRun? {
    if alarm.cascade == nil { return nil }
    let occurrence = occurrence(civil)
    let due = reopeningTime(of: occurrence) ?? quietEnd(of: civil, ledger: ledger) ?? occurrence.at
    guard let plan = alarm.cascadePlan(at: due) else { return nil }
    let known = record(of: civil)
    var snoozes: [CascadeRun.Snooze] = []
    var ended: Instant?
    if let known, known.state == .snoozed {
      snoozes = known.snooze.history
      // A hand edit or an early version records only the end of a snooze.
      if let until = known.snooze.until, !snoozes.contains(where: { $0.until >= until }) {
        snoozes.append(CascadeRun.Snooze(at: known.since ?? due, until: until))
      }
    } else if let known {
      ended = known.since ?? due
    }
    let unreachable = plan.targets.indices.filter { index in
      guard passesOver, let deviceContext, let device = plan.targets[index].device else {
        return false
      }
      let holder = deviceContext.holder(of: device)
      return holder != deviceContext.device && deviceContext.isUnreachable(holder, due: due)
    }.map { $0 + 1 }
    return CascadeRun(
      due: due, plan: plan, snoozes: snoozes, ended: ended, unreachable: Set(unreachable)
    ) { self.step(of: $0, plan) }
  }

  /// Returns the time at which an occurrence began to ring again, after a snooze, a move or an undo; nil if it rings at its
  /// own time. Each time, the calls and messages of its steps are made again.
  public func resumption(
    of civil: CivilDateTime, _ cascadeRun: CascadeRun, at now: Instant
  ) -> Instant? {
    let began = cascadeRun.began(at: now)
    // A moved occurrence may have rung at its own time before.
    return began == zone.instant(of: civil) ? nil : began
  }

  /// Returns the step of a device; 0 if it rings at the alarm's time, nil if it has none.
  private func step(of device: Identifier, _ plan: Cascade.Plan) -> Int? {
    guard let deviceContext else { return device == plan.primary ? 0 : plan.step(of: device) }
    // An answer from a replaced device counts for the step of the device that stands in for it.
    let device = deviceContext.holder(of: device)
    // The device of a later step may also ring at the alarm's time.
    if alarm.role(of: device, seenBy: deviceContext, plan: plan) != nil { return 0 }
    return plan.step(of: device, seenBy: deviceContext)
  }

  /// Returns this device's step in a cascade run; 0 if it rings at the alarm's time, nil if it has none.
  public func ownStep(in cascadeRun: CascadeRun) -> Int? {
    guard let plan = alarm.cascadePlan(at: cascadeRun.due) else { return nil }
    guard let deviceContext else { return 0 }
    return step(of: deviceContext.device, plan)
  }

  /// Returns the time since which it is this device's turn to ring in a cascade run; nil if it is not.
  ///
  /// A device that has started to ring continues, even if it learns that it started early.
  func turn(
    in cascadeRun: CascadeRun, of civil: CivilDateTime, at now: Instant, ledger: DeliveryLedger
  ) -> Instant? {
    guard let step = ownStep(in: cascadeRun) else { return nil }
    if let pausedUntil = cascadeRun.pausedUntil, now < pausedUntil { return nil }
    if let firing = ledger[.occurrence(id(of: civil), .firing)],
      firing.due >= cascadeRun.began(at: now), firing.due <= now
    {
      return firing.due
    }
    return cascadeRun.turn(of: step, at: now)?.at
  }

  /// Returns the ringing state of an occurrence with a cascade on this device.
  func ringing(
    _ cascadeRun: CascadeRun, of civil: CivilDateTime, at now: Instant, settings: Settings,
    ledger: DeliveryLedger
  ) -> Ringing {
    if let until = cascadeRun.pausedUntil, now < until { return .snoozed(until: until) }
    let last = cascadeRun.turns.last?.at ?? cascadeRun.due
    let end = max(
      cascadeRun.exhausted ?? cascadeRun.due, last.adding(seconds: settings.ringTimeout))
    if let due = turn(in: cascadeRun, of: civil, at: now, ledger: ledger) {
      return Ringing(
        due: due, ledger.entry(.occurrence(id(of: civil), .firing), due: due), alarm: alarm,
        ringsHere: true,
        now: now, settings: settings, earliestEnd: end,
        released: quietChange(after: due, at: now))
    }
    if let step = ownStep(in: cascadeRun), let next = cascadeRun.next(of: step, after: now) {
      return .waiting(until: next.at)
    }
    if alarm.delivery.persistent { return .ringing(until: nil) }
    // This device has no turn, but others may still ring and be answered.
    let released = quietChange(after: cascadeRun.due, at: now) ?? cascadeRun.due
    let latest = max(end, released.adding(seconds: settings.grace))
    return now > latest ? .missed : .ringing(until: latest)
  }

  /// The delay in seconds between the devices that record an exhausted cascade.
  private static let exhaustedStagger: Int64 = 10

  /// Records that every step of the cascade rang without an answer, once that is the case.
  ///
  /// - Returns: The time at which this device has to check again; nil if it does not have to.
  func recordExhaustion(
    _ current: Occurrence, at now: Instant, ledger: DeliveryLedger, in transition: inout Transition
  ) -> Instant? {
    guard let cascadeRun = cascadeRun(of: current.civil, ledger: ledger),
      let step = ownStep(in: cascadeRun),
      let end = cascadeRun.exhausted
    else { return nil }
    // Devices record this one after the other, so that a device that syncs in time does not repeat it.
    let exhausted = end.adding(seconds: Int64(step) * Timeline.exhaustedStagger)
    var record = alarm.progress.occurrences[current.civil] ?? OccurrenceRecord(.open)
    if record.exhausted { return nil }
    if exhausted > now { return exhausted }
    let count = alarm.cascadePlan(at: cascadeRun.due)?.targets.count ?? 0
    record.exhausted = true
    transition.alarm.progress.occurrences[current.civil] = record
    transition.events.append(
      Event(
        .exhausted, current.civil,
        payload: .unansweredSteps(count), revision: record.revision))
    return nil
  }

  /// Returns true if this device may ring for an occurrence. Without a cascade run in progress, it always may.
  public func hasTurn(at civil: CivilDateTime, _ now: Instant, _ ledger: DeliveryLedger) -> Bool {
    guard let cascadeRun = cascadeRun(of: civil, ledger: ledger), cascadeRun.ended == nil else {
      return true
    }
    return turn(in: cascadeRun, of: civil, at: now, ledger: ledger) != nil
  }

  // MARK: Rehearsal

  /// The duration for which a rehearsal rings, in seconds.
  public static let rehearsalLength: Int64 = 20

  /// The time in seconds after its request during which devices join a rehearsal.
  public static let rehearsalTimeout: Int64 = 900

  /// Returns true if a rehearsal was requested recently enough for devices to join it.
  public func isRehearsing(at now: Instant) -> Bool {
    guard let requested = alarm.progress.rehearsal else { return false }
    return requested <= now.adding(seconds: CascadeRun.skew)
      && now.seconds(since: requested) < Timeline.rehearsalTimeout
  }

  /// Returns the request time of the rehearsal that this device has to join now; nil if there is none or it has already
  /// joined.
  func rehearsal(at now: Instant, ledger: DeliveryLedger) -> Instant? {
    guard let requested = alarm.progress.rehearsal, isRehearsing(at: now), alarm.enabled,
      !alarm.isDeleted,
      let plan = alarm.cascadePlan(at: now), let deviceContext,
      step(of: deviceContext.device, plan) != nil
    else { return nil }
    let entry = ledger[.rehearsal(alarm: alarm.id, requested: requested)]
    if entry?.needsNoAttempt(at: now) == true { return nil }
    return requested
  }
}

extension CascadeRun {
  /// The difference between two devices' clocks that is tolerated, in seconds.
  public static let skew: Int64 = Instant.tolerance
  /// The age in seconds at which a fetch is too old to show the other devices' answers.
  public static let freshness: Int64 = 30
}
