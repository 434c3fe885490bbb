import BelfryCore
import BelfryStore

/// The formatter of all times and dates in text for people.
struct TimeText: Sendable {
  let now: Instant
  let zones: ZoneLibrary
  let format: TimeFormat
  /// The date of `now` on this device's wall clock.
  let today: CivilDate
  private let thisYear: Int

  init(now: Instant, zones: ZoneLibrary, format: TimeFormat = TimeFormat()) {
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
  func time(_ time: CivilTime, seconds: Int64? = nil, isPadded: Bool = true) -> String {
    // A fast path for the most common form.
    if format.clock == .twentyFourHour, isPadded, seconds == nil { return TimeText.clock(time) }
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

  /// Returns a time of day on a clock of 24 hours: `09:00`.
  private static func clock(_ time: CivilTime) -> String {
    String(unsafeUninitializedCapacity: 5) { buffer in
      func digit(_ number: Int) -> UInt8 { UInt8(ascii: "0") + UInt8(number) }
      buffer[0] = digit(time.hour / 10)
      buffer[1] = digit(time.hour % 10)
      buffer[2] = UInt8(ascii: ":")
      buffer[3] = digit(time.minute / 10)
      buffer[4] = digit(time.minute % 10)
      return 5
    }
  }

  private static func twoDigits(_ number: Int) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }

  // MARK: Dates

  /// Returns a date with its weekday and year: `Mon 23 Nov 2026`.
  func date(_ date: CivilDate) -> String {
    let weekday = TimeText.name(date.weekday)
    let (year, month, day) = date.components
    let name = CivilDate.monthNames[month - 1]
    return switch format.order {
    case .dayMonthYear: "\(weekday) \(day) \(name) \(TimeText.fourDigits(year))"
    case .monthDayYear: "\(weekday), \(name) \(day), \(TimeText.fourDigits(year))"
    case .yearMonthDay: "\(weekday) \(date)"
    }
  }

  /// Returns a date without its weekday, and without the year if it is the current one: `24 Dec`, `24 Dec 2027`.
  func shortDate(_ date: CivilDate) -> String {
    let (year, month, day) = date.components
    let suffix = year == thisYear ? "" : " \(TimeText.fourDigits(year))"
    return switch format.order {
    case .dayMonthYear, .monthDayYear: self.day(day, ofMonth: month) + suffix
    case .yearMonthDay: "\(date)"
    }
  }

  /// Returns a day of a month: `24 Dec` or `Dec 24`.
  func day(_ day: Int, ofMonth month: Int) -> String {
    let name = CivilDate.monthNames[month - 1]
    return format.order == .dayMonthYear ? "\(day) \(name)" : "\(name) \(day)"
  }

  private static func fourDigits(_ year: Int) -> String {
    String(repeating: "0", count: max(0, 4 - "\(year)".count)) + "\(year)"
  }

  private static let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

  /// Returns the abbreviated name of a weekday: `Mon`.
  static func name(_ weekday: Weekday) -> String {
    names[weekday.rawValue]
  }

  /// The weekdays from the first day of a week to the last one.
  var week: [Weekday] {
    let first = format.firstWeekday.rawValue
    return Array(Weekday.allCases[first...] + Weekday.allCases[..<first])
  }

  // MARK: Dates with times

  /// Returns a date and a time: `Mon 23 Nov 2026, 09:00`.
  func full(_ civil: CivilDateTime) -> String { "\(date(civil.date)), \(time(civil.time))" }

  /// Returns an occurrence. If its zone is not this device's, the zone and the time on this device's wall clock follow:
  /// `Mon 30 Nov 2026, 10:00 Europe/Berlin (04:00 here)`.
  func full(_ civil: CivilDateTime, zone: String) -> String {
    if isLocal(zone) { return full(civil) }
    return
      "\(full(civil)) \(Printable.text(zone))\(here(civil, zone: zone).map { " (\($0))" } ?? "")"
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
  func end(_ civil: CivilDateTime, zone: String) -> String {
    civil.time == .midnight && isLocal(zone) ? date(civil.date) : full(civil, zone: zone)
  }

  /// Returns true for this device's zone and for `floating`.
  func isLocal(_ zone: String) -> Bool {
    zone == Alarm.Zone.floating.text || zone == zones.local.name
  }

  /// Returns an instant on this device's wall clock with its date: `Mon 23 Nov 2026, 09:00`.
  func full(_ instant: Instant) -> String { full(zones.local.civil(at: instant)) }

  /// Returns an instant on this device's wall clock, without the date if it is today.
  func moment(_ instant: Instant) -> String {
    let civil = zones.local.civil(at: instant)
    return civil.date == today ? time(civil.time) : full(civil)
  }

  /// Returns an instant as an adverb: `at 09:00` for today, else `on Mon 23 Nov 2026 at 09:00`.
  func at(_ instant: Instant) -> String {
    let civil = zones.local.civil(at: instant)
    return civil.date == today
      ? "at \(time(civil.time))" : "on \(date(civil.date)) at \(time(civil.time))"
  }

  /// Returns the time of day of an instant on this device's wall clock.
  func clock(_ instant: Instant) -> String { time(zones.local.civil(at: instant).time) }

  /// The number of days around today in which a weekday names a date.
  static let weekdayRange = -6...6

  /// Returns a date and a time in the fewest words: `today 09:00`, `tomorrow 09:00`, `Fri 09:00` within a week, and
  /// `24 Dec 09:00` otherwise, with the year if it is not the current one.
  func relative(_ civil: CivilDateTime) -> String {
    "\(relative(civil.date)) \(time(civil.time))"
  }

  /// Returns a date in the fewest words; see `relative(_:)`.
  func relative(_ date: CivilDate) -> String {
    switch date.dayNumber - today.dayNumber {
    case 0: "today"
    case 1: "tomorrow"
    case -1: "yesterday"
    case TimeText.weekdayRange: TimeText.name(date.weekday)
    default: shortDate(date)
    }
  }

  /// Returns a date and a time as `relative` does, but without the date if it is today.
  func brief(_ civil: CivilDateTime) -> String {
    civil.date == today ? time(civil.time) : relative(civil)
  }

  /// Returns an instant on this device's wall clock in the fewest words; see `relative(_:)`.
  func relative(_ instant: Instant) -> String { relative(zones.local.civil(at: instant)) }

  /// Returns an instant on this device's wall clock in the fewest words, without the date if it is today.
  func brief(_ instant: Instant) -> String { brief(zones.local.civil(at: instant)) }
}
