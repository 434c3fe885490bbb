import BelfryCore

/// An RRULE of iCalendar (RFC 5545, 3.3.10) and the days of a schedule that it stands for.
///
/// A rule of iCalendar leaves a month without a 31st out, where Belfry takes its last day; so a schedule by days of
/// the month may need several rules, of months of one length each:
///
/// ```
/// 30, 31  →  31-day months: 30,31   30-day months: 30   February: -1
/// ```
struct CalendarRule: Hashable {
  /// `FREQ=MONTHLY;INTERVAL=1;BYMONTHDAY=15`; nil for what comes once.
  let text: String?
  /// The months whose days it stands for; nil: all.
  let months: [Int]?

  init(_ text: String?, months: [Int]? = nil) {
    self.text = text
    self.months = months
  }

  func covers(_ date: CivilDate) -> Bool { months?.contains(date.month) ?? true }

  // MARK: From a schedule

  /// The rules that together come on the days of a recurrence, each day once.
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
      // The last day of February is its 29th or, in common years, the 28th.
      let number = month == 2 && day == 29 ? -1 : day
      return [CalendarRule("FREQ=YEARLY\(every);BYMONTH=\(month);BYMONTHDAY=\(number)")]
    case .monthly(let days, _): return monthly(days, every)
    }
  }

  private static func monthly(_ days: [Recurrence.MonthDay], _ every: String) -> [CalendarRule] {
    let start = "FREQ=MONTHLY\(every)"
    if days == [.last] { return [CalendarRule("\(start);BYMONTHDAY=-1")] }
    // The last day is the 31st, as that is clamped.
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
      // 28 and the last are one day in common years: the 29th is then left out by itself.
      rule([2], short + [short.contains(28) ? 29 : -1]),
    ]
  }

  private static let names = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

  private static func name(_ weekday: Weekday) -> String { names[weekday.rawValue] }

  // MARK: To a schedule

  /// Why a rule of another program cannot be said.
  struct Inexpressible: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  /// What a rule says, and what of it is lost.
  struct Reading {
    var recurrence: Recurrence
    /// Times of day, where the rule has its own.
    var times: [CivilTime]?
    /// The last moment, as the rule writes it; nil when it goes on for ever.
    var until: String?
    /// How often it comes; nil for ever.
    var count: Int?
    var losses: [String] = []
  }

  /// Reads an RRULE.
  ///
  /// - Parameters:
  ///   - start: the first occurrence, as it is civil.
  static func read(_ text: String, start: CivilDateTime) throws(Inexpressible) -> Reading {
    var parts: [String: String] = [:]
    for part in text.uppercased().split(separator: ";") {
      let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard pair.count == 2 else { throw Inexpressible("its rule is not valid: \(text)") }
      parts[pair[0]] = pair[1]
    }
    func numbers(_ key: String) throws(Inexpressible) -> [Int]? {
      guard let text = parts[key] else { return nil }
      let words = text.split(separator: ",")
      let numbers = words.compactMap { Int($0) }
      guard numbers.count == words.count, !numbers.isEmpty else {
        throw Inexpressible("its rule is not valid: \(text)")
      }
      return numbers
    }
    let interval = try numbers("INTERVAL")?.first ?? 1
    guard (1...Recurrence.longest).contains(interval) else {
      throw Inexpressible("it comes every \(interval) cycles")
    }
    let cadence = Recurrence.Cadence(interval: interval, start: start.date)
    for key in ["BYSECOND", "BYYEARDAY", "BYWEEKNO", "RSCALE"] where parts[key] != nil {
      if key == "BYSECOND", parts[key] == "0" { continue }
      throw Inexpressible("Belfry knows no \(key)")
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
        throw Inexpressible("it comes on some days of a daily rule only")
      }
      if let days {
        guard interval == 1 else {
          throw Inexpressible("it comes on some of every \(interval) days")
        }
        recurrence = .weekly(days.map(\.day), cadence)
      } else {
        recurrence = .daily(cadence)
      }
    case "WEEKLY":
      if months != nil || position != nil {
        throw Inexpressible("it comes in some weeks of a weekly rule only")
      }
      if interval > 1, let first = parts["WKST"], first != "MO", days?.count ?? 1 > 1,
        let index = names.firstIndex(of: first)
      {
        // Some of its days would come in another week.
        let isCut = Set((days ?? []).map { $0.day.rawValue < index }).count > 1
        if isCut { throw Inexpressible("its weeks begin on \(first), and Belfry's on MO") }
      }
      recurrence = .weekly(days?.map(\.day) ?? [start.date.weekday], cadence)
    case "MONTHLY":
      if months != nil { throw Inexpressible("it comes in some months only") }
      recurrence = try monthly(days, monthDays, position, start, cadence, &losses)
    case "YEARLY":
      recurrence = try yearly(days, monthDays, months, position, start, cadence, &losses)
    case let other?: throw Inexpressible("it comes \(other.lowercased())")
    case nil: throw Inexpressible("its rule has no FREQ")
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

  private static func weekdays(_ text: String?) throws(Inexpressible) -> [NumberedDay]? {
    guard let text else { return nil }
    var result: [NumberedDay] = []
    for word in text.split(separator: ",") {
      guard let index = names.firstIndex(of: String(word.suffix(2))) else {
        throw Inexpressible("its rule is not valid: BYDAY=\(text)")
      }
      let number = word.dropLast(2)
      if !number.isEmpty, Int(number) == nil {
        throw Inexpressible("its rule is not valid: BYDAY=\(text)")
      }
      result.append((Int(number), Weekday.allCases[index]))
    }
    return result
  }

  private static func monthly(
    _ days: [NumberedDay]?, _ monthDays: [Int]?, _ position: [Int]?, _ start: CivilDateTime,
    _ cadence: Recurrence.Cadence, _ losses: inout [String]
  ) throws(Inexpressible) -> Recurrence {
    if let days {
      guard monthDays == nil, days.count == 1, let only = days.first,
        let number = only.number ?? position?.first, position?.count ?? 1 == 1,
        let ordinal = Recurrence.Ordinal(rawValue: number)
      else { throw Inexpressible("it comes on weekdays that Belfry cannot name") }
      return .monthlyWeekday(ordinal, only.day, cadence)
    }
    let numbers = monthDays ?? [start.date.day]
    if let position {
      // As Belfry writes a clamped day: the last of 28 to 31 that a month has.
      guard position == [-1], let largest = numbers.max(), numbers.sorted() == Array(28...largest)
      else { throw Inexpressible("it comes on the \(position)th of some days") }
      return .monthly([.day(largest)], cadence)
    }
    let all = try numbers.map { number throws(Inexpressible) -> Recurrence.MonthDay in
      if number == -1 { return .last }
      guard (1...31).contains(number) else {
        throw Inexpressible("it comes on days counted from the end of the month")
      }
      return .day(number)
    }
    if let largest = numbers.max(), largest > 28 {
      losses.append("in months without a day \(largest) it comes on their last")
    }
    return .monthly(all, cadence)
  }

  private static func yearly(
    _ days: [NumberedDay]?, _ monthDays: [Int]?, _ months: [Int]?, _ position: [Int]?,
    _ start: CivilDateTime, _ cadence: Recurrence.Cadence, _ losses: inout [String]
  ) throws(Inexpressible) -> Recurrence {
    let months = months?.sorted() ?? [start.date.month]
    guard let first = months.first else { throw Inexpressible("it has no month") }
    if months.count == 1, days == nil, position == nil {
      let numbers = monthDays ?? [start.date.day]
      guard numbers.count == 1, let day = numbers.first, day > 0 || (first == 2 && day == -1) else {
        throw Inexpressible("it comes on several days of a year")
      }
      if first == 2, day == 29 {
        losses.append("in common years it comes on 28 February")
      }
      return .annual(month: first, day: day == -1 ? 29 : day, cadence)
    }
    // Months at even distances are every so many months.
    let distances = Set(
      zip(months, months.dropFirst() + [first + 12]).map { $1 - $0 })
    guard cadence.interval == 1, distances.count == 1, let distance = distances.first else {
      throw Inexpressible("it comes in months that are no even series")
    }
    return try monthly(
      days, monthDays, position, start,
      Recurrence.Cadence(interval: distance, start: start.date), &losses)
  }
}
