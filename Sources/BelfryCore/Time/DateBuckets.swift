/// A range of dates, divided into days, weeks, months, quarters or years.
public struct DateBuckets: Hashable, Sendable {
  /// The length of a part.
  public let unit: CalendarUnit
  /// The number of parts.
  public let count: Int
  private let first: Int

  /// Divides dates into parts of a length. The first and the last part are complete, also beyond the dates.
  public init(_ dates: ClosedRange<CivilDate>, by unit: CalendarUnit) {
    self.unit = unit
    first = unit.number(of: dates.lowerBound)
    count = unit.number(of: dates.upperBound) - first + 1
  }

  /// Divides dates into parts of the smallest length that needs at most a number of parts, or into years. Weeks start on
  /// Monday.
  public init(_ dates: ClosedRange<CivilDate>, maxCount: Int) {
    let fitting = CalendarUnit.all.first { DateBuckets(dates, by: $0).count <= maxCount }
    self.init(dates, by: fitting ?? .year)
  }

  /// Returns the number of the part that contains a date, starting at 0; nil if none does.
  public func index(of date: CivilDate) -> Int? {
    let index = unit.number(of: date) - first
    return (0..<count).contains(index) ? index : nil
  }

  /// Returns the dates of a part.
  public func dates(_ index: Int) -> ClosedRange<CivilDate> {
    unit.start(ofNumber: first + index)...unit.start(ofNumber: first + index + 1).adding(days: -1)
  }
}
