/// A recurrence rule over civil dates with one or more times of day.
///
/// Each occurrence is computed from the rule, never from the previous occurrence, so that clamping to short months and
/// leap years does not cause drift.
public struct Schedule: Hashable, Sendable {
  /// The rule for the dates. Its lists are in ascending order, without duplicates.
  public let recurrence: Recurrence
  /// One or more times of day, in ascending order without duplicates.
  public let times: [CivilTime]

  /// Creates a schedule from its parts, in any order and with duplicates.
  ///
  /// - Throws: `ScheduleError` if the parts do not form a schedule.
  public init(_ recurrence: Recurrence, times: [CivilTime]) throws(ScheduleError) {
    guard !times.isEmpty else { throw .noTimes }
    guard times.count <= Schedule.maxTimes else { throw .tooManyTimes(times.count) }
    try recurrence.validate()
    self.recurrence = recurrence.normalized
    self.times = Set(times).sorted()
    if case .once = recurrence, self.times.count > 1 { throw .onceAtSeveralTimes }
  }

  /// The maximum number of times of day: one per minute.
  public static let maxTimes = 1_440

  /// Returns the first occurrence after another one; nil if there is none.
  public func next(after occurrence: CivilDateTime) -> CivilDateTime? {
    let following = times.prefixLength { $0 <= occurrence.time }
    if following < times.count, recurrence.contains(occurrence.date) {
      return CivilDateTime(occurrence.date, times[following])
    }
    return recurrence.first(onOrAfter: occurrence.date.adding(days: 1)).map {
      CivilDateTime($0, times[0])
    }
  }

  /// Returns the first occurrence at or after a civil time; nil if there is none.
  public func first(onOrAfter time: CivilDateTime) -> CivilDateTime? {
    next(after: CivilDateTime(minuteNumber: time.minuteNumber - 1))
  }

  /// Returns the last occurrence at or before a civil time; nil if there is none.
  public func last(onOrBefore time: CivilDateTime) -> CivilDateTime? {
    let count = times.prefixLength { $0 <= time.time }
    if count > 0, recurrence.contains(time.date) {
      return CivilDateTime(time.date, times[count - 1])
    }
    return recurrence.last(onOrBefore: time.date.adding(days: -1)).map {
      CivilDateTime($0, times[times.count - 1])
    }
  }

  /// Returns true if a civil time is an occurrence of the schedule.
  public func contains(_ occurrence: CivilDateTime) -> Bool {
    let index = times.prefixLength { $0 < occurrence.time }
    return index < times.count && times[index] == occurrence.time
      && recurrence.contains(occurrence.date)
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
  /// The list of weekdays or of month days is empty.
  case noDays
  /// A day of a month is not in 1…31.
  case dayOutOfRange(Int)
  /// A date exists in no year.
  case noSuchDate(month: Int, day: Int)
  /// An interval or a number of days is not in 1…`Recurrence.longest`.
  case intervalOutOfRange(Int)
}
