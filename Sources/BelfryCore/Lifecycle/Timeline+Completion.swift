/// The rules of a schedule that follows completions, such as 90 days after the latest one.
///
/// ```
/// done on 3 Mar                    3 Mar + 90 d = 1 Jun   2 Jun   3 Jun, done          3 Jun + 90 d = 1 Sep
/// ─┴───────────────────────────────┴──────────────────────┴───────┴────────────────────┴─
///                                  rings                  rings   rings                rings
/// ```
///
/// 1. The next occurrence is a period after the date of the latest completion. Until it is done or skipped, the alarm
///    recurs every day, so that no delay loses it.
/// 2. The record of each occurrence that a user did or skipped has the date from which the period counts. The latest
///    date of the joined records decides, so that devices that completed it offline agree after a sync.
/// 3. A completion settles everything up to its date: earlier pending, snoozed and missed occurrences need no answer.
/// 4. A completion ahead of time settles its occurrence until the next period begins. If the occurrence lies in that
///    period, it recurs.
/// 5. A stopped occurrence stays pending when the next one fires, because only a user completes it.
extension Timeline {
  /// Returns true if a later completion made an occurrence irrelevant.
  func isCompleted(_ civil: CivilDateTime) -> Bool {
    completedUpTo.map { civil.date <= $0 } ?? false
  }

  /// Returns the date from which the period counts if a user completes an occurrence; nil if the schedule does not
  /// follow completions.
  func completion(of answer: Answer, to civil: CivilDateTime, at now: Instant) -> CivilDate? {
    guard alarm.schedule.followsCompletion else { return nil }
    let date: CivilDate
    switch answer {
    case .done(let moment, _): date = zone.civil(at: moment ?? now).date
    case .stop: date = zone.civil(at: now).date
    case .skip: return max(zone.civil(at: now).date, civil.date)
    case .snooze, .unskip, .dismiss: return nil
    }
    // After a completion or a skip of a later date, such as a second completion on one day, the occurrence's own date
    // counts.
    return completedUpTo.map { date > $0 } ?? true ? date : max(date, civil.date)
  }

  /// Returns true if a completion ahead of time no longer settles its occurrence, because its period has ended before.
  ///
  /// - Parameter completed: the date of the completion; nil if there is none.
  func isDueAgain(_ completed: CivilDate?, _ civil: CivilDateTime) -> Bool {
    guard case .afterDone(let period, _) = alarm.schedule.recurrence, let completed
    else { return false }
    return completed.adding(period) <= civil.date
  }
}

extension Timeline {
  /// Returns the alarm's schedule. If it follows completions, it starts on its next date.
  ///
  /// - Parameter now: The time from which the next date is searched; nil for the date that follows from the latest
  ///   completion, which may be past.
  public func continuedSchedule(after now: Instant?) -> Schedule {
    let schedule = alarm.schedule
    let start = now.map { zone.civil(at: $0) } ?? CivilDateTime(CivilDate.earliest, .midnight)
    guard case .afterDone(let period, _) = schedule.recurrence,
      let next = scheduled.next(after: start)
    else { return schedule }
    return
      (try? Schedule(
        .afterDone(period, .init(start: next.date)), times: schedule.times, limits: schedule.limits))
      ?? schedule
  }
}

extension Alarm {
  /// Returns the date of the latest completion in the records; nil if there is none.
  ///
  /// A skip ahead of time counts only under the present schedule, and only if no earlier occurrence was reopened: that
  /// one rings first.
  ///
  /// A date after tomorrow does not count if the answer was also given more than a day ahead of `now`: the clock that
  /// recorded it was wrong, and the alarm would be silent until a period after it.
  ///
  /// - Parameters:
  ///   - zone: the zone of the alarm's civil times.
  ///   - now: the present time; nil if every recorded time counts as plausible.
  public func completed(in zone: TimeZoneRules, at now: Instant?) -> CivilDate? {
    let tomorrow = now?.adding(seconds: Instant.day)
    let completions = progress.occurrences.filter { _, record in
      guard let completed = record.completed, record.state == .done || record.state == .skipped
      else { return false }
      guard let tomorrow, let since = record.since, since > tomorrow else { return true }
      return completed <= zone.civil(at: tomorrow).date
    }
    let made = completions.values.lazy.filter { $0.schedule == nil }.compactMap(\.completed)
    let latest = [made.max(), progress.completed].compactMap { $0 }.max()
    let reopened = progress.occurrences.lazy.filter { civil, record in
      record.state == .open && record.revision > 0 && latest.map { civil.date > $0 } ?? true
    }.map(\.key).min()
    let ahead = completions.lazy.filter { civil, record in
      guard let schedule = record.schedule else { return false }
      return schedule == timingStamp(of: civil)
        || zone.instant(of: progress.time(of: civil)) <= progress.armed
    }.filter { civil, _ in reopened.map { civil < $0 } ?? true }.compactMap(\.value.completed)
    return [latest, ahead.max()].compactMap { $0 }.max()
  }
}
