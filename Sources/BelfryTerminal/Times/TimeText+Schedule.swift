import BelfryCore

/// The text of schedules: the only wording in text for people. `Schedule.summary` is for commit messages and documents.
extension TimeText {
  /// The word for an alarm that rings once.
  package static let once = "once"

  /// Returns a rule with its times in a few words: `Mon, Fri 09:00`, `every Fri 09:00`, `monthly 15th 17:00`. The input
  /// parser reads them back.
  ///
  /// - Parameter zone: The zone of the times, which follows them if it is not this device's: `Mon 09:00 Asia/Tokyo`.
  package func rule(
    _ recurrence: Recurrence, times: [CivilTime], zone: String = Alarm.Zone.floating.text
  ) -> String {
    let rule = TimeText.text { append(recurrence, times: times, to: &$0) }
    return isLocal(zone) ? rule : "\(rule) \(Printable.text(zone))"
  }

  /// Appends a rule with its times in UTF-8; see `rule(_:times:zone:)`.
  ///
  /// - Parameter isComplete: True to list more dates and times individually.
  package func append(
    _ recurrence: Recurrence, times: [CivilTime], isComplete: Bool = false,
    to bytes: inout [UInt8]
  ) {
    // A weekday alone would be a date.
    if case .weekly(let days, let cadence) = recurrence, days.count == 1, cadence.interval == 1,
      TimeText.window(times) == nil
    {
      bytes.append("every ")
    }
    append(recurrence, isComplete: isComplete, to: &bytes)
    if case .elapsed = recurrence { return }
    bytes.append(" ")
    append(times, maxCount: isComplete ? TimeText.maxTimes : TimeText.maxListedTimes, to: &bytes)
  }

  /// Returns a whole schedule, which the input parser reads back, unless it has a long list of dates: `Tue every 2 weeks 19:00, from 24 Nov, until 30 Jun 2027, not on holidays`.
  ///
  /// - Parameter zone: The zone of the times, which follows them if it is not this device's.
  package func schedule(_ schedule: Schedule, zone: String = Alarm.Zone.floating.text) -> String {
    var text = TimeText.text {
      append(schedule.recurrence, times: schedule.times, isComplete: true, to: &$0)
    }
    if !isLocal(zone) { text += " \(Printable.text(zone))" }
    switch schedule.recurrence {
    case .once, .dates, .daily, .weekly, .monthly, .annual:
      if let cadence = schedule.recurrence.cadence,
        cadence.interval > 1 || cadence.start > today
      {
        text += ", from \(dated(cadence.start))"
      }
    case .days(_, let cadence): text += ", from \(dated(cadence.start))"
    case .cyclic(_, _, let start): text += ", from \(dated(start))"
    case .elapsed(_, let start): text += ", from \(dated(start)) \(time(schedule.times[0]))"
    case .afterDone(_, let origin): text += ", first on \(dated(origin.start))"
    }
    return text + limits(schedule.limits)
  }

  /// Returns a date of a schedule: without its year only from today until the end of the year, as a reader expects it.
  private func dated(_ date: CivilDate) -> String {
    let text = shortDate(date)
    let lacksYear = date.year == today.year && format.order != .yearMonthDay
    return lacksYear && date < today ? "\(text) \(date.year)" : text
  }

  // MARK: Days

  private func append(
    _ recurrence: Recurrence, isComplete: Bool, to bytes: inout [UInt8]
  ) {
    func every(_ count: Int, _ adjective: String, _ unit: String) {
      bytes.append(count == 1 ? adjective : "every \(count) \(unit)s")
    }
    switch recurrence {
    case .once(let date): bytes.append("\(TimeText.once) \(dated(date))")
    case .daily(let cadence): every(cadence.interval, "daily", "day")
    case .days(let count, let cadence): every(count * cadence.interval, "daily", "day")
    case .cyclic(let on, let off, _):
      bytes.append("\(Period(on, .day).words) on, \(off) off")
    case .dates(let dates):
      let maxCount = isComplete ? TimeText.maxListedDates : TimeText.maxDatesOfRule
      bytes.append("\(TimeText.once) " + list(dates, maxCount: maxCount))
    case .elapsed(let minutes, _): bytes.append("every \(Schedule.distance(minutes))")
    case .weekly(let days, let cadence):
      append(days, to: &bytes)
      if cadence.interval != 1 { bytes.append(" every \(cadence.interval) weeks") }
    case .monthly(let days, let cadence):
      every(cadence.interval, "monthly", "month")
      bytes.append(" ")
      append(days, to: &bytes)
    case .annual(let months, let days, let cadence):
      every(cadence.interval, "annual", "year")
      bytes.append(" ")
      append(days, of: months, to: &bytes)
    case .afterDone(let period, _): bytes.append("\(period.words) after done")
    }
  }

