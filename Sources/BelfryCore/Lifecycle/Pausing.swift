/// A time in which an alarm does not come, by a person's wish: a vacation.
///
/// In the alarm's own civil time, so that every device leaves out the same occurrences.
public struct Pause: Hashable, Sendable {
  /// The first minute of it.
  public let from: CivilDateTime
  /// The first minute after it.
  public let until: CivilDateTime

  public init(from: CivilDateTime, until: CivilDateTime) {
    self.from = from
    self.until = until
  }

  public func covers(_ civil: CivilDateTime) -> Bool { from <= civil && civil < until }
}

extension Timeline {
  /// The end of the pause that goes on at a moment; nil when none does.
  func pausedUntil(at now: Instant) -> CivilDateTime? {
    alarm.pause.flatMap { $0.covers(zone.civil(at: now)) ? $0.until : nil }
  }

  /// Whether an open occurrence is left out because of a pause. One that somebody has reopened is not.
  func isPaused(_ civil: CivilDateTime) -> Bool {
    guard alarm.pause?.covers(civil) == true else { return false }
    return alarm.progress.occurrences[civil].map { isPremature($0, civil) } ?? true
  }

  /// When the next occurrence comes due that a pause leaves out, or the pause ends; nil without one.
  func nextPauseChange(at now: Instant) -> Instant? {
    guard let pause = alarm.pause, zone.civil(at: now) < pause.until else { return nil }
    let end = zone.instant(of: pause.until)
    let before = max(zone.civil(at: now), CivilDateTime(minuteNumber: pause.from.minuteNumber - 1))
    guard let civil = alarm.schedule.next(after: before), pause.covers(civil) else { return end }
    return min(end, zone.instant(of: civil))
  }

  /// The alarm with another pause, or none.
  ///
  /// 1. What had come due in the pause before is skipped.
  /// 2. A cascade that rings or is snoozed is silenced on all its devices: its occurrence is skipped, too. Any other
  ///    alarm that rings goes on.
  public func paused(
    _ pause: Pause?, at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> Transition {
    var transition = Transition(alarm: alarm, events: [])
    skip(unsettledByPause(at: now), at: now, in: &transition)
    if let pause, pause.covers(zone.civil(at: now)),
      let ringing = ringingCascade(at: now, settings: settings, ledger: ledger)
    {
      var record = opened(ringing)
      record.move(to: .skipped, at: now)
      transition.alarm.progress.occurrences[ringing] = record
      transition.events.append(
        Event(.skipped, ringing, detail: "paused", revision: record.revision))
    }
    transition.alarm.pause = pause
    transition.events.append(
      pause.map { Event(.paused, detail: "until \($0.until)") } ?? Event(.resumed))
    return transition
  }

  /// The occurrence of a cascade that rings on any device, or is snoozed.
  private func ringingCascade(
    at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> CivilDateTime? {
    let status = status(at: now, settings: settings, ledger: ledger)
    guard status.state == .ringing || status.state == .snoozed, let current = status.current,
      let cascadeRun = cascadeRun(of: current), cascadeRun.ended == nil
    else { return nil }
    return current
  }

  /// Whether all that is to come lies in a pause, so that it would never ring.
  public func comesOnlyOnce(within pause: Pause) -> Bool {
    guard case .once = alarm.schedule.recurrence else { return false }
    return alarm.schedule.next(after: CivilDateTime(minuteNumber: pause.from.minuteNumber - 1))
      .map(pause.covers) ?? false
  }

  /// The unanswered occurrences that came due in a pause, newest first.
  func unsettledByPause(at now: Instant) -> [CivilDateTime] {
    guard let pause = alarm.pause else { return [] }
    return due(at: now).lazy.map { $0.civil }.prefix { $0 >= pause.from }.filter { isPaused($0) }
  }
}
