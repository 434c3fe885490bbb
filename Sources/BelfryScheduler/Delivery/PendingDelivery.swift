import BelfryCore
import BelfryStore

/// One thing that somebody is to be told now, and the moment that it is for.
struct PendingDelivery: Sendable {
  let alarm: Alarm
  let due: Instant
  let notification: Notification
  /// It is told here because none of the alarm's own devices is known to be alive.
  var isStandIn = false

  var key: DeliveryLedger.Key {
    DeliveryLedger.Key(alarm: alarm.id, occurrence: notification.occurrence)
  }

  /// What of it is noted.
  var kind: DeliveryLedger.Firing.Kind {
    switch notification.kind {
    case .firing, .missed: .ringing
    case .followUp(let followUp): .followUp(followUp.number)
    case .warning, .batteryWarning, .message: .warning
    case .rehearsal: .rehearsal
    }
  }
}

extension Evaluation {
  /// What an evaluation wants told, in the order in which it is due.
  func pendingDeliveries(
    of alarm: Alarm, settings: Settings, in store: Store
  ) -> [PendingDelivery] {
    let zones = store.context.zones
    func pendingDelivery(
      _ kind: Notification.Kind, _ civil: CivilDateTime, due: Instant, at moment: Instant? = nil,
      _ actions: [String] = [], _ cascade: Notification.CascadeStep? = nil
    ) -> PendingDelivery {
      PendingDelivery(
        alarm: alarm, due: due,
        notification: Notification(
          kind, alarm: alarm.id, title: alarm.title, note: alarm.note, occurrence: civil,
          zone: zones.foreignName(of: alarm), due: zones.text(moment ?? due),
          sound: alarm.delivery.sound, actions: actions,
          cascade: cascade, partner: alarm.partner?.name))
    }
    let answers = Notification.answers(to: alarm, settings)
    return firings.map {
      var result = pendingDelivery(
        .firing(late: $0.late), $0.occurrence, due: $0.due, answers,
        store.cascadeStep($0, of: alarm))
      result.isStandIn = $0.isStandIn
      return result
    }
      + followUps.map {
        pendingDelivery(.followUp($0), $0.occurrence, due: $0.due, Notification.answersToFollowUp)
      }
      + warnings.map {
        pendingDelivery(.warning, $0.occurrence.civil, due: $0.due, at: $0.occurrence.at)
      }
      + [rehearsal].compactMap { $0 }.map {
        pendingDelivery(.rehearsal, Timeline.rehearsalKey($0), due: $0)
      }
  }
}

/// The notes of who tells what: each telling is claimed, durably, before anybody is told.
struct DeliveryLeases: Sendable {
  let store: Store
  let leaseOwner: LeaseOwner
  let ledgerWriter: LedgerWriter

  /// What this device has told, with what processes left that have died to be told again.
  var ledger: DeliveryLedger { complete(ledgerWriter.ledger(store)) }

  private func complete(_ ledger: DeliveryLedger) -> DeliveryLedger {
    let now = store.context.now
    return ledger.possible(at: now)
      .released(at: now, by: leaseOwner.name, isAlive: leaseOwner.isAlive)
  }

  /// DeliveryLeases what nobody else has claimed or told meanwhile, and returns that.
  func claim(_ pendingDeliveries: [PendingDelivery]) -> Store.LedgerUpdate<[PendingDelivery]> {
    let now = store.context.now
    return ledgerWriter.update(store) { ledger in
      ledger = complete(ledger)
      return pendingDeliveries.filter { pendingDelivery in
        let known = ledger[pendingDelivery.key]
        let same = known.flatMap { $0.due == pendingDelivery.due ? $0 : nil }
        if let known, known.due > pendingDelivery.due, known.state != .undelivered {
          return false
        }
        if let same, same.state != .undelivered || same.retry > now { return false }
        ledger[pendingDelivery.key] = DeliveryLedger.Firing(
          pendingDelivery.kind, due: pendingDelivery.due, at: now,
          attempts: (same?.attempts ?? 0) + 1,
          state: .claimed, leaseOwner: leaseOwner.name,
          isLogged: same?.isLogged ?? (pendingDelivery.kind == .warning))
        return true
      }
    }
  }

  /// Writes what the disk did not take; returns why it still does not.
  func flush() -> (any Error)? {
    ledgerWriter.hasUnwritten ? ledgerWriter.update(store) { _ in }.failure : nil
  }

