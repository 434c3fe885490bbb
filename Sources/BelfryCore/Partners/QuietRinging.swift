extension Timeline {
  /// The maximum delay in seconds at which an occurrence counts as on time.
  static let punctuality: Int64 = 60

  /// Returns the state of an occurrence, snoozed to the end of the quiet hours if a partner's alarm would begin to
  /// ring in them.
  ///
  /// The quiet hours are checked again at the moment of ringing, because an accepted request may ring much later: on a
  /// device that was off, after a change of the quiet hours, or in another time zone. A delayed occurrence rings late,
  /// unless its grace period has passed.
  ///
  /// | reason for ringing in the quiet hours | delayed |
  /// |---|---|
  /// | the due time is in the quiet hours | yes |
  /// | the occurrence is more than a minute late | yes |
  /// | the due time is before the quiet hours, and the scheduler is a few seconds late | no |
  /// | the receiver snoozed the occurrence or undid a response | no |
  /// | the receiver changed the alarm's time | no |
  /// | the alarm began to ring before the quiet hours | no |
  func held(_ ringing: Ringing, _ current: Occurrence, at now: Instant) -> Ringing {
    guard case .toRing(let due) = ringing, let end = quietEnd(for: current, due: due, at: now)
    else { return ringing }
    return .snoozed(until: end)
  }

  /// Returns the end of the quiet hours for which an occurrence or a call must wait; nil if there is no need to wait.
  ///
  /// - Parameters:
  ///   - current: the occurrence.
  ///   - due: the time at which the device rings or calls.
  ///   - now: the current time.
  func quietEnd(for current: Occurrence, due: Instant, at now: Instant) -> Instant? {
    guard let quiet = alarm.partner?.quiet, let local, !isScheduledByReceiver,
      !isAnswered(current.civil), quiet.contains(local.civil(at: now).time)
    else { return nil }
    let isOnTime =
      now.seconds(since: due) <= Timeline.punctuality
      && !quiet.contains(local.civil(at: current.at).time)
    return isOnTime ? nil : quiet.end(after: now, local: local)
  }

  /// True if the alarm's time was edited after the quiet hours were recorded.
  private var isScheduledByReceiver: Bool {
    guard let recorded = alarm.mergeState.stamps[.partner] else { return false }
    return [.schedule, .zone].contains { field in
      alarm.mergeState.stamps[field].map { $0 > recorded } ?? false
    }
  }

  private func isAnswered(_ civil: CivilDateTime) -> Bool {
    guard let record = alarm.progress.occurrences[civil] else { return false }
    return record.answer == .snoozed || record.revision > 0
  }
}

extension QuietHours {
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
