import BelfryCore

/// A rule that was read.
struct RuleReading {
  let rule: ScheduleDraft.Rule
  /// True for `every workday`, which leaves out holidays.
  var isOnWorkdays = false
  /// The date from which `every 6 months 1 may` counts.
  var start: DateReading?

  init(_ rule: ScheduleDraft.Rule, isOnWorkdays: Bool = false, start: DateReading? = nil) {
    self.rule = rule
    self.isOnWorkdays = isOnWorkdays
    self.start = start
  }
}

extension InputReader {
  /// Returns the rule of a schedule: `every 2 weeks on mon`, `last workday of the month`, `weekdays`; nil for none.
  mutating func rule() throws(InputError) -> RuleReading? {
    if let period = try afterDone() { return RuleReading(.afterDone(period)) }
    if let cycle = try cycle() { return RuleReading(cycle) }
    if let rule = try dayBesideDayOfMonth() { return RuleReading(rule) }
    if accept("first day of the year", "the first day of the year", "first day of each year") {
      return RuleReading(.annual([1], [.day(1)], 1))
    }
    if let rule = try nextDays() { return rule }
    if let named = try namedRule() { return named }
    _ = accept("on")
    if accept("every", "each") {
      guard let rule = try everyRule() else { throw missing(.day) }
      return rule
    }
    return try plainRule()
  }

  /// Refuses `next 5 days`, which may be each of them or the last of them, and `every! 3 days` of Todoist.
  private mutating func nextDays() throws(InputError) -> RuleReading? {
    if word == "next", let count = Vocabulary.number(peek(1)), count > 1, peek(2) == "days" {
      throw .ambiguous(
        "next \(count) days", readings: ["every day for \(count) days", "in \(count) days"])
    }
    guard word == "every!" else { return nil }
    var reader = self
    reader.advance()
    guard let period = try reader.period() else { throw reader.missing(.length) }
    self = reader
    return RuleReading(.afterDone(period))
  }

  // MARK: Adjectives

  private mutating func namedRule() throws(InputError) -> RuleReading? {
    if accept("daily", "everyday") { return RuleReading(.daily(1)) }
    if accept("semiannually", "semi-annually", "half-yearly", "semiannual", "half yearly") {
      return RuleReading(try halfYearly())
    }
    if accept("bimonthly", "bi-monthly", "biannual", "biannually", "bi-annual", "bi-annually") {
      let word = tokens[position - 1]
      throw .ambiguous(
        word.source,
        readings: word.text.contains("month")
          ? ["every 2 months", "1st and 15th of every month"]
          : ["every 6 months", "every 2 years"])
    }
    if accept("weekly", "once a week") { return RuleReading(try weekly(1)) }
    if accept("biweekly", "bi-weekly", "fortnightly", "every fortnight") {
      return RuleReading(try weekly(2))
    }
    if Vocabulary.weekday(peek(word == "on" ? 2 : 1)) != nil,
      accept("alternate", "alternating", "on alternate", "on alternating")
    {
      return RuleReading(try weekly(2))
    }
    if accept("monthly", "once a month") { return RuleReading(try monthly(1)) }
    if accept("quarterly", "once a quarter") { return RuleReading(try quarterly()) }
    if accept("yearly", "annually", "annual", "once a year") { return RuleReading(try annual(1)) }
    return nil
  }

  /// Reads the weekdays behind `weekly` or `every 2 weeks`.
  private mutating func weekly(_ interval: Int) throws(InputError) -> ScheduleDraft.Rule {
    let days: [Weekday]? = try attempt { (reader) throws(InputError) in
      _ = reader.accept("on a", "on")
      return try reader.weekdays()?.days
    }
    return .weekly(days, interval)
  }

  /// Reads the days behind `monthly` or `every 2 months`.
  private mutating func monthly(_ interval: Int) throws(InputError) -> ScheduleDraft.Rule {
    let days: [Recurrence.MonthDay]? = try attempt { (reader) throws(InputError) in
      _ = reader.accept("on")
      return try reader.monthDays(bareNumbers: true)?.days
    }
    return .monthly(days, interval)
  }

