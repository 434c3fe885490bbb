/// Where an alarm stands at a moment: derived from the record and what this device has rung for.
public struct AlarmStatus: Hashable, Sendable {
  public enum State: String, CaseIterable, Sendable {
    case active, ringing, snoozed, pending, missed, disabled, finished
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
  /// As long as the record and this device's firings stay the same, nothing here changes before this moment.
  public var validUntil: Instant

  public struct Pending: Hashable, Sendable {
    public let occurrence: CivilDateTime
    public let since: Instant

    public init(occurrence: CivilDateTime, since: Instant) {
      self.occurrence = occurrence
      self.since = since
    }
  }

  public struct Snooze: Hashable, Sendable {
    public let occurrence: CivilDateTime
    public let until: Instant
    public let count: Int

    public init(occurrence: CivilDateTime, until: Instant, count: Int) {
      self.occurrence = occurrence
      self.until = until
      self.count = count
    }
  }

  public init(
    state: State, next: Timeline.Occurrence? = nil, current: CivilDateTime? = nil,
    pending: [Pending] = [], snooze: Snooze? = nil, validUntil: Instant = .distantFuture
  ) {
    self.state = state
    self.next = next
    self.current = current
    self.pending = pending
    self.snooze = snooze
    self.validUntil = validUntil
  }
}

/// How an open occurrence stands against the clock.
enum Ringing: Equatable {
  /// Due, and this device has not rung for it: it is to ring now.
  case toRing(due: Instant)
  /// Has rung, and waits for an answer; `until` when it then counts as missed.
  case ringing(until: Instant?)
  /// Snoozed until then.
  case snoozed(until: Instant)
  /// Nobody answered in time.
  case missed

  /// - Parameter record: what is known of the occurrence, nil or snoozed; anything else is answered.
  init(
    _ occurrence: Timeline.Occurrence, record: OccurrenceRecord?, alarm: Alarm, now: Instant,
    settings: Settings, firings: Firings
  ) {
    let due = record?.until ?? occurrence.at
    if due > now {
      self = .snoozed(until: due)
    } else if let rang = firings.rang(alarm.id, occurrence.civil, due: due) {
      let end = rang.adding(seconds: settings.ringTimeout)
      if alarm.delivery.persistent {
        self = .ringing(until: nil)
      } else {
        self = end <= now ? .missed : .ringing(until: end)
      }
    } else {
      self = now <= due.adding(seconds: settings.grace) ? .toRing(due: due) : .missed
    }
  }
}

extension Timeline {
  /// Where the alarm stands.
  ///
  /// In this order: deleted or disabled; ringing; snoozed; pending; missed; active; finished.
  public func status(at now: Instant, settings: Settings, firings: Firings) -> AlarmStatus {
    if !alarm.enabled || alarm.isDeleted { return AlarmStatus(state: .disabled) }
    let next = self.next(after: now)
    var status = AlarmStatus(
      state: next == nil ? .finished : .active, next: next,
      pending: occurrences(in: .pending).map { civil in
        let since = self.record(of: civil)?.since
        return AlarmStatus.Pending(occurrence: civil, since: since ?? self.occurrence(civil).at)
      }, validUntil: next?.at ?? .distantFuture)
    if !status.pending.isEmpty { status.state = .pending }

    guard let current = self.current(at: now) else { return status }
    let known = self.record(of: current.civil)
    switch known?.state {
    case .missed:
      if status.state != .pending { status.state = .missed }
      status.current = current.civil
    case .pending, .skipped, .done: break
    case nil, .open, .snoozed:
      status.current = current.civil
      switch Ringing(
        current, record: known, alarm: alarm, now: now, settings: settings, firings: firings)
      {
      case .toRing(let due):
        status.state = .ringing
        status.validUntil = min(
          status.validUntil, due.adding(seconds: settings.grace).adding(seconds: 1))
      case .ringing(let until):
        status.state = .ringing
        if let until { status.validUntil = min(status.validUntil, until) }
      case .snoozed(let until):
        status.state = .snoozed
        status.snooze = AlarmStatus.Snooze(
          occurrence: current.civil, until: until, count: known?.snoozes ?? 1)
        status.validUntil = min(status.validUntil, until)
      case .missed:
        if status.state != .pending { status.state = .missed }
      }
    }
    return status
  }
}
