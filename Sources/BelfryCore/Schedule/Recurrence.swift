/// The days on which an alarm comes.
///
/// | kind | comes on |
/// |---|---|
/// | once | one date |
/// | daily | every N-th day, counted from `start` |
/// | weekly | its weekdays in every N-th week (Monday to Sunday), counted from the week of `start` |
/// | monthly | its days of every N-th month, counted from the month of `start`; a day that a month lacks is its last |
/// | monthly by weekday | the first … fourth or last such weekday of those months |
/// | annual | a date of every N-th year, counted from the year of `start`; 29 February is the 28th in common years |
/// | days | every (count × N)-th day, counted from `start` |
///
/// None but `once` comes before `start`.
public enum Recurrence: Hashable, Sendable {
  case once(CivilDate)
  case daily(Cadence)
  /// Weekdays ascending, each once, at least one.
  case weekly([Weekday], Cadence)
  /// Days ascending, each once, at least one.
  case monthly([MonthDay], Cadence)
  case monthlyWeekday(Ordinal, Weekday, Cadence)
  case annual(month: Int, day: Int, Cadence)
  case days(Int, Cadence)

  /// Every how many cycles, and where counting starts.
  public struct Cadence: Hashable, Sendable {
    /// 1: every cycle; 2: every second …
    public var interval: Int
    public var start: CivilDate

    public init(interval: Int = 1, start: CivilDate) {
      self.interval = interval
      self.start = start
    }
  }

  /// A day of a month: 1…31, or the last.
  public enum MonthDay: Hashable, Comparable, Sendable {
    case day(Int)
    case last

    /// The day number in a month that has `length` days.
    func clamped(to length: Int) -> Int {
      switch self {
      case .day(let number): min(number, length)
      case .last: length
      }
    }
  }

  /// Which one of a weekday's dates in a month.
  public enum Ordinal: Int, CaseIterable, Sendable {
    case first = 1
    case second, third, fourth
    case last = -1

    public init?(_ text: String) {
      guard let match = Ordinal.allCases.first(where: { "\($0)" == text.lowercased() }) else {
        return nil
      }
      self = match
    }
  }

  /// The largest interval and the largest number of days: a few lifetimes.
  public static let longest = 10_000

  public var cadence: Cadence? {
    switch self {
    case .once: nil
    case .daily(let cadence), .weekly(_, let cadence), .monthly(_, let cadence),
      .monthlyWeekday(_, _, let cadence), .annual(_, _, let cadence), .days(_, let cadence):
      cadence
    }
  }

  /// The same rule with its lists ascending, each element once.
  var normalized: Recurrence {
    switch self {
    case .weekly(let days, let cadence): .weekly(Set(days).sorted(), cadence)
    case .monthly(let days, let cadence): .monthly(Set(days).sorted(), cadence)
    default: self
    }
  }

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
      // 2000 is a leap year: 29 February is a date to choose.
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
  /// Whether a day is on the rule.
  public func contains(_ date: CivilDate) -> Bool {
    first(onOrAfter: date) == date
  }

  /// The first day on the rule at or after `date`; nil when there is none up to the year 9999.
  public func first(onOrAfter date: CivilDate) -> CivilDate? {
    guard let cadence else {
      if case .once(let only) = self, only >= date { return only }
      return nil
    }
    let from = max(date, cadence.start)
    guard from.year <= CivilDate.years.upperBound else { return nil }
    // Of the cycle that holds `from` a day may be left; if not, the next cycle has one.
    var cycle = cycleNumber(of: from).roundedUp(toMultipleOf: cadence.interval)
    while cycleIsInRange(cycle) {
      if let day = days(inCycle: cycle).first(where: { $0 >= from }) {
        return day.year <= CivilDate.years.upperBound ? day : nil
      }
      cycle += cadence.interval
    }
    return nil
  }

  /// The last day on the rule at or before `date`; nil when there is none.
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

  /// How many cycles (days, weeks, months, years) after that of `start` a day lies.
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

  /// The days on the rule within one cycle, ascending, each once.
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
  /// This number, or the next larger one that `step` divides; for numbers that are not negative.
  fileprivate func roundedUp(toMultipleOf step: Int) -> Int {
    (self + step - 1) / step * step
  }
}

extension CivilDate {
  /// Weeks since the Monday 1969-12-29.
  fileprivate var weekNumber: Int { (dayNumber + 3).floorDivided(by: 7) }

  fileprivate init(weekNumber: Int) {
    self.init(dayNumber: weekNumber * 7 - 3)
  }

  /// Months since January of the year 0.
  fileprivate var monthNumber: Int {
    let (year, month, _) = components
    return year * 12 + month - 1
  }

  /// The first day of a month and how many days it has.
  fileprivate static func month(_ number: Int) -> (first: CivilDate, length: Int) {
    let year = number.floorDivided(by: 12)
    let month = number.floorRemainder(by: 12) + 1
    return (
      CivilDate(year: year, month: month, day: 1), CivilDate.length(ofMonth: month, year: year)
    )
  }
}
