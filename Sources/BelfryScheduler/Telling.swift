import BelfryCore
import BelfryStore

/// One thing that somebody is to be told now, and the moment that it is for.
struct Telling: Sendable {
  let alarm: Alarm
  let due: Instant
  let notice: Notice
  /// It is told here because none of the alarm's own devices is known to be alive.
  var isStandIn = false

  var key: Firings.Key { Firings.Key(alarm: alarm.id, occurrence: notice.occurrence) }

  /// What of it is noted.
  var kind: Firings.Firing.Kind {
    switch notice.kind {
    case .firing, .missed: .ringing
    case .followUp(let followUp): .followUp(followUp.number)
    case .warning, .nudge, .word: .warning
    case .rehearsal: .rehearsal
    }
  }
}

extension Evaluation {
  /// What an evaluation wants told, in the order in which it is due.
  func tellings(
    of alarm: Alarm, settings: Settings, in store: Store
  ) -> [Telling] {
    let zones = store.context.zones
    func telling(
      _ kind: Notice.Kind, _ civil: CivilDateTime, due: Instant, at moment: Instant? = nil,
      _ actions: [String] = [], _ backup: Notice.BackupTurn? = nil
    ) -> Telling {
      Telling(
        alarm: alarm, due: due,
        notice: Notice(
          kind, alarm: alarm.id, title: alarm.title, note: alarm.note, occurrence: civil,
          zone: zones.foreignName(of: alarm), due: zones.text(moment ?? due),
          sound: alarm.delivery.sound, actions: actions,
          backup: backup, partner: alarm.partner?.name))
    }
    let answers = Notice.answers(to: alarm, settings)
    return firings.map {
      var result = telling(
        .firing(late: $0.late), $0.occurrence, due: $0.due, answers,
        store.backupTurn($0, of: alarm))
      result.isStandIn = $0.isStandIn
      return result
    }
      + followUps.map {
        telling(.followUp($0), $0.occurrence, due: $0.due, Notice.answersToFollowUp)
      }
      + warnings.map {
        telling(.warning, $0.occurrence.civil, due: $0.due, at: $0.occurrence.at)
      }
      + [rehearsal].compactMap { $0 }.map {
        telling(.rehearsal, Timeline.rehearsalKey($0), due: $0)
      }
  }
}

/// The notes of who tells what: each telling is claimed, durably, before anybody is told.
struct Claims: Sendable {
  let store: Store
  let keeper: Keeper
  let ledger: LedgerWriter

  /// What this device has told, with what processes left that have died to be told again.
  var firings: Firings { complete(ledger.firings(store)) }

  private func complete(_ firings: Firings) -> Firings {
    let now = store.context.now
    return firings.possible(at: now)
      .released(at: now, by: keeper.name, isAlive: keeper.isAlive)
  }

  /// Claims what nobody else has claimed or told meanwhile, and returns that.
  func claim(_ tellings: [Telling]) -> Store.FiringsUpdate<[Telling]> {
    let now = store.context.now
    return ledger.update(store) { firings in
      firings = complete(firings)
      return tellings.filter { telling in
        let known = firings[telling.key]
        let same = known.flatMap { $0.due == telling.due ? $0 : nil }
        if let known, known.due > telling.due, known.standing != .undelivered { return false }
        if let same, same.standing != .undelivered || same.retry > now { return false }
        firings[telling.key] = Firings.Firing(
          telling.kind, due: telling.due, at: now, attempts: (same?.attempts ?? 0) + 1,
          standing: .claimed, keeper: keeper.name,
          isLogged: same?.isLogged ?? (telling.kind == .warning))
        return true
      }
    }
  }

  /// Writes what the disk did not take; returns why it still does not.
  func flush() -> (any Error)? {
    ledger.hasUnwritten ? ledger.update(store) { _ in }.failure : nil
  }

