/// The dates on which an alarm occurs.
///
/// | kind | dates |
/// |---|---|
/// | once | one date |
/// | daily | every N-th day, counted from `start` |
/// | weekly | the weekdays of every N-th week (Monday to Sunday), counted from the week of `start` |
/// | monthly | the days of every N-th month, counted from the month of `start` |
/// | annual | the days of some months of every N-th year, counted from the year of `start` |
/// | days | every (count × N)-th day, counted from `start` |
/// | cyclic | the first days of every cycle of days with and without the alarm, counted from `start` |
/// | dates | the dates of a list |
/// | elapsed | the dates of the times at a distance in minutes, counted from the first one on `start` |
/// | after done | `start`, then a period after the date on which the latest occurrence was done |
///
/// No repeating kind has a date before `start`. 29 February is the 28th in common years.
public enum Recurrence: Hashable, Sendable {
  /// One date.
  case once(CivilDate)
  /// Every N-th day.
  case daily(Cadence)
  /// One or more weekdays of every N-th week, in ascending order without duplicates.
  case weekly([Weekday], Cadence)
  /// One or more days of every N-th month, in ascending order without duplicates.
  case monthly([MonthDay], Cadence)
  /// One or more days of one or more months (1…12) of every N-th year, in ascending order without duplicates.
  case annual(months: [Int], [MonthDay], Cadence)
  /// Every (count × N)-th day.
  case days(Int, Cadence)
  /// The first days of every cycle of days with the alarm and days without it.
  case cyclic(on: Int, off: Int, start: CivilDate)
  /// One or more dates, in ascending order without duplicates.
  case dates([CivilDate])
  /// Every time at a distance in minutes from the first one, which is on a date. The clock counts, not the calendar: in the
  /// zone UTC, which has no clock changes, this is elapsed time.
  case elapsed(minutes: Int, start: CivilDate)
  /// A date, then a period after the date of each completion. Until an occurrence is done, it recurs every day.
  case afterDone(Period, Origin)

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

  /// The first date of a rule that follows completions.
  public struct Origin: Hashable, Sendable {
    /// The date of the first occurrence.
    public var start: CivilDate
    /// The date up to which completions are ignored, because they precede the choice of `start`; nil to count all.
    public var completionsAfter: CivilDate?

    /// Creates an origin from its parts.
    public init(start: CivilDate, completionsAfter: CivilDate? = nil) {
      self.start = start
      self.completionsAfter = completionsAfter
    }
  }

  /// The maximum interval, and the maximum number of days in `days`.
  public static let longest = 10_000

  /// The maximum number of dates in `dates`.
  public static let maxDates = 1_000

  /// The maximum distance in `elapsed`, in minutes: as many days as an interval of days can have.
  static let longestDistance = longest * 1_440

  /// The interval and the start of the rule; nil for `once`, `dates`, `elapsed` and `afterDone`.
  public var cadence: Cadence? {
    switch self {
    case .once, .dates, .elapsed, .afterDone: nil
    case .daily(let cadence), .weekly(_, let cadence), .monthly(_, let cadence),
      .annual(_, _, let cadence), .days(_, let cadence):
      cadence
    case .cyclic(_, _, let start): Cadence(start: start)
    }
  }

  /// True if the rule can be limited to every N-th cycle.
  public var hasInterval: Bool {
    switch self {
    case .daily, .weekly, .monthly, .annual, .days: true
    case .once, .cyclic, .dates, .elapsed, .afterDone: false
    }
  }

  /// True if the dates depend on the store's working days and holidays.
  var usesCalendar: Bool {
    switch self {
    case .once, .daily, .weekly, .days, .cyclic, .dates, .elapsed, .afterDone: false
    case .monthly(let days, _), .annual(_, let days, _): days.contains(where: \.usesCalendar)
    }
  }

