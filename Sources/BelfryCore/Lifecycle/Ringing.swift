/// The ringing state of an open occurrence on this device.
enum Ringing: Equatable {
  /// Due and not yet delivered on this device: it has to ring now.
  case toRing(due: Instant)
  /// Delivered here, or ringing elsewhere. It is missed at `until`; nil without a time limit.
  case ringing(until: Instant?)
  /// The delivery failed. It is retried at `retry`.
  case undelivered(retry: Instant)
  /// Other devices ring. This device's turn starts at `until`.
  case waiting(until: Instant)
  /// Snoozed until a time.
  case snoozed(until: Instant)
  /// Not answered in time.
  case missed

  /// True if the occurrence is due and unanswered, and this device does not wait for its turn.
  var isRinging: Bool {
    switch self {
    case .toRing, .ringing, .undelivered: true
    case .waiting, .snoozed, .missed: false
    }
  }

  /// True if the occurrence is due on this device, and no channel has delivered it.
  var isUndelivered: Bool {
    switch self {
    case .toRing, .undelivered: true
    case .ringing, .waiting, .snoozed, .missed: false
    }
  }

  /// Creates the state of an occurrence that is due at a time.
  ///
  /// - Parameters:
  ///   - due: the time at which the occurrence rings.
  ///   - firing: the delivery for that time; nil if this device has not attempted it.
  ///   - ringsHere: true if the alarm rings on this device.
  ///   - earliestEnd: the time until which the occurrence rings at least, because cascade steps are still ahead; nil if
  ///     there is no such time.
  ///   - released: a time after `due` from which the grace period counts; nil if it counts from `due`.
  init(
    due: Instant, _ firing: DeliveryLedger.Entry?, alarm: Alarm, ringsHere: Bool, now: Instant,
    settings: Settings, earliestEnd: Instant? = nil, released: Instant? = nil
  ) {
    let latest = max((released ?? due).adding(seconds: settings.grace), earliestEnd ?? due)
    switch firing?.state {
    case nil where due > now: self = .snoozed(until: due)
    case nil where !ringsHere && alarm.delivery.persistent: self = .ringing(until: nil)
    case nil where now > latest: self = .missed
    case nil: self = ringsHere ? .toRing(due: due) : .ringing(until: latest)
    case .claimed: self = .ringing(until: nil)
    case .undelivered where now > latest && !alarm.delivery.persistent: self = .missed
    case .undelivered:
      let retry = firing?.retry ?? now
      self = retry <= now ? .toRing(due: due) : .undelivered(retry: retry)
    case .delivered, .withdrawn:
      let end = max(
        (firing?.at ?? due).adding(seconds: settings.ringTimeout), earliestEnd ?? due)
      if end <= now, !alarm.delivery.persistent {
        self = .missed
      } else if ringsHere, let next = firing?.nextAttempt {
        // Its channels were ended, and the occurrence rings again since, such as after an undo.
        self = next <= now ? .toRing(due: due) : .undelivered(retry: next)
      } else {
        self = .ringing(until: alarm.delivery.persistent ? nil : end)
      }
    }
  }
}

/// A due and unanswered occurrence.
struct OpenOccurrence {
  /// The occurrence.
  let civil: CivilDateTime
  /// Its state on this device.
  let ringing: Ringing
  /// The time at which it rings on this device; nil if another device has its turn.
  let due: Instant?
}

extension Timeline {
  /// Returns the ringing state of an occurrence; nil if it was answered.
  func ringing(
    _ current: Occurrence, at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> OpenOccurrence? {
    let known = record(of: current.civil)
    guard known == nil || known?.state == .snoozed else { return nil }
    let quietEnd =
      quietEnd(of: current.civil, ledger: ledger)
      ?? lateQuietEnd(of: current, at: now, settings: settings, ledger: ledger)
    if let quietEnd, now < quietEnd {
      return OpenOccurrence(civil: current.civil, ringing: .snoozed(until: quietEnd), due: nil)
    }
    if let cascadeRun = cascadeRun(of: current.civil, ledger: ledger) {
      let ringing = ringing(
        cascadeRun, of: current.civil, at: now, settings: settings, ledger: ledger)
      return OpenOccurrence(
        civil: current.civil, ringing: ringing,
        due: turn(in: cascadeRun, of: current.civil, at: now, ledger: ledger))
    }
    // A snooze from a device where the occurrence was due earlier does not make it ring early here.
    let hasRung = hasRung(current.civil, ledger)
    let until = known?.snooze.until.map { hasRung ? $0 : max($0, current.at) }
    let due =
      until ?? reopeningTime(of: current, at: now)
      ?? unfoundedMiss(of: current, at: now, ledger: ledger) ?? quietEnd ?? current.at
    let ringing = Ringing(
      due: due, firing(of: current.civil, since: due, ledger), alarm: alarm, ringsHere: ringsHere,
      now: now, settings: settings, released: quietChange(after: due, at: now))
    return OpenOccurrence(civil: current.civil, ringing: ringing, due: due)
  }

  /// Returns the delivery of an occurrence that is due at a time; nil if it has not rung since then.
  ///
  /// It may have rung for a later time, if the alarm's zone has changed since then to one where it is due earlier. It goes
  /// on ringing.
  private func firing(
    of civil: CivilDateTime, since due: Instant, _ ledger: DeliveryLedger
  ) -> DeliveryLedger.Entry? {
    ledger[.occurrence(id(of: civil), .firing)].flatMap { $0.due >= due ? $0 : nil }
  }

  /// Returns the time at which an occurrence that had rung was reopened, so that it rings again; nil if it was not.
  func reopeningTime(of current: Occurrence, at now: Instant = .distantFuture) -> Instant? {
    guard let record = alarm.progress.occurrences[current.civil], record.isReopened,
      let since = record.answered, since > current.at, since <= now
    else { return nil }
    return since
  }

  /// Returns the pending occurrences of a strict alarm whose follow-ups ring, latest first.
  func openPending(
    at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> [OpenOccurrence] {
    guard alarm.delivery.strict else { return [] }
    return occurrences(in: .pending).reversed().compactMap { civil in
      guard let record = record(of: civil),
        let again = ringingFollowUp(of: civil, record, at: now, settings: settings, ledger: ledger),
        again.ringing.isRinging
      else { return nil }
      return OpenOccurrence(civil: civil, ringing: again.ringing, due: again.followUp.due)
    }
  }
}
