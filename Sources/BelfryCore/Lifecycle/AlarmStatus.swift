/// The status of an alarm at a moment, derived from its record and this device's delivery ledger.
public struct AlarmStatus: Hashable, Sendable {
  /// The states of an alarm.
  public enum State: String, CaseIterable, Sendable {
    /// Waiting for the next occurrence.
    case active
    /// An occurrence rings.
    case ringing
    /// The current occurrence was snoozed and rings again.
    case snoozed
    /// A stopped occurrence waits for confirmation.
    case pending
    /// An occurrence was missed and not dismissed.
    case missed
    /// The alarm is disabled or deleted.
    case disabled
    /// No further occurrence comes.
    case finished
    /// A pause is in effect.
    case paused
  }

  /// The state of the alarm.
  public var state: State
  /// The next occurrence that will fire, strictly later than now; nil if there is none.
  public var next: Timeline.Occurrence?
  /// The occurrence that rings, is snoozed, was missed or is the latest pending one; nil if there is none.
  public var current: CivilDateTime?
  /// The other occurrences that ring, latest first: those of a strict alarm whose follow-ups ring.
  public var alsoRinging: [CivilDateTime] = []
  /// The pending occurrences, oldest first.
  public var pending: [Pending]
  /// The snooze of the current occurrence; nil if it is not snoozed.
  public var snooze: Snooze?
  /// The missed occurrences since the last answer that were not dismissed, oldest first. For a strict alarm, all that
  /// were not dismissed.
  public var missed: [CivilDateTime]
  /// The skipped occurrences that are still ahead, oldest first.
  public var skipped: [CivilDateTime]
  /// The times at which moved occurrences ring, by the occurrences' own times: those that this status names, and those that
  /// are ahead.
  public var moved: [CivilDateTime: CivilDateTime] = [:]
  /// The end of the current pause; nil if the alarm is not paused.
  public var pausedUntil: CivilDateTime?
  /// True if the occurrence that rings was not delivered on this device yet, although it should be.
  public var isUndelivered = false
  /// The time before which this status does not change unless the record or the delivery ledger changes.
  public var validUntil: Instant

  /// The next time at which the alarm rings, after a snooze or for its next occurrence; nil if never.
  public var nextRinging: Timeline.Occurrence? {
    guard let snooze else { return next }
    if let next, next.at < snooze.until { return next }
    return Timeline.Occurrence(civil: snooze.occurrence, at: snooze.until)
  }

  /// Returns the civil time at which an occurrence rings: its own, or the one to which it was moved.
  public func time(of civil: CivilDateTime) -> CivilDateTime { moved[civil] ?? civil }

  /// A pending occurrence with its follow-ups.
  public struct Pending: Hashable, Sendable {
    /// The pending occurrence.
    public let occurrence: CivilDateTime
    /// The time at which the occurrence became pending.
    public let since: Instant
    /// The number of the latest follow-up that was sent; 0 if none was.
    public let followUpsSent: Int
    /// The time at which the next follow-up is due; nil if there is none.
    public let nextFollowUp: Instant?

    /// Creates the status of a pending occurrence.
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

  /// A snooze of an occurrence.
  public struct Snooze: Hashable, Sendable {
    /// The snoozed occurrence.
    public let occurrence: CivilDateTime
    /// The time at which the occurrence rings again.
    public let until: Instant
    /// The number of snoozes; 0 if no user snoozed it and it waits for the end of the quiet hours.
    public let count: Int

    /// Creates the status of a snooze.
    public init(occurrence: CivilDateTime, until: Instant, count: Int) {
      self.occurrence = occurrence
      self.until = until
      self.count = count
    }
  }

  /// Creates a status from its parts.
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

extension AlarmStatus {
  /// True if the alarm has no occurrence ahead and none that needs an answer: it was done, skipped or dismissed.
  ///
  /// A missed occurrence needs an answer, and a skip that is ahead can be undone.
  public var isFinished: Bool { state == .finished && skipped.isEmpty }

