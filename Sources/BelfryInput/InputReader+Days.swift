import BelfryCore

extension InputReader {
  // MARK: Weekdays

  /// Weekdays that were read.
  struct WeekdayReading {
    var days: [Weekday]
    /// True for one weekday in the singular, which may also be a date.
    var isSingle: Bool
  }

  /// Returns the weekdays of a list of names, ranges and groups: `mon-wed, fri`, `weekends`; nil if there is none.
  mutating func weekdays() throws(InputError) -> WeekdayReading? {
    let start = position
    guard
      let parts = try list({ (reader) throws(InputError) in reader.weekdayRange() })
    else { return nil }
    var days = parts.flatMap { $0 }
    // Weekdays may also follow each other without a separator: `mon wed fri`.
    while let more = weekdayRange() { days += more }
    let isSingle =
      position == start + 1 && days.count == 1 && !tokens[start].text.hasSuffix("days")
    return WeekdayReading(days: days, isSingle: isSingle)
  }

  private mutating func weekdayRange() -> [Weekday]? {
    if accept("weekend day", "weekend days") { return Vocabulary.weekdayGroup("weekend") }
    if accept("week day", "week days") { return Vocabulary.weekdayGroup("weekday") }
    if let group = Vocabulary.weekdayGroup(word) {
      advance()
      return group
    }
    let parts = word.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    if parts.count == 2, let first = Vocabulary.weekday(parts[0]),
      let last = Vocabulary.weekday(parts[1])
    {
      advance()
      return InputReader.weekdays(from: first, to: last)
    }
    guard let first = Vocabulary.weekday(word) else { return nil }
    advance()
    let start = position
    if accept("-", "to", "through", "thru", "till", "til"), let last = Vocabulary.weekday(word) {
      advance()
      return InputReader.weekdays(from: first, to: last)
    }
    position = start
    return [first]
  }

  private static func weekdays(from first: Weekday, to last: Weekday) -> [Weekday] {
    let count = (last.rawValue - first.rawValue + 7) % 7 + 1
    return (0..<count).compactMap { Weekday(rawValue: (first.rawValue + $0) % 7) }
  }

  // MARK: Months

  /// Returns the months of a list of names and ranges, also without separators: `mar, jun`, `mar jun`, `jan-mar`; nil if
  /// there is none.
  mutating func months() throws(InputError) -> [Int]? {
    try list { (reader) throws(InputError) in
      let months = reader.adjacentMonths()
      return months.isEmpty ? nil : months
    }?.flatMap { $0 }
  }

  /// Returns months and ranges of them without separators: `mar jun sep`; none if there are none.
  mutating func adjacentMonths() -> [Int] {
    var months: [Int] = []
    while let more = monthRange() { months += more }
    return months
  }

  /// Returns a month, or the months of a range: `nov-feb`, `april to january`.
  ///
  /// - Parameter separators: The words between the months beside `-`, `to` and `through`.
  mutating func monthRange(until separators: [String] = []) -> [Int]? {
    let parts = word.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    if parts.count == 2, let first = Vocabulary.month(parts[0]),
      let last = Vocabulary.month(parts[1])
    {
      advance()
      return InputReader.months(from: first, to: last)
    }
    guard let first = Vocabulary.month(word) else { return nil }
    advance()
    let start = position
    if accept(anyOf: ["-", "to", "through", "thru"] + separators),
      let last = Vocabulary.month(word)
    {
      advance()
      return InputReader.months(from: first, to: last)
    }
    position = start
    return [first]
  }

  private static func months(from first: Int, to last: Int) -> [Int] {
    (0...(last - first + 12) % 12).map { (first - 1 + $0) % 12 + 1 }
  }

  // MARK: Days of a month

  /// Days of a month that were read.
  struct MonthDayReading {
    var days: [Recurrence.MonthDay]
    /// True if the days are only numbers (`15th`), which may also be a date.
    var isNumeric: Bool
  }

  /// A position in a month, whose noun may follow later: `1st and 3rd fri`.
  private enum Position {
    case ordinal(Int)
    case number(Int)
    case day(Recurrence.MonthDay)
  }

  /// The noun after a position.
  private enum Noun {
    case day, workday
    case weekday(Weekday)
  }

