extension Timeline {
  /// The maximum delay in seconds at which a request, or the ring of a device, counts as on time.
  static let punctuality: Int64 = 60

  /// Returns the end of the quiet hours for which an occurrence of a partner's alarm waits; nil if it does not wait.
  ///
  /// An occurrence that is due in the quiet hours rings at their end as if it were due then: its cascade and its grace
  /// period begin there. An alarm that began to ring before the quiet hours rings and escalates in them.
  ///
  /// | reason for ringing in the quiet hours | waits |
  /// |---|---|
  /// | the due time is in the quiet hours | yes |
  /// | the due time is before the quiet hours | no, but see `lateQuietEnd` |
  /// | the receiver snoozed the occurrence or undid a response, before they ended | no |
  /// | the receiver changed the alarm's time | no |
  /// | this device rang for it before the hours were changed, or before it came into another time zone | no |
  func quietEnd(of civil: CivilDateTime, ledger: DeliveryLedger) -> Instant? {
    guard let quiet = alarm.partner?.quiet, let local, !isScheduledByReceiver else { return nil }
    let due = occurrence(civil).at
    guard quiet.contains(local.civil(at: due).time) else { return nil }
    let end = quiet.end(after: due, local: local)
    return hasBegun(civil, before: end, ledger) ? nil : end
  }

  /// Returns the end of the quiet hours for which this device waits, although the occurrence was due before them: the device
  /// was off, has not rung for it, and would begin to ring in them. Nil if it does not wait.
  ///
  /// The steps of a cascade do not wait, because the first device may have rung.
  func lateQuietEnd(
    of current: Occurrence, at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) -> Instant? {
    guard let quiet = alarm.partner?.quiet, let local, !isScheduledByReceiver, ringsHere,
      alarm.cascade?.plan.isActive != true,
      now.seconds(since: current.at) > Timeline.punctuality
    else { return nil }
    let begin = quiet.begin(after: current.at, local: local)
    guard begin <= now, begin <= current.at.adding(seconds: settings.grace) else { return nil }
    let end = quiet.end(after: begin, local: local)
    return hasBegun(current.civil, before: end, ledger) ? nil : end
  }

  /// Returns true if this device has rung for an occurrence before a time, or if the receiver has answered it.
  private func hasBegun(
    _ civil: CivilDateTime, before end: Instant, _ ledger: DeliveryLedger
  ) -> Bool {
    let firing = ledger[.occurrence(id(of: civil), .firing)]
    return firing.map { $0.due < end } ?? false || isAnswered(civil, before: end)
  }

  /// The time at which an occurrence may have ceased to wait, because the quiet hours were changed; nil if they were
  /// not. The grace period counts from it.
  func quietChange(after due: Instant, at now: Instant) -> Instant? {
    guard alarm.partner != nil, let changed = alarm.mergeState.stamps[.partner]?.time,
      changed > due, changed <= now
    else { return nil }
    return changed
  }

  /// True if the alarm's time was edited after the quiet hours were recorded.
  private var isScheduledByReceiver: Bool {
    guard let recorded = alarm.mergeState.stamps[.partner] else { return false }
    return [.schedule, .zone].contains { field in
      alarm.mergeState.stamps[field].map { $0 > recorded } ?? false
    }
  }

  /// Returns true if the receiver snoozed or reopened an occurrence before a time.
  private func isAnswered(_ civil: CivilDateTime, before end: Instant) -> Bool {
    guard let record = alarm.progress.occurrences[civil],
      record.answer == .snoozed || record.revision > 0
    else { return false }
    let first = record.snooze.history.map(\.at).min() ?? record.answered
    return first.map { $0 < end } ?? true
  }
}

extension QuietHours {
  /// Returns the next beginning of the quiet hours after a moment.
  func begin(after moment: Instant, local: TimeZoneRules) -> Instant {
    let now = local.civil(at: moment)
    let date = now.time < from ? now.date : now.date.adding(days: 1)
    return local.instant(of: CivilDateTime(date, from))
  }

  /// Returns the end of the quiet hours that contain a moment.
  func end(after moment: Instant, local: TimeZoneRules) -> Instant {
    let now = local.civil(at: moment)
    let date = now.time < until ? now.date : now.date.adding(days: 1)
    let end = local.instant(of: CivilDateTime(date, until))
    // When a clock is set back, civil times repeat.
    return end > moment ? end : moment.adding(seconds: 60)
  }
}

extension PartnerLimits {
  /// Returns true if a request would ring in the quiet hours, at one of its times or immediately because it is late.
  func isQuiet(
    _ moments: [Instant], of request: PartnerRequest, at now: Instant, local: TimeZoneRules
  ) -> Bool {
    guard let quiet else { return false }
    let isLate = now.seconds(since: request.at) > Timeline.punctuality
    let all = isLate && request.ringsAtOnce(at: now) ? moments + [now] : moments
    return all.contains { quiet.contains(local.civil(at: $0).time) }
  }
}
