import BelfryCore

/// A date that was read, and the form in which it was given.
enum DateReading: Equatable {
  /// A date in a year, or a relative one: `2026-12-24`, `tomorrow`, `in 3 days`.
  case fixed(CivilDate)
  /// A day of the year: `24 dec`.
  case dayOfYear(month: Int, day: Int)
  /// A weekday: `fri`, `next fri`. With `next` or `after`, today does not count.
  case weekday(Weekday, afterToday: Bool)
  /// A day of a month: `the 24th`.
  case dayOfMonth(Int)
}

extension InputReader {
  /// Returns a date, or nil if the next words are none.
  mutating func date() throws(InputError) -> DateReading? {
    if let relative = try relativeDate() { return .fixed(relative) }
    let start = position
    let isNext = accept("next")
    if isNext || accept("this", "coming") {
      if let weekday = singleWeekday() { return .weekday(weekday, afterToday: isNext) }
      if isNext, let date = nextUnit() { return .fixed(date) }
      position = start
      return nil
    }
    if let parts = try DateText.parts(word) {
      advance()
      return try reading(parts, from: start)
    }
    if let weekday = singleWeekday() {
      _ = accept(",")
      // `Thu 24 Dec` and `Thu 2026-12-24` are the date.
      if let date = try attempt({ (reader) throws(InputError) in try reader.dateAfterWeekday() }) {
        try check(date, is: weekday, from: start)
        return date
      }
      return .weekday(weekday, afterToday: false)
    }
    return try namedDate()
  }

  /// Returns a date with a time in one word: `2026-12-24T18:00`; nil for none.
  mutating func civilDateTime() -> CivilDateTime? {
    guard let moment = CivilDateTime(word.uppercased()) else { return nil }
    advance()
    return moment
  }

  private mutating func dateAfterWeekday() throws(InputError) -> DateReading? {
    let start = position
    if let parts = try DateText.parts(word) {
      advance()
      return try reading(parts, from: start)
    }
    return try namedDate()
  }

  private func check(
    _ date: DateReading, is weekday: Weekday, from start: Int
  ) throws(InputError) {
    if resolved(date).weekday != weekday { throw .noSuchDate(source(from: start)) }
  }

  private func reading(
    _ parts: DateText.Parts, from start: Int
  ) throws(InputError) -> DateReading {
    guard let year = parts.year else {
      return .dayOfYear(month: parts.month, day: parts.day)
    }
    guard DateText.isDate(parts) else { throw .noSuchDate(source(from: start)) }
    return .fixed(CivilDate(year: year, month: parts.month, day: parts.day))
  }

  /// Returns one weekday by its name; nil if it is a plural, or the start of a list or a range.
  private mutating func singleWeekday() -> Weekday? {
    guard let weekday = Vocabulary.weekday(word), !Vocabulary.isPlural(word) || "\(weekday)" == word
    else { return nil }
    advance()
    return weekday
  }

  // MARK: Relative dates

  private mutating func relativeDate() throws(InputError) -> CivilDate? {
    let today = context.today
    if accept("today", "tonight", "this evening") { return today }
    if accept("tomorrow", "tmrw", "tmr") { return today.adding(days: 1) }
    if accept("yesterday") { return today.adding(days: -1) }
    if accept("the day after tomorrow", "day after tomorrow", "overmorrow") {
      return today.adding(days: 2)
    }
    if accept("end of the month", "end of this month", "the end of the month", "end of month") {
      return endOfMonth(today.month, year: today.year)
    }
    if accept("end of the year", "end of this year", "the end of the year", "end of year") {
      return endOfMonth(12, year: today.year)
    }
    if let date = endOfNamedMonth() { return date }
    return try attempt { (reader) throws(InputError) in
      let isPrefixed = reader.accept("in")
      guard let period = try reader.period() else { return nil }
      guard isPrefixed || reader.accept("from now", "from today") else { return nil }
      return today.adding(period)
    }
  }

  private mutating func endOfNamedMonth() -> CivilDate? {
    let start = position
    guard accept("the end of", "end of"), let month = Vocabulary.month(word) else {
      position = start
      return nil
    }
    advance()
    if let year = year() { return endOfMonth(month, year: year) }
    let end = endOfMonth(month, year: context.today.year)
    return end < context.today ? endOfMonth(month, year: context.today.year + 1) : end
  }

  func endOfMonth(_ month: Int, year: Int) -> CivilDate {
    CivilDate(year: year, month: month, day: CivilDate.length(ofMonth: month, year: year))
  }

  /// Returns the date after `next`: one unit after today.
  private mutating func nextUnit() -> CivilDate? {
    let units: [(String, Period.Unit)] = [("week", .week), ("month", .month), ("year", .year)]
    guard let unit = units.first(where: { $0.0 == word })?.1 else { return nil }
    advance()
    return context.today.adding(Period(1, unit))
  }

  /// Returns a number of days, weeks, months or years: `3 days`, `2w`, `a month`, `6mo`.
  mutating func period() throws(InputError) -> Period? {
    let start = position
    guard let (count, unit) = try quantity() else { return nil }
    let period: Period? =
      switch unit {
      case .day: Period(count, .day)
      case .week: Period(count, .week)
      case .month: Period(count, .month)
      case .quarter: Period(count * 3, .month)
      case .year: Period(count, .year)
      case .minute, .hour, .workday: nil
      }
    guard let period else {
      position = start
      return nil
    }
    guard (1...Recurrence.longest).contains(period.count) else {
      throw .outOfRange(source(from: start))
    }
    return period
  }

