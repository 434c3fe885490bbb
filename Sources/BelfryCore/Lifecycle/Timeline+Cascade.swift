/// How an occurrence of an alarm with a cascade goes from one to the next, as this device sees it.
///
/// | what goes wrong | what comes of it |
/// |---|---|
/// | the first device could not sync before the time | it rings; who has not heard of the alarm, or its edit, goes by what it knows |
/// | two devices are cut off from each other | each rings in its turn, as neither knows of the other's answers; once they meet all fall silent |
/// | a device wakes in the middle | it rings at once if its turn has come and it knows of no answer; the daemon asks first |
/// | a device wakes in or after a snooze | it is silent until its next turn |
/// | clocks are 90 seconds apart | each rings by its own: a later step that much early or late, never out of its list's order by its own clock |
/// | somebody edits the list meanwhile | what is due goes by the list as it stood |
extension Timeline {
  /// The cascade of an occurrence; nil when nobody is to ring after the first device.
  public func cascadeRun(of civil: CivilDateTime) -> CascadeRun? {
    if alarm.cascade == nil { return nil }
    let occurrence = occurrence(civil)
    let due = ringsAgain(occurrence) ?? occurrence.at
    guard let plan = alarm.cascadePlan(at: due) else { return nil }
    let known = record(of: civil)
    var naps: [CascadeRun.Snooze] = []
    var ended: Instant?
    if let known, known.state == .snoozed {
      naps = known.naps
      // What an editor or an early version wrote has no more than its end.
      if let until = known.until, !naps.contains(where: { $0.until >= until }) {
        naps.append(CascadeRun.Snooze(at: known.since ?? due, until: until))
      }
    } else if let known {
      ended = known.since ?? due
    }
    let unreachable = plan.targets.indices.filter { index in
      guard let deviceContext, let device = plan.targets[index].device else { return false }
      let holder = deviceContext.holder(of: device)
      return holder != deviceContext.device && deviceContext.isUnreachable(holder, due: due)
    }.map { $0 + 1 }
    return CascadeRun(
      due: due, plan: plan, snoozes: naps, ended: ended, unreachable: Set(unreachable)
    ) { self.step(of: $0, plan) }
  }

  /// The place of a device in a cascade: 0 when it rings first; nil when it has none.
  private func step(of device: Identifier, _ plan: Cascade.Plan) -> Int? {
    guard let deviceContext else { return device == plan.primary ? 0 : plan.step(of: device) }
    // An answer that a silent device gave speaks for its place.
    let device = deviceContext.holder(of: device)
    // A later step may also be the device that rings at the alarm's time.
    if alarm.role(of: device, seenBy: deviceContext, plan: plan) != nil { return 0 }
    return plan.step(of: device, seenBy: deviceContext)
  }

  /// This device's place in the cascade of an occurrence.
  public func ownStep(in cascadeRun: CascadeRun) -> Int? {
    guard let plan = alarm.cascadePlan(at: cascadeRun.due) else { return nil }
    guard let deviceContext else { return 0 }
    return step(of: deviceContext.device, plan)
  }

  /// Since when this device is to ring in a cascade; nil when it is not, or not yet.
  ///
  /// What it has begun it goes on with, though it should learn that it was early.
  func turn(
    in cascadeRun: CascadeRun, of civil: CivilDateTime, at now: Instant, ledger: DeliveryLedger
  ) -> Instant? {
    guard let step = ownStep(in: cascadeRun) else { return nil }
    if let pausedUntil = cascadeRun.pausedUntil, now < pausedUntil { return nil }
    let told = ledger[DeliveryLedger.Key(alarm: alarm.id, occurrence: civil)]
    if let told, told.kind == .ringing, told.due >= cascadeRun.began(at: now), told.due <= now {
      return told.due
    }
    return cascadeRun.turn(of: step, at: now)?.at
  }

