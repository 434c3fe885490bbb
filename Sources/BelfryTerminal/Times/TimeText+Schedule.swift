import BelfryCore

/// The text of schedules.
extension TimeText {
  /// Returns a rule with its times in a few words: `Mon, Fri 09:00`, `monthly 15th 17:00`.
  package func rule(_ recurrence: Recurrence, times: [CivilTime]) -> String {
    TimeText.text { append(recurrence, times: times, to: &$0) }
  }

  /// Appends a rule with its times in UTF-8; see `rule(_:times:)`.
  package func append(_ recurrence: Recurrence, times: [CivilTime], to bytes: inout [UInt8]) {
    append(recurrence, to: &bytes)
    if case .elapsed = recurrence { return }
    bytes.append(" ")
    append(times, to: &bytes)
  }

  /// Returns a whole schedule: `Tue every 2 weeks 19:00, from 24 Nov, until 30 Jun 2027, not on holidays`.
  package func schedule(_ schedule: Schedule) -> String {
    var text = rule(schedule.recurrence, times: schedule.times)
    switch schedule.recurrence {
    case .once, .dates, .daily, .weekly, .monthly, .annual:
      if let cadence = schedule.recurrence.cadence,
        cadence.interval > 1 || cadence.start > today
      {
        text += ", from \(shortDate(cadence.start))"
      }
    case .days(_, let cadence): text += ", from \(shortDate(cadence.start))"
    case .cyclic(_, _, let start): text += ", from \(shortDate(start))"
    case .elapsed(_, let start): text += ", from \(shortDate(start)) \(time(schedule.times[0]))"
    case .afterDone(_, let origin): text += ", first on \(shortDate(origin.start))"
    }
    return text + limits(schedule.limits)
  }

  // MARK: Days

  private func append(_ recurrence: Recurrence, to bytes: inout [UInt8]) {
    func every(_ count: Int, _ adjective: String, _ unit: String) {
      bytes.append(count == 1 ? adjective : "every \(count) \(unit)s")
    }
    switch recurrence {
    case .once(let date): bytes.append("once \(shortDate(date))")
    case .daily(let cadence): every(cadence.interval, "daily", "day")
    case .days(let count, let cadence): every(count * cadence.interval, "daily", "day")
    case .cyclic(let on, let off, _):
      bytes.append("\(Period(on, .day).words) on, \(off) off")
    case .dates(let dates):
      bytes.append("once " + list(dates, maxCount: TimeText.maxDatesOfRule))
    case .elapsed(let minutes, _): bytes.append("every \(Schedule.distance(minutes))")
    case .weekly(let days, let cadence):
      append(days, to: &bytes)
      if cadence.interval != 1 { bytes.append(" every \(cadence.interval) weeks") }
    case .monthly(let days, let cadence):
      every(cadence.interval, "monthly", "month")
      for (index, day) in days.enumerated() {
        bytes.append(index == 0 ? " " : ", ")
        append(day, to: &bytes)
      }
    case .annual(let months, let days, let cadence):
      every(cadence.interval, "annual", "year")
      let all = months.flatMap { month in days.map { (month, $0) } }
      let isNumeric = days.allSatisfy { if case .day = $0 { true } else { false } }
      let limit = isNumeric ? TimeText.maxDaysOfYear : TimeText.maxDaysOfYear - 2
      let shown = all.count > limit ? limit - 1 : all.count
      for (index, (month, day)) in all.prefix(shown).enumerated() {
        bytes.append(index == 0 ? " " : ", ")
        if case .day(let number) = day {
          append(day: number, ofMonth: month, to: &bytes)
        } else {
          append(day, to: &bytes)
          bytes.append(" of \(CivilDate.monthNames[month - 1])")
        }
      }
      if shown < all.count { bytes.append(" and \(all.count - shown) more") }
    case .afterDone(let period, _): bytes.append("\(period.words) after done")
    }
  }

