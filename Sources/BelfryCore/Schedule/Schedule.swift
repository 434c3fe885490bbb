/// A recurrence rule over civil dates with one or more times of day.
///
/// The occurrences of a schedule are in `Occurrences`, which also needs the store's working days and holidays.
public struct Schedule: Hashable, Sendable {
  /// The rule for the dates. Its lists are in ascending order, without duplicates.
  public let recurrence: Recurrence
  /// One or more times of day, in ascending order without duplicates. For `elapsed` the time of the first occurrence.
  public let times: [CivilTime]
  /// The limits of the rule: its end, the omitted dates, and the treatment of holidays.
  public let limits: Limits

  /// The limits of a rule.
  public struct Limits: Hashable, Sendable {
    /// The latest possible occurrence; nil for no end.
    public var until: CivilDateTime?
    /// The dates without an occurrence, in ascending order without duplicates. They apply after a move from a holiday.
    public var exceptions: [CivilDate]
    /// The only months with occurrences (1…12), in ascending order without duplicates; empty for all. They apply after a
    /// move from a holiday.
    public var months: [Int]
    /// The treatment of an occurrence on a holiday; nil to ignore holidays.
    public var onHoliday: HolidayRule?

    /// No limits.
    public static let none = Limits()

    /// Creates limits from their parts.
    public init(
      until: CivilDateTime? = nil, exceptions: [CivilDate] = [], months: [Int] = [],
      onHoliday: HolidayRule? = nil
    ) {
      self.until = until
      self.exceptions = exceptions
      self.months = months
      self.onHoliday = onHoliday
    }

    /// The maximum number of exceptions.
    public static let maxExceptions = 1_000

    /// The latest possible occurrence on the last day of a rule.
    public static func end(of date: CivilDate) -> CivilDateTime { CivilDateTime(date, endOfDay) }

    static let endOfDay = CivilTime(minuteOfDay: 1439)
  }

  /// The treatment of an occurrence on a holiday.
  public enum HolidayRule: String, CaseIterable, Sendable {
    /// The occurrence is left out.
    case skip
    /// The occurrence moves to the nearest working day before the holiday.
    case before
    /// The occurrence moves to the nearest working day after the holiday.
    case after
  }

  /// Creates a schedule from its parts, in any order and with duplicates.
  ///
  /// - Throws: `ScheduleError` if the parts do not form a schedule.
  public init(
    _ recurrence: Recurrence, times: [CivilTime], limits: Limits = .none
  ) throws(ScheduleError) {
    guard !times.isEmpty else { throw .noTimes }
    guard times.count <= Schedule.maxTimes else { throw .tooManyTimes(times.count) }
    try recurrence.validate()
    self.recurrence = recurrence.normalized
    self.times = Set(times).sorted()
    self.limits = Limits(
      until: limits.until, exceptions: Set(limits.exceptions).sorted(),
      months: Set(limits.months).count == 12 ? [] : Set(limits.months).sorted(),
      onHoliday: limits.onHoliday)
    for month in self.limits.months where !(1...12).contains(month) {
      throw .noSuchDate(month: month, day: 1)
    }
    switch recurrence {
    case .once:
      if self.times.count > 1 { throw .onceAtSeveralTimes }
      if limits != .none { throw .onceWithLimits }
    case .afterDone:
      if self.times.count > 1 { throw .afterDoneAtSeveralTimes }
    case .elapsed:
      if self.times.count > 1 { throw .elapsedFromSeveralTimes }
      if limits.onHoliday == .before || limits.onHoliday == .after {
        throw .elapsedMovedFromHolidays
      }
    case .daily, .weekly, .monthly, .annual, .days, .cyclic, .dates: break
    }
    if self.limits.exceptions.count > Limits.maxExceptions {
      throw .tooManyExceptions(self.limits.exceptions.count)
    }
  }

  /// The maximum number of times of day: one per minute.
  public static let maxTimes = 1_440

  /// True if the occurrences depend on the store's working days and holidays.
  public var usesCalendar: Bool { recurrence.usesCalendar || limits.onHoliday != nil }

  /// True if a date can have more than one occurrence.
  public var ringsSeveralTimesADay: Bool {
    if case .elapsed(let minutes, _) = recurrence { return minutes < 1_440 }
    return times.count > 1
  }

  /// True if the next occurrence depends on the date of the latest completion.
  public var followsCompletion: Bool {
    if case .afterDone = recurrence { true } else { false }
  }
}

/// The reason why parts do not form a schedule.
public enum ScheduleError: Error, Equatable, Sendable {
  /// There is no time of day.
  case noTimes
  /// There are more times than `Schedule.maxTimes`.
  case tooManyTimes(Int)
  /// A one-time schedule has more than one time of day.
  case onceAtSeveralTimes
  /// A one-time schedule has an end, exceptions or a treatment of holidays.
  case onceWithLimits
  /// A schedule that follows completions has more than one time of day.
  case afterDoneAtSeveralTimes
  /// A schedule of elapsed time starts at more than one time of day.
  case elapsedFromSeveralTimes
  /// A schedule of elapsed time moves from holidays, which would end its equal distances.
  case elapsedMovedFromHolidays
  /// The list of weekdays, of months or of month days is empty.
  case noDays
  /// A day of a month is not in 1…31, or a position is not one that a month can have.
  case dayOutOfRange(Int)
  /// A date exists in no year.
  case noSuchDate(month: Int, day: Int)
  /// An interval or a number of days is not in 1…`Recurrence.longest`.
  case intervalOutOfRange(Int)
  /// A distance in minutes is not in 1…`Recurrence.longestDistance`.
  case distanceOutOfRange(minutes: Int)
  /// There are more dates than `Recurrence.maxDates`.
  case tooManyDates(Int)
  /// There are more exceptions than `Schedule.Limits.maxExceptions`.
  case tooManyExceptions(Int)
}
