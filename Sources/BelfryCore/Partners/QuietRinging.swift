extension Timeline {
  /// The delay in seconds up to which an occurrence counts as on time: no scheduler is exact.
  static let punctuality: Int64 = 60

  /// Holds a partner's alarm that would begin to ring in the receiver's quiet hours back until they end.
  ///
  /// The limits decide at the moment of ringing, as a request is judged when it arrives, and may ring much later: on a
  /// device that was off, after the quiet hours were changed, or in another time zone. Held back, it rings late, as on
  /// a device that was off until then, unless that is after the grace.
  ///
  /// | it rings in quiet hours because | held back |
  /// |---|---|
  /// | its time is in them | yes |
  /// | it is late: its time was more than a minute ago | yes |
  /// | its time was before them, and the scheduler is a few seconds late | no |
  /// | somebody snoozed it, or took an answer back | no |
  /// | the receiver has given it that time | no |
  /// | it has begun to ring before them | no |
  func held(_ ringing: Ringing, _ current: Occurrence, at now: Instant) -> Ringing {
    guard case .toRing(let due) = ringing, let end = quietEnd(for: current, due: due, at: now)
    else { return ringing }
    return .snoozed(until: end)
  }

  /// Returns when the quiet hours end for which an occurrence waits, or a call about it; nil when nothing has to wait.
  ///
  /// - Parameter due: when it was to ring here, or the call to be made.
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
    guard let noted = alarm.stamps[.partner] else { return false }
    return [.schedule, .zone].contains { field in
      alarm.stamps[field].map { $0 > noted } ?? false
    }
  }

  private func isAnswered(_ civil: CivilDateTime) -> Bool {
    guard let record = alarm.progress.occurrences[civil] else { return false }
    return record.state == .snoozed || record.revision > 0
  }
}

extension QuietHours {
  /// Returns when the quiet hours end in which a moment lies.
  func end(after moment: Instant, local: TimeZoneRules) -> Instant {
    let now = local.civil(at: moment)
    let date = now.time < until ? now.date : now.date.adding(days: 1)
    let end = local.instant(of: CivilDateTime(date, until))
    // Clocks that are set back repeat wall times.
    return end > moment ? end : moment.adding(seconds: 60)
  }
}

extension PartnerLimits {
  /// Returns true when a request would ring in the quiet hours: at one of its times, or now, where it is late.
  func isQuiet(
    _ moments: [Instant], of request: PartnerRequest, at now: Instant, local: TimeZoneRules
  ) -> Bool {
    guard let quiet else { return false }
    let isLate = now.seconds(since: request.at) > Timeline.punctuality
    let all = isLate && request.ringsAtOnce(at: now) ? moments + [now] : moments
    return all.contains { quiet.contains(local.civil(at: $0).time) }
  }
}