  /// Notes what came of tellings, nil for what nobody had to be told any more, and with which notices nobody stays any
  /// more.
  func settle(
    _ outcomes: [(pendingDelivery: PendingDelivery, outcome: DeliveryOutcome?)],
    ended: [Notification] = []
  ) -> Store.LedgerUpdate<Void> {
    let now = store.context.now
    return ledgerWriter.update(store) { ledger in
      ledger = complete(ledger)
      for notification in ended {
        let key = DeliveryLedger.Key(alarm: notification.alarm, occurrence: notification.occurrence)
        if ledger[key]?.leaseOwner == leaseOwner.name, ledger[key]?.state == .delivered {
          ledger[key]?.leaseOwner = nil
        }
      }
      for (pendingDelivery, outcome) in outcomes {
        let known = ledger[pendingDelivery.key].flatMap { $0.due == pendingDelivery.due ? $0 : nil }
        var leaseOwner: String?
        var state = DeliveryLedger.Firing.DeliveryState.delivered
        switch outcome {
        case .delivered, .withdrawn, nil: break
        case .attended(let name): leaseOwner = name
        case .undelivered: state = .undelivered
        }
        ledger[pendingDelivery.key] = DeliveryLedger.Firing(
          pendingDelivery.kind, due: pendingDelivery.due, at: now, attempts: known?.attempts ?? 1,
          state: state, leaseOwner: leaseOwner,
          isLogged: known?.isLogged ?? (pendingDelivery.kind == .warning) || outcome == nil
            || outcome == .withdrawn)
      }
    }
  }

  /// Notes that a notice which had reached the person is to be told again, as nobody tells it any more; returns whether
  /// it was noted that it had.
  @discardableResult func fail(_ notification: Notification) -> Store.LedgerUpdate<Bool> {
    let now = store.context.now
    return ledgerWriter.update(store) { ledger in
      ledger = complete(ledger)
      let key = DeliveryLedger.Key(alarm: notification.alarm, occurrence: notification.occurrence)
      guard let known = ledger[key], known.state == .delivered else { return false }
      ledger[key] = DeliveryLedger.Firing(
        known.kind, due: known.due, at: now, attempts: known.attempts, state: .undelivered,
        isLogged: known.isLogged)
      return true
    }
  }
}

extension Store {
  /// What is said of a firing that rings as a later cascade step; nil of one that rings first.
  func cascadeStep(_ firing: Evaluation.Firing, of alarm: Alarm) -> Notification.CascadeStep? {
    guard firing.step > 0 else { return nil }
    let names = deviceNames()
    let primary = alarm.cascade?.plan(at: firing.due).primary.flatMap { names[$0] }
    return Notification.CascadeStep(
      step: firing.step, primary: primary ?? "the first device", unasked: silence
    )
  }

  /// Why it is not known what others have answered; nil where they could be asked of late.
  private var silence: String? {
    guard hasRemote else { return "this store has no remote" }
    let signs = deviceHeartbeats
    if let silent = signs.silent {
      return "the remote cannot be reached since \(context.zones.local.civil(at: silent).time)"
    }
    guard let asked = signs.asked else { return "this device has never synced" }
    if context.now.seconds(since: asked) <= CascadeRun.freshness { return nil }
    // Nobody has tried since: that says nothing of the remote.
    return "this device has not synced since \(context.zones.local.civil(at: asked).time)"
  }

  /// Whether somebody is still to be told of a notice that was delivered.
  func isWanted(_ notification: Notification, _ settings: Settings, _ ledger: DeliveryLedger)
    -> Bool
  {
    // What cannot be read now is: rather a false alarm than a missed one. A work tree of the past says nothing.
    guard past == nil, let alarm = try? alarm(notification.alarm) else { return true }
    return timeline(alarm).wants(
      notification, at: context.now, settings: settings, ledger: ledger)
  }
}

extension Timeline {
  /// Whether a notice that was delivered still says how things stand.
  func wants(
    _ notification: Notification, at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> Bool {
    switch notification.kind {
    case .firing:
      let status = status(at: now, settings: settings, ledger: ledger)
      return status.state == .ringing && status.current == notification.occurrence
        && hasTurn(at: notification.occurrence, now, ledger)
    case .followUp(let followUp):
      guard alarm.enabled, !alarm.isDeleted, let record = record(of: notification.occurrence) else {
        return false
      }
      return record.state == .pending && record.followUps <= followUp.number
    case .warning: return alarm.enabled && !alarm.isDeleted
    case .rehearsal:
      guard let asked = alarm.progress.rehearsal else { return false }
      let told =
        ledger[DeliveryLedger.Key(alarm: alarm.id, occurrence: notification.occurrence)]?.at ?? now
      return Timeline.rehearsalKey(asked) == notification.occurrence
        && now.seconds(since: told) < Timeline.rehearsalLength
    case .missed, .batteryWarning, .message: return true
    }
  }
}
