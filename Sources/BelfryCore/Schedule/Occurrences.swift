/// The occurrences of a schedule, in a calendar of working days and holidays.
///
/// Each occurrence is computed from the rule, never from the previous occurrence, so that clamping to short months and
/// leap years does not cause drift. A schedule that follows completions has its next occurrence a period after the
/// latest completion; until it is done, it recurs every day.
public struct Occurrences: Sendable {
  private let recurrence: Recurrence
  private let times: [CivilTime]
  private let limits: Schedule.Limits
  private let calendar: WorkCalendar

  /// Creates the occurrences of a schedule.
  ///
  /// - Parameters:
  ///   - completed: The date of the latest completion, for a schedule that follows completions; nil if there was none.
  ///   - earliest: For such a schedule, a date from which it recurs at the latest; nil for no such date.
  public init(
    _ schedule: Schedule, in calendar: WorkCalendar, completed: CivilDate? = nil,
    from earliest: CivilDate? = nil
  ) {
    times = schedule.times
    limits = schedule.limits
    self.calendar = calendar
    if case .afterDone(let period, let origin) = schedule.recurrence {
      let counting = completed.flatMap { date in
        origin.completionsAfter.map { date > $0 } ?? true ? date : nil
      }
      let start = counting?.adding(period) ?? origin.start
      recurrence = .daily(.init(start: min(start, earliest ?? start)))
    } else {
      recurrence = schedule.recurrence
    }
  }

  /// Returns the first occurrence after another civil time; nil if there is none.
  public func next(after moment: CivilDateTime) -> CivilDateTime? {
    let next = following(moment)
    assert(next.map { $0 > moment } ?? true, "the next occurrence is later")
    assert(next.map(contains) ?? true, "the next occurrence is one of the schedule")
    return next
  }

  private func following(_ moment: CivilDateTime) -> CivilDateTime? {
    if let grid {
      var number = max(grid.number(upTo: moment) + 1, 0)
      while let next = grid[number].flatMap(limited) {
        guard isOmitted(next.date) else { return next }
        number = grid.number(upTo: CivilDateTime(next.date, Schedule.Limits.endOfDay)) + 1
      }
      return nil
    }
    let following = times.prefixLength { $0 <= moment.time }
    if following < times.count, isDate(moment.date) {
      return limited(CivilDateTime(moment.date, times[following]))
    }
    return firstDate(onOrAfter: moment.date.adding(days: 1)).flatMap {
      limited(CivilDateTime($0, times[0]))
    }
  }

  /// Returns the first occurrence at or after a civil time; nil if there is none.
  public func first(onOrAfter moment: CivilDateTime) -> CivilDateTime? {
    next(after: CivilDateTime(minuteNumber: moment.minuteNumber - 1))
  }

  /// Returns the last occurrence at or before a civil time; nil if there is none.
  public func last(onOrBefore moment: CivilDateTime) -> CivilDateTime? {
    let last = preceding(moment)
    assert(last.map { $0 <= moment } ?? true, "the last occurrence is not later")
    assert(
      last.map { $0.date.year >= CivilDate.years.upperBound || contains($0) } ?? true,
      "the last occurrence is one of the schedule")
    return last
  }

  private func preceding(_ moment: CivilDateTime) -> CivilDateTime? {
    let moment = min(moment, limits.until ?? moment)
    if let grid {
      var number = grid.number(upTo: moment)
      while let last = grid[number] {
        guard isOmitted(last.date) else { return last }
        number = grid.number(
          upTo: CivilDateTime(last.date.adding(days: -1), Schedule.Limits.endOfDay))
      }
      return nil
    }
    let count = times.prefixLength { $0 <= moment.time }
    if count > 0, isDate(moment.date) { return CivilDateTime(moment.date, times[count - 1]) }
    return lastDate(onOrBefore: moment.date.adding(days: -1)).map {
      CivilDateTime($0, times[times.count - 1])
    }
  }

