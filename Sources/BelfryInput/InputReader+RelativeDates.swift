import BelfryCore

extension InputReader {
  mutating func relativeDate() throws(InputError) -> CivilDate? {
    let today = context.today
    if peek(1) != "week", peek(1) != "fortnight", accept("today", "tonight", "this evening") {
      return today
    }
    if accept("today week") { return today.adding(days: 7) }
    if accept("tomorrow week") { return today.adding(days: 8) }
    if accept("today fortnight") { return today.adding(days: 14) }
    if accept("tomorrow fortnight") { return today.adding(days: 15) }
    if accept("tomorrow", "tmrw", "tmr", "2moro", "2morrow") { return today.adding(days: 1) }
    if accept("the week after next", "week after next") { return today.adding(days: 14) }
    if let date = try workdaysAhead() { return date }
    if let date = try dayOfNextMonth() { return date }
    if let date = try movingFeast() { return date }
    if let date = try dateBesideDate() { return date }
    if let date = try weekdayBesideDate() { return date }
    try refuseEndOfWeek()
    if accept("yesterday") { return today.adding(days: -1) }
    if accept("the day after tomorrow", "day after tomorrow", "overmorrow") {
      return today.adding(days: 2)
    }
    if let date = endOfThisOrNextUnit() { return date }
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
        reader.accept("in", "after") || reader.hasSign || reader.isQuantity
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
      let first = reader.startOfNextMonth
      let parts = DateText.Parts(day: day, month: first.month, year: first.year)
      guard DateText.isDate(parts) else { throw .noSuchDate(reader.source(from: start)) }
      return first.adding(days: day - 1)
    }
  }

  /// Reads `end of next month`, `last day of this month` and `beginning of next year`.
  mutating func endOfThisOrNextUnit() -> CivilDate? {
    let start = position
    _ = accept("the")
    let isEnd = accept("end of", "last day of")
    if isEnd || accept("beginning of", "start of", "first day of") {
      if isEnd, accept("this month") {
        return endOfMonth(context.today.month, year: context.today.year)
      }
      if isEnd, accept("this year") { return endOfMonth(12, year: context.today.year) }
      let unit = Vocabulary.unit(peek(1))
      if let first = startOfUnit() {
        switch unit {
        case _ where !isEnd: return first
        case .week: return first.adding(days: 6)
        case .month: return endOfMonth(first.month, year: first.year)
        default: return endOfMonth(12, year: first.year)
        }
      }
    }
    position = start
    return nil
  }

  /// Throws an error for `end of the week`, which is Friday or Sunday.
  private mutating func refuseEndOfWeek() throws(InputError) {
    let start = position
    guard accept("the end of the week", "end of the week", "end of week", "eow") else { return }
    throw .ambiguous(source(from: start), readings: ["fri", "sun"])
  }

  /// Reads `3 weeks before 1 july`, `a week from friday`, `the day after christmas` and `friday week`.
  private mutating func dateBesideDate() throws(InputError) -> CivilDate? {
    try attempt { (reader) throws(InputError) in
      _ = reader.accept("in", "on")
      let period: Period?
      if reader.accept("the day", "day") {
        period = Period(1, .day)
      } else {
        period = try reader.period()
        // `in a week's time`
        if period == nil, reader.accept("a week's time", "one week's time") {
          return reader.context.today.adding(days: 7)
        }
      }
      guard let period else { return nil }
      // `three weeks today`
      if period.unit != .day, reader.accept("today") { return reader.context.today.adding(period) }
      if period.unit != .day, reader.accept("tomorrow") {
        return reader.context.today.adding(period).adding(days: 1)
      }
      let isBefore = reader.accept("before")
      // `a week on friday`, but `3 weeks on mon` lacks `every`.
      let isWeekOn =
        period == Period(1, .week) && reader.word == "on"
        && Vocabulary.weekday(reader.peek(1)) != nil
      if isWeekOn { reader.advance() }
      guard isBefore || isWeekOn || reader.accept("after", "from"), let reading = try reader.date()
      else { return nil }
      let shift = isBefore ? Period(-period.count, period.unit) : period
      guard case .dayOfYear(let month, let day) = reading else {
        return reader.resolved(reading).adding(shift)
      }
      // The date moves by a day in leap years if the 29th of February is between.
      let dates = [2027, 2028].filter { day <= CivilDate.length(ofMonth: month, year: $0) }
        .map { CivilDate(year: $0, month: month, day: day).adding(shift) }
      reader.isBesideDayOfYear = Set(dates.map(\.dayAndMonth)).count == 1
      // The next such date counts, not the next 1 October of `90 days after 1 october`.
      let opposite = Period(-shift.count, shift.unit)
      return reader.resolved(reading, from: reader.context.today.adding(opposite)).adding(shift)
    }
  }

  /// Reads `saturday after easter` and `friday before 24 dec`.
  private mutating func weekdayBesideDate() throws(InputError) -> CivilDate? {
    try attempt { (reader) throws(InputError) in
      guard let weekday = reader.singleWeekday() else { return nil }
      let isBefore = reader.accept("before")
      guard isBefore || reader.accept("after", "following"), let reading = try reader.date() else {
        return nil
      }
      if case .weekday = reading { return nil }
      func beside(_ date: CivilDate) -> CivilDate {
        (1...7).lazy.map { date.adding(days: isBefore ? -$0 : $0) }.first { $0.weekday == weekday }
          ?? date
      }
      let date = beside(reader.resolved(reading))
      guard date < reader.context.today, case .dayOfYear = reading else { return date }
      return beside(reader.resolved(reading, from: reader.context.today.adding(days: 8)))
    }
  }

  /// Returns true if the words from a position on name a day that hangs on Easter.
  func hasMovingFeast(from start: Int) -> Bool {
    (start..<position).contains { index in
      var reader = self
      reader.position = index
      return (try? reader.movingFeast()) ?? nil != nil
    }
  }

  /// Reads `next week`, `this week` or `next month` as all of its dates.
  mutating func datesOfUnit() -> [CivilDate]? {
    let today = context.today
    let isThisWeek = accept("this week")
    let unit = Vocabulary.unit(peek(1))
    let first = isThisWeek ? today.adding(days: -today.weekday.rawValue) : startOfUnit()
    guard let first else { return nil }
    let length =
      switch unit {
      case _ where isThisWeek: 7
      case .week: 7
      case .month: CivilDate.length(ofMonth: first.month, year: first.year)
      default: CivilDate(year: first.year, month: 12, day: 31).dayNumber - first.dayNumber + 1
      }
    return (0..<length).map { first.adding(days: $0) }
  }

  /// Reads a day with a name and the same date in each year.
  mutating func fixedFeast() -> DateReading? {
    let fixed: [(names: [String], month: Int, day: Int)] = [
      (["christmas eve"], 12, 24), (["christmas day", "christmas", "xmas"], 12, 25),
      (["boxing day"], 12, 26), (["new year's eve", "new years eve"], 12, 31),
      (["new year's day", "new years day", "new year's", "new year"], 1, 1),
      (["valentine's day", "valentines day"], 2, 14), (["halloween"], 10, 31),
    ]
    for feast in fixed where accept(anyOf: feast.names) {
      guard let year = year() else { return .dayOfYear(month: feast.month, day: feast.day) }
      return .fixed(CivilDate(year: year, month: feast.month, day: feast.day))
    }
    return nil
  }

  /// Reads a day that hangs on Easter.
  mutating func movingFeast() throws(InputError) -> CivilDate? {
    let moving: [(names: [String], days: Int)] = [
      (["good friday"], -2), (["easter monday"], 1), (["easter sunday", "easter"], 0),
      (["ash wednesday"], -46), (["maundy thursday"], -3), (["ascension day", "ascension"], 39),
      (["whit monday", "pentecost monday"], 50), (["whit sunday", "pentecost"], 49),
      (["corpus christi"], 60),
    ]
    let start = position
    let isEvery = accept("every", "each")
    for feast in moving where accept(anyOf: feast.names) {
      if isEvery || ["every", "each", "yearly"].contains(word) { throw .unsupported(.movingFeast) }
      if let year = year() { return CivilDate.easter(of: year).adding(days: feast.days) }
      let dates = [0, 1].map {
        CivilDate.easter(of: context.today.year + $0).adding(days: feast.days)
      }
      return dates.first { $0 >= context.today }
    }
    position = start
    return nil
  }

  private mutating func endOfNamedMonth() -> CivilDate? {
    let start = position
    guard accept("the end of", "end of"), let month = Vocabulary.month(word) else {
      position = start
      return nil
    }
    advance()
    return end(ofMonth: month)
  }

  /// Returns the last day of a month in the year that is read behind it, or else of the next such month.
  mutating func end(ofMonth month: Int) -> CivilDate {
    if let year = year() { return endOfMonth(month, year: year) }
    let end = endOfMonth(month, year: context.today.year)
    return end < context.today ? endOfMonth(month, year: context.today.year + 1) : end
  }

  private var startOfNextMonth: CivilDate {
    endOfMonth(context.today.month, year: context.today.year).adding(days: 1)
  }

  func endOfMonth(_ month: Int, year: Int) -> CivilDate {
    CivilDate(year: year, month: month, day: CivilDate.length(ofMonth: month, year: year))
  }

  /// Returns the date after `next`: one unit after today.
  mutating func nextUnit() -> CivilDate? {
    let units: [(String, Period.Unit)] = [("week", .week), ("month", .month), ("year", .year)]
    guard let unit = units.first(where: { $0.0 == word })?.1 else { return nil }
    advance()
    return context.today.adding(Period(1, unit))
  }

  /// Reads `next week`, `next month` and `next year` as the start of a schedule: their first days.
  mutating func startOfUnit() -> CivilDate? {
    let today = context.today
    if accept("next week") { return today.adding(days: 7 - today.weekday.rawValue) }
    if accept("next month") { return startOfNextMonth }
    if accept("next year") { return CivilDate(year: today.year + 1, month: 1, day: 1) }
    return nil
  }

  // MARK: Periods

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
    let word = unsignedWord
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
}