  /// Notes what came of tellings, nil for what nobody had to be told any more, and with which notices nobody stays any
  /// more.
  func settle(
    _ outcomes: [(telling: Telling, outcome: DeliveryOutcome?)], ended: [Notice] = []
  ) -> Store.FiringsUpdate<Void> {
    let now = store.context.now
    return ledger.update(store) { firings in
      firings = complete(firings)
      for notice in ended {
        let key = Firings.Key(alarm: notice.alarm, occurrence: notice.occurrence)
        if firings[key]?.keeper == keeper.name, firings[key]?.standing == .delivered {
          firings[key]?.keeper = nil
        }
      }
      for (telling, outcome) in outcomes {
        let known = firings[telling.key].flatMap { $0.due == telling.due ? $0 : nil }
        var keeper: String?
        var standing = Firings.Firing.Standing.delivered
        switch outcome {
        case .delivered, .withdrawn, nil: break
        case .attended(let name): keeper = name
        case .undelivered: standing = .undelivered
        }
        firings[telling.key] = Firings.Firing(
          telling.kind, due: telling.due, at: now, attempts: known?.attempts ?? 1,
          standing: standing, keeper: keeper,
          isLogged: known?.isLogged ?? (telling.kind == .warning) || outcome == nil
            || outcome == .withdrawn)
      }
    }
  }

  /// Notes that a notice which had reached the person is to be told again, as nobody tells it any more; returns whether
  /// it was noted that it had.
  @discardableResult func fail(_ notice: Notice) -> Store.FiringsUpdate<Bool> {
    let now = store.context.now
    return ledger.update(store) { firings in
      firings = complete(firings)
      let key = Firings.Key(alarm: notice.alarm, occurrence: notice.occurrence)
      guard let known = firings[key], known.standing == .delivered else { return false }
      firings[key] = Firings.Firing(
        known.kind, due: known.due, at: now, attempts: known.attempts, standing: .undelivered,
        isLogged: known.isLogged)
      return true
    }
  }
}

extension Store {
  /// What is said of a firing that rings as a backup; nil of one that rings first.
  func backupTurn(_ firing: Evaluation.Firing, of alarm: Alarm) -> Notice.BackupTurn? {
    guard firing.step > 0 else { return nil }
    let names = deviceNames()
    let primary = alarm.backup?.plan(at: firing.due).primary.flatMap { names[$0] }
    return Notice.BackupTurn(
      step: firing.step, primary: primary ?? "the first device", unasked: silence
    )
  }

  /// Why it is not known what others have answered; nil where they could be asked of late.
  private var silence: String? {
    guard hasRemote else { return "this store has no remote" }
    let signs = signsOfLife
    if let silent = signs.silent {
      return "the remote cannot be reached since \(context.zones.local.civil(at: silent).time)"
    }
    guard let asked = signs.asked else { return "this device has never synced" }
    if context.now.seconds(since: asked) <= Cascade.freshness { return nil }
    // Nobody has tried since: that says nothing of the remote.
    return "this device has not synced since \(context.zones.local.civil(at: asked).time)"
  }

  /// Whether somebody is still to be told of a notice that was delivered.
  func isWanted(_ notice: Notice, _ settings: Settings, _ firings: Firings) -> Bool {
    // What cannot be read now is: rather a false alarm than a missed one. A work tree of the past says nothing.
    guard past == nil, let alarm = try? alarm(notice.alarm) else { return true }
    return timeline(alarm).wants(
      notice, at: context.now, settings: settings, firings: firings)
  }
}

extension Timeline {
  /// Whether a notice that was delivered still says how things stand.
  func wants(
    _ notice: Notice, at now: Instant, settings: Settings, firings: Firings
  ) -> Bool {
    switch notice.kind {
    case .firing:
      let status = status(at: now, settings: settings, firings: firings)
      return status.state == .ringing && status.current == notice.occurrence
        && hasTurn(at: notice.occurrence, now, firings)
    case .followUp(let followUp):
      guard alarm.enabled, !alarm.isDeleted, let record = record(of: notice.occurrence) else {
        return false
      }
      return record.state == .pending && record.followUps <= followUp.number
    case .warning: return alarm.enabled && !alarm.isDeleted
    case .rehearsal:
      guard let asked = alarm.progress.rehearsal else { return false }
      let told = firings[Firings.Key(alarm: alarm.id, occurrence: notice.occurrence)]?.at ?? now
      return Timeline.rehearsalKey(asked) == notice.occurrence
        && now.seconds(since: told) < Timeline.rehearsalLength
    case .missed, .nudge, .word: return true
    }
  }
}