  /// Appends days of months: `10 Mar, Jun`, `Mar 10, Jun 10`, `15th, last day of Mar, Jun`.
  private func append(
    _ days: [Recurrence.MonthDay], of months: [Int], to bytes: inout [UInt8]
  ) {
    if days.count == 1, case .day(let number) = days[0], format.order != .dayMonthYear {
      for (index, month) in months.enumerated() {
        if index > 0 { bytes.append(", ") }
        append(day: number, ofMonth: month, to: &bytes)
      }
      return
    }
    if days.count == 1, case .day(let number) = days[0] {
      bytes.append("\(number) ")
    } else {
      append(days, to: &bytes)
      bytes.append(" of ")
    }
    bytes.append(months.map { CivilDate.monthNames[$0 - 1] }.joined(separator: ", "))
  }

  /// Appends days of a month: `1st, 15th`. Beside other days, a number has a noun: `1st day, last Fri`.
  private func append(_ days: [Recurrence.MonthDay], to bytes: inout [UInt8]) {
    let isNumeric = days.allSatisfy { if case .day = $0 { true } else { false } }
    for (index, day) in days.enumerated() {
      if index > 0 { bytes.append(", ") }
      append(day, to: &bytes)
      if case .day = day, !isNumeric { bytes.append(" day") }
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

  /// The maximum number of times that are listed individually in a rule, and in a whole schedule.
  private static let (maxListedTimes, maxTimes) = (4, 24)

  /// Returns the window of many times at one distance; nil for few times, or several distances.
  private static func window(_ times: [CivilTime]) -> TimeWindow? {
    times.count > maxListedTimes ? TimeWindow(times) : nil
  }

  /// Appends times of day: `09:00, 21:00`, `every 2 h 09:00–17:00`, or `09:00 and 5 more`.
  private func append(_ times: [CivilTime], maxCount: Int, to bytes: inout [UInt8]) {
    if let window = TimeText.window(times) {
      let step = Span.length(Int64(window.interval) * 60)
      let (from, to) = (time(window.from), time(window.to))
      // `AM–5` would be hard to read.
      return bytes.append(
        format.clock == .twelveHour
          ? "every \(step) from \(from) to \(to)" : "every \(step) \(from)–\(to)")
    }
    if let first = times.first, times.count > maxCount {
      return bytes.append("\(time(first)) and \(times.count - 1) more")
    }
    for (index, time) in times.enumerated() {
      if index > 0 { bytes.append(", ") }
      append(time, to: &bytes)
    }
  }

  // MARK: Limits

  private func limits(_ limits: Schedule.Limits) -> String {
    var text = ""
    if let until = limits.until {
      let isWholeDay = until == Schedule.Limits.end(of: until.date)
      text += ", until \(dated(until.date))" + (isWholeDay ? "" : " \(time(until.time))")
    }
    if !limits.exceptions.isEmpty {
      text += ", except " + list(limits.exceptions, maxCount: TimeText.maxListedDates)
    }
    if !limits.months.isEmpty { text += ", only in \(Schedule.words(ofMonths: limits.months))" }
    switch limits.onHoliday {
    case .skip: text += ", not on holidays"
    case .before: text += ", or the workday before a holiday"
    case .after: text += ", or the workday after a holiday"
    case nil: break
    }
    return text
  }

  /// Returns dates as text: `3 Dec, 14 Jan 2027 and 4 more`.
  private func list(_ dates: [CivilDate], maxCount: Int) -> String {
    let shown = dates.prefix(maxCount).map { dated($0) }
    let rest = dates.count - shown.count
    return shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  /// The maximum number of dates of a rule that are listed individually.
  private static let maxDatesOfRule = 2

  /// The maximum number of exceptions that are listed individually.
  private static let maxListedDates = 6
}