  /// The same rule with its lists in ascending order and without duplicates.
  var normalized: Recurrence {
    switch self {
    case .weekly(let days, let cadence): .weekly(Set(days).sorted(), cadence)
    case .monthly(let days, let cadence): .monthly(Set(days).sorted(), cadence)
    case .annual(let months, let days, let cadence):
      .annual(months: Set(months).sorted(), Set(days).sorted(), cadence)
    case .dates(let dates): .dates(Set(dates).sorted())
    case .once, .daily, .days, .cyclic, .elapsed, .afterDone: self
    }
  }

  /// Throws a `ScheduleError` if a list is empty or a number is out of range.
  func validate() throws(ScheduleError) {
    if let cadence, !(1...Recurrence.longest).contains(cadence.interval) {
      throw .intervalOutOfRange(cadence.interval)
    }
    switch self {
    case .once, .daily: break
    case .weekly(let days, _):
      if days.isEmpty { throw .noDays }
    case .monthly(let days, _):
      if days.isEmpty { throw .noDays }
      for day in days { try day.validate() }
    case .annual(let months, let days, _):
      if months.isEmpty || days.isEmpty { throw .noDays }
      for day in days { try day.validate() }
      for month in months {
        guard (1...12).contains(month) else { throw .noSuchDate(month: month, day: 1) }
        // 2000 is a leap year, so 29 February is valid.
        let length = CivilDate.length(ofMonth: month, year: 2000)
        for case .day(let day) in days where day > length {
          throw .noSuchDate(month: month, day: day)
        }
      }
    case .days(let count, _):
      if !(1...Recurrence.longest).contains(count) { throw .intervalOutOfRange(count) }
    case .cyclic(let on, let off, _):
      for count in [on, off] where !(1...Recurrence.longest).contains(count) {
        throw .intervalOutOfRange(count)
      }
    case .dates(let dates):
      if dates.isEmpty { throw .noDays }
      if dates.count > Recurrence.maxDates { throw .tooManyDates(dates.count) }
    case .elapsed(let minutes, _):
      if !(1...Recurrence.longestDistance).contains(minutes) {
        throw .distanceOutOfRange(minutes: minutes)
      }
    case .afterDone(let period, _):
      if !(1...Recurrence.longest).contains(period.count) {
        throw .intervalOutOfRange(period.count)
      }
    }
  }
}

/// A number of days, weeks, months or years.
public struct Period: Hashable, Sendable {
  /// A unit of the calendar. The raw value is its code in text.
  public enum Unit: String, CaseIterable, Sendable {
    /// A unit of the same name.
    case day = "d"
    case week = "w"
    case month = "mo"
    case year = "y"
  }

  /// The number of units.
  public let count: Int
  /// The unit.
  public let unit: Unit

  /// Creates a period from its parts.
  public init(_ count: Int, _ unit: Unit) {
    self.count = count
    self.unit = unit
  }
}

extension Period: CustomStringConvertible {
  /// The period as text that `init(_:)` reads: `90d`, `2w`, `6mo`, `1y`.
  public var description: String { "\(count)\(unit.rawValue)" }

  /// The period in words: `90 days`, `1 month`.
  public var words: String { "\(count) \(unit)\(count == 1 ? "" : "s")" }

  /// Creates a period from text such as `90d`, `2w`, `6mo` or `1y`; nil for any other text.
  public init?(_ text: String) {
    let digits = text.utf8.prefix(while: isDigit)
    guard let count = decimal(digits), count > 0,
      let unit = Unit(rawValue: String(text.dropFirst(digits.count)).lowercased())
    else { return nil }
    self.init(count, unit)
  }
}

extension CivilDate {
  /// Returns the date a period later. A day that the month lacks becomes the last day of the month.
  public func adding(_ period: Period) -> CivilDate {
    switch period.unit {
    case .day: return adding(days: period.count)
    case .week: return adding(days: period.count * 7)
    case .month, .year:
      let months = period.unit == .month ? period.count : period.count * 12
      let (first, length) = CivilDate.month(monthNumber + months)
      return first.adding(days: min(day, length) - 1)
    }
  }
}
