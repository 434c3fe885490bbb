/// The working days of a store: the weekdays of its settings, without its holidays.
public struct WorkCalendar: Hashable, Sendable {
  /// The weekdays on which people work.
  public let workdays: WeekdaySet
  /// The holidays, in ascending order without duplicates.
  public let holidays: [CivilDate]

  /// The weekdays from Monday to Friday.
  public static let defaultWorkdays: WeekdaySet = [
    .monday, .tuesday, .wednesday, .thursday, .friday,
  ]
  /// Monday to Friday, without holidays.
  public static let standard = WorkCalendar()

  /// The maximum distance in days from a holiday to the nearest working day. An occurrence on a longer row of free days
  /// stays where it is.
  static let maxShift = 31

  /// Creates a calendar from weekdays and from holidays in any order.
  public init(
    workdays: WeekdaySet = WorkCalendar.defaultWorkdays, holidays: some Sequence<CivilDate> = []
  ) {
    self.workdays = workdays
    self.holidays = Set(holidays).sorted()
  }

  /// Returns true if a date is a holiday.
  public func isHoliday(_ date: CivilDate) -> Bool { holidays.containsSorted(date) }

  /// Returns true if people work on a date.
  public func isWorkday(_ date: CivilDate) -> Bool {
    workdays.contains(date.weekday) && !isHoliday(date)
  }

  /// Returns the nearest working day before or after a holiday, in a direction; any other date unchanged.
  ///
  /// - Parameter step: -1 for before, 1 for after.
  func workday(besideHoliday date: CivilDate, step: Int) -> CivilDate {
    guard isHoliday(date) else { return date }
    return (1...WorkCalendar.maxShift).lazy.map { date.adding(days: $0 * step) }
      .first(where: isWorkday) ?? date
  }
}

extension Array where Element: Comparable {
  /// Returns true if the array, which is in ascending order, contains an element.
  ///
  /// - Complexity: O(log *n*).
  func containsSorted(_ element: Element) -> Bool {
    let index = prefixLength { $0 < element }
    return index < count && self[index] == element
  }
}
