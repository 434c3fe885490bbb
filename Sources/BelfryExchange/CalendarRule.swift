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
    var parts: [String: String] = [:]
    for part in text.uppercased().split(separator: ";") {
      let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard pair.count == 2 else { throw Unsupported("its recurrence rule is not valid: \(text)") }
      parts[pair[0]] = pair[1]
    }
    func numbers(_ key: String) throws(Unsupported) -> [Int]? {
      guard let text = parts[key] else { return nil }
      let elements = text.split(separator: ",")
      let numbers = elements.compactMap { Int($0) }
      guard numbers.count == elements.count, !numbers.isEmpty else {
        throw Unsupported("its recurrence rule is not valid: \(text)")
      }
      return numbers
    }
    let interval = try numbers("INTERVAL")?.first ?? 1
    guard (1...Recurrence.longest).contains(interval) else {
      throw Unsupported("its interval \(interval) is out of range")
    }
    let cadence = Recurrence.Cadence(interval: interval, start: start.date)
    for key in ["BYSECOND", "BYYEARDAY", "BYWEEKNO", "RSCALE"] where parts[key] != nil {
      if key == "BYSECOND", parts[key] == "0" { continue }
      throw Unsupported("Belfry does not support \(key)")
    }
    let days = try weekdays(parts["BYDAY"])
    let monthDays = try numbers("BYMONTHDAY")
    let months = try numbers("BYMONTH")
    let position = try numbers("BYSETPOS")
    var losses: [String] = []
    let recurrence: Recurrence
    switch parts["FREQ"] {
    case "DAILY":
      if months != nil || monthDays != nil || position != nil {
        throw Unsupported("its daily rule is limited to some days")
      }
      if let days {
        guard interval == 1 else {
          throw Unsupported("its daily rule combines an interval with weekdays")
        }
        recurrence = .weekly(days.map(\.day), cadence)
      } else {
        recurrence = .daily(cadence)
      }
    case "WEEKLY":
      if months != nil || position != nil {
        throw Unsupported("its weekly rule is limited to some weeks")
      }
      if interval > 1, let first = parts["WKST"], first != "MO", days?.count ?? 1 > 1,
        let index = names.firstIndex(of: first)
      {
        // With another first day of the week, some weekdays would move to another week of the interval.
        let isCut = Set((days ?? []).map { $0.day.rawValue < index }).count > 1
        if isCut { throw Unsupported("its weeks begin on \(first), but Belfry's begin on MO") }
      }
      recurrence = .weekly(days?.map(\.day) ?? [start.date.weekday], cadence)
    case "MONTHLY":
      if months != nil { throw Unsupported("its monthly rule is limited to some months") }
      recurrence = try monthly(days, monthDays, position, start, cadence, &losses)
    case "YEARLY":
      recurrence = try yearly(days, monthDays, months, position, start, cadence, &losses)
    case let other?: throw Unsupported("Belfry does not support \(other.lowercased()) rules")
    case nil: throw Unsupported("its recurrence rule has no FREQ")
    }
    var times: [CivilTime]?
    if let hours = try numbers("BYHOUR") {
      let minutes = try numbers("BYMINUTE") ?? [start.time.minute]
      times = hours.flatMap { hour in
        minutes.compactMap { CivilTime(hour: hour, minute: $0) }
      }
    } else if let minutes = try numbers("BYMINUTE") {
      times = minutes.compactMap { CivilTime(hour: start.time.hour, minute: $0) }
    }
    return Reading(
      recurrence: recurrence, times: times, until: parts["UNTIL"],
      count: parts["COUNT"].flatMap { Int($0) }, losses: losses)
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

  private static func monthly(
    _ days: [NumberedDay]?, _ monthDays: [Int]?, _ position: [Int]?, _ start: CivilDateTime,
    _ cadence: Recurrence.Cadence, _ losses: inout [String]
  ) throws(Unsupported) -> Recurrence {
    if let days {
      guard monthDays == nil, days.count == 1, let only = days.first,
        let number = only.number ?? position?.first, position?.count ?? 1 == 1,
        let ordinal = Recurrence.Ordinal(rawValue: number)
      else { throw Unsupported("Belfry does not support its weekdays of a month") }
      return .monthlyWeekday(ordinal, only.day, cadence)
    }
    let numbers = monthDays ?? [start.date.day]
    if let position {
      // Belfry exports a clamped day as the last existing day from 28 up to that day.
      guard position == [-1], let largest = numbers.max(), numbers.sorted() == Array(28...largest)
      else {
        let list = position.map(String.init).joined(separator: ",")
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
    _ days: [NumberedDay]?, _ monthDays: [Int]?, _ months: [Int]?, _ position: [Int]?,
    _ start: CivilDateTime, _ cadence: Recurrence.Cadence, _ losses: inout [String]
  ) throws(Unsupported) -> Recurrence {
    let months = months?.sorted() ?? [start.date.month]
    guard let first = months.first else { throw Unsupported("its recurrence rule has no month") }
    if months.count == 1, days == nil, position == nil {
      let numbers = monthDays ?? [start.date.day]
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
      days, monthDays, position, start,
      Recurrence.Cadence(interval: distance, start: start.date), &losses)
  }
}
