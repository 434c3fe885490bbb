/// When an alarm comes: a rule over civil dates, and one or more times of day.
///
/// Occurrences are always computed from the rule, never from the one before, so that short months
/// and leap years clamp without drifting.
public struct Schedule: Hashable, Sendable {
  /// Its lists ascending, each element once.
  public let recurrence: Recurrence
  /// Times of day, ascending, each once, at least one.
  public let times: [CivilTime]

  /// Throws `ScheduleError` when the parts do not make a schedule.
  public init(_ recurrence: Recurrence, times: [CivilTime]) throws(ScheduleError) {
    guard !times.isEmpty else { throw .noTimes }
    guard times.count <= Schedule.mostTimes else { throw .tooManyTimes(times.count) }
    try recurrence.validate()
    self.recurrence = recurrence.normalized
    self.times = Set(times).sorted()
    if case .once = recurrence, self.times.count > 1 { throw .onceAtSeveralTimes }
  }

  /// One a minute, all day.
  public static let mostTimes = 1_440

  /// The first occurrence later than `occurrence`; nil when there is none.
  public func next(after occurrence: CivilDateTime) -> CivilDateTime? {
    let following = times.prefixLength { $0 <= occurrence.time }
    if following < times.count, recurrence.contains(occurrence.date) {
      return CivilDateTime(occurrence.date, times[following])
    }
    return recurrence.first(onOrAfter: occurrence.date.adding(days: 1)).map {
      CivilDateTime($0, times[0])
    }
  }

  /// The first occurrence at or later than a wall-clock time; nil when there is none.
  public func first(onOrAfter time: CivilDateTime) -> CivilDateTime? {
    next(after: CivilDateTime(minuteNumber: time.minuteNumber - 1))
  }

  /// The last occurrence at or before a wall-clock time; nil when there is none.
  public func last(onOrBefore time: CivilDateTime) -> CivilDateTime? {
    let count = times.prefixLength { $0 <= time.time }
    if count > 0, recurrence.contains(time.date) {
      return CivilDateTime(time.date, times[count - 1])
    }
    return recurrence.last(onOrBefore: time.date.adding(days: -1)).map {
      CivilDateTime($0, times[times.count - 1])
    }
  }

  public func contains(_ occurrence: CivilDateTime) -> Bool {
    let index = times.prefixLength { $0 < occurrence.time }
    return index < times.count && times[index] == occurrence.time
      && recurrence.contains(occurrence.date)
  }
}

/// Why parts do not make a schedule.
public enum ScheduleError: Error, Equatable, Sendable {
  case noTimes
  case tooManyTimes(Int)
  case onceAtSeveralTimes
  case noDays
  case dayOutOfRange(Int)
  case noSuchDate(month: Int, day: Int)
  case intervalOutOfRange(Int)
}
