/// The dates on which an alarm occurs.
///
/// | kind | dates |
/// |---|---|
/// | once | one date |
/// | daily | every N-th day, counted from `start` |
/// | weekly | the weekdays of every N-th week (Monday to Sunday), counted from the week of `start` |
/// | monthly | the days of every N-th month, counted from the month of `start`; a missing day becomes the last one |
/// | monthly by weekday | the first … fourth or last such weekday of those months |
/// | annual | a date of every N-th year, counted from the year of `start`; 29 February is the 28th in common years |
/// | days | every (count × N)-th day, counted from `start` |
///
/// No repeating kind has a date before `start`.
public enum Recurrence: Hashable, Sendable {
  /// One date.
  case once(CivilDate)
  /// Every N-th day.
  case daily(Cadence)
  /// One or more weekdays of every N-th week, in ascending order without duplicates.
  case weekly([Weekday], Cadence)
  /// One or more days of every N-th month, in ascending order without duplicates.
  case monthly([MonthDay], Cadence)
  /// One weekday of every N-th month, such as the last Friday.
  case monthlyWeekday(Ordinal, Weekday, Cadence)
  /// One date of every N-th year.
  case annual(month: Int, day: Int, Cadence)
  /// Every (count × N)-th day.
  case days(Int, Cadence)

  /// The interval of a rule and the date from which its cycles are counted.
  public struct Cadence: Hashable, Sendable {
    /// The number of cycles from one to the next: 1 for every cycle, 2 for every second one.
    public var interval: Int
    /// The date from which cycles are counted. No occurrence precedes it.
    public var start: CivilDate

    /// Creates a cadence from its parts.
    public init(interval: Int = 1, start: CivilDate) {
      self.interval = interval
      self.start = start
    }
  }

  /// A day of a month: 1…31, or the last.
  public enum MonthDay: Hashable, Comparable, Sendable {
    /// The day with a number, 1…31. A month that lacks it has its last day instead.
    case day(Int)
    /// The last day.
    case last

    /// Returns the day number in a month that has `length` days.
    func clamped(to length: Int) -> Int {
      switch self {
      case .day(let number): min(number, length)
      case .last: length
      }
    }
  }

  /// The position of a date among the dates of its weekday in a month.
  public enum Ordinal: Int, CaseIterable, Sendable {
    /// The first date of the weekday.
    case first = 1
    /// A later date of the weekday.
    case second, third, fourth
    /// The last date of the weekday.
    case last = -1

    /// Creates an ordinal from its English name, in any case; nil for any other text.
    public init?(_ text: String) {
      guard let match = Ordinal.allCases.first(where: { "\($0)" == text.lowercased() }) else {
        return nil
      }
      self = match
    }
  }

  /// The maximum interval, and the maximum number of days in `days`.
  public static let longest = 10_000

  /// The interval and the start of the rule; nil for `once`.
  public var cadence: Cadence? {
    switch self {
    case .once: nil
    case .daily(let cadence), .weekly(_, let cadence), .monthly(_, let cadence),
      .monthlyWeekday(_, _, let cadence), .annual(_, _, let cadence), .days(_, let cadence):
      cadence
    }
  }

  /// The same rule with its lists in ascending order and without duplicates.
  var normalized: Recurrence {
    switch self {
    case .weekly(let days, let cadence): .weekly(Set(days).sorted(), cadence)
    case .monthly(let days, let cadence): .monthly(Set(days).sorted(), cadence)
    default: self
    }
  }

  /// Throws a `ScheduleError` if a list is empty or a number is out of range.
  func validate() throws(ScheduleError) {
    if let cadence, !(1...Recurrence.longest).contains(cadence.interval) {
      throw .intervalOutOfRange(cadence.interval)
    }
    switch self {
    case .once, .daily, .monthlyWeekday: break
    case .weekly(let days, _):
      if days.isEmpty { throw .noDays }
    case .monthly(let days, _):
      if days.isEmpty { throw .noDays }
      for case .day(let day) in days where !(1...31).contains(day) { throw .dayOutOfRange(day) }
    case .annual(let month, let day, _):
      // 2000 is a leap year, so 29 February is valid.
      guard (1...12).contains(month), day >= 1,
        day <= CivilDate.length(ofMonth: month, year: 2000)
      else { throw .noSuchDate(month: month, day: day) }
    case .days(let count, _):
      if !(1...Recurrence.longest).contains(count) { throw .intervalOutOfRange(count) }
    }
  }
}

// MARK: Dates

extension Recurrence {
  /// Returns true if the rule contains a date.
  public func contains(_ date: CivilDate) -> Bool {
    first(onOrAfter: date) == date
  }

