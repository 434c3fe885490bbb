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
  /// The months that the rule covers; nil for all months of its recurrence.
  let months: [Int]?
  /// The recurrence of which the rule covers the dates in its months.
  let recurrence: Recurrence

  init(_ text: String?, months: [Int]? = nil, covering recurrence: Recurrence) {
    self.text = text
    self.months = months
    self.recurrence = recurrence
  }

  /// Returns true if the rule covers the month of a date, and for a rule without weekdays and months the date itself.
  func covers(_ date: CivilDate) -> Bool {
    let isMonth = months?.contains(date.month) ?? true
    switch recurrence {
    case .once, .days:
      return isMonth && recurrence.first(onOrAfter: date, in: .standard) == date
    default: return isMonth
    }
  }

  /// Returns the rule in some of its months; nil if it has none of them.
  func limited(to limit: [Int]) -> CalendarRule? {
    if limit.isEmpty { return self }
    var own = months
    if case .annual(let months, _, _) = recurrence { own = own ?? months }
    let common = own.map { $0.filter(limit.contains) } ?? limit
    if common.isEmpty { return nil }
    let list = common.map(String.init).joined(separator: ",")
    let parts = text.map { text in
      text.split(separator: ";").filter { !$0.hasPrefix("BYMONTH=") }.map(String.init)
        + ["BYMONTH=\(list)"]
    }
    return CalendarRule(
      parts?.joined(separator: ";"), months: common, covering: recurrence)
  }

  /// The names of the weekdays from Monday to Sunday.
  static let names = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

  // MARK: To a schedule

  /// The reason why Belfry cannot represent an item of another program.
  struct Unsupported: Error {
    let reason: String
    /// True if the only reason is that the item has no occurrence any more.
    let isOver: Bool

    init(_ reason: String, isOver: Bool = false) {
      self.reason = reason
      self.isOver = isOver
    }
  }

  /// The start of the loss of a rule that leaves out short months or years.
  private static let omission = "the omission of"

  /// The content of a rule.
  struct Reading {
    var recurrence: Recurrence
    /// The rule's own times of day; nil if it has none.
    var times: [CivilTime]?
    /// The end of the rule in iCalendar form; nil for none.
    var until: String?
    /// The number of occurrences; nil for no limit.
    var count: Int?
    /// The only months; empty for all.
    var months: [Int] = []
    /// The properties of the rule that Belfry cannot represent, as noun phrases.
    var losses: [String] = []

    /// True if Belfry's rule also has dates in months or years in which the rule of iCalendar has none.
    var hasAdditionalDates: Bool { losses.contains { $0.hasPrefix(CalendarRule.omission) } }
  }

  /// Parses an RRULE.
  ///
  /// - Parameters:
  ///   - text: the rule.
  ///   - start: the civil time of the first occurrence.
  ///   - allowsBothEnds: True to accept a rule with both COUNT and UNTIL, of which the earlier end counts.
  /// - Throws: `Unsupported` if the rule is not valid or Belfry cannot represent it.
  static func read(
    _ text: String, start: CivilDateTime, allowsBothEnds: Bool = false
  ) throws(Unsupported) -> Reading {
    let parts = try Parts(text, allowsBothEnds: allowsBothEnds)
    try parts.checkSupport()
    let interval = parts.interval
    var losses: [String] = []
    let period = period(parts["FREQ"], interval)
    let cadence = Recurrence.Cadence(interval: period == nil ? interval : 1, start: start.date)
    var recurrence = try recurrence(parts, start, cadence, &losses)
    let times: [CivilTime]?
    if let period, 1440 % period != 0 {
      guard case .daily = recurrence, parts["BYHOUR"] == nil, parts["BYMINUTE"] == nil else {
        throw Unsupported("its times of day differ from day to day")
      }
      recurrence = .elapsed(minutes: period, start: start.date)
      times = [start.time]
    } else if let period {
      times = try self.times(every: period, parts, start.time)
    } else {
      times = try self.times(parts, start.time)
    }
    if parts["BYSETPOS"] != nil, times?.count ?? 1 > 1 {
      // A position counts the occurrences of a period, and each day has several.
      throw Unsupported("Belfry does not support BYSETPOS with several times of day")
    }
    let isByDays = ["DAILY", "WEEKLY", "HOURLY", "MINUTELY"].contains(parts["FREQ"])
    return Reading(
      recurrence: recurrence, times: times, until: parts["UNTIL"],
      count: parts["COUNT"].flatMap { Int($0) },
      months: isByDays ? try parts.numbers("BYMONTH") ?? [] : [], losses: losses)
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
    case "DAILY", "HOURLY", "MINUTELY": return try daily(selection, cadence)
    case "WEEKLY": return try weekly(selection, weekStart: parts["WKST"], start, cadence)
    case "MONTHLY": return try monthly(selection, start, cadence, &losses)
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

  /// Returns the distance of an hourly or minutely rule in minutes; nil for any other rule.
  private static func period(_ frequency: String?, _ interval: Int) -> Int? {
    switch frequency {
    case "HOURLY": interval * 60
    case "MINUTELY": interval
    default: nil
    }
  }

  /// Returns the times of day of an hourly or minutely rule, which are the same on each day.
  private static func times(
    every period: Int, _ parts: Parts, _ start: CivilTime
  ) throws(Unsupported) -> [CivilTime] {
    let hours = try parts.numbers("BYHOUR")
    let minutes = try parts.numbers("BYMINUTE")
    var times = stride(from: start.minuteOfDay % period, to: 1440, by: period).compactMap {
      CivilTime(hour: $0 / 60, minute: $0 % 60)
    }
    times = times.filter { hours?.contains($0.hour) ?? true }
    guard let minutes else { return times }
    // The minutes of an hourly rule are its times within the hour; those of a minutely rule limit it.
    if parts["FREQ"] == "MINUTELY" { return times.filter { minutes.contains($0.minute) } }
    return times.flatMap { time in minutes.compactMap { CivilTime(hour: time.hour, minute: $0) } }
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
      if !number.isEmpty, Int(number).map({ !(1...53).contains(abs($0)) }) ?? true {
        throw Unsupported("its recurrence rule is not valid: BYDAY=\(text)")
      }
      result.append((Int(number), Weekday.allCases[index]))
    }
    return result
  }

  private static func daily(
    _ selection: DaySelection, _ cadence: Recurrence.Cadence
  ) throws(Unsupported) -> Recurrence {
    if selection.monthDays != nil || selection.positions != nil {
      throw Unsupported("its daily rule is limited to some days")
    }
    try checkUnnumbered(selection)
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
    if selection.positions != nil || selection.monthDays != nil {
      throw Unsupported("its weekly rule is limited to some weeks")
    }
    try checkUnnumbered(selection)
    let days = selection.weekdays?.map(\.day) ?? [start.date.weekday]
    guard cadence.interval > 1, let weekStart, let index = names.firstIndex(of: weekStart),
      index > 0
    else { return .weekly(days, cadence) }
    // With another first day of the week, some weekdays would move to another week of the interval.
    guard Set(days.map { $0.rawValue < index }).count == 1 else {
      throw Unsupported("its weeks begin on \(weekStart), but Belfry's begin on MO")
    }
    // Counted from its first date, the rule has the same weeks whatever day they begin on.
    func week(_ date: CivilDate) -> Int {
      date.dayNumber - (date.weekday.rawValue - index + 7) % 7
    }
    let first = (0..<7 * (cadence.interval + 1)).lazy.map { start.date.adding(days: $0) }.first {
      days.contains($0.weekday) && (week($0) - week(start.date)) % (7 * cadence.interval) == 0
    }
    return .weekly(days, .init(interval: cadence.interval, start: first ?? start.date))
  }

  /// Checks that no weekday of a daily or weekly rule has a number.
  private static func checkUnnumbered(_ selection: DaySelection) throws(Unsupported) {
    guard selection.weekdays?.allSatisfy({ $0.number == nil }) ?? true else {
      throw Unsupported("its recurrence rule is not valid: only months have numbered weekdays")
    }
  }

  private static func monthly(
    _ selection: DaySelection, _ start: CivilDateTime, _ cadence: Recurrence.Cadence,
    _ losses: inout [String]
  ) throws(Unsupported) -> Recurrence {
    if let months = selection.months {
      guard cadence.interval == 1 else {
        throw Unsupported("its monthly rule combines an interval with months")
      }
      let days = try monthDays(selection, start, months: months, &losses)
      return .annual(months: months, days, cadence)
    }
    if let days = selection.weekdays, selection.monthDays == nil, selection.positions == nil,
      days.allSatisfy({ $0.number == nil })
    {
      guard cadence.interval == 1 else {
        throw Unsupported("Belfry does not support its weekdays of a month")
      }
      return .weekly(days.map(\.day), cadence)
    }
    return .monthly(try monthDays(selection, start, &losses), cadence)
  }

  private static func yearly(
    _ selection: DaySelection, _ start: CivilDateTime, _ cadence: Recurrence.Cadence,
    _ losses: inout [String]
  ) throws(Unsupported) -> Recurrence {
    if selection.weekdays != nil || selection.positions != nil || selection.monthDays != nil,
      selection.months == nil
    {
      // Without months, these parts count in the whole year.
      guard selection.positions == nil, selection.weekdays == nil else {
        throw Unsupported("Belfry does not support its weekdays of a year")
      }
      return .annual(
        months: Array(1...12), try monthDays(selection, start, &losses), cadence)
    }
    let months = Set(selection.months ?? [start.date.month]).sorted()
    guard let first = months.first else { throw Unsupported("its recurrence rule has no month") }
    if months.count > 1, selection.positions != nil {
      throw Unsupported("Belfry does not support positions in several months of a year")
    }
    // Evenly spaced months are a monthly recurrence with an interval.
    let distances = Set(zip(months, months.dropFirst() + [first + 12]).map { $1 - $0 })
    if months.count > 1, cadence.interval == 1, distances.count == 1,
      let distance = distances.first, months.contains(start.date.month)
    {
      return .monthly(
        try monthDays(selection, start, months: months, &losses),
        .init(interval: distance, start: start.date))
    }
    if months == [2], selection.monthDays ?? [start.date.day] == [-1] {
      return .annual(months: months, [.day(29)], cadence)
    }
    if months == [2], selection.monthDays ?? [start.date.day] == [29], selection.weekdays == nil {
      losses.append("\(omission) common years (it rings on February 28)")
      return .annual(months: months, [.day(29)], cadence)
    }
    return .annual(
      months: months, try monthDays(selection, start, months: months, &losses), cadence)
  }

  /// Returns the days of a month that a rule selects.
  ///
  /// - Parameter months: the months of the rule; nil for all.
  private static func monthDays(
    _ selection: DaySelection, _ start: CivilDateTime, months: [Int]? = nil,
    _ losses: inout [String]
  ) throws(Unsupported) -> [Recurrence.MonthDay] {
    if let days = selection.weekdays { return try weekdays(days, selection) }
    let numbers = selection.monthDays ?? [start.date.day]
    if let positions = selection.positions {
      let ascending = numbers.sorted()
      // Belfry exports a clamped day as the last existing day from 28 up to that day, or the first one of -31 to -28.
      if positions == [-1], let largest = ascending.last, largest > 28,
        ascending == Array(28...largest)
      {
        return [.day(largest)]
      }
      if positions == [1], let smallest = ascending.first, smallest < -28,
        ascending == Array(smallest...(-28))
      {
        return [.fromEnd(-smallest)]
      }
      throw unsupported(positions)
    }
    let shortest = (months ?? [2]).map { CivilDate.length(ofMonth: $0, year: 2001) }.min() ?? 28
    if let largest = numbers.map(abs).max(), largest > shortest {
      losses.append("\(omission) months without a day \(largest) (it rings on their last day)")
    }
    return try numbers.map { number throws(Unsupported) in
      try checked(number > 0 ? .day(number) : .fromEnd(-number))
    }
  }

  /// Returns the days of a month that a rule selects by weekday.
  private static func weekdays(
    _ days: [NumberedDay], _ selection: DaySelection
  ) throws(Unsupported) -> [Recurrence.MonthDay] {
    let plain = WeekdaySet(days.compactMap { $0.number == nil ? $0.day : nil })
    if plain.isEmpty, selection.positions == nil, selection.monthDays == nil {
      return try days.map { day throws(Unsupported) in
        try checked(.weekday(day.number ?? 0, day.day))
      }
    }
    guard plain.count == days.count else { throw Unsupported("its weekdays are ambiguous") }
    if let positions = selection.positions, selection.monthDays == nil {
      return try positions.map { position throws(Unsupported) in
        switch plain.count {
        case 1: return try checked(.weekday(position, days[0].day))
        case Weekday.allCases.count:
          return try checked(position > 0 ? .day(position) : .fromEnd(-position))
        case _ where plain == WorkCalendar.defaultWorkdays:
          return try checked(.workday(position))
        default: throw unsupported(positions)
        }
      }
    }
    // The first Monday is the Monday from the 1st to the 7th.
    if let numbers = selection.monthDays?.sorted(), selection.positions == nil, plain.count == 1,
      let first = numbers.first, numbers == Array(first...(first + 6))
    {
      if first > 0, first % 7 == 1 { return [try checked(.weekday(first / 7 + 1, days[0].day))] }
      if first < 0, first % 7 == 0 { return [try checked(.weekday(first / 7, days[0].day))] }
    }
    throw Unsupported("Belfry does not support its weekdays of a month")
  }

  private static func unsupported(_ positions: [Int]) -> Unsupported {
    Unsupported(
      "Belfry does not support BYSETPOS=\(positions.map(String.init).joined(separator: ","))")
  }

  /// Returns a day that a month can have.
  private static func checked(
    _ day: Recurrence.MonthDay
  ) throws(Unsupported) -> Recurrence.MonthDay {
    guard day.isValid else { throw Unsupported("no month has such a day: \(day)") }
    return day
  }
}
