// The dates of a rule, computed from its cycles (days, weeks, months or years).

extension Recurrence {
  /// Returns the first date of the rule at or after `date`; nil if there is none up to the year 9999.
  ///
  /// - Precondition: The rule is neither `afterDone`, whose dates follow from completions, nor `elapsed`, whose dates
  ///   follow from its times.
  public func first(onOrAfter date: CivilDate, in calendar: WorkCalendar) -> CivilDate? {
    guard let cadence else {
      switch self {
      case .once(let only) where only >= date: return only
      case .dates(let dates): return dates.first { $0 >= date }
      default: return nil
      }
    }
    let from = max(date, cadence.start)
    guard from.year <= CivilDate.years.upperBound else { return nil }
    // The cycle that contains `from` may have no date left, and some months have no fifth Friday.
    var cycle = cycleNumber(of: from).roundedUp(toMultipleOf: cadence.interval)
    while cycleIsInRange(cycle) {
      if let day = dates(inCycle: cycle, calendar).first(where: { $0 >= from }) {
        return day.year <= CivilDate.years.upperBound ? day : nil
      }
      cycle += cadence.interval
    }
    return nil
  }

  /// Returns the last date of the rule at or before `date`; nil if there is none.
  ///
  /// - Precondition: The rule is neither `afterDone` nor `elapsed`.
  func last(onOrBefore date: CivilDate, in calendar: WorkCalendar) -> CivilDate? {
    guard let cadence else {
      switch self {
      case .once(let only) where only <= date: return only
      case .dates(let dates): return dates.last { $0 <= date }
      default: return nil
      }
    }
    guard date >= cadence.start else { return nil }
    var cycle = cycleNumber(of: date)
    cycle -= cycle % cadence.interval
    while cycle >= 0 {
      if let day = dates(inCycle: cycle, calendar).last(where: { $0 <= date }) {
        return day >= cadence.start ? day : nil
      }
      cycle -= cadence.interval
    }
    return nil
  }

  /// Returns the number of cycles (days, weeks, months or years) from that of `start` to that of a date.
  private func cycleNumber(of date: CivilDate) -> Int {
    switch self {
    case .once, .dates, .elapsed, .afterDone: 0
    case .daily(let cadence): date.dayNumber - cadence.start.dayNumber
    case .weekly(_, let cadence): date.weekNumber - cadence.start.weekNumber
    case .monthly(_, let cadence): date.monthNumber - cadence.start.monthNumber
    case .annual(_, _, let cadence): date.year - cadence.start.year
    case .days(let count, let cadence):
      (date.dayNumber - cadence.start.dayNumber + count - 1).floorDivided(by: count)
    case .cyclic(let on, let off, let start):
      (date.dayNumber - start.dayNumber).floorDivided(by: on + off)
    }
  }

  /// Returns true if a cycle may start before the end of the year 9999, by a lower bound of its start.
  private func cycleIsInRange(_ cycle: Int) -> Bool {
    guard let cadence else { return false }
    let days =
      switch self {
      case .once, .daily, .dates, .elapsed, .afterDone: cycle
      case .weekly: cycle * 7
      case .monthly: cycle * 28
      case .annual: cycle * 365
      case .days(let count, _): cycle * count
      case .cyclic(let on, let off, _): cycle * (on + off)
      }
    return cadence.start.dayNumber + days <= CivilDate.latest.dayNumber
  }

  /// Returns the dates of the rule in one cycle, in ascending order without duplicates.
  private func dates(inCycle cycle: Int, _ calendar: WorkCalendar) -> [CivilDate] {
    switch self {
    case .once(let date): return [date]
    case .dates, .elapsed, .afterDone: return []
    case .daily(let cadence): return [cadence.start.adding(days: cycle)]
    case .days(let count, let cadence): return [cadence.start.adding(days: cycle * count)]
    case .cyclic(let on, let off, let start):
      let first = start.adding(days: cycle * (on + off))
      return (0..<on).map { first.adding(days: $0) }
    case .weekly(let weekdays, let cadence):
      let monday = CivilDate(weekNumber: cadence.start.weekNumber + cycle)
      return weekdays.map { monday.adding(days: $0.rawValue) }
    case .monthly(let days, let cadence):
      return Recurrence.dates(days, inMonth: cadence.start.monthNumber + cycle, calendar)
    case .annual(let months, let days, let cadence):
      let january = (cadence.start.year + cycle) * 12
      return months.flatMap { Recurrence.dates(days, inMonth: january + $0 - 1, calendar) }
    }
  }

  /// Returns the dates of the days in a month, in ascending order without duplicates.
  private static func dates(
    _ days: [MonthDay], inMonth month: Int, _ calendar: WorkCalendar
  ) -> [CivilDate] {
    let (first, length) = CivilDate.month(month)
    let dates = days.compactMap { $0.date(inMonth: first, length: length, calendar) }
    return dates.count > 1 ? Set(dates).sorted() : dates
  }
}

extension Int {
  /// Returns the smallest multiple of `step` that is not less than this number, which must not be negative.
  fileprivate func roundedUp(toMultipleOf step: Int) -> Int {
    (self + step - 1) / step * step
  }
}

extension CivilDate {
  /// The number of weeks since Monday, 1969-12-29.
  fileprivate var weekNumber: Int { (dayNumber + 3).floorDivided(by: 7) }

  fileprivate init(weekNumber: Int) {
    self.init(dayNumber: weekNumber * 7 - 3)
  }

  /// The number of months since January of the year 0.
  var monthNumber: Int {
    let (year, month, _) = components
    return year * 12 + month - 1
  }

  /// Returns the first day of a month and its length in days.
  static func month(_ number: Int) -> (first: CivilDate, length: Int) {
    let year = number.floorDivided(by: 12)
    let month = number.floorRemainder(by: 12) + 1
    return (
      CivilDate(year: year, month: month, day: 1), CivilDate.length(ofMonth: month, year: year)
    )
  }
}
