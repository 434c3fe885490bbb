/// A range of dates, divided into days, weeks, months, quarters or years.
public struct DateBuckets: Hashable, Sendable {
  /// A part of the calendar.
  public enum Unit: String, CaseIterable, Comparable, Sendable {
    /// The units in ascending length. A week starts on Monday.
    case day, week, month, quarter, year

    /// Returns true if `a` is shorter than `b`.
    public static func < (a: Unit, b: Unit) -> Bool {
      allCases.firstIndex(of: a) ?? 0 < allCases.firstIndex(of: b) ?? 0
    }

    /// Returns the number of a date's part, counted from a fixed one.
    fileprivate func number(of date: CivilDate) -> Int {
      let (year, month, _) = date.components
      switch self {
      case .day: return date.dayNumber
      // 1970-01-01 was a Thursday.
      case .week: return (date.dayNumber + 3).floorDivided(by: 7)
      case .month: return year * 12 + month - 1
      case .quarter: return year * 4 + (month - 1) / 3
      case .year: return year
      }
    }

    /// Returns the first date of a part.
    fileprivate func start(of number: Int) -> CivilDate {
      switch self {
      case .day: CivilDate(dayNumber: number)
      case .week: CivilDate(dayNumber: number * 7 - 3)
      case .month:
        CivilDate(
          year: number.floorDivided(by: 12), month: number.floorRemainder(by: 12) + 1, day: 1)
      case .quarter:
        CivilDate(
          year: number.floorDivided(by: 4), month: number.floorRemainder(by: 4) * 3 + 1, day: 1)
      case .year: CivilDate(year: number, month: 1, day: 1)
      }
    }

    /// Returns the dates of the part that contains a date.
    public func dates(around date: CivilDate) -> ClosedRange<CivilDate> {
      let number = number(of: date)
      return start(of: number)...start(of: number + 1).adding(days: -1)
    }

    /// Returns the dates of the part that is a number of parts after the one that contains a date.
    public func dates(_ distance: Int, from date: CivilDate) -> ClosedRange<CivilDate> {
      dates(around: start(of: number(of: date) + distance))
    }
  }

  /// The length of a part.
  public let unit: Unit
  /// The number of parts.
  public let count: Int
  private let first: Int

  /// Divides dates into parts of a length. The first and the last part are complete, also beyond the dates.
  public init(_ dates: ClosedRange<CivilDate>, by unit: Unit) {
    self.unit = unit
    first = unit.number(of: dates.lowerBound)
    count = unit.number(of: dates.upperBound) - first + 1
  }

  /// Divides dates into parts of the smallest length that needs at most a number of parts, or into years.
  public init(_ dates: ClosedRange<CivilDate>, maxCount: Int) {
    let fitting = Unit.allCases.first { DateBuckets(dates, by: $0).count <= maxCount }
    self.init(dates, by: fitting ?? .year)
  }

  /// Returns the number of the part that contains a date, starting at 0; nil if none does.
  public func index(of date: CivilDate) -> Int? {
    let index = unit.number(of: date) - first
    return (0..<count).contains(index) ? index : nil
  }

  /// Returns the dates of a part.
  public func dates(_ index: Int) -> ClosedRange<CivilDate> {
    unit.start(of: first + index)...unit.start(of: first + index + 1).adding(days: -1)
  }
}