  /// Returns the first date of the rule at or after `date`; nil if there is none up to the year 9999.
  public func first(onOrAfter date: CivilDate) -> CivilDate? {
    guard let cadence else {
      if case .once(let only) = self, only >= date { return only }
      return nil
    }
    let from = max(date, cadence.start)
    guard from.year <= CivilDate.years.upperBound else { return nil }
    // The cycle that contains `from` may have a date left. If not, the next cycle has one.
    var cycle = cycleNumber(of: from).roundedUp(toMultipleOf: cadence.interval)
    while cycleIsInRange(cycle) {
      if let day = days(inCycle: cycle).first(where: { $0 >= from }) {
        return day.year <= CivilDate.years.upperBound ? day : nil
      }
      cycle += cadence.interval
    }
    return nil
  }

  /// Returns the last date of the rule at or before `date`; nil if there is none.
  public func last(onOrBefore date: CivilDate) -> CivilDate? {
    guard let cadence else {
      if case .once(let only) = self, only <= date { return only }
      return nil
    }
    guard date >= cadence.start else { return nil }
    var cycle = cycleNumber(of: date)
    cycle -= cycle % cadence.interval
    while cycle >= 0 {
      if let day = days(inCycle: cycle).last(where: { $0 <= date }) {
        return day >= cadence.start ? day : nil
      }
      cycle -= cadence.interval
    }
    return nil
  }

  /// Returns the number of cycles (days, weeks, months or years) from that of `start` to that of a date.
  private func cycleNumber(of date: CivilDate) -> Int {
    switch self {
    case .once: 0
    case .daily(let cadence): date.dayNumber - cadence.start.dayNumber
    case .weekly(_, let cadence): date.weekNumber - cadence.start.weekNumber
    case .monthly(_, let cadence), .monthlyWeekday(_, _, let cadence):
      date.monthNumber - cadence.start.monthNumber
    case .annual(_, _, let cadence): date.year - cadence.start.year
    case .days(let count, let cadence):
      (date.dayNumber - cadence.start.dayNumber + count - 1).floorDivided(by: count)
    }
  }

  /// Returns true if a cycle may start before the end of the year 9999, by a lower bound of its start.
  private func cycleIsInRange(_ cycle: Int) -> Bool {
    guard let cadence else { return false }
    let days =
      switch self {
      case .once, .daily: cycle
      case .weekly: cycle * 7
      case .monthly, .monthlyWeekday: cycle * 28
      case .annual: cycle * 365
      case .days(let count, _): cycle * count
      }
    return cadence.start.dayNumber + days <= CivilDate(year: 9999, month: 12, day: 31).dayNumber
  }

  /// Returns the dates of the rule in one cycle, in ascending order without duplicates.
  private func days(inCycle cycle: Int) -> [CivilDate] {
    switch self {
    case .once(let date): return [date]
    case .daily(let cadence): return [cadence.start.adding(days: cycle)]
    case .days(let count, let cadence): return [cadence.start.adding(days: cycle * count)]
    case .weekly(let weekdays, let cadence):
      let monday = CivilDate(weekNumber: cadence.start.weekNumber + cycle)
      return weekdays.map { monday.adding(days: $0.rawValue) }
    case .monthly(let days, let cadence):
      let (first, length) = CivilDate.month(cadence.start.monthNumber + cycle)
      var numbers: [Int] = []
      for day in days.map({ $0.clamped(to: length) }) where numbers.last != day {
        numbers.append(day)
      }
      return numbers.map { first.adding(days: $0 - 1) }
    case .monthlyWeekday(let ordinal, let weekday, let cadence):
      let (first, length) = CivilDate.month(cadence.start.monthNumber + cycle)
      let toFirst = (weekday.rawValue - first.weekday.rawValue + 7) % 7
      let offset =
        ordinal == .last
        ? toFirst + (length - 1 - toFirst) / 7 * 7 : toFirst + (ordinal.rawValue - 1) * 7
      return [first.adding(days: offset)]
    case .annual(let month, let day, let cadence):
      let year = cadence.start.year + cycle
      let length = CivilDate.length(ofMonth: month, year: year)
      return [CivilDate(year: year, month: month, day: min(day, length))]
    }
  }
}

extension Int {
  /// Returns the smallest multiple of `step` that is not less than this number, which must not be negative.
  fileprivate func roundedUp(toMultipleOf step: Int) -> Int {
    (self + step - 1) / step * step
  }
}

extension CivilDate {
  /// The number of weeks since Monday, 1969-12-29.
  fileprivate var weekNumber: Int { (dayNumber + 3).floorDivided(by: 7) }

  fileprivate init(weekNumber: Int) {
    self.init(dayNumber: weekNumber * 7 - 3)
  }

  /// The number of months since January of the year 0.
  fileprivate var monthNumber: Int {
    let (year, month, _) = components
    return year * 12 + month - 1
  }

  /// Returns the first day of a month and its length in days.
  fileprivate static func month(_ number: Int) -> (first: CivilDate, length: Int) {
    let year = number.floorDivided(by: 12)
    let month = number.floorRemainder(by: 12) + 1
    return (
      CivilDate(year: year, month: month, day: 1), CivilDate.length(ofMonth: month, year: year)
    )
  }
}
