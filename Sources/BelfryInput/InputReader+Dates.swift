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
    if let date = try dateOfNextUnit() { return .fixed(date) }
    if let feast = fixedFeast() { return feast }
    let isNext = accept("next")
    if isNext || accept("this", "coming") {
      if accept("weekend") {
        let saturday = resolved(.weekday(.saturday, afterToday: false))
        guard isNext else { return .weekday(.saturday, afterToday: false) }
        throw .ambiguous(
          source(from: start),
          readings: [saturday, saturday.adding(days: 7)].map { "sat \($0.dayAndMonth)" })
      }
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
      if accept("week"), isAtEnd || peek(0) != "on" {
        // `friday week` is a week after the next Friday.
        return .fixed(resolved(.weekday(weekday, afterToday: true)).adding(days: 7))
      }
      if accept("after next") {
        return .fixed(resolved(.weekday(weekday, afterToday: true)).adding(days: 7))
      }
      return .weekday(weekday, afterToday: false)
    }
    return try namedDate()
  }

  /// Returns the number of a day of a month: `24`, `24.` or `24th`; nil for any other word.
  static func dayNumber(_ word: String) -> Int? {
    let word = word.hasSuffix(".") ? String(word.dropLast()) : word
    let day =
      word.first?.isNumber == true ? Vocabulary.number(word) ?? Vocabulary.ordinal(word) : nil
    return day.flatMap { (1...31).contains($0) ? $0 : nil }
  }

  /// The days, the month and the number of words of `24 to 31 january`; nil before other words.
  var rangeOfDays: (first: Int, last: Int, month: Int, count: Int)? {
    let joined = word.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    let days: [String]
    var count: Int
    if joined.count == 2 {
      (days, count) = (joined, 1)
    } else {
      guard ["-", "to", "until", "till", "through", "thru"].contains(peek(1)) else { return nil }
      (days, count) = ([word, peek(2)], 3)
    }
    guard let first = InputReader.dayNumber(days[0]), let last = InputReader.dayNumber(days[1]),
      first < last
    else { return nil }
    if peek(count) == "of" { count += 1 }
    return Vocabulary.month(peek(count)).map { (first, last, $0, count + 1) }
  }

  /// Reads a list of days that share their month: `3, 10 and 17 dec`.
  mutating func daysOfOneMonth() throws(InputError) -> [CivilDate]? {
    let start = position
    let read: (month: Int, days: [Int])? = try attempt { (reader) throws(InputError) in
      var days: [Int] = []
      while let day = InputReader.dayNumber(reader.word) {
        days.append(day)
        reader.advance()
        guard reader.acceptSeparator() else { break }
      }
      _ = reader.accept("of")
      guard days.count > 1, let month = Vocabulary.month(reader.word) else { return nil }
      reader.advance()
      return (month, days)
    }
    guard let read else { return nil }
    let year = year()
    var dates: [CivilDate] = []
    for day in read.days {
      guard day <= CivilDate.length(ofMonth: read.month, year: 2000) else {
        throw .noSuchDate(source(from: start))
      }
      let date = year.map { CivilDate(year: $0, month: read.month, day: day) }
      dates.append(date ?? resolved(.dayOfYear(month: read.month, day: day)))
    }
    return dates
  }

  /// Reads `tuesday next week`, `next week on tuesday`, `3 may next year` and `this week friday`.
  private mutating func dateOfNextUnit() throws(InputError) -> CivilDate? {
    try attempt { (reader) throws(InputError) in
      let today = reader.context.today
      let monday = today.adding(days: -today.weekday.rawValue)
      func day(_ weekday: Weekday, inWeekOf monday: CivilDate) -> CivilDate {
        monday.adding(days: weekday.rawValue)
      }
      if let weekday = reader.singleWeekday() {
        if reader.accept("next week") { return day(weekday, inWeekOf: monday.adding(days: 7)) }
        return reader.accept("this week") ? day(weekday, inWeekOf: monday) : nil
      }
      if reader.accept("next week", "this week") {
        let isNext = reader.tokens[reader.position - 2].text == "next"
        _ = reader.accept("on")
        let first = isNext ? monday.adding(days: 7) : monday
        return reader.singleWeekday().map { day($0, inWeekOf: first) }
      }
      let isBefore = reader.accept("next year")
      if isBefore { _ = reader.accept("on") }
      guard case .dayOfYear(let month, let day)? = try reader.namedDate(),
        isBefore || reader.accept("next year")
      else { return nil }
      let parts = DateText.Parts(day: day, month: month, year: today.year + 1)
      guard DateText.isDate(parts) else { throw .noSuchDate(reader.source(from: 0)) }
      return CivilDate(year: today.year + 1, month: month, day: day)
    }
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
    let date = dates(.dayOfMonth(day)).prefix(12 * 40).first { $0.weekday == weekday }
    guard let date else { throw .noSuchDate(source(from: start)) }
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
    let date = dates(.dayOfMonth(number)).prefix(2).first { $0.weekday == weekday }
    guard let date else {
      if number < 24 { return nil }
      advance()
      throw .wrongWeekday(source(from: start), resolved(.dayOfMonth(number)))
    }
    // `wed 9 and 17` has times.
    if number < 24, [",", "and", "&"].contains(peek(1)) { return nil }
    advance()
    if number < 24, isAtEnd, let time = CivilTime(hour: number, minute: 0) {
      let hours = number < 12 ? ["\(time)", "\(number + 12):00"] : ["\(time)"]
      throw .ambiguous(
        source(from: start),
        readings: hours.map { "\(weekday.abbreviation) \($0)" } + [date.dayAndMonth])
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
  mutating func singleWeekday() -> Weekday? {
    guard let weekday = Vocabulary.weekday(word), !Vocabulary.isPlural(word) || "\(weekday)" == word
    else { return nil }
    advance()
    return weekday
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

  /// Returns the number of one or two digits; nil for any other word.
  func digits(_ word: String) -> Int? {
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

  /// True if the next word is a year of this century.
  var isYear: Bool {
    word.utf8.count == 4 && Vocabulary.number(word).map { (2000..<2100).contains($0) } ?? false
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
      for next in dates(reading, from: date.adding(days: 1)) {
        if next > today || next <= date { break }
        date = next
      }
      return date
    }
  }

  /// Returns the dates that a date without a year can mean, from today on. They do not end.
  private func dates(_ reading: DateReading) -> some Sequence<CivilDate> {
    dates(reading, from: context.today)
  }

  private func dates(_ reading: DateReading, from first: CivilDate) -> some Sequence<CivilDate> {
    sequence(first: resolved(reading, from: first)) {
      resolved(reading, from: $0.adding(days: 1))
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

  /// Returns the date of a reading as the start of a schedule: a date without a year is the nearest one, past or future.
  func nearest(_ reading: DateReading) -> CivilDate {
    let next = resolved(reading)
    guard case .dayOfYear = reading else { return next }
    let past = resolvedInPast(reading)
    let today = context.today.dayNumber
    return today - past.dayNumber < next.dayNumber - today ? past : next
  }
}
