// The text of schedules. Lists, warnings and commit messages share this wording.

extension Schedule {
  /// A short label of the rule: `weekly`, `every 2 weeks`, `monthly`, `once`, `every 7 hours`, `90 days after done`.
  public var badge: String {
    func every(_ interval: Int, _ adjective: String, _ unit: String) -> String {
      interval == 1 ? adjective : "every \(interval) \(unit)s"
    }
    return switch recurrence {
    case .once: "once"
    case .daily(let cadence): every(cadence.interval, "daily", "day")
    case .weekly(_, let cadence): every(cadence.interval, "weekly", "week")
    case .monthly(_, let cadence): every(cadence.interval, "monthly", "month")
    case .annual(_, _, let cadence): every(cadence.interval, "annual", "year")
    case .days(let count, let cadence): every(count * cadence.interval, "daily", "day")
    case .cyclic(let on, let off, _): "\(Period(on, .day).words) on, \(Period(off, .day).words) off"
    case .dates: "once"
    case .elapsed(let minutes, _): "every \(Schedule.distance(minutes))"
    case .afterDone(let period, _): "\(period.words) after done"
    }
  }

  /// Returns a distance in words: `7 hours`, `90 minutes`, `36 hours`.
  public static func distance(_ minutes: Int) -> String {
    func words(_ count: Int, _ unit: String) -> String {
      "\(count) \(unit)\(count == 1 ? "" : "s")"
    }
    return minutes % 60 == 0 ? words(minutes / 60, "hour") : words(minutes, "minute")
  }

  /// The whole rule as text: `weekly on mon, fri at 09:00, until 2027-06-30`.
  public var summary: String { text(isComplete: false) }

  /// Returns the whole rule as text, with its start if that is after today.
  public func summary(today: CivilDate) -> String {
    var start = recurrence.cadence?.start
    if case .elapsed(_, let date) = recurrence { start = date }
    return text(isComplete: false, hasStart: start.map { $0 > today } ?? false)
  }

  /// The whole rule with every detail, as a phrase that the input parser reads back as the same schedule. The omission of
  /// completions before the start of an `afterDone` rule has no words.
  public var phrase: String { text(isComplete: true) }

  private func text(isComplete: Bool, hasStart: Bool = false) -> String {
    if case .elapsed(_, let start) = recurrence {
      let first = ", from \(start)\(isComplete ? "T" : " ")\(times[0])"
      return badge + (isComplete || hasStart ? first : "") + limits.words(isComplete: isComplete)
    }
    let at =
      window.map { " \($0.summary)" }
      ?? (" at " + times.map(\.description).joined(separator: ", "))
    let on: String =
      switch recurrence {
      case .once(let date): " on \(date)"
      case .dates(let dates): " on " + Schedule.words(dates, isComplete: isComplete)
      case .daily, .days, .cyclic, .elapsed, .afterDone: ""
      case .weekly(let days, _): " on " + days.map(\.abbreviation).joined(separator: ", ")
      case .monthly(let days, _): " on " + Schedule.words(days)
      case .annual(let months, let days, _): " on " + Schedule.words(days, of: months)
      }
    var text = badge + on + at
    if let cadence = recurrence.cadence,
      isComplete || hasStart || cadence.interval > 1 || isCountedFromStart
    {
      text += ", from \(cadence.start)"
    }
    if case .afterDone(_, let origin) = recurrence { text += ", first on \(origin.start)" }
    return text + limits.words(isComplete: isComplete)
  }

  /// The days of months as text: `24 Dec`, `15 Mar, 15 Jun`, `the first mon, the last day of Mar, Nov`.
  private static func words(_ days: [Recurrence.MonthDay], of months: [Int]) -> String {
    let names = months.map { CivilDate.monthNames[$0 - 1] }
    if days.count == 1, case .day(let number) = days[0] {
      return names.map { "\(number) \($0)" }.joined(separator: ", ")
    }
    return words(days) + " of " + names.joined(separator: ", ")
  }