  /// How an occurrence with a cascade stands against the clock on this device.
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
        due: due, ledger.firing(alarm.id, civil, due: due), alarm: alarm, ringsHere: true,
        now: now, settings: settings, lasting: end)
    }
    if let step = ownStep(in: cascadeRun), let next = cascadeRun.next(of: step, after: now) {
      return .waiting(until: next.at)
    }
    if alarm.delivery.persistent { return .ringing(until: nil) }
    // Who has no turn does not say that nobody answers those who have.
    let latest = max(end, cascadeRun.due.adding(seconds: settings.grace))
    return now > latest ? .missed : .ringing(until: latest)
  }

  /// Between two devices that say that all have had their time, in seconds.
  private static let exhaustedStagger: Int64 = 10

  /// Notes that all steps have had their time, once that is so.
  func noteExhausted(_ current: Occurrence, at now: Instant, in transition: inout Transition)
    -> Instant?
  {
    guard let cascadeRun = cascadeRun(of: current.civil), let step = ownStep(in: cascadeRun),
      let end = cascadeRun.exhausted
    else { return nil }
    // One after the other, so that who hears of it in time does not say it again.
    let exhausted = end.adding(seconds: Int64(step) * Timeline.exhaustedStagger)
    var record = opened(current.civil)
    if record.exhausted { return nil }
    if exhausted > now { return exhausted }
    let count = alarm.cascadePlan(at: cascadeRun.due)?.targets.count ?? 0
    record.exhausted = true
    transition.alarm.progress.occurrences[current.civil] = record
    transition.events.append(
      Event(
        .exhausted, current.civil,
        detail: count == 1
          ? "the only step of the cascade was unanswered"
          : "all \(count) steps of the cascade were unanswered",
        revision: record.revision))
    return nil
  }

  /// Whether it is this device's turn to ring for an occurrence.
  public func hasTurn(at civil: CivilDateTime, _ now: Instant, _ ledger: DeliveryLedger) -> Bool {
    guard let cascadeRun = cascadeRun(of: civil), cascadeRun.ended == nil else { return true }
    return turn(in: cascadeRun, of: civil, at: now, ledger: ledger) != nil
  }

  // MARK: Rehearsal

  /// How long a rehearsal rings, in seconds.
  public static let rehearsalLength: Int64 = 20

  /// How long after it was asked for a rehearsal is still one, in seconds.
  public static let rehearsalPatience: Int64 = 900

  /// Whether a rehearsal was asked for so lately that it is one still.
  public func isRehearsing(at now: Instant) -> Bool {
    guard let asked = alarm.progress.rehearsal else { return false }
    return asked <= now.adding(seconds: CascadeRun.skew)
      && now.seconds(since: asked) < Timeline.rehearsalPatience
  }

  /// The rehearsal that this device is to take part in now; nil when there is none, or it has.
  func rehearsal(at now: Instant, ledger: DeliveryLedger) -> Instant? {
    guard let asked = alarm.progress.rehearsal, isRehearsing(at: now), alarm.enabled,
      !alarm.isDeleted,
      let plan = alarm.cascadePlan(at: now), let deviceContext,
      step(of: deviceContext.device, plan) != nil
    else { return nil }
    let key = DeliveryLedger.Key(alarm: alarm.id, occurrence: Timeline.rehearsalKey(asked))
    if let told = ledger[key], told.due == asked, told.isSettled(at: now) { return nil }
    return asked
  }

  /// What a rehearsal is noted as: its minute. Close to an occurrence nobody may ask for one, so that none has the same.
  public static func rehearsalKey(_ asked: Instant) -> CivilDateTime {
    TimeZoneRules.utc.civil(at: asked)
  }
}

extension CascadeRun {
  /// How far clocks may be apart and all is as it should be, in seconds.
  public static let skew: Int64 = 120
  /// Who asked the others longer ago than this does not know what they have answered, in seconds.
  public static let freshness: Int64 = 30
}
