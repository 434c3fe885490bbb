import BelfryCore

/// An end of a period.
enum PeriodPoint {
  /// These dates.
  case dates(ClosedRange<CivilDate>)
  /// A month of any year.
  case month(Int)
  /// A quarter of any year.
  case quarter(Int)
  /// A week of any year, by its number in ISO 8601.
  case week(Int)

  /// The unit of a point without a year.
  var unit: CalendarUnit {
    switch self {
    case .dates: .day
    case .month: .month
    case .quarter: .quarter
    case .week: .isoWeek
    }
  }

  /// Returns the first date of the point in a year; nil if the year has no such week.
  func start(in year: Int) -> CivilDate? {
    switch self {
    case .dates(let dates): return dates.lowerBound
    case .month(let month): return CivilDate(year: year, month: month, day: 1)
    case .quarter(let quarter): return CivilDate(year: year, month: quarter * 3 - 2, day: 1)
    case .week(let week):
      // The first week contains 4 January.
      let monday = CalendarUnit.isoWeek.start(
        week - 1, from: CivilDate(year: year, month: 1, day: 4))
      return monday.adding(days: 3).year == year ? monday : nil
    }
  }
}