  /// Reads the days behind `quarterly` or `every quarter`.
  private mutating func quarterly() throws(InputError) -> ScheduleDraft.Rule {
    let days: [Recurrence.MonthDay]? = try attempt { (reader) throws(InputError) in
      _ = reader.accept("on")
      return try reader.monthDays(bareNumbers: true)?.days
    }
    guard let days else { return .monthly(nil, 3) }
    return try ofQuarter(days)
  }

  /// Reads the date behind `semiannually`: its day, in its month and six months later.
  private mutating func halfYearly() throws(InputError) -> ScheduleDraft.Rule {
    let date: DateReading? = try attempt { (reader) throws(InputError) in
      _ = reader.accept("on", "from")
      guard let date = try reader.date(), case .dayOfYear = date else { return nil }
      return date
    }
    guard case .dayOfYear(let month, let day)? = date else { return .monthly(nil, 6) }
    return .annual([month, (month + 5) % 12 + 1].sorted(), [.day(day)], 1)
  }

  /// Reads the dates behind `yearly` or `every 2 years`.
  private mutating func annual(_ interval: Int) throws(InputError) -> ScheduleDraft.Rule {
    let rule: ScheduleDraft.Rule? = try attempt { (reader) throws(InputError) in
      _ = reader.accept("on", "in")
      if let date = try reader.monthAndDay() {
        return .annual([date.month], [.day(date.day)], interval)
      }
      return try reader.daysOfYear(interval)
    }
    // `every 2 years in june`
    if rule == nil, ["in", "on"].contains(word), Vocabulary.month(peek(1)) != nil {
      throw .missing(.day, after: peek(1))
    }
    return rule ?? .annual(nil, nil, interval)
  }

  /// Reads a month and a day as in records: `03-15`.
  private mutating func monthAndDay() throws(InputError) -> DateText.Parts? {
    let fields = word.split(separator: "-", omittingEmptySubsequences: false)
    guard fields.count == 2, fields.allSatisfy({ $0.utf8.count == 2 }),
      let month = Vocabulary.number(String(fields[0])),
      let day = Vocabulary.number(String(fields[1]))
    else { return nil }
    let parts = DateText.Parts(day: day, month: month, year: nil)
    guard DateText.isDate(parts) else { throw .noSuchDate(word) }
    advance()
    return parts
  }

  // MARK: Every …

  private mutating func everyRule() throws(InputError) -> RuleReading? {
    _ = accept("single")
    if accept("end of the month", "end of month", "month end", "month-end") {
      return RuleReading(.monthly([.fromEnd(1)], 1))
    }
    if accept("decade") { return RuleReading(try annual(10)) }
    let start = position
    if let rule = try intervalRule() { return rule }
    position = start
    if let rule = try daysOfYear(1) { return RuleReading(rule) }
    if let rule = try daysOfMonth(bareNumbers: false) { return RuleReading(rule) }
    position = start
    if let rule = try weekdayRule(interval: 1) { return rule }
    // `every october`
    if Vocabulary.month(word) != nil { throw .missing(.day, after: word) }
    return nil
  }

  /// Reads `day`, `2 weeks on mon`, `other tue`, `3rd month on the 15th`.
  private mutating func intervalRule() throws(InputError) -> RuleReading? {
    let start = position
    var interval = 1
    var isOrdinal = false
    if accept("other", "alternate", "alternating") {
      interval = 2
    } else if let number = Vocabulary.number(word), word != "a" {
      interval = number
      advance()
    } else if let ordinal = Vocabulary.ordinal(word) {
      interval = ordinal
      isOrdinal = true
      advance()
    } else if let (count, unit) = try joinedQuantity() {
      return try rule(of: unit, count)
    }
    guard (1...Recurrence.longest).contains(interval) else {
      throw .outOfRange(source(from: start))
    }
    if acceptWorkday() {
      // `every 3rd workday` is a day of the month.
      if isOrdinal || interval > 1 { return nil }
      return RuleReading(.weekly(context.calendar.workdays.days, 1), isOnWorkdays: true)
    }
    if let unit = Vocabulary.unit(word), word.count > 2 {
      advance()
      // `every 1st day of the month`
      if isOrdinal, unit == .day, accept("of") { return nil }
      return try rule(of: unit, interval)
    }
    if ["weekday", "weekdays"].contains(word), interval > 1 {
      advance()
      throw .ambiguous(
        "every " + source(from: start),
        readings: ["every \(interval) weeks on mon-fri", "every \(interval) days"])
    }
    return try weekdayRule(interval: interval, isOrdinal: isOrdinal, from: start)
  }

