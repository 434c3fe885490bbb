import BelfryCore

/// An RRULE of iCalendar (RFC 5545, 3.3.10) and the months that it covers.
///
/// An iCalendar rule for the 31st skips shorter months, while Belfry uses their last day. A recurrence by days of the
/// month may therefore need several rules, one for each length of months:
///
/// ```
/// 30, 31  →  31-day months: 30,31   30-day months: 30   February: -1
/// ```
struct CalendarRule: Hashable {
  /// The rule: `FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=15`; nil for a single occurrence.
  let text: String?
  /// The months that the rule covers; nil for all.
  let months: [Int]?

  init(_ text: String?, months: [Int]? = nil) {
    self.text = text
    self.months = months
  }

  /// Returns true if the rule covers the month of a date.
  func covers(_ date: CivilDate) -> Bool { months?.contains(date.month) ?? true }

  // MARK: From a schedule

  /// Returns the rules that together cover each day of a recurrence once.
  static func rules(for recurrence: Recurrence) -> [CalendarRule] {
    func interval(_ count: Int) -> String { count == 1 ? "" : ";INTERVAL=\(count)" }
    let every = interval(recurrence.cadence?.interval ?? 1)
    switch recurrence {
    case .once: return [CalendarRule(nil)]
    case .daily: return [CalendarRule("FREQ=DAILY\(every)")]
    case .days(let count, let cadence):
      return [CalendarRule("FREQ=DAILY\(interval(count * cadence.interval))")]
    case .weekly(let days, _):
      let names = days.map(name).joined(separator: ",")
      return [CalendarRule("FREQ=WEEKLY\(every);BYDAY=\(names)")]
    case .monthlyWeekday(let ordinal, let weekday, _):
      return [CalendarRule("FREQ=MONTHLY\(every);BYDAY=\(ordinal.rawValue)\(name(weekday))")]
    case .annual(let month, let day, _):
      // Belfry's February 29 is the last day of February in every year.
      let number = month == 2 && day == 29 ? -1 : day
      return [CalendarRule("FREQ=YEARLY\(every);BYMONTH=\(month);BYMONTHDAY=\(number)")]
    case .monthly(let days, _): return monthly(days, every)
    }
  }

