// The text of schedules. Lists, warnings and commit messages share this wording.

extension Schedule {
  /// A short label of the rule: `weekly`, `every 2 weeks`, `monthly`, `once`.
  public var badge: String {
    func every(_ interval: Int, _ adjective: String, _ unit: String) -> String {
      interval == 1 ? adjective : "every \(interval) \(unit)s"
    }
    return switch recurrence {
    case .once: "once"
    case .daily(let cadence): every(cadence.interval, "daily", "day")
    case .weekly(_, let cadence): every(cadence.interval, "weekly", "week")
    case .monthly(_, let cadence), .monthlyWeekday(_, _, let cadence):
      every(cadence.interval, "monthly", "month")
    case .annual(_, _, let cadence): every(cadence.interval, "annual", "year")
    case .days(let count, let cadence): every(count * cadence.interval, "daily", "day")
    }
  }

  /// The whole rule as text: `weekly on mon, fri at 09:00`.
  public var summary: String {
    let at = regularTimes ?? (" at " + times.map(\.description).joined(separator: ", "))
    let on: String =
      switch recurrence {
      case .once(let date): " on \(date)"
      case .daily, .days: ""
      case .weekly(let days, _): " on " + days.map(\.abbreviation).joined(separator: ", ")
      case .monthly(let days, _):
        " on "
          + days.map { day in
            switch day {
            case .day(let number): "the \(number)\(Schedule.suffix(number))"
            case .last: "the last day"
            }
          }.joined(separator: ", ")
      case .monthlyWeekday(let ordinal, let weekday, _):
        " on the \(ordinal) \(weekday.abbreviation)"
      case .annual(let month, let day, _): " on \(day) \(CivilDate.monthNames[month - 1])"
      }
    var text = badge + on + at
    if let cadence = recurrence.cadence, cadence.interval > 1 || isCountedFromStart {
      text += ", from \(cadence.start)"
    }
    return text
  }

  /// The text of many times at a constant distance, ` every 15 min from 00:00 to 23:45`; nil for few or irregular
  /// times.
  private var regularTimes: String? {
    let minutes = times.map { Int64($0.minuteOfDay) }
    let steps = Set(zip(minutes.dropFirst(), minutes).map { $0 - $1 })
    guard times.count >= Schedule.minTimesForInterval, steps.count == 1, let step = steps.first
    else { return nil }
    return " every \(Span.length(step * 60)) from \(times[0]) to \(times[times.count - 1])"
  }

  /// The minimum number of times that are shown as an interval.
  private static let minTimesForInterval = 7

  private var isCountedFromStart: Bool {
    if case .days(let count, _) = recurrence { return count > 1 }
    return false
  }

  private static func suffix(_ number: Int) -> String {
    switch (number % 10, number) {
    case (_, 11...13): "th"
    case (1, _): "st"
    case (2, _): "nd"
    case (3, _): "rd"
    default: "th"
    }
  }
}

extension CivilDate {
  /// The abbreviated month names, `Jan` … `Dec`.
  public static let monthNames = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The date for display: `Mon 23 Nov 2026`.
  public var spoken: String {
    let (year, month, day) = components
    let name = weekday.abbreviation
    return name.prefix(1).uppercased() + name.dropFirst()
      + " \(day) \(CivilDate.monthNames[month - 1]) " + padded(year, 4)
  }
}

extension CivilDateTime {
  /// The date and time for display: `Mon 23 Nov 2026, 09:00`.
  public var spoken: String { "\(date.spoken), \(time)" }
}