  /// Returns true if the status has the facts of its state. Debug builds check it.
  fileprivate var isConsistent: Bool {
    switch state {
    case .active: next != nil
    case .ringing: current != nil
    case .snoozed: snooze != nil && current == snooze?.occurrence
    case .pending: current != nil && current == pending.last?.occurrence
    case .missed: current != nil && current == missed.last
    case .disabled: true
    case .finished: next == nil
    case .paused: pausedUntil != nil
    }
  }
}

extension Timeline {
  /// Returns the status of the alarm.
  ///
  /// The first of these states applies: disabled or deleted, ringing, snoozed, pending, missed, paused, active,
  /// finished.
  public func status(at now: Instant, settings: Settings, ledger: DeliveryLedger) -> AlarmStatus {
    if !alarm.enabled || alarm.isDeleted { return AlarmStatus(state: .disabled) }
    let next = self.next(after: now)
    var status = AlarmStatus(
      state: next == nil ? .finished : .active, next: next,
      pending: pending(at: now, before: next, settings: settings, ledger: ledger),
      missed: missed(at: now),
      skipped: skippedAhead(at: now), pausedUntil: pausedUntil(at: now),
      validUntil: next?.at ?? .distantFuture)
    limitValidity(of: &status, at: now, settings: settings, ledger: ledger)
    addCurrent(to: &status, at: now, settings: settings, ledger: ledger)
    var again = openPending(at: now, settings: settings, ledger: ledger)[...]
    if status.state != .ringing, let latest = again.popFirst() {
      status.state = .ringing
      status.current = latest.civil
      status.isUndelivered = latest.ringing.isUndelivered
      status.validUntil = now
    }
    if status.state == .ringing {
      status.alsoRinging = again.map(\.civil)
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
    status.moved = moves(of: status, at: now)
    assert(status.isConsistent, "a status has the facts of its state")
    assert(next.map { $0.at > now } ?? true, "the next occurrence is ahead")
    assert(status.state != .ringing || status.validUntil == now, "no cache keeps a ringing status")
    return status
  }

  /// Returns the moves of the occurrences that a status names, and of those that are ahead.
  private func moves(
    of status: AlarmStatus, at now: Instant
  ) -> [CivilDateTime: CivilDateTime] {
    if alarm.progress.moves.isEmpty { return [:] }
    let named = Set(
      [status.current, status.next?.civil].compactMap { $0 } + status.pending.map(\.occurrence)
        + status.missed + status.skipped + status.alsoRinging)
    let ahead = moved.map(\.civil).filter { record(of: $0) == nil && occurrence($0).at > now }
    return alarm.progress.moves.compactMapValues(\.time)
      .filter { named.contains($0.key) || ahead.contains($0.key) }
  }

  /// Limits the validity of a status to the next change for another reason than the current occurrence.
  private func limitValidity(
    of status: inout AlarmStatus, at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) {
    let (warning, nextWarning) = warnings(at: now, ledger: ledger)
    // A skip is shown only while it is ahead.
    let skipEnd = status.skipped.first.map { occurrence($0).at }
    for change in [warning == nil ? nextWarning : now, nextPauseChange(at: now), skipEnd] {
      if let change { status.validUntil = min(status.validUntil, change) }
    }
    // During a rehearsal of its cascade, every tick evaluates the alarm.
    if isRehearsing(at: now) { status.validUntil = now }
    // The next tick records a correction after a wrong clock, or a new cascade zone.
    if isCorrected || zoneToRecord != nil { status.validUntil = now }
    // The next tick logs the skips of a pause.
    if !unsettledByPause(at: now).isEmpty { status.validUntil = now }
    // The next tick completes pending occurrences on the free tier, and sends an overdue follow-up.
    if !settings.tier.confirmsCompletion, !status.pending.isEmpty { status.validUntil = now }
    for pending in status.pending {
      guard let change = pending.nextFollowUp else { continue }
      status.validUntil = min(status.validUntil, max(change, now))
    }
  }

  /// Adds the current occurrence and the unrecorded misses before it to a status. Sets the state if the occurrence
  /// rings.
  private func addCurrent(
    to status: inout AlarmStatus, at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) {
    guard let current = current(at: now, ledger: ledger) else { return }
    let (missed, change) = unsettled(before: current, at: now)
    if !missed.isEmpty { status.missed = inOrder(status.missed + missed) }
    if let change { status.validUntil = min(status.validUntil, change) }
    guard let open = ringing(current, at: now, settings: settings, ledger: ledger) else { return }
    status.current = open.civil
    // Ringing occurrences and unrecorded misses depend on this device's delivery ledger.
    switch open.ringing {
    case .toRing, .ringing, .undelivered, .waiting:
      status.state = .ringing
      status.isUndelivered = open.ringing.isUndelivered
      status.validUntil = now
    case .snoozed(let until):
      let record = record(of: open.civil)
      status.snooze = AlarmStatus.Snooze(
        occurrence: open.civil, until: until, count: record?.snooze.count ?? 0)
      // The end of quiet hours depends on the ledger, too: see `quietEnd`.
      status.validUntil = record?.state == .snoozed ? min(status.validUntil, until) : now
    case .missed:
      status.missed.append(open.civil)
      status.validUntil = now
    }
  }

  private func pending(
    at now: Instant, before next: Occurrence?, settings: Settings, ledger: DeliveryLedger
  ) -> [AlarmStatus.Pending] {
    occurrences(in: .pending).compactMap { civil in
      record(of: civil).map {
        pending(civil, $0, at: now, before: next, settings: settings, ledger: ledger)
      }
    }
  }

  /// Returns a pending occurrence with its follow-ups.
  ///
  /// - Parameters:
  ///   - next: the next occurrence, which completes the pending one; nil if there is none.
  ///   - ledger: the delivery ledger, whose attempts count as sent; nil to count only what the record shows as sent.
  func pending(
    _ civil: CivilDateTime, _ record: OccurrenceRecord, at now: Instant, before next: Occurrence?,
    settings: Settings, ledger: DeliveryLedger?
  ) -> AlarmStatus.Pending {
    let outlook = followUps(of: civil, record, at: now, settings: settings, ledger: ledger)
    // When the next occurrence fires, the pending one is completed and sends no further follow-up.
    let isCompleted = !keepsPending && next.map { $0.at <= outlook.next ?? $0.at } ?? false
    return AlarmStatus.Pending(
      occurrence: civil, since: record.since ?? occurrence(civil).at, followUpsSent: outlook.sent,
      nextFollowUp: outlook.overdue?.due ?? (isCompleted ? nil : outlook.next))
  }

  /// Returns the missed occurrences that were not dismissed and follow the latest answered one. For a strict alarm,
  /// returns all that were not dismissed.
  private func missed(at now: Instant) -> [CivilDateTime] {
    let missed = occurrences(in: .missed)
      .filter { record(of: $0)?.dismissed == false && !isCompleted($0) }
    if missed.isEmpty || alarm.delivery.strict { return missed }
    let answered = alarm.progress.occurrences.keys.filter { civil in
      guard let record = record(of: civil), occurrence(civil).at <= now else { return false }
      return record.state == .skipped || (record.state == .done && !record.auto)
    }.map(position).max()
    return missed.filter { civil in answered.map { position(of: civil) > $0 } ?? true }
  }

  /// Returns the skipped occurrences that are still ahead, oldest first.
  func skippedAhead(at now: Instant) -> [CivilDateTime] {
    occurrences(in: .skipped).filter { occurrence($0).at > now }
  }
}