  private static func monthly(_ days: [Recurrence.MonthDay], _ every: String) -> [CalendarRule] {
    let start = "FREQ=MONTHLY\(every)"
    if days == [.last] { return [CalendarRule("\(start);BYMONTHDAY=-1")] }
    // Belfry's day 31 is the last day of every month.
    let numbers = Set(
      days.map { day in
        switch day {
        case .day(let number): number
        case .last: 31
        }
      }
    ).sorted()
    func list(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ",") }
    guard let largest = numbers.last, largest > 28 else {
      return [CalendarRule("\(start);BYMONTHDAY=\(list(numbers))")]
    }
    if numbers.count == 1 {
      return [CalendarRule("\(start);BYMONTHDAY=\(list(Array(28...largest)));BYSETPOS=-1")]
    }
    func rule(_ months: [Int], _ numbers: [Int]) -> CalendarRule {
      CalendarRule(
        "\(start);BYMONTH=\(list(months));BYMONTHDAY=\(list(numbers))", months: months)
    }
    let short = numbers.filter { $0 <= 28 }
    return [
      rule([1, 3, 5, 7, 8, 10, 12], numbers),
      rule([4, 6, 9, 11], Set(numbers.map { min($0, 30) }).sorted()),
      // In common years 28 and -1 are the same day, and 29 does not exist.
      rule([2], short + [short.contains(28) ? 29 : -1]),
    ]
  }

  private static let names = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

  private static func name(_ weekday: Weekday) -> String { names[weekday.rawValue] }

  // MARK: To a schedule

  /// The reason why Belfry cannot represent an item of another program.
  struct Unsupported: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  /// The content of a rule.
  struct Reading {
    var recurrence: Recurrence
    /// The rule's own times of day; nil if it has none.
    var times: [CivilTime]?
    /// The end of the rule in iCalendar form; nil for none.
    var until: String?
    /// The number of occurrences; nil for no limit.
    var count: Int?
    /// The properties of the rule that Belfry cannot represent, as noun phrases.
    var losses: [String] = []
  }

  /// Parses an RRULE.
  ///
  /// - Parameters:
  ///   - text: the rule.
  ///   - start: the civil time of the first occurrence.
  /// - Throws: `Unsupported` if the rule is not valid or Belfry cannot represent it.
  static func read(_ text: String, start: CivilDateTime) throws(Unsupported) -> Reading {
    let parts = try Parts(text)
    let interval = try parts.numbers("INTERVAL")?.first ?? 1
    guard (1...Recurrence.longest).contains(interval) else {
      throw Unsupported("its interval \(interval) is out of range")
    }
    try parts.checkSupport()
    var losses: [String] = []
    let recurrence = try recurrence(
      parts, start, Recurrence.Cadence(interval: interval, start: start.date), &losses)
    return Reading(
      recurrence: recurrence, times: try times(parts, start.time), until: parts["UNTIL"],
      count: parts["COUNT"].flatMap { Int($0) }, losses: losses)
  }

  /// The parts of an RRULE by name, such as `FREQ` and `BYDAY`.
  private struct Parts {
    private let values: [String: String]

    init(_ text: String) throws(Unsupported) {
      var values: [String: String] = [:]
      for part in text.uppercased().split(separator: ";") {
        let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
        guard pair.count == 2 else {
          throw Unsupported("its recurrence rule is not valid: \(text)")
        }
        values[pair[0]] = pair[1]
      }
      self.values = values
    }

    subscript(_ key: String) -> String? { values[key] }

    /// Returns the numbers of a part; nil if the rule does not have the part.
    func numbers(_ key: String) throws(Unsupported) -> [Int]? {
      guard let text = values[key] else { return nil }
      let elements = text.split(separator: ",")
      let numbers = elements.compactMap { Int($0) }
      guard numbers.count == elements.count, !numbers.isEmpty else {
        throw Unsupported("its recurrence rule is not valid: \(text)")
      }
      return numbers
    }

    /// Checks that the rule has no part that Belfry cannot represent.
    func checkSupport() throws(Unsupported) {
      for key in ["BYSECOND", "BYYEARDAY", "BYWEEKNO", "RSCALE"] where values[key] != nil {
        if key == "BYSECOND", values[key] == "0" { continue }
        throw Unsupported("Belfry does not support \(key)")
      }
    }
  }

  /// The parts of an RRULE that limit it to some days; nil for a part that it does not have.
  private struct DaySelection {
    /// `BYDAY`.
    let weekdays: [NumberedDay]?
    /// `BYMONTHDAY`.
    let monthDays: [Int]?
    /// `BYMONTH`.
    let months: [Int]?
    /// `BYSETPOS`.
    let positions: [Int]?

    init(_ parts: Parts) throws(Unsupported) {
      weekdays = try CalendarRule.weekdays(parts["BYDAY"])
      monthDays = try parts.numbers("BYMONTHDAY")
      months = try parts.numbers("BYMONTH")
      positions = try parts.numbers("BYSETPOS")
    }
  }

  private static func recurrence(
    _ parts: Parts, _ start: CivilDateTime, _ cadence: Recurrence.Cadence,
    _ losses: inout [String]
  ) throws(Unsupported) -> Recurrence {
    let selection = try DaySelection(parts)
    switch parts["FREQ"] {
    case "DAILY": return try daily(selection, cadence)
    case "WEEKLY": return try weekly(selection, weekStart: parts["WKST"], start, cadence)
    case "MONTHLY":
      if selection.months != nil { throw Unsupported("its monthly rule is limited to some months") }
      return try monthly(selection, start, cadence, &losses)
    case "YEARLY": return try yearly(selection, start, cadence, &losses)
    case let other?: throw Unsupported("Belfry does not support \(other.lowercased()) rules")
    case nil: throw Unsupported("its recurrence rule has no FREQ")
    }
  }

  /// Returns the times of day of a rule; nil if it has none.
  private static func times(
    _ parts: Parts, _ start: CivilTime
  ) throws(Unsupported) -> [CivilTime]? {
    let hours = try parts.numbers("BYHOUR")
    let minutes = try parts.numbers("BYMINUTE")
    if hours == nil, minutes == nil { return nil }
    return (hours ?? [start.hour]).flatMap { hour in
      (minutes ?? [start.minute]).compactMap { CivilTime(hour: hour, minute: $0) }
    }
  }

  private typealias NumberedDay = (number: Int?, day: Weekday)

  private static func weekdays(_ text: String?) throws(Unsupported) -> [NumberedDay]? {
    guard let text else { return nil }
    var result: [NumberedDay] = []
    for word in text.split(separator: ",") {
      guard let index = names.firstIndex(of: String(word.suffix(2))) else {
        throw Unsupported("its recurrence rule is not valid: BYDAY=\(text)")
      }
      let number = word.dropLast(2)
      if !number.isEmpty, Int(number) == nil {
        throw Unsupported("its recurrence rule is not valid: BYDAY=\(text)")
      }
      result.append((Int(number), Weekday.allCases[index]))
    }
    return result
  }

  private static func daily(
    _ selection: DaySelection, _ cadence: Recurrence.Cadence
  ) throws(Unsupported) -> Recurrence {
    if selection.months != nil || selection.monthDays != nil || selection.positions != nil {
      throw Unsupported("its daily rule is limited to some days")
    }
    guard let days = selection.weekdays else { return .daily(cadence) }
    guard cadence.interval == 1 else {
      throw Unsupported("its daily rule combines an interval with weekdays")
    }
    return .weekly(days.map(\.day), cadence)
  }

  private static func weekly(
    _ selection: DaySelection, weekStart: String?, _ start: CivilDateTime,
    _ cadence: Recurrence.Cadence
  ) throws(Unsupported) -> Recurrence {
    if selection.months != nil || selection.positions != nil {
      throw Unsupported("its weekly rule is limited to some weeks")
    }
    let days = selection.weekdays
    if cadence.interval > 1, let weekStart, weekStart != "MO", days?.count ?? 1 > 1,
      let index = names.firstIndex(of: weekStart)
    {
      // With another first day of the week, some weekdays would move to another week of the interval.
      let isCut = Set((days ?? []).map { $0.day.rawValue < index }).count > 1
      if isCut { throw Unsupported("its weeks begin on \(weekStart), but Belfry's begin on MO") }
    }
    return .weekly(days?.map(\.day) ?? [start.date.weekday], cadence)
  }

  private static func monthly(
    _ selection: DaySelection, _ start: CivilDateTime, _ cadence: Recurrence.Cadence,
    _ losses: inout [String]
  ) throws(Unsupported) -> Recurrence {
    let positions = selection.positions
    if let days = selection.weekdays {
      guard selection.monthDays == nil, days.count == 1, let only = days.first,
        let number = only.number ?? positions?.first, positions?.count ?? 1 == 1,
        let ordinal = Recurrence.Ordinal(rawValue: number)
      else { throw Unsupported("Belfry does not support its weekdays of a month") }
      return .monthlyWeekday(ordinal, only.day, cadence)
    }
    let numbers = selection.monthDays ?? [start.date.day]
    if let positions {
      // Belfry exports a clamped day as the last existing day from 28 up to that day.
      guard positions == [-1], let largest = numbers.max(), numbers.sorted() == Array(28...largest)
      else {
        let list = positions.map(String.init).joined(separator: ",")
        throw Unsupported("Belfry does not support BYSETPOS=\(list)")
      }
      return .monthly([.day(largest)], cadence)
    }
    let all = try numbers.map { number throws(Unsupported) -> Recurrence.MonthDay in
      if number == -1 { return .last }
      guard (1...31).contains(number) else {
        throw Unsupported("Belfry does not support days counted from the end of the month")
      }
      return .day(number)
    }
    if let largest = numbers.max(), largest > 28 {
      losses.append("the omission of months without a day \(largest) (it rings on their last day)")
    }
    return .monthly(all, cadence)
  }

  private static func yearly(
    _ selection: DaySelection, _ start: CivilDateTime, _ cadence: Recurrence.Cadence,
    _ losses: inout [String]
  ) throws(Unsupported) -> Recurrence {
    let months = selection.months?.sorted() ?? [start.date.month]
    guard let first = months.first else { throw Unsupported("its recurrence rule has no month") }
    if months.count == 1, selection.weekdays == nil, selection.positions == nil {
      let numbers = selection.monthDays ?? [start.date.day]
      guard numbers.count == 1, let day = numbers.first, day > 0 || (first == 2 && day == -1) else {
        throw Unsupported("Belfry does not support several days of a year")
      }
      if first == 2, day == 29 {
        losses.append("the omission of common years (it rings on February 28)")
      }
      return .annual(month: first, day: day == -1 ? 29 : day, cadence)
    }
    // Evenly spaced months are a monthly recurrence with an interval.
    let distances = Set(
      zip(months, months.dropFirst() + [first + 12]).map { $1 - $0 })
    guard cadence.interval == 1, distances.count == 1, let distance = distances.first else {
      throw Unsupported("its months are not evenly spaced")
    }
    return try monthly(
      selection, start, Recurrence.Cadence(interval: distance, start: start.date), &losses)
  }
}