  /// Appends weekdays in the order of a week: `Mon, Fri`, `Mon–Fri` for three or more in a row, `daily` for all.
  private func append(_ days: [Weekday], to bytes: inout [UInt8]) {
    if days.count == Weekday.allCases.count { return bytes.append("daily") }
    let first = format.firstWeekday.rawValue
    // The place of each day in the week, as a bit.
    let places = days.reduce(0) { $0 | 1 << (($1.rawValue - first + 7) % 7) }
    guard places != 0 else { return }
    func name(_ place: Int) -> String { TimeText.names[(place + first) % 7] }
    let (start, end) = (places.trailingZeroBitCount, Int.bitWidth - 1 - places.leadingZeroBitCount)
    if places.nonzeroBitCount > 2, end - start == places.nonzeroBitCount - 1 {
      return bytes.append("\(name(start))–\(name(end))")
    }
    for place in start...end where places & 1 << place != 0 {
      if place > start { bytes.append(", ") }
      bytes.append(name(place))
    }
  }

  /// Appends a day of a month: `15th`, `last day`, `third workday`, `first Mon`.
  private func append(_ day: Recurrence.MonthDay, to bytes: inout [UInt8]) {
    if case .day(let number) = day, TimeText.numberedDays.indices.contains(number) {
      return bytes.append(TimeText.numberedDays[number])
    }
    bytes.append(TimeText.words(day))
  }

  /// The words for the days of a month by their number.
  private static let numberedDays = (0...31).map { words(.day($0)) }

  private static func words(_ day: Recurrence.MonthDay) -> String {
    let words = day.words.hasPrefix("the ") ? String(day.words.dropFirst(4)) : day.words
    guard case .weekday(_, let weekday) = day else { return words }
    return words.dropLast(weekday.abbreviation.count) + TimeText.name(weekday)
  }

  // MARK: Times

  /// The maximum number of times that are listed individually.
  private static let maxListedTimes = 4

  /// Appends times of day: `09:00, 21:00`, `every 2 h 09:00–17:00`, or `09:00 and 5 more`.
  private func append(_ times: [CivilTime], to bytes: inout [UInt8]) {
    guard let first = times.first, let last = times.last, times.count > TimeText.maxListedTimes
    else {
      for (index, time) in times.enumerated() {
        if index > 0 { bytes.append(", ") }
        append(time, to: &bytes)
      }
      return
    }
    let minutes = times.map { Int64($0.minuteOfDay) }
    let steps = Set(zip(minutes.dropFirst(), minutes).map { $0 - $1 })
    if steps.count == 1, let step = steps.first {
      bytes.append("every \(Span.length(step * 60)) \(time(first))–\(time(last))")
    } else {
      bytes.append("\(time(first)) and \(times.count - 1) more")
    }
  }

  // MARK: Limits

  private func limits(_ limits: Schedule.Limits) -> String {
    var text = ""
    if let until = limits.until {
      let isWholeDay = until == Schedule.Limits.end(of: until.date)
      text += ", until \(shortDate(until.date))" + (isWholeDay ? "" : " \(time(until.time))")
    }
    if !limits.exceptions.isEmpty {
      text += ", except " + list(limits.exceptions, maxCount: TimeText.maxListedDates)
    }
    if !limits.months.isEmpty { text += ", only \(Schedule.words(ofMonths: limits.months))" }
    switch limits.onHoliday {
    case .skip: text += ", not on holidays"
    case .before: text += ", before a holiday"
    case .after: text += ", after a holiday"
    case nil: break
    }
    return text
  }

  /// Returns dates as text: `3 Dec, 14 Jan 2027 and 4 more`.
  private func list(_ dates: [CivilDate], maxCount: Int) -> String {
    let shown = dates.prefix(maxCount).map { shortDate($0) }
    let rest = dates.count - shown.count
    return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  /// The maximum number of days of a year that are listed individually.
  private static let maxDaysOfYear = 4

  /// The maximum number of dates of a rule that are listed individually.
  private static let maxDatesOfRule = 2

  /// The maximum number of exceptions that are listed individually.
  private static let maxListedDates = 6
}