  /// Returns true if a civil time is an occurrence.
  public func contains(_ moment: CivilDateTime) -> Bool {
    if let grid {
      return grid[grid.number(upTo: moment)] == moment && limited(moment) != nil
        && !isOmitted(moment.date)
    }
    return times.containsSorted(moment.time) && limited(moment) != nil && isDate(moment.date)
  }

  private func limited(_ occurrence: CivilDateTime) -> CivilDateTime? {
    limits.until.map { occurrence <= $0 } ?? true ? occurrence : nil
  }

  // MARK: Times at equal distances

  /// The times at equal distances from a first one; nil for a rule of dates.
  private var grid: Grid? {
    guard case .elapsed(let minutes, let start) = recurrence else { return nil }
    return Grid(first: CivilDateTime(start, times[0]), minutes: minutes)
  }

  private struct Grid {
    let first: CivilDateTime
    /// The distance from one to the next.
    let minutes: Int

    /// Returns the number of the last one at or before a time; negative if all are later.
    func number(upTo moment: CivilDateTime) -> Int {
      (moment.minuteNumber - first.minuteNumber).floorDivided(by: minutes)
    }

    /// Returns the one with a number from 0 on; nil for a negative number, or if it is after the year 9999.
    subscript(number: Int) -> CivilDateTime? {
      guard number >= 0 else { return nil }
      let moment = CivilDateTime(minuteNumber: first.minuteNumber + number * minutes)
      return moment.date.year <= CivilDate.years.upperBound ? moment : nil
    }
  }

  // MARK: Dates

  /// The direction in which occurrences on holidays move; nil if none moves.
  private var step: Int? {
    switch limits.onHoliday {
    case .before where !calendar.holidays.isEmpty: -1
    case .after where !calendar.holidays.isEmpty: 1
    case .before, .after, .skip, nil: nil
    }
  }

  private func isDate(_ date: CivilDate) -> Bool { firstDate(onOrAfter: date) == date }

  private func isOmitted(_ date: CivilDate) -> Bool {
    limits.exceptions.containsSorted(date)
      || (!limits.months.isEmpty && !limits.months.contains(date.month))
      || (limits.onHoliday == .skip && calendar.isHoliday(date))
  }

  private func firstDate(onOrAfter date: CivilDate) -> CivilDate? {
    func rule(_ date: CivilDate) -> CivilDate? { recurrence.first(onOrAfter: date, in: calendar) }
    guard let step else {
      var day = rule(date)
      while let omitted = day, isOmitted(omitted) { day = rule(omitted.adding(days: 1)) }
      return day
    }
    // Moved dates are not always in the order of the rule's: a holiday on Friday can move past a Saturday.
    var earliest: CivilDate?
    var day = rule(date.adding(days: -WorkCalendar.maxShift))
    while let unmoved = day, unmoved <= earliest?.adding(days: WorkCalendar.maxShift) ?? unmoved {
      let moved = calendar.workday(besideHoliday: unmoved, step: step)
      if moved >= date, !isOmitted(moved) { earliest = min(earliest ?? moved, moved) }
      day = rule(unmoved.adding(days: 1))
    }
    return earliest
  }

  private func lastDate(onOrBefore date: CivilDate) -> CivilDate? {
    func rule(_ date: CivilDate) -> CivilDate? { recurrence.last(onOrBefore: date, in: calendar) }
    guard let step else {
      var day = rule(date)
      while let omitted = day, isOmitted(omitted) { day = rule(omitted.adding(days: -1)) }
      return day
    }
    var latest: CivilDate?
    var day = rule(date.adding(days: WorkCalendar.maxShift))
    while let unmoved = day, unmoved >= latest?.adding(days: -WorkCalendar.maxShift) ?? unmoved {
      let moved = calendar.workday(besideHoliday: unmoved, step: step)
      if moved <= date, !isOmitted(moved) { latest = max(latest ?? moved, moved) }
      day = rule(unmoved.adding(days: -1))
    }
    return latest
  }
}
