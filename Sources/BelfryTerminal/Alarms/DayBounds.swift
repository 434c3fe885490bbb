import BelfryCore

/// The instants at which the days around now begin on this device's wall clock.
package struct DayBounds: Sendable {
  private let tomorrow: Instant
  private let dayAfter: Instant
  private let nextWeek: Instant

  package init(_ times: TimeText) {
    func start(_ days: Int) -> Instant {
      times.zones.local.instant(of: CivilDateTime(times.today.adding(days: days), .midnight))
    }
    (tomorrow, dayAfter, nextWeek) = (
      start(1), start(2), start(TimeText.weekdayRange.upperBound + 1)
    )
  }

  /// Returns the group of an occurrence.
  package func group(of moment: Instant) -> AlarmTable.Group {
    if moment < tomorrow { return .today }
    if moment < dayAfter { return .tomorrow }
    return moment < nextWeek ? .week : .later
  }
}
