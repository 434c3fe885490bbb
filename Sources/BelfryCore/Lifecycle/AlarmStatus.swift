/// Where an alarm stands at a moment: derived from the record and what this device has rung for.
public struct AlarmStatus: Hashable, Sendable {
  public enum State: String, CaseIterable, Sendable {
    case active, ringing, snoozed, pending, missed, disabled, finished
    /// Nothing comes until a day, by a person's wish.
    case paused
  }

  public var state: State
  /// The next occurrence that will fire, strictly later than now.
  public var next: Timeline.Occurrence?
  /// The occurrence that rings, is snoozed, or was missed.
  public var current: CivilDateTime?
  /// The occurrences that wait for somebody's word, oldest first, each with the moment since when.
  public var pending: [Pending]
  /// Snoozed: when it fires again, and how often it was snoozed.
  public var snooze: Snooze?
  /// What was missed since somebody last answered, and not dismissed; of a strict alarm all that is not
  /// dismissed. Oldest first.
  public var missed: [CivilDateTime]
  /// What was skipped and is still ahead; oldest first.
  public var skipped: [CivilDateTime]
  /// Until when it is paused; nil when it is not.
  public var pausedUntil: CivilDateTime?
  /// As long as the record and this device's firings stay the same, nothing here changes before this moment.
  public var validUntil: Instant

  /// When it rings next, from now on: again after a snooze, or its next occurrence; nil when never.
  public var comes: Timeline.Occurrence? {
    let again = snooze.map { Timeline.Occurrence(civil: $0.occurrence, at: $0.until) }
    return [again, next].compactMap { $0 }.min { $0.at < $1.at }
  }

  public struct Pending: Hashable, Sendable {
    public let occurrence: CivilDateTime
    public let since: Instant
    /// The number of the latest follow-up that was sent.
    public let followUpsSent: Int
    /// When the next follow-up is due; nil when none comes any more.
    public let nextFollowUp: Instant?

    public init(
      occurrence: CivilDateTime, since: Instant, followUpsSent: Int = 0,
      nextFollowUp: Instant? = nil
    ) {
      self.occurrence = occurrence
      self.since = since
      self.followUpsSent = followUpsSent
      self.nextFollowUp = nextFollowUp
    }
  }

  public struct Snooze: Hashable, Sendable {
    public let occurrence: CivilDateTime
    public let until: Instant
    /// 0 when nobody has: it waits for the end of the quiet hours.
    public let count: Int

    public init(occurrence: CivilDateTime, until: Instant, count: Int) {
      self.occurrence = occurrence
      self.until = until
      self.count = count
    }
  }

  public init(
    state: State, next: Timeline.Occurrence? = nil, current: CivilDateTime? = nil,
    pending: [Pending] = [], snooze: Snooze? = nil, missed: [CivilDateTime] = [],
    skipped: [CivilDateTime] = [], pausedUntil: CivilDateTime? = nil,
    validUntil: Instant = .distantFuture
  ) {
    self.pausedUntil = pausedUntil
    self.state = state
    self.next = next
    self.current = current
    self.pending = pending
    self.snooze = snooze
    self.missed = missed
    self.skipped = skipped
    self.validUntil = validUntil
  }
}

/// How an open occurrence stands against the clock.
enum Ringing: Equatable {
  /// Due, and this device has not rung for it: it is to ring now.
  case toRing(due: Instant)
  /// Has rung, or rings elsewhere, and waits for an answer; `until` when it then counts as missed.
  case ringing(until: Instant?)
  /// It rang for nobody, and is to be tried again.
  case unheard(retry: Instant)
  /// Others ring; its own turn comes then.
  case waiting(until: Instant)
  /// Snoozed until then.
  case snoozed(until: Instant)
  /// Nobody answered in time.
  case missed

