import BelfryCore

/// Readings of days of months and of dates of years, which recur: `last workday of the month`, `24 dec and 24 jun`.
extension InputReader {
  /// Reads days of a month, with the months or the quarter to which they belong.
  mutating func daysOfMonth(bareNumbers: Bool) throws(InputError) -> ScheduleDraft.Rule? {
    let isAfterEvery = position > 0 && ["every", "each", "single"].contains(peek(-1))
    return try attempt { (reader) throws(InputError) in
      guard let reading = try reader.monthDays(bareNumbers: bareNumbers) else { return nil }
      if let rule = try reader.ofMonths(reading.days) {
        // `24th of december` is a date.
        if case .annual(let months?, _, _) = rule, months.count == 1, reading.isNumeric,
          reading.days.count == 1, !isAfterEvery
        {
          return nil
        }
        return rule
      }
      // `24th dec` is a date; `the 24th` may be one.
      if Vocabulary.month(reader.word) != nil { return nil }
      if reading.isNumeric, reading.days.count == 1, !isAfterEvery { return nil }
      return .monthly(reading.days, 1)
    }
  }

  /// Reads `of the month`, `of every 2 months`, `of mar and jun`, `of the quarter`; nil if it is absent.
  mutating func ofMonths(
    _ days: [Recurrence.MonthDay]
  ) throws(InputError) -> ScheduleDraft.Rule? {
    try attempt { (reader) throws(InputError) in
      let hasPreposition = reader.accept("of", "in")
      if reader.accept("the month", "each month", "every month", "a month", "months", "month") {
        return .monthly(days, 1)
      }
      if reader.accept("monthly") { return .monthly(days, 1) }
      if reader.accept("every other month", "every second month") { return .monthly(days, 2) }
      if reader.accept("the quarter", "each quarter", "every quarter", "a quarter", "quarter") {
        return try reader.ofQuarter(days)
      }
      guard hasPreposition else { return nil }
      if reader.accept("every"),
        let number = Vocabulary.number(reader.word) ?? Vocabulary.ordinal(reader.word),
        ["month", "months"].contains(reader.peek(1))
      {
        reader.advance(2)
        return .monthly(days, number)
      }
      _ = reader.accept("every", "each")
      guard let months = try reader.months() else { return nil }
      return .annual(months, days, 1)
    }
  }

  /// The month of the start that the input names further on; nil for none.
  private var startMonth: Int? {
    for index in tokens.indices.dropFirst(position)
    where ["from", "starting", "beginning", "starts"].contains(tokens[index].text) {
      let words = tokens[(index + 1)...].prefix(3).map(\.text)
      return words.lazy.compactMap(Vocabulary.month).first
    }
    return nil
  }

  /// Returns the rule for days of the calendar's quarters: from the start in their first month, from the end in their
  /// last one.
  ///
  /// - Throws: `InputError.ambiguous` for a day such as the 10th, which may be one of every third month from now on.
  func ofQuarter(
    _ days: [Recurrence.MonthDay]
  ) throws(InputError) -> ScheduleDraft.Rule {
    // `every quarter on the 15th from january`
    if let first = startMonth {
      return .annual([0, 3, 6, 9].map { (first - 1 + $0) % 12 + 1 }.sorted(), days, 1)
    }
    for case .day(let number) in days where number > 1 {
      let ordinal = EnglishNumber.ordinal(number)
      throw .ambiguous(
        source(from: 0),
        readings: ["\(number) of jan,apr,jul,oct", "every 3 months on the \(ordinal)"])
    }
    if days.allSatisfy(\.isFromStart) { return .annual([1, 4, 7, 10], days, 1) }
    if days.allSatisfy({ !$0.isFromStart }) { return .annual([3, 6, 9, 12], days, 1) }
    throw .unsupported(.quarterPositions)
  }

  /// Reads dates of a year, or months with days: `24 dec`, `dec 24 and jun 24`, `december on the 24th`.
  mutating func daysOfYear(_ interval: Int) throws(InputError) -> ScheduleDraft.Rule? {
    let rule: ScheduleDraft.Rule? = try attempt { (reader) throws(InputError) in
      guard let reading = try reader.monthDays(bareNumbers: true),
        case .annual(let months?, let days, 1)? = try reader.ofMonths(reading.days)
      else { return nil }
      // `24th of december` may be the first date of a list.
      if months.count == 1, reading.isNumeric, reading.days.count == 1 { return nil }
      return .annual(months, days, interval)
    }
    if let rule { return rule }
    if let dates = try datesOfYear() {
      return .annual(dates.months, [.day(dates.day)], interval)
    }
    return try monthsWithDays(interval)
  }

  /// Reads dates on the same day of several months: `24 dec`, `dec 24 and jun 24`, `10 mar, jun, sep and dec`.
  mutating func datesOfYear() throws(InputError) -> (months: [Int], day: Int)? {
    let dates: [[DateReading]]? = try attempt { (reader) throws(InputError) in
      var last: Int?
      return try reader.list { (reader) throws(InputError) -> [DateReading]? in
        if let date = try reader.date(), case .dayOfYear(_, let day) = date {
          last = day
          return [date] + reader.adjacentMonths().map { .dayOfYear(month: $0, day: day) }
        }
        // A month alone has the day of the date before.
        let months = reader.adjacentMonths()
        guard let last, !months.isEmpty else { return nil }
        return months.map { .dayOfYear(month: $0, day: last) }
      }
    }
    guard let dates else { return nil }
    var months: [Int] = []
    var days: Set<Int> = []
    for case .dayOfYear(let month, let day) in dates.flatMap({ $0 }) {
      months.append(month)
      days.insert(day)
    }
    guard let day = days.first, days.count == 1 else { throw .unsupported(.unequalDates) }
    return (months, day)
  }

  /// Reads months with their days: `december on the 24th`.
  mutating func monthsWithDays(
    _ interval: Int
  ) throws(InputError) -> ScheduleDraft.Rule? {
    try attempt { (reader) throws(InputError) in
      guard let months = try reader.months(), reader.accept("on") else { return nil }
      guard let days = try reader.monthDays(bareNumbers: true)?.days else { return nil }
      return .annual(months, days, interval)
    }
  }
}

extension Recurrence.MonthDay {
  /// True if the day is counted from the start of the month.
  var isFromStart: Bool {
    switch self {
    case .day: true
    case .fromEnd: false
    case .weekday(let ordinal, _), .workday(let ordinal): ordinal > 0
    }
  }
}