  /// Reads a number with its unit in one word: `2w`.
  private mutating func joinedQuantity() throws(InputError) -> (Int, Vocabulary.Unit)? {
    guard word.first?.isNumber == true else { return nil }
    return try quantity().map { ($0.count, $0.unit) }
  }

  private mutating func rule(
    of unit: Vocabulary.Unit, _ interval: Int
  ) throws(InputError) -> RuleReading? {
    guard (1...Recurrence.longest / 4).contains(interval) || unit == .day && interval > 0 else {
      throw .outOfRange(source(from: position - 1))
    }
    switch unit {
    case .minute, .hour: return nil
    case .day: return RuleReading(interval == 1 ? .daily(1) : .days(interval, 1))
    case .workday: return nil
    case .week: return RuleReading(try weekly(interval))
    case .month:
      if interval > 1, let (date, day) = try dateOfMonths() {
        return RuleReading(.monthly([.day(day)], interval), start: date)
      }
      return RuleReading(try monthly(interval))
    case .quarter:
      if interval == 1 { return RuleReading(try quarterly()) }
      return RuleReading(try monthly(interval * 3))
    case .year: return RuleReading(try annual(interval))
    }
  }

  /// Reads the date behind `every 6 months`, with its day: `on 1 may`.
  private mutating func dateOfMonths() throws(InputError) -> (DateReading, day: Int)? {
    try attempt { (reader) throws(InputError) in
      _ = reader.accept("on")
      let hasMonth = Vocabulary.month(reader.word) != nil || Vocabulary.month(reader.peek(1)) != nil
      guard hasMonth, let date = try reader.date() else { return nil }
      switch date {
      case .dayOfYear(_, let day): return (date, day)
      case .fixed(let fixed): return (date, fixed.day)
      default: return nil
      }
    }
  }

  /// Reads weekdays behind `every`, `every other` or `every 2nd`.
  ///
  /// - Throws: `InputError.ambiguous` for `every 3rd fri`, which may mean a week of the month or every third week.
  private mutating func weekdayRule(
    interval: Int, isOrdinal: Bool = false, from start: Int = 0
  ) throws(InputError) -> RuleReading? {
    guard let reading = try weekdays() else { return nil }
    if isOrdinal {
      // `every 2nd fri of the month`
      let isOfMonth: Bool? = try attempt { (reader) throws(InputError) in
        try reader.ofMonths([.day(1)]) == nil ? nil : true
      }
      if isOfMonth == true || interval == 1 || interval > Recurrence.MonthDay.maxWeekdays {
        return nil
      }
      if interval > 2, let day = reading.days.first {
        let ordinal = EnglishNumber.ordinal(interval)
        throw .ambiguous(
          "every " + source(from: start),
          readings: [
            "\(ordinal) \(day.abbreviation) of every month",
            "every \(interval) weeks on \(day.abbreviation)",
          ])
      }
    }
    return RuleReading(.weekly(reading.days, interval))
  }

  // MARK: Without every

  private mutating func plainRule() throws(InputError) -> RuleReading? {
    let start = position
    if acceptWorkdays() {
      return RuleReading(.weekly(context.calendar.workdays.days, 1), isOnWorkdays: true)
    }
    // One weekday in the singular is a date, unless a cycle follows.
    if let reading = try weekdays(), !reading.isSingle {
      return RuleReading(.weekly(reading.days, 1))
    }
    position = start
    if let rule = try daysOfMonth(bareNumbers: false) { return RuleReading(rule) }
    position = start
    // A date in several months recurs, while one alone is a single date.
    let isList = Vocabulary.month(word) != nil || word.first?.isNumber == true
    if isList,
      let dates = try? attempt({ (reader) throws(InputError) in try reader.datesOfYear() }),
      dates.months.count > 1
    {
      return RuleReading(.annual(dates.months, [.day(dates.day)], 1))
    }
    position = start
    return try monthsWithDays(1).map { RuleReading($0) }
  }

  private mutating func acceptWorkdays() -> Bool {
    accept("workdays", "working days", "business days")
  }
}
