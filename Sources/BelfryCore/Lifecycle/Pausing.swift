/// A period in which an alarm does not fire, such as a vacation.
///
/// It is in the alarm's own civil time, so that every device skips the same occurrences.
public struct Pause: Hashable, Sendable {
  /// The first minute of the pause.
  public let from: CivilDateTime
  /// The first minute after the pause.
  public let until: CivilDateTime

  /// Creates a pause from its bounds.
  public init(from: CivilDateTime, until: CivilDateTime) {
    self.from = from
    self.until = until
  }

  /// Returns true if a civil time lies in the pause.
  public func covers(_ civil: CivilDateTime) -> Bool { from <= civil && civil < until }

  /// Returns true if the pause is still to begin at a civil time. One that begins a minute later, after an occurrence that
  /// rings, has begun.
  public func isAhead(of civil: CivilDateTime) -> Bool {
    from.minuteNumber > civil.minuteNumber + 1
  }
}

extension Timeline {
  /// Returns the end of the pause that is in effect at a time; nil if there is none.
  func pausedUntil(at now: Instant) -> CivilDateTime? {
    alarm.pause.flatMap { $0.covers(zone.civil(at: now)) ? $0.until : nil }
  }

  /// Returns true if the pause skips an open occurrence. It does not skip one that a user has reopened.
  func isPaused(_ civil: CivilDateTime) -> Bool {
    guard alarm.pause?.covers(alarm.progress.time(of: civil)) == true else { return false }
    guard let record = alarm.progress.occurrences[civil] else { return true }
    // The clock's own decisions do not count as an answer.
    return record.answersOnly.isEmpty && !record.exhausted && self.record(of: civil) == nil
  }

  /// Returns the time at which the pause ends or skips its next occurrence, whichever is earlier; nil if there is no
  /// pause.
  func nextPauseChange(at now: Instant) -> Instant? {
    guard let pause = alarm.pause, zone.civil(at: now) < pause.until else { return nil }
    let end = zone.instant(of: pause.until)
    let before = max(zone.civil(at: now), pause.from.previous)
    let skipped = ringingOrder.next(after: RingingOrder.Position(time: before, civil: before))
      .flatMap { pause.covers($0.time) ? $0.time : nil }
    let change = skipped.map { min(end, zone.instant(of: $0)) } ?? end
    // When clocks are set back, a time of day that is still to come has passed once already.
    return change > now ? change : now.adding(seconds: 60)
  }

  /// Returns the alarm with another pause, or with none.
  ///
  /// 1. Occurrences that came due in the previous pause are skipped.
  /// 2. If the new pause is in effect, and the alarm has a cascade that rings or is snoozed, the occurrence is skipped.
  ///    This silences all devices. An alarm without a cascade keeps ringing, also in the first minute of the pause.
  public func paused(
    _ pause: Pause?, at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> Transition {
    var transition = Transition(alarm: alarm, events: [])
    skip(unsettledByPause(at: now), at: now, in: &transition)
    var pause = pause
    let ringing = ringingCascade(at: now, settings: settings, ledger: ledger)
    if ringing == nil { pause = pause.map { afterOpenOccurrence($0, at: now) } }
    if let pause, pause.covers(zone.civil(at: now)), let ringing {
      var record = writableRecord(of: ringing)
      record.move(to: .skipped, at: now, on: device)
      transition.alarm.progress.occurrences[ringing] = record
      transition.events.append(
        Event(.skipped, ringing, payload: .skippedByPause(nil), revision: record.revision))
    }
    transition.alarm.pause = pause
    let here = zone.civil(at: now)
    transition.events.append(
      pause.map { pause in
        let start = pause.isAhead(of: here) ? pause.from : nil
        return Event(.paused, payload: .pause(from: start, until: pause.until))
      } ?? Event(.resumed))
    return transition
  }

  /// Returns a pause that starts after the occurrence that is due and unanswered. A pause has whole minutes, and would
  /// otherwise skip an occurrence of its first minute, which rings.
  private func afterOpenOccurrence(_ pause: Pause, at now: Instant) -> Pause {
    guard let latest = due(at: now).first(where: { _ in true }), pause.covers(latest.time),
      alarm.pause?.covers(latest.time) != true, record(of: latest.civil) == nil
    else { return pause }
    return Pause(
      from: CivilDateTime(minuteNumber: latest.time.minuteNumber + 1), until: pause.until)
  }

  /// Returns the occurrence of a cascade that rings on any device or is snoozed; nil if there is none.
  private func ringingCascade(
    at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> CivilDateTime? {
    let status = status(at: now, settings: settings, ledger: ledger)
    guard status.state == .ringing || status.state == .snoozed, let current = status.current,
      let cascadeRun = cascadeRun(of: current, ledger: ledger), cascadeRun.ended == nil
    else { return nil }
    return current
  }

  /// Returns true if the alarm has an occurrence between a time and the end of its pause that the pause covers.
  public func hasOccurrenceInPause(after now: Instant) -> Bool {
    guard let pause = alarm.pause else { return false }
    let before = max(pause.from, zone.civil(at: now)).previous
    return first(after: before).map { pause.covers(occurrence($0).time) } ?? false
  }

  /// Returns true if the only occurrence of a one-time alarm lies in a pause, so that it would never ring.
  public func comesOnlyOnce(within pause: Pause) -> Bool {
    guard case .once = alarm.schedule.recurrence else { return false }
    let before = pause.from.previous
    return ringingOrder.next(after: RingingOrder.Position(time: before, civil: before))
      .map { pause.covers($0.time) } ?? false
  }

  /// Returns the unanswered occurrences that came due in the pause, newest first.
  func unsettledByPause(at now: Instant) -> [CivilDateTime] {
    guard let pause = alarm.pause else { return [] }
    return due(at: now).lazy.prefix { $0.time >= pause.from }.map(\.civil).filter { isPaused($0) }
  }
}
