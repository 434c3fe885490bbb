import BelfryCore

/// The text of schedules.
extension TimeText {
  /// Returns a rule with its times in a few words: `Mon, Fri 09:00`, `monthly 15th 17:00`.
  func rule(_ recurrence: Recurrence, times: [CivilTime]) -> String {
    "\(days(recurrence)) \(self.times(times))"
  }

  /// Returns a whole schedule: `Tue every 2 weeks 19:00, from 24 Nov, until 30 Jun 2027, not on holidays`.
  func schedule(_ schedule: Schedule) -> String {
    var text = rule(schedule.recurrence, times: schedule.times)
    switch schedule.recurrence {
    case .once, .daily, .weekly, .monthly, .annual:
      if let cadence = schedule.recurrence.cadence,
        cadence.interval > 1 || cadence.start > today
      {
        text += ", from \(shortDate(cadence.start))"
      }
    case .days(_, let cadence): text += ", from \(shortDate(cadence.start))"
    case .afterDone(_, let origin): text += ", first on \(shortDate(origin.start))"
    }
    return text + limits(schedule.limits)
  }

  // MARK: Days

  private func days(_ recurrence: Recurrence) -> String {
    func every(_ count: Int, _ adjective: String, _ unit: String) -> String {
      count == 1 ? adjective : "every \(count) \(unit)s"
    }
    switch recurrence {
    case .once(let date): return "once \(shortDate(date))"
    case .daily(let cadence): return every(cadence.interval, "daily", "day")
    case .days(let count, let cadence): return every(count * cadence.interval, "daily", "day")
    case .weekly(let days, let cadence):
      let days = weekdays(days)
      return cadence.interval == 1 ? days : "\(days) every \(cadence.interval) weeks"
    case .monthly(let days, let cadence):
      let list = days.map(monthDay).joined(separator: ", ")
      return "\(every(cadence.interval, "monthly", "month")) \(list)"
    case .annual(let months, let days, let cadence):
      let dates = months.flatMap { month in
        days.map { day in
          if case .day(let number) = day { return self.day(number, ofMonth: month) }
          return "\(monthDay(day)) of \(CivilDate.monthNames[month - 1])"
        }
      }
      return "\(every(cadence.interval, "annual", "year")) \(dates.joined(separator: ", "))"
    case .afterDone(let period, _): return "\(period.words) after done"
    }
  }

  /// Returns weekdays in the order of a week: `Mon, Fri`, `Mon–Fri` for three or more in a row, `daily` for all.
  private func weekdays(_ days: [Weekday]) -> String {
    if days.count == Weekday.allCases.count { return "daily" }
    let week = week
    let places = week.indices.filter { days.contains(week[$0]) }
    guard let first = places.first, let last = places.last else { return "" }
    if places.count > 2, last - first == places.count - 1 {
      return "\(TimeText.name(week[first]))–\(TimeText.name(week[last]))"
    }
    return places.map { TimeText.name(week[$0]) }.joined(separator: ", ")
  }

  /// Returns a day of a month: `15th`, `last day`, `third workday`, `first Mon`.
  private func monthDay(_ day: Recurrence.MonthDay) -> String {
    let words = day.words.hasPrefix("the ") ? String(day.words.dropFirst(4)) : day.words
    guard case .weekday(_, let weekday) = day else { return words }
    return words.dropLast(weekday.abbreviation.count) + TimeText.name(weekday)
  }

  // MARK: Times

  /// The maximum number of times that are listed individually.
  private static let maxListedTimes = 4

  /// Returns times of day: `09:00, 21:00`, `every 2 h 09:00–17:00`, or `09:00 and 5 more`.
  private func times(_ times: [CivilTime]) -> String {
    if times.count == 1 { return time(times[0]) }
    guard let first = times.first, let last = times.last, times.count > TimeText.maxListedTimes
    else { return times.map { time($0) }.joined(separator: ", ") }
    let minutes = times.map { Int64($0.minuteOfDay) }
    let steps = Set(zip(minutes.dropFirst(), minutes).map { $0 - $1 })
    if steps.count == 1, let step = steps.first {
      return "every \(Span.length(step * 60)) \(time(first))–\(time(last))"
    }
    return "\(time(first)) and \(times.count - 1) more"
  }

  // MARK: Limits

  private func limits(_ limits: Schedule.Limits) -> String {
    var text = ""
    if let until = limits.until {
      let isWholeDay = until == Schedule.Limits.end(of: until.date)
      text += ", until \(shortDate(until.date))" + (isWholeDay ? "" : " \(time(until.time))")
    }
    if !limits.exceptions.isEmpty {
      let shown = limits.exceptions.prefix(TimeText.maxListedDates).map { shortDate($0) }
      let rest = limits.exceptions.count - shown.count
      text += ", except " + shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
    switch limits.onHoliday {
    case .skip: text += ", not on holidays"
    case .before: text += ", before a holiday"
    case .after: text += ", after a holiday"
    case nil: break
    }
    return text
  }

  /// The maximum number of exceptions that are listed individually.
  private static let maxListedDates = 6
}
