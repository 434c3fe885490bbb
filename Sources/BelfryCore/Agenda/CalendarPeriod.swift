/// Consecutive weeks, months or other units of a calendar.
public struct CalendarPeriod: Hashable, Sendable {
  /// The unit.
  public let unit: CalendarUnit
  /// The first date of the first unit.
  public let start: CivilDate
  /// The number of units.
  public let count: Int

  /// Creates a period from the unit that contains a date.
  public init(_ unit: CalendarUnit, containing date: CivilDate, count: Int = 1) {
    self.unit = unit
    start = unit.start(from: date)
    self.count = count
  }

  /// All dates of the period.
  public var dates: ClosedRange<CivilDate> {
    start...unit.start(count, from: start).adding(days: -1)
  }

  /// The dates of each unit, in order.
  public var units: [ClosedRange<CivilDate>] {
    (0..<count).map { unit.dates($0, from: start) }
  }

  /// Returns the period with some units before its first one, and after its last one.
  public func extended(before: Int = 0, after: Int) -> CalendarPeriod {
    CalendarPeriod(
      unit, containing: unit.start(-before, from: start), count: before + count + after)
  }

  /// True if all dates can be in records.
  public var isValid: Bool {
    CivilDate.years.contains(start.year) && CivilDate.years.contains(dates.upperBound.year)
  }
}

extension CalendarUnit {
  /// The maximum number of units that a calendar shows: about ten years.
  public var limit: Int {
    switch self {
    case .day: 3660
    case .week: 530
    case .month: 120
    case .quarter: 40
    case .year: 10
    }
  }
}
