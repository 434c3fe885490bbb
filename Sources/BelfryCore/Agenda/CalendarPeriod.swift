/// Consecutive weeks, months or years of a calendar.
public struct CalendarPeriod: Hashable, Sendable {
  /// A unit of calendars.
  public enum Unit: Hashable, Sendable {
    /// Weeks, with their first day.
    case week(Weekday)
    /// Months.
    case month
    /// Years.
    case year
  }

  /// The unit.
  public let unit: Unit
  /// The first date of the first unit.
  public let start: CivilDate
  /// The number of units.
  public let count: Int

  /// Creates a period from the unit that contains a date.
  public init(_ unit: Unit, containing date: CivilDate, count: Int = 1) {
    self.unit = unit
    start = unit.start(of: date)
    self.count = count
  }

  /// All dates of the period.
  public var dates: ClosedRange<CivilDate> {
    start...unit.adding(count, to: start).adding(days: -1)
  }

  /// The dates of each unit, in order.
  public var units: [ClosedRange<CivilDate>] {
    (0..<count).map { number in
      unit.adding(number, to: start)...unit.adding(number + 1, to: start).adding(days: -1)
    }
  }

  /// Returns the period with some units before its first one, and after its last one.
  public func extended(before: Int = 0, after: Int) -> CalendarPeriod {
    CalendarPeriod(
      unit, containing: unit.adding(-before, to: start), count: before + count + after)
  }

  /// True if all dates can be in records.
  public var isValid: Bool {
    CivilDate.years.contains(start.year) && CivilDate.years.contains(dates.upperBound.year)
  }
}

extension CalendarPeriod.Unit {
  /// Returns the first date of the unit that contains a date.
  public func start(of date: CivilDate) -> CivilDate {
    switch self {
    case .week(let first):
      date.adding(days: -((date.weekday.rawValue - first.rawValue + 7) % 7))
    case .month: CivilDate(year: date.year, month: date.month, day: 1)
    case .year: CivilDate(year: date.year, month: 1, day: 1)
    }
  }

  /// Returns the first date of the unit that is some units later, or earlier if the number is negative.
  ///
  /// - Parameter date: The first date of a unit.
  public func adding(_ count: Int, to date: CivilDate) -> CivilDate {
    switch self {
    case .week: return date.adding(days: 7 * count)
    case .month:
      let months = date.year * 12 + date.month - 1 + count
      return CivilDate(
        year: months.floorDivided(by: 12), month: months.floorRemainder(by: 12) + 1, day: 1)
    case .year: return CivilDate(year: date.year + count, month: 1, day: 1)
    }
  }

  /// Returns the number of units from one date to another.
  public func distance(from start: CivilDate, to end: CivilDate) -> Int {
    let (one, two) = (self.start(of: start), self.start(of: end))
    return switch self {
    case .week: (two.dayNumber - one.dayNumber) / 7
    case .month: (two.year - one.year) * 12 + two.month - one.month
    case .year: two.year - one.year
    }
  }

  /// The maximum number of units that a calendar shows.
  public var limit: Int {
    switch self {
    case .week: 530
    case .month: 120
    case .year: 10
    }
  }
}