  /// Returns a number with a unit, in one word or two: `90d`, `3 days`, `a week`.
  mutating func quantity() throws(InputError) -> (count: Int, unit: Vocabulary.Unit)? {
    let word = word
    let digits = word.prefix { $0.isASCII && $0.isNumber }
    if !digits.isEmpty, digits.count < word.count,
      let unit = Vocabulary.unit(String(word.dropFirst(digits.count)))
    {
      guard let count = Vocabulary.number(String(digits)) else { throw .outOfRange(word) }
      advance()
      return (count, unit)
    }
    if word == "a", peek(1) == "fortnight" {
      advance(2)
      return (2, .week)
    }
    guard let count = Vocabulary.number(word), let unit = Vocabulary.unit(peek(1)) else {
      return nil
    }
    // `a d` is not one day.
    if word.first?.isLetter == true, peek(1).count < 3 { return nil }
    advance(2)
    return (count, unit)
  }

  // MARK: Named dates

  /// Returns a date with the name of its month, or a day of the month: `24 dec`, `dec 24th 2026`, `the 24th of december`.
  private mutating func namedDate() throws(InputError) -> DateReading? {
    let start = position
    let hasArticle = accept("the")
    if let month = Vocabulary.month(word), !hasArticle {
      let dayWord = peek(1)
      guard let day = Vocabulary.ordinal(dayWord) ?? digits(dayWord) else { return nil }
      advance(2)
      return try named(day: day, month: month, from: start)
    }
    let ordinal = Vocabulary.ordinal(word)
    guard let day = ordinal ?? digits(word) else {
      position = start
      return nil
    }
    advance()
    let hasOf = accept("of")
    if let month = Vocabulary.month(word) {
      advance()
      return try named(day: day, month: month, from: start)
    }
    guard hasArticle, ordinal != nil, !hasOf else {
      position = start
      return nil
    }
    guard (1...31).contains(day) else { throw .noSuchDate(source(from: start)) }
    return .dayOfMonth(day)
  }

  private func digits(_ word: String) -> Int? {
    guard (1...2).contains(word.utf8.count), word.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
    else { return nil }
    return Int(word)
  }

  private mutating func named(
    day: Int, month: Int, from start: Int
  ) throws(InputError) -> DateReading {
    let parts = DateText.Parts(day: day, month: month, year: year(afterComma: true))
    guard DateText.isDate(parts) else { throw .noSuchDate(source(from: start)) }
    return try reading(parts, from: start)
  }

  /// Returns a year of this century, with a comma before it if that is allowed. `24 dec 1930` has a time.
  mutating func year(afterComma: Bool = false) -> Int? {
    let distance = afterComma && word == "," ? 1 : 0
    let word = peek(distance)
    guard word.utf8.count == 4, let year = Vocabulary.number(word), (2000..<2100).contains(year)
    else { return nil }
    advance(distance + 1)
    return year
  }

  // MARK: Resolving

  /// Returns the date of a reading. A date without a year is the first one from today on.
  func resolved(_ reading: DateReading) -> CivilDate {
    resolved(reading, from: context.today)
  }

  /// Returns the date of a reading. A date without a year is the latest one up to today.
  func resolvedInPast(_ reading: DateReading) -> CivilDate {
    let today = context.today
    switch reading {
    case .fixed(let date): return date
    case .weekday(let weekday, _):
      return today.adding(days: -((today.weekday.rawValue - weekday.rawValue + 7) % 7))
    case .dayOfYear, .dayOfMonth:
      // A date of the year occurs at least every 8 years.
      let first = CivilDate(year: today.year - 8, month: today.month, day: 1)
      var date = resolved(reading, from: first)
      while true {
        let next = resolved(reading, from: date.adding(days: 1))
        if next > today || next <= date { return date }
        date = next
      }
    }
  }

  /// Returns the date of a reading. A date without a year is the first one from a date on.
  func resolved(_ reading: DateReading, from first: CivilDate) -> CivilDate {
    switch reading {
    case .fixed(let date): return date
    case .weekday(let weekday, let afterToday):
      let start = afterToday ? first.adding(days: 1) : first
      return start.adding(days: (weekday.rawValue - start.weekday.rawValue + 7) % 7)
    case .dayOfYear(let month, let day):
      // 29 February exists at least every 8 years.
      let dates = (0...8).lazy.compactMap { years -> CivilDate? in
        let parts = DateText.Parts(day: day, month: month, year: first.year + years)
        return DateText.isDate(parts)
          ? CivilDate(year: first.year + years, month: month, day: day) : nil
      }
      return dates.first { $0 >= first } ?? first
    case .dayOfMonth(let day):
      let dates = (0...12).lazy.compactMap { months -> CivilDate? in
        let month = first.month - 1 + months
        let parts = DateText.Parts(
          day: day, month: month % 12 + 1, year: first.year + month / 12)
        return DateText.isDate(parts)
          ? CivilDate(year: first.year + month / 12, month: month % 12 + 1, day: day) : nil
      }
      return dates.first { $0 >= first } ?? first
    }
  }
}
