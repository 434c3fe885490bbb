import BelfryCore
import BelfryStore

/// The formatter of all times and dates in text for people.
package struct TimeText: Sendable {
  package let now: Instant
  package let zones: ZoneLibrary
  package let format: TimeFormat
  /// The date of `now` on this device's wall clock.
  package let today: CivilDate
  private let thisYear: Int

  package init(now: Instant, zones: ZoneLibrary, format: TimeFormat = TimeFormat()) {
    self.now = now
    self.zones = zones
    self.format = format
    today = zones.local.civil(at: now).date
    thisYear = today.year
  }

  // MARK: Times

  /// Returns a time of day: `09:00` or `9:00 AM`.
  ///
  /// - Parameters:
  ///   - seconds: the seconds to append to the minutes; nil to omit them.
  ///   - isPadded: true for two digits of the hour on a clock of 24 hours.
  package func time(_ time: CivilTime, seconds: Int64? = nil, isPadded: Bool = true) -> String {
    let rest =
      TimeText.twoDigits(time.minute)
      + (seconds.map { ":" + TimeText.twoDigits(Int($0)) } ?? "")
    switch format.clock {
    case .twentyFourHour:
      return "\(isPadded ? TimeText.twoDigits(time.hour) : "\(time.hour)"):\(rest)"
    case .twelveHour:
      let hour = time.hour % 12
      return "\(hour == 0 ? 12 : hour):\(rest) \(time.hour < 12 ? "AM" : "PM")"
    }
  }

  /// Appends a time of day in UTF-8: `09:00` or `9:00 AM`.
  package func append(_ time: CivilTime, to bytes: inout [UInt8]) {
    switch format.clock {
    case .twentyFourHour:
      bytes.append(twoDigits: time.hour)
      bytes.append(UInt8(ascii: ":"))
      bytes.append(twoDigits: time.minute)
    case .twelveHour: bytes.append(self.time(time))
    }
  }

  private static func twoDigits(_ number: Int) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }

  // MARK: Dates

  /// Returns a date with its weekday and year: `Mon 23 Nov 2026`.
  package func date(_ date: CivilDate) -> String { TimeText.text { append(date, to: &$0) } }

  private func append(_ date: CivilDate, to bytes: inout [UInt8]) {
    bytes.append(TimeText.name(date.weekday))
    let (year, month, day) = date.components
    switch format.order {
    case .dayMonthYear:
      bytes.append(" ")
      append(day: day, ofMonth: month, to: &bytes)
      bytes.append(" ")
      bytes.append(TimeText.fourDigits(year))
    case .monthDayYear:
      bytes.append(", ")
      append(day: day, ofMonth: month, to: &bytes)
      bytes.append(", ")
      bytes.append(TimeText.fourDigits(year))
    case .yearMonthDay:
      bytes.append(" ")
      bytes.append("\(date)")
    }
  }

  /// Returns a date without its weekday, and without the year if it is the current one: `24 Dec`, `24 Dec 2027`.
  package func shortDate(_ date: CivilDate) -> String {
    TimeText.text { appendShortDate(date, to: &$0) }
  }

  private func appendShortDate(_ date: CivilDate, to bytes: inout [UInt8]) {
    let (year, month, day) = date.components
    switch format.order {
    case .dayMonthYear, .monthDayYear:
      append(day: day, ofMonth: month, to: &bytes)
      if year != thisYear { bytes.append(" \(TimeText.fourDigits(year))") }
    case .yearMonthDay: bytes.append("\(date)")
    }
  }

  /// Returns dates from the first to the last: `Nov 2026` for a month, `2026` for a year, else `1 Oct to 31 Dec`.
  package func range(_ dates: ClosedRange<CivilDate>) -> String {
    let (first, last) = (dates.lowerBound, dates.upperBound)
    if first == last { return date(first) }
    if last >= CivilDate.latest { return "since \(shortDate(first))" }
    if first <= CivilDate.earliest { return "until \(shortDate(last))" }
    if CalendarUnit.year.dates(around: first) == dates {
      return TimeText.fourDigits(first.year)
    }
    if CalendarUnit.month.dates(around: first) == dates {
      return "\(CivilDate.monthNames[first.month - 1]) \(TimeText.fourDigits(first.year))"
    }
    return "\(shortDate(first)) to \(shortDate(last))"
  }

  /// Appends a day of a month in UTF-8: `24 Dec` or `Dec 24`.
  package func append(day: Int, ofMonth month: Int, to bytes: inout [UInt8]) {
    let isDayFirst = format.order == .dayMonthYear
    if isDayFirst {
      bytes.append(number: day)
      bytes.append(" ")
    }
    bytes.append(CivilDate.monthNames[month - 1])
    if !isDayFirst {
      bytes.append(" ")
      bytes.append(number: day)
    }
  }

  /// Returns the text that a closure appends in UTF-8.
  package static func text(_ append: (inout [UInt8]) -> Void) -> String {
    var bytes: [UInt8] = []
    append(&bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func fourDigits(_ year: Int) -> String {
    let digits = "\(year)"
    return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }

  /// The abbreviated names of the weekdays, from Monday on.
  package static let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

  /// Returns the abbreviated name of a weekday: `Mon`.
  package static func name(_ weekday: Weekday) -> String {
    names[weekday.rawValue]
  }

  /// The weekdays from the first day of a week to the last one.
  package var week: [Weekday] {
    let first = format.firstWeekday.rawValue
    return Array(Weekday.allCases[first...] + Weekday.allCases[..<first])
  }

  // MARK: Dates with times

  /// Returns the subject of a commit with its times in this format: `Done: Rent (Mon 23 Nov 2026, 09:00)`,
  /// `Moved: Bins (Tue 24 Nov 2026, 19:00) to Tue 24 Nov 2026, 16:00`.
  ///
  /// - Parameter occurrence: The occurrence that follows the title in the subject; nil for none.
  package func subject(_ subject: String, _ occurrence: CivilDateTime?) -> String {
    // A date in the title stays as it is.
    guard occurrence != nil, let end = subject.ranges(of: " (").last else { return subject }
    return subject[..<end.lowerBound] + dates(in: String(subject[end.lowerBound...]))
  }

  /// Returns the subject of a commit below the heading of a day: without the date of an occurrence on that day, and else with
  /// a short one: `Done: Rent (09:00)`, `Skipped: Rent (24 Nov 09:00)`.
  package func subject(
    _ subject: String, _ occurrence: CivilDateTime?, on day: CivilDate
  ) -> String {
    guard let occurrence, case let text = " (\(occurrence.date) \(occurrence.time))",
      let range = subject.ranges(of: text).last
    else { return self.subject(subject, occurrence) }
    let shown = occurrence.date == day ? time(occurrence.time) : short(occurrence)
    return subject[..<range.lowerBound] + " (\(shown))"
      + dates(in: String(subject[range.upperBound...]))
  }

  /// Returns a text of a record with the form that people read of its dates and times, which are ISO dates there.
  package func dates(in text: String) -> String {
    text.replacing(/\b(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}))?\b/) { match in
      guard let date = CivilDate(String(match.1)) else { return String(match.0) }
      guard let time = match.2 else { return self.date(date) }
      return CivilDateTime("\(match.1)T\(time)").map { full($0) } ?? String(match.0)
    }
  }

  /// Returns the text of a field's value with dates as in `dates(in:)`, except for the texts that people write.
  package func value(_ text: String, of field: String) -> String {
    [Alarm.Field.title, .note].map(\.rawValue).contains(field) ? text : dates(in: text)
  }

  /// Returns a date and a time: `Mon 23 Nov 2026, 09:00`.
  package func full(_ civil: CivilDateTime) -> String {
    TimeText.text { appendFull(civil, to: &$0) }
  }

  /// Appends a date and a time in UTF-8; see `full(_:)`.
  package func appendFull(_ civil: CivilDateTime, to bytes: inout [UInt8]) {
    append(civil.date, to: &bytes)
    bytes.append(", ")
    append(civil.time, to: &bytes)
  }

  /// Returns an occurrence. If its zone is not this device's, the zone and the time on this device's wall clock follow:
  /// `Mon 30 Nov 2026, 10:00 Europe/Berlin (04:00 here)`.
  package func full(_ civil: CivilDateTime, zone: String) -> String {
    if isLocal(zone) { return full(civil) }
    return
      "\(full(civil)) \(Printable.text(zone))\(here(civil, zone: zone).map { " (\($0))" } ?? "")"
  }

  /// Returns the time at which an occurrence rings, and its own time if it was moved:
  /// `Tue 24 Nov 2026, 15:00, moved from Mon 18:00`.
  package func full(
    _ civil: CivilDateTime, movedTo time: CivilDateTime?, zone: String
  ) -> String {
    guard let time else { return full(civil, zone: zone) }
    return "\(full(time, zone: zone)), moved from \(relative(civil))"
  }

  /// Returns the time of an occurrence in another zone on this device's wall clock, such as `04:00 here`, with the
  /// weekday if the date differs; nil if the times are the same.
  private func here(_ civil: CivilDateTime, zone: String) -> String? {
    guard let rules = zones.zone(recorded: zone) else { return nil }
    let local = zones.local.civil(at: rules.instant(of: civil))
    if local == civil { return nil }
    let day = local.date == civil.date ? "" : "\(TimeText.name(local.date.weekday)) "
    return "\(day)\(time(local.time)) here"
  }

  /// Returns the end of a pause: a date, with the time if the pause does not end at midnight.
  package func end(_ civil: CivilDateTime, zone: String) -> String {
    civil.time == .midnight && isLocal(zone) ? date(civil.date) : full(civil, zone: zone)
  }

  /// Returns the time of a pause: `until Mon 4 Jan 2027`, or `from Thu 24 Dec 2026 until Mon 4 Jan 2027` if it is still to
  /// come.
  package func pause(_ pause: Pause, zone: String, at now: CivilDateTime) -> String {
    (pause.isAhead(of: now) ? "from \(end(pause.from, zone: zone)) " : "")
      + "until \(end(pause.until, zone: zone))"
  }

  /// Returns true for this device's zone and for `floating`.
  package func isLocal(_ zone: String) -> Bool {
    zone == Alarm.Zone.floating.text || zone == zones.local.name
  }

  /// Returns an instant on this device's wall clock with its date: `Mon 23 Nov 2026, 09:00`.
  package func full(_ instant: Instant) -> String { full(zones.local.civil(at: instant)) }

  /// Returns an instant on this device's wall clock, without the date if it is today.
  package func moment(_ instant: Instant) -> String {
    let civil = zones.local.civil(at: instant)
    return civil.date == today ? time(civil.time) : full(civil)
  }

  /// Returns an instant as an adverb: `at 09:00` for today, else `on Mon 23 Nov 2026 at 09:00`.
  package func at(_ instant: Instant) -> String {
    let civil = zones.local.civil(at: instant)
    return civil.date == today
      ? "at \(time(civil.time))" : "on \(date(civil.date)) at \(time(civil.time))"
  }

  /// Returns the time of day of an instant on this device's wall clock.
  package func clock(_ instant: Instant) -> String { time(zones.local.civil(at: instant).time) }

  /// The number of days around today in which a weekday names a date.
  package static let weekdayRange = -6...6

  /// Returns a date and a time in the fewest words: `today 09:00`, `tomorrow 09:00`, `Fri 09:00` within a week, and
  /// `24 Dec 09:00` otherwise, with the year if it is not the current one.
  package func relative(_ civil: CivilDateTime) -> String {
    TimeText.text { appendRelative(civil, to: &$0) }
  }

  /// Appends a date and a time in the fewest words in UTF-8; see `relative(_:)`.
  package func appendRelative(_ civil: CivilDateTime, to bytes: inout [UInt8]) {
    appendRelative(civil.date, to: &bytes)
    bytes.append(" ")
    append(civil.time, to: &bytes)
  }

  /// Returns a date in the fewest words; see `relative(_:)`.
  package func relative(_ date: CivilDate) -> String {
    TimeText.text { appendRelative(date, to: &$0) }
  }

  private func appendRelative(_ date: CivilDate, to bytes: inout [UInt8]) {
    switch date.dayNumber - today.dayNumber {
    case 0: bytes.append("today")
    case 1: bytes.append("tomorrow")
    case -1: bytes.append("yesterday")
    case TimeText.weekdayRange: bytes.append(TimeText.name(date.weekday))
    default: appendShortDate(date, to: &bytes)
    }
  }

  /// Returns a date without its weekday and a time: `24 Dec 18:00`, with the year if it is not the current one.
  package func short(_ civil: CivilDateTime) -> String {
    "\(shortDate(civil.date)) \(time(civil.time))"
  }

  /// Returns a date and a time as `relative` does, but without the date if it is today.
  package func brief(_ civil: CivilDateTime) -> String {
    civil.date == today ? time(civil.time) : relative(civil)
  }

  /// Returns an instant on this device's wall clock in the fewest words; see `relative(_:)`.
  package func relative(_ instant: Instant) -> String { relative(zones.local.civil(at: instant)) }

  /// Returns an instant on this device's wall clock in the fewest words, without the date if it is today.
  package func brief(_ instant: Instant) -> String { brief(zones.local.civil(at: instant)) }
}

extension [UInt8] {
  /// Appends a text in UTF-8.
  package mutating func append(_ text: String) { append(contentsOf: text.utf8) }

  /// Appends a number in decimal digits.
  package mutating func append(number: Int) {
    if (0...9).contains(number) {
      append(UInt8(ascii: "0") + UInt8(number))
    } else if (10...99).contains(number) {
      append(twoDigits: number)
    } else {
      append("\(number)")
    }
  }

  /// Appends a number from 0 to 99 in two digits.
  package mutating func append(twoDigits number: Int) {
    append(UInt8(ascii: "0") + UInt8(number / 10))
    append(UInt8(ascii: "0") + UInt8(number % 10))
  }
}