  /// - Parameters:
  ///   - due: when it is to ring.
  ///   - firing: what is known of that; nil when this device has not rung for it.
  ///   - ringsHere: whether it rings on this device at all.
  ///   - lasting: until when it rings at least, as cascade steps are still to be tried.
  init(
    due: Instant, _ firing: DeliveryLedger.Firing?, alarm: Alarm, ringsHere: Bool, now: Instant,
    settings: Settings, lasting: Instant? = nil
  ) {
    let latest = max(due.adding(seconds: settings.grace), lasting ?? due)
    switch firing?.standing {
    case nil where due > now: self = .snoozed(until: due)
    case nil where !ringsHere && alarm.delivery.persistent: self = .ringing(until: nil)
    case nil where now > latest: self = .missed
    case nil: self = ringsHere ? .toRing(due: due) : .ringing(until: latest)
    case .claimed: self = .ringing(until: nil)
    case .undelivered where now > latest && !alarm.delivery.persistent: self = .missed
    case .undelivered:
      let retry = firing?.retry ?? now
      self = retry <= now ? .toRing(due: due) : .unheard(retry: retry)
    case .delivered where alarm.delivery.persistent: self = .ringing(until: nil)
    case .delivered:
      let end = max(
        (firing?.at ?? due).adding(seconds: settings.ringTimeout), lasting ?? due)
      self = end <= now ? .missed : .ringing(until: end)
    }
  }
}

extension Timeline {
  /// Where the alarm stands.
  ///
  /// In this order: deleted or disabled; ringing; snoozed; pending; missed; paused; active; finished.
  public func status(at now: Instant, settings: Settings, ledger: DeliveryLedger) -> AlarmStatus {
    if !alarm.enabled || alarm.isDeleted { return AlarmStatus(state: .disabled) }
    let next = self.next(after: now)
    var status = AlarmStatus(
      state: next == nil ? .finished : .active, next: next,
      pending: pending(at: now, settings: settings, ledger: ledger),
      missed: missed(at: now),
      skipped: skippedAhead(at: now), pausedUntil: pausedUntil(at: now),
      validUntil: next?.at ?? .distantFuture)
    let (warning, nextWarning) = warnings(at: now, ledger: ledger)
    for change in [warning == nil ? nextWarning : now, nextPauseChange(at: now)] {
      if let change { status.validUntil = min(status.validUntil, change) }
    }
    // A skip is shown as long as it is ahead.
    if let skipped = status.skipped.first {
      status.validUntil = min(status.validUntil, occurrence(skipped).at)
    }
    // A rehearsal of its cascade is every tick's to look at, as long as it is one.
    if isRehearsing(at: now) { status.validUntil = now }
    // So are a wrong clock's traces, and the zone of a cascade.
    if isCorrected || zoneToRecord != nil { status.validUntil = now }
    // What a pause leaves out is the next tick's to log.
    if !unsettledByPause(at: now).isEmpty { status.validUntil = now }
    // What the tier does not know is the next tick's to complete, and a follow-up that is overdue to send.
    if !settings.tier.confirmsCompletion, !status.pending.isEmpty { status.validUntil = now }
    for pending in status.pending {
      guard let change = pending.nextFollowUp else { continue }
      status.validUntil = min(status.validUntil, max(change, now))
    }

    var ringing: Ringing?
    let current = current(at: now, ledger: ledger)
    if let current {
      let (missed, change) = unsettled(before: current, at: now)
      if !missed.isEmpty { status.missed = (status.missed + missed).sorted() }
      if let change { status.validUntil = min(status.validUntil, change) }
    }
    if let open = current.flatMap({
      self.ringing($0, at: now, settings: settings, ledger: ledger)
    }) {
      ringing = open.ringing
      status.current = open.civil
      // What rings, and what was missed and not yet recorded, depend on this device's firings.
      switch open.ringing {
      case .toRing, .ringing, .unheard, .waiting: status.validUntil = now
      case .snoozed(let until):
        status.snooze = AlarmStatus.Snooze(
          occurrence: open.civil, until: until, count: record(of: open.civil)?.snoozes ?? 0)
        status.validUntil = min(status.validUntil, until)
      case .missed:
        status.missed.append(open.civil)
        status.validUntil = now
      }
    }
    switch ringing {
    case .toRing, .ringing, .unheard, .waiting: status.state = .ringing
    default:
      if let again = ringingAgain(at: now, settings: settings, ledger: ledger) {
        status.state = .ringing
        status.current = again
        status.validUntil = now
      } else if status.snooze != nil {
        status.state = .snoozed
      } else if !status.pending.isEmpty {
        status.state = .pending
        status.current = status.pending.last?.occurrence
      } else if let missed = status.missed.last {
        status.state = .missed
        status.current = missed
      } else if status.pausedUntil != nil {
        status.state = .paused
      }
    }
    return status
  }

