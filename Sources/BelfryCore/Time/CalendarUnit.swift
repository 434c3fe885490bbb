/// A part of the calendar.
public enum CalendarUnit: Hashable, Sendable {
  /// A day.
  case day
  /// A week, with its first day.
  case week(Weekday)
  /// A month.
  case month
  /// A quarter of a year.
  case quarter
  /// A year.
  case year

  /// A week of ISO 8601, which starts on Monday.
  public static let isoWeek = CalendarUnit.week(.monday)
  /// The units in ascending length, with weeks of ISO 8601.
  static let all: [CalendarUnit] = [.day, .isoWeek, .month, .quarter, .year]

  /// True for a week with any first day.
  public var isWeek: Bool {
    if case .week = self { return true }
    return false
  }

  // MARK: Numbers

  /// Returns the number of the unit that contains a date, counted from a fixed one.
  func number(of date: CivilDate) -> Int {
    let (year, month, _) = date.components
    switch self {
    case .day: return date.dayNumber
    // 1970-01-01 was a Thursday.
    case .week(let first): return (date.dayNumber + 3 - first.rawValue).floorDivided(by: 7)
    case .month: return year * 12 + month - 1
    case .quarter: return year * 4 + (month - 1) / 3
    case .year: return year
    }
  }

  /// Returns the first date of the unit with a number.
  func start(ofNumber number: Int) -> CivilDate {
    switch self {
    case .day: CivilDate(dayNumber: number)
    case .week(let first): CivilDate(dayNumber: number * 7 - 3 + first.rawValue)
    case .month:
      CivilDate(
        year: number.floorDivided(by: 12), month: number.floorRemainder(by: 12) + 1, day: 1)
    case .quarter:
      CivilDate(
        year: number.floorDivided(by: 4), month: number.floorRemainder(by: 4) * 3 + 1, day: 1)
    case .year: CivilDate(year: number, month: 1, day: 1)
    }
  }

  // MARK: Dates

  /// Returns the first date of the unit that is a number of units after the one that contains a date, or before it if the
  /// number is negative.
  public func start(_ distance: Int = 0, from date: CivilDate) -> CivilDate {
    start(ofNumber: number(of: date) + distance)
  }

  /// Returns the dates of the unit that contains a date.
  public func dates(around date: CivilDate) -> ClosedRange<CivilDate> { dates(0, from: date) }

  /// Returns the dates of the unit that is a number of units after the one that contains a date.
  public func dates(_ distance: Int, from date: CivilDate) -> ClosedRange<CivilDate> {
    let number = number(of: date) + distance
    return start(ofNumber: number)...start(ofNumber: number + 1).adding(days: -1)
  }

  /// Returns the number of units from one date to another.
  public func distance(from start: CivilDate, to end: CivilDate) -> Int {
    number(of: end) - number(of: start)
  }
}

extension CalendarUnit: CustomStringConvertible {
  /// The name of the unit: `week`.
  public var description: String {
    switch self {
    case .day: "day"
    case .week: "week"
    case .month: "month"
    case .quarter: "quarter"
    case .year: "year"
    }
  }
}
