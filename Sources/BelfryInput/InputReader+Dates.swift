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
      if !isNext, accept("weekend") { return .weekday(.saturday, afterToday: false) }
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
        if case .dayOfMonth(let day) = date { return try next(weekday, day, from: start) }
        try check(date, is: weekday, from: start)
        return date
      }
      if let date = try dayBehindWeekday(weekday, from: start) { return date }
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
    let resolved = resolved(date)
    if resolved.weekday != weekday { throw .wrongWeekday(source(from: start), resolved) }
  }

  /// Returns the next day of a month that is a certain weekday: `friday the 13th`.
  private func next(
    _ weekday: Weekday, _ day: Int, from start: Int
  ) throws(InputError) -> DateReading {
    // The dates of the Gregorian calendar recur after 28 years, except around a century.
    let today = context.today
    let months = (0...(12 * 40)).lazy.map { today.month - 1 + $0 }
    let dates = months.compactMap { month -> CivilDate? in
      let parts = DateText.Parts(day: day, month: month % 12 + 1, year: today.year + month / 12)
      guard DateText.isDate(parts) else { return nil }
      return CivilDate(year: today.year + month / 12, month: month % 12 + 1, day: day)
    }
    guard let date = dates.first(where: { $0 >= today && $0.weekday == weekday }) else {
      throw .noSuchDate(source(from: start))
    }
    return .fixed(date)
  }

  /// Reads the number in `thu 24`, which is a day of the month if that is a Thursday.
  ///
  /// - Throws: `InputError.ambiguous` if it may be an hour, too.
  private mutating func dayBehindWeekday(
    _ weekday: Weekday, from start: Int
  ) throws(InputError) -> DateReading? {
    guard let number = digits(word), (1...31).contains(number), word.first != "0",
      Vocabulary.unit(peek(1)) == nil, !["am", "pm", "times", "uhr", "o'clock"].contains(peek(1))
    else { return nil }
    let first = resolved(.dayOfMonth(number))
    let dates = [first, resolved(.dayOfMonth(number), from: first.adding(days: 1))]
    let date = dates.first { $0.weekday == weekday } ?? first
    guard date.weekday == weekday else {
      if number < 24 { return nil }
      advance()
      throw .wrongWeekday(source(from: start), date)
    }
    // `wed 9 and 17` has times.
    if number < 24, [",", "and", "&"].contains(peek(1)) { return nil }
    advance()
    if number < 24, isAtEnd, let time = CivilTime(hour: number, minute: 0) {
      let hours = number < 12 ? ["\(time)", "\(number + 12):00"] : ["\(time)"]
      throw .ambiguous(
        source(from: start),
        readings: hours.map { "\(weekday.abbreviation) \($0)" } + [
          "\(date.day) \(CivilDate.monthNames[date.month - 1])"
        ])
    }
    return .fixed(date)
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
    if accept("tomorrow", "tmrw", "tmr", "2moro", "2morrow") { return today.adding(days: 1) }
    if accept("the week after next", "week after next") { return today.adding(days: 14) }
    if let date = try workdaysAhead() { return date }
    if let date = try dayOfNextMonth() { return date }
    if let date = try feast() { return date }
    if accept("yesterday") { return today.adding(days: -1) }
    if accept("the day after tomorrow", "day after tomorrow", "overmorrow") {
      return today.adding(days: 2)
    }
    if accept(
      "end of the month", "end of this month", "the end of the month", "end of month", "eom")
    {
      return endOfMonth(today.month, year: today.year)
    }
    if accept("end of the year", "end of this year", "the end of the year", "end of year", "eoy") {
      return endOfMonth(12, year: today.year)
    }
    if accept(
      "end of the quarter", "end of this quarter", "the end of the quarter", "end of quarter")
    {
      return endOfMonth((today.month + 2) / 3 * 3, year: today.year)
    }
    if let date = endOfNamedMonth() { return date }
    return try attempt { (reader) throws(InputError) in
      let isPrefixed =
        reader.accept("in", "after") || reader.word.hasPrefix("+") || reader.isQuantity
      guard let period = try reader.period() else { return nil }
      guard isPrefixed || reader.accept("from now", "from today") else { return nil }
      return today.adding(period)
    }
  }

  /// Reads `in 3 workdays`.
  private mutating func workdaysAhead() throws(InputError) -> CivilDate? {
    try attempt { (reader) throws(InputError) in
      guard reader.accept("in"), let count = Vocabulary.number(reader.word) else { return nil }
      reader.advance()
      guard reader.acceptWorkday() else { return nil }
      guard (1...1000).contains(count) else { throw .outOfRange("\(count)") }
      var (date, left) = (reader.context.today, count)
      for _ in 0..<20_000 where left > 0 {
        date = date.adding(days: 1)
        if reader.context.calendar.isWorkday(date) { left -= 1 }
      }
      return left == 0 ? date : nil
    }
  }

  /// Reads `next month on the 5th` and `first day of next month`.
  private mutating func dayOfNextMonth() throws(InputError) -> CivilDate? {
    try attempt { (reader) throws(InputError) in
      let start = reader.position
      let day: Int
      if reader.accept("next month on the", "next month on") {
        guard let ordinal = Vocabulary.ordinal(reader.word) ?? reader.digits(reader.word) else {
          return nil
        }
        day = ordinal
        reader.advance()
      } else {
        _ = reader.accept("on the", "the")
        if reader.accept("first day of next month") {
          day = 1
        } else if let ordinal = Vocabulary.ordinal(reader.word) {
          reader.advance()
          guard reader.accept("of next month") else { return nil }
          day = ordinal
        } else {
          return nil
        }
      }
      let today = reader.context.today
      let (year, month) = today.month == 12 ? (today.year + 1, 1) : (today.year, today.month + 1)
      guard DateText.isDate(DateText.Parts(day: day, month: month, year: year)) else {
        throw .noSuchDate(reader.source(from: start))
      }
      return CivilDate(year: year, month: month, day: day)
    }
  }

  /// Reads a day with a name and a date that is the same everywhere.
  private mutating func feast() throws(InputError) -> CivilDate? {
    let fixed: [(names: [String], month: Int, day: Int)] = [
      (["christmas eve"], 12, 24), (["christmas day", "christmas", "xmas"], 12, 25),
      (["boxing day"], 12, 26), (["new year's eve", "new years eve"], 12, 31),
      (["new year's day", "new years day", "new year's", "new year"], 1, 1),
      (["valentine's day", "valentines day"], 2, 14), (["halloween"], 10, 31),
    ]
    for feast in fixed where accept(anyOf: feast.names) {
      return resolved(.dayOfYear(month: feast.month, day: feast.day))
    }
    let moving: [(names: [String], days: Int)] = [
      (["good friday"], -2), (["easter monday"], 1), (["easter sunday", "easter"], 0),
      (["ash wednesday"], -46), (["maundy thursday"], -3), (["ascension day", "ascension"], 39),
      (["whit sunday", "pentecost"], 49), (["whit monday", "pentecost monday"], 50),
      (["corpus christi"], 60),
    ]
    for feast in moving where accept(anyOf: feast.names) {
      let dates = [0, 1].map {
        CivilDate.easter(of: context.today.year + $0).adding(days: feast.days)
      }
      return dates.first { $0 >= context.today }
    }
    return nil
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
    let word = word.hasPrefix("+") ? String(word.dropFirst()) : word
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
    if let date = joinedDate(), !hasArticle {
      advance()
      return try named(day: date.day, month: date.month, from: start)
    }
    if let month = Vocabulary.month(word), !hasArticle {
      let dayWord = peek(1)
      guard let day = Vocabulary.ordinal(dayWord) ?? digits(dayWord) else { return nil }
      advance(2)
      return try named(day: day, month: month, from: start)
    }
    let ordinal = Vocabulary.ordinal(word) ?? (word == "1er" ? 1 : nil)
    // `24. december`
    let dotted =
      word.hasSuffix(".") && Vocabulary.month(peek(1)) != nil
      ? digits(String(word.dropLast())) : nil
    guard let day = ordinal ?? dotted ?? digits(word) else {
      position = start
      return nil
    }
    advance()
    let hasOf = accept("of")
    if let month = Vocabulary.month(word) {
      advance()
      return try named(day: day, month: month, from: start)
    }
    guard ordinal != nil, !hasOf else {
      position = start
      return nil
    }
    guard (1...31).contains(day) else { throw .noSuchDate(source(from: start)) }
    return .dayOfMonth(day)
  }

  /// Returns the day and the month of `27nov`.
  private func joinedDate() -> (day: Int, month: Int)? {
    let day = word.prefix { $0.isASCII && $0.isNumber }
    let name = String(word.dropFirst(day.count))
    guard (1...2).contains(day.count), name.count >= 3, let number = Int(day),
      let month = Vocabulary.month(name), Vocabulary.unit(name) == nil
    else { return nil }
    return (number, month)
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

  // MARK: Starts

  /// Reads `next week`, `next month` and `next year` as the start of a schedule: their first days.
  mutating func startOfUnit() -> CivilDate? {
    let today = context.today
    if accept("next week") { return today.adding(days: 7 - today.weekday.rawValue) }
    if accept("next month") { return endOfMonth(today.month, year: today.year).adding(days: 1) }
    if accept("next year") { return CivilDate(year: today.year + 1, month: 1, day: 1) }
    return nil
  }

  /// Returns the date of a reading as the start of a schedule: a date without a year is the nearest one, past or future.
  func nearest(_ reading: DateReading) -> CivilDate {
    let next = resolved(reading)
    guard case .dayOfYear = reading else { return next }
    let past = resolvedInPast(reading)
    let today = context.today.dayNumber
    return today - past.dayNumber < next.dayNumber - today ? past : next
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