  /// Returns the days of a month: `15th`, `1st and 15th`, `last workday`, `1st and 3rd fri`; nil if there is none.
  ///
  /// - Parameter bareNumbers: `15` alone is a day.
  mutating func monthDays(bareNumbers: Bool) throws(InputError) -> MonthDayReading? {
    let start = position
    if let days = lastDays() { return MonthDayReading(days: days, isNumeric: false) }
    var days: [Recurrence.MonthDay] = []
    var open: [Int] = []
    var isNumeric = true
    func numbered(_ ordinals: [Int]) throws(InputError) -> [Recurrence.MonthDay] {
      try ordinals.map { (ordinal) throws(InputError) in
        try checked(ordinal > 0 ? .day(ordinal) : .fromEnd(-ordinal), from: start)
      }
    }
    while true {
      let isFirst = days.isEmpty && open.isEmpty
      let position: Position? = try attempt { (reader) throws(InputError) in
        if !isFirst, !reader.acceptSeparator() { return nil }
        return try reader.monthPosition(bareNumbers: bareNumbers)
      }
      guard let position else { break }
      switch position {
      case .ordinal(let ordinal): open.append(ordinal)
      case .number(let number): days.append(try checked(.day(number), from: start))
      case .day(let day): days.append(day)
      }
      if case .ordinal = position, let noun = noun() {
        isNumeric = false
        days += try open.map { (ordinal) throws(InputError) in
          switch noun {
          case .day: try checked(ordinal > 0 ? .day(ordinal) : .fromEnd(-ordinal), from: start)
          case .workday: try checked(.workday(ordinal), from: start)
          case .weekday(let weekday): try checked(.weekday(ordinal, weekday), from: start)
          }
        }
        open = []
      }
    }
    if open.contains(where: { $0 < 0 }) { isNumeric = false }
    days += try numbered(open)
    return days.isEmpty ? nil : MonthDayReading(days: days, isNumeric: isNumeric)
  }

  /// Reads `the last two days`.
  private mutating func lastDays() -> [Recurrence.MonthDay]? {
    let start = position
    _ = accept("the")
    guard accept("last"), let count = Vocabulary.number(word), (2...7).contains(count),
      peek(1) == "days"
    else {
      position = start
      return nil
    }
    advance(2)
    return (1...count).map { .fromEnd($0) }
  }

  private func checked(
    _ day: Recurrence.MonthDay, from start: Int
  ) throws(InputError) -> Recurrence.MonthDay {
    guard day.isValid else { throw .noSuchDate(source(from: start)) }
    return day
  }

  private mutating func monthPosition(bareNumbers: Bool) throws(InputError) -> Position? {
    let start = position
    _ = accept("the")
    if accept("day"), let number = Vocabulary.number(word), (1...31).contains(number) {
      advance()
      return .number(number)
    }
    position = start
    _ = accept("the")
    if let ordinal = positionFromEnd() ?? acceptedOrdinal() { return .ordinal(ordinal) }
    if bareNumbers || peek(1) == "of" || peek(1) == "monthly", word.first?.isNumber == true,
      let number = Vocabulary.number(word),
      (1...31).contains(number), Vocabulary.unit(peek(1)) == nil
    {
      advance()
      return .number(number)
    }
    position = start
    return nil
  }

  private mutating func acceptedOrdinal() -> Int? {
    guard let ordinal = Vocabulary.ordinal(word) else { return nil }
    advance()
    return ordinal
  }

  /// Returns a position from the end as a negative number: `last` is -1, `last-2` is -3, `second-to-last` is -2.
  private mutating func positionFromEnd() -> Int? {
    if accept("next to last", "next-to-last", "penultimate", "last but one") { return -2 }
    // `second last friday`, `3rd last thursday`
    if let ordinal = Vocabulary.ordinal(word), peek(1) == "last" {
      advance(2)
      return -ordinal
    }
    if accept("last") { return -1 }
    if word.hasPrefix("last-"), let count = Vocabulary.number(String(word.dropFirst(5))),
      word.last?.isNumber == true
    {
      advance()
      return -1 - count
    }
    if word.hasSuffix("-to-last"), let ordinal = Vocabulary.ordinal(String(word.dropLast(8))) {
      advance()
      return -ordinal
    }
    if let ordinal = Vocabulary.ordinal(word), peek(1) == "to", peek(2) == "last" {
      advance(3)
      return -ordinal
    }
    return nil
  }

  private mutating func noun() -> Noun? {
    if acceptWorkday() { return .workday }
    if accept("day", "calendar day") { return .day }
    guard let weekday = Vocabulary.weekday(word), word != "days" else { return nil }
    advance()
    return .weekday(weekday)
  }

  /// Moves past a name of working days.
  mutating func acceptWorkday() -> Bool {
    accept(
      "workday", "workdays", "work day", "work days", "working day", "working days", "business day",
      "business days")
  }
}