  /// The days of a month as text: `the 1st, the 15th`. Beside other days, a number has a noun: `the 1st day, the last fri`.
  private static func words(_ days: [Recurrence.MonthDay]) -> String {
    let isNumeric = days.allSatisfy { if case .day = $0 { true } else { false } }
    return days.map { day in
      if case .day = day, !isNumeric { "\(day.words) day" } else { day.words }
    }.joined(separator: ", ")
  }

  private var isCountedFromStart: Bool {
    switch recurrence {
    case .days(let count, _): count > 1
    case .cyclic: true
    case .once, .daily, .weekly, .monthly, .annual, .dates, .elapsed, .afterDone: false
    }
  }

  /// Returns months as text: `May to Oct`, `Mar, Jun`.
  public static func words(ofMonths months: [Int]) -> String {
    func name(_ month: Int) -> String { CivilDate.monthNames[month - 1] }
    // A row of months can contain the turn of the year.
    let firsts = months.filter { !months.contains(($0 + 10) % 12 + 1) }
    guard months.count > 2, firsts.count == 1, let first = firsts.first else {
      return months.map(name).joined(separator: ", ")
    }
    return "\(name(first)) to \(name((first + months.count - 2) % 12 + 1))"
  }

  /// Returns the dates of a list as text: `2026-12-03, 2027-01-14 and 4 more dates`.
  fileprivate static func words(_ dates: [CivilDate], isComplete: Bool) -> String {
    let shown = dates.prefix(isComplete ? dates.count : Limits.maxShownDates)
    let rest = dates.count - shown.count
    return shown.map(\.description).joined(separator: ", ")
      + (rest > 0 ? " and \(rest) more dates" : "")
  }
}

extension Schedule.Limits {
  /// The limits as text after a rule: `, until 2027-06-30, except 2026-12-24, 2026-12-31, not on holidays`.
  fileprivate func words(isComplete: Bool) -> String {
    var text = ""
    if let until {
      let isWholeDay = until == Self.end(of: until.date)
      text += ", until \(until.date)" + (isWholeDay ? "" : "\(isComplete ? "T" : " ")\(until.time)")
    }
    if !exceptions.isEmpty {
      text += ", except " + Schedule.words(exceptions, isComplete: isComplete)
    }
    if !months.isEmpty { text += ", only in \(Schedule.words(ofMonths: months))" }
    switch onHoliday {
    case .skip: text += ", not on holidays"
    case .before: text += ", or the workday before a holiday"
    case .after: text += ", or the workday after a holiday"
    case nil: break
    }
    return text
  }

  fileprivate static let maxShownDates = 6
}

extension Recurrence.MonthDay {
  /// The day as text in a sentence: `the 15th`, `the last day`, `the second-to-last fri`, `the third workday`.
  public var words: String {
    func place(_ ordinal: Int) -> String {
      switch ordinal {
      case 1...Self.ordinals.count: Self.ordinals[ordinal - 1]
      case 0...: EnglishNumber.ordinal(ordinal)
      case -1: "last"
      case -Self.ordinals.count..<0: "\(Self.ordinals[-ordinal - 1])-to-last"
      default: "\(EnglishNumber.ordinal(-ordinal))-to-last"
      }
    }
    return switch self {
    case .day(let number): "the \(EnglishNumber.ordinal(number))"
    case .fromEnd(let number): "the \(place(-number)) day"
    case .weekday(let ordinal, let weekday): "the \(place(ordinal)) \(weekday.abbreviation)"
    case .workday(let ordinal): "the \(place(ordinal)) workday"
    }
  }
}

extension CivilDate {
  /// The abbreviated month names, `Jan` … `Dec`.
  public static let monthNames = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The day and the month: `23 Nov`.
  public var dayAndMonth: String { "\(day) \(CivilDate.monthNames[month - 1])" }

  /// The date for display: `Mon 23 Nov 2026`.
  public var spoken: String {
    let name = weekday.abbreviation
    return name.prefix(1).uppercased() + name.dropFirst() + " \(dayAndMonth) " + padded(year, 4)
  }
}

extension CivilDateTime {
  /// The date and time for display: `Mon 23 Nov 2026, 09:00`.
  public var spoken: String { "\(date.spoken), \(time)" }
}
