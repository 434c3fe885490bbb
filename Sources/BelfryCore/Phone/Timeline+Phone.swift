/// The times at which the task of an occurrence sounds on a phone.
///
/// All devices that have the same records and the same time zone return the same times, whatever they have delivered and
/// whatever they know of each other, so that they write the same tasks.
extension Timeline {
  /// Returns the time at which the alarm of an occurrence's task sounds; nil if it does not sound, or not again.
  ///
  /// A time may have passed. The phone has received no answer of another device that it has not synced yet, so a step of
  /// the cascade sounds even if an earlier one was answered.
  ///
  /// | the occurrence | without the step `CascadeTarget.phoneTasks` | with the step |
  /// |---|---|---|
  /// | is ahead or open | its due time, also of a moved one | the turn of the step, without regard to devices that are offline |
  /// | is due in the quiet hours of a partner's alarm | their end | the turn of the step, counted from their end |
  /// | rang, and was reopened | the time of the reopening | the turn of the step, counted from it |
  /// | is snoozed | the end of the snooze | the turn of the step after it; nil if the cascade goes on with a later step |
  /// | is pending | the next follow-up, or nil if none is left | the same |
  /// | is done, skipped, missed or paused, or lies before the latest edit of the schedule | nil | nil |
  /// | belongs to a disabled or deleted alarm | nil | nil |
  public func phoneAlert(
    of civil: CivilDateTime, at now: Instant, settings: Settings
  ) -> Instant? {
    guard alarm.enabled, !alarm.isDeleted else { return nil }
    let known = record(of: civil)
    switch known?.state {
    case nil: guard isOpen(civil, at: now) else { return nil }
    case .snoozed: break
    case .pending:
      return known.flatMap {
        pending(civil, $0, at: now, before: next(after: now), settings: settings, ledger: nil)
          .nextFollowUp
      }
    case .open, .done, .skipped, .missed: return nil
    }
    let ledger = DeliveryLedger()
    let occurrence = occurrence(civil)
    guard let cascadeRun = cascadeRun(of: civil, ledger: ledger, passesOver: false),
      let index = alarm.cascadePlan(at: cascadeRun.due)?.targets.firstIndex(of: .phoneTasks)
    else {
      if let until = known?.snooze.until { return max(until, occurrence.at) }
      return reopeningTime(of: occurrence) ?? quietEnd(of: civil, ledger: ledger) ?? occurrence.at
    }
    let began = cascadeRun.pausedUntil ?? cascadeRun.due
    return cascadeRun.turns.first { $0.step == index + 1 && $0.at >= began }?.at
  }

  /// Returns the times of the advance warnings of an open occurrence, in order. Those that were due before the latest edit
  /// of the schedule are left out.
  public func phoneWarnings(of civil: CivilDateTime) -> [Instant] {
    guard let plan = alarm.delivery.warnings, alarm.enabled, !alarm.isDeleted,
      record(of: civil) == nil, isOpen(civil, at: .distantFuture)
    else { return [] }
    let due = occurrence(civil).at
    return plan.seconds.map { due.adding(seconds: -$0) }.filter { $0 > alarm.progress.armed }
  }

  /// Returns true if an occurrence without a record rings, or would ring if a device were on.
  private func isOpen(_ civil: CivilDateTime, at now: Instant) -> Bool {
    if isPaused(civil) || isBelowFloor(civil) || isCompleted(civil) { return false }
    return occurrence(civil).at > alarm.progress.armed || reopened(at: now).contains(civil)
  }
}