  /// How an occurrence stands against the clock; nil when it is answered.
  func ringing(
    _ current: Occurrence, at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> (civil: CivilDateTime, ringing: Ringing)? {
    let known = record(of: current.civil)
    guard known == nil || known?.state == .snoozed else { return nil }
    if let cascadeRun = cascadeRun(of: current.civil) {
      let ringing = ringing(
        cascadeRun, of: current.civil, at: now, settings: settings, ledger: ledger)
      return (current.civil, held(ringing, current, at: now))
    }
    // Snoozed where it came earlier, it rings here at its own time.
    let hasRung = hasRung(current.civil, ledger)
    let until = known?.until.map { hasRung ? $0 : max($0, current.at) }
    let due = until ?? ringsAgain(current, at: now) ?? current.at
    let ringing = Ringing(
      due: due, ledger.firing(alarm.id, current.civil, due: due), alarm: alarm,
      ringsHere: ringsHere, now: now, settings: settings)
    return (current.civil, held(ringing, current, at: now))
  }

  /// When an occurrence was reopened that had rung before: somebody took the answer back, and it rings anew.
  func ringsAgain(_ current: Occurrence, at now: Instant = .distantFuture) -> Instant? {
    guard let record = alarm.progress.occurrences[current.civil], record.state == .open,
      record.revision > 0, let since = record.since, since > current.at, since <= now
    else { return nil }
    return since
  }

  private func pending(
    at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> [AlarmStatus.Pending] {
    occurrences(in: .pending).compactMap { civil in
      guard let record = record(of: civil) else { return nil }
      let outlook = followUps(
        of: civil, record, at: now, settings: settings, ledger: ledger)
      return AlarmStatus.Pending(
        occurrence: civil, since: record.since ?? occurrence(civil).at,
        followUpsSent: outlook.sent, nextFollowUp: outlook.overdue?.due ?? outlook.next)
    }
  }

  /// The latest pending occurrence of a strict alarm that rings again.
  private func ringingAgain(
    at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> CivilDateTime? {
    occurrences(in: .pending).last { civil in
      guard let record = record(of: civil) else { return false }
      switch reringing(of: civil, record, at: now, settings: settings, ledger: ledger)?.ringing {
      case .toRing, .ringing, .unheard, .waiting: return true
      case .snoozed, .missed, nil: return false
      }
    }
  }

  /// What was missed after the latest occurrence that somebody has answered, and not dismissed.
  private func missed(at now: Instant) -> [CivilDateTime] {
    let missed = occurrences(in: .missed)
      .filter { record(of: $0)?.dismissed == false }
    if missed.isEmpty || alarm.delivery.strict { return missed }
    let answered = alarm.progress.occurrences.keys.filter { civil in
      guard let record = record(of: civil), occurrence(civil).at <= now else { return false }
      return record.state == .skipped || (record.state == .done && !record.auto)
    }.max()
    return missed.filter { civil in answered.map { civil > $0 } ?? true }
  }

  /// What was skipped and is still to come, in order.
  func skippedAhead(at now: Instant) -> [CivilDateTime] {
    occurrences(in: .skipped).filter { occurrence($0).at > now }
  }
}
