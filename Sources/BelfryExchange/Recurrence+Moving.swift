import BelfryCore

extension Recurrence {
  /// Returns the recurrence whose dates are a number of days after those of this one; nil if there is none.
  func moved(byDays days: Int) -> Recurrence? {
    guard days != 0 else { return self }
    if case .elapsed(let minutes, let start) = self {
      return .elapsed(minutes: minutes, start: start.adding(days: days))
    }
    guard let result = shifted(byDays: days) else { return nil }
    // The shift of a rule by months is not the same in all months and for all intervals, so its dates are compared.
    var (a, b) = (CivilDate.earliest, CivilDate.earliest)
    for _ in 0..<Recurrence.comparedDates {
      let date = first(onOrAfter: a, in: .standard)
      let moved = result.first(onOrAfter: b, in: .standard)
      guard date?.adding(days: days) == moved else { return nil }
      guard let date, let moved else { break }
      (a, b) = (date.adding(days: 1), moved.adding(days: 1))
    }
    return result
  }

  /// The number of dates that are compared. Monthly rules need those of more than eight years.
  private static let comparedDates = 150

  private func shifted(byDays days: Int) -> Recurrence? {
    // Counted from its first date, the rule has the same cycles.
    guard let first = first(onOrAfter: .earliest, in: .standard) else { return nil }
    func moved(_ cadence: Cadence) -> Cadence {
      Cadence(interval: cadence.interval, start: first.adding(days: days))
    }
    switch self {
    case .once(let date): return .once(date.adding(days: days))
    case .daily(let cadence): return .daily(moved(cadence))
    case .days(let count, let cadence): return .days(count, moved(cadence))
    case .cyclic(let on, let off, let start):
      return .cyclic(on: on, off: off, start: start.adding(days: days))
    case .dates(let dates): return .dates(dates.map { $0.adding(days: days) })
    case .weekly(let weekdays, let cadence):
      let all = Weekday.allCases
      return .weekly(
        weekdays.map { all[(($0.rawValue + days) % 7 + 7) % 7] }.sorted(), moved(cadence))
    case .monthly(let monthDays, let cadence):
      let moved = monthDays.compactMap { $0.moved(byDays: days) }
      return moved.count == monthDays.count
        ? .monthly(moved, Cadence(interval: cadence.interval, start: first.adding(days: days)))
        : nil
    case .annual(let months, let monthDays, let cadence):
      if months.count == 1, case .day(let day) = monthDays[0], monthDays.count == 1,
        (months[0], day) != (2, 29)
      {
        // The shifted date can be the same in leap years and common years.
        let dates = [2000, 2001].map { year in
          CivilDate(year: year, month: months[0], day: day).adding(days: days)
        }
        if dates[0].month == dates[1].month, dates[0].day == dates[1].day {
          return .annual(months: [dates[0].month], [.day(dates[0].day)], moved(cadence))
        }
      }
      let moves = monthDays.map { $0.isMonthChanged(byDays: days) }
      let shifted = monthDays.compactMap { $0.moved(byDays: days) }
      guard shifted.count == monthDays.count, Set(moves).count == 1, let isChanged = moves.first
      else { return nil }
      let step = isChanged ? days.signum() : 0
      return .annual(months: months.map { ($0 + 11 + step) % 12 + 1 }, shifted, moved(cadence))
    case .elapsed, .afterDone: return nil
    }
  }

  /// Returns the recurrence without the dates before another one, which must be one of its dates.
  func starting(on date: CivilDate) -> Recurrence {
    func moved(_ cadence: Cadence) -> Cadence { Cadence(interval: cadence.interval, start: date) }
    switch self {
    // No rule of iCalendar is one of these.
    case .once, .dates, .cyclic, .afterDone: return self
    case .elapsed(let minutes, _): return .elapsed(minutes: minutes, start: date)
    case .daily(let cadence): return .daily(moved(cadence))
    case .days(let count, let cadence): return .days(count, moved(cadence))
    case .weekly(let days, let cadence): return .weekly(days, moved(cadence))
    case .monthly(let days, let cadence): return .monthly(days, moved(cadence))
    case .annual(let months, let days, let cadence):
      return .annual(months: months, days, moved(cadence))
    }
  }
}

extension Recurrence.MonthDay {
  /// Returns the day of a month, or of the month before or after, that is a number of days later; nil if that depends
  /// on the month.
  fileprivate func moved(byDays days: Int) -> Recurrence.MonthDay? {
    switch self {
    // Belfry's day 31 is the last day of every month.
    case .day(31): return Self.fromEnd(1).moved(byDays: days)
    case .day(let number) where number <= 28 && number + days <= 28:
      return number + days >= 1 ? .day(number + days) : Self.fromEnd(1 - number - days).valid
    case .fromEnd(let number) where number <= 28 && number - days <= 28:
      return number - days >= 1 ? .fromEnd(number - days) : Self.day(1 - number + days).valid
    case .day, .fromEnd, .weekday, .workday: return nil
    }
  }

  /// Returns true if a day that is a number of days later is in another month.
  fileprivate func isMonthChanged(byDays days: Int) -> Bool {
    switch self {
    case .day(31): days > 0
    case .day(let number): number + days < 1
    case .fromEnd(let number): number - days < 1
    case .weekday, .workday: false
    }
  }

  /// The day, if every month has it.
  private var valid: Recurrence.MonthDay? {
    switch self {
    case .day(let number), .fromEnd(let number): number <= 28 ? self : nil
    case .weekday, .workday: nil
    }
  }
}
