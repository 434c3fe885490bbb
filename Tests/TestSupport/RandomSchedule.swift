import BelfryCore

extension Schedule {
  /// Returns a random schedule of any kind except `afterDone`, with random limits.
  public static func random(_ random: inout SeededGenerator) throws(ScheduleError) -> Schedule {
    let start = CivilDate(dayNumber: random.int(20_000...21_500))
    let cadence = Recurrence.Cadence(interval: random.int(1...4), start: start)
    let recurrence: Recurrence =
      switch random.int(0...9) {
      case 0: .once(start.adding(days: random.int(0...400)))
      case 1: .daily(cadence)
      case 2: .weekly(Weekday.allCases.filter { _ in random.one(in: 3) } + [.sunday], cadence)
      case 3, 4: .monthly(Recurrence.MonthDay.random(&random), cadence)
      case 5:
        .annual(
          months: (0...random.int(0...3)).map { _ in random.int(1...12) },
          Recurrence.MonthDay.random(&random, maxDay: 28), cadence)
      case 6: .cyclic(on: random.int(1...25), off: random.int(1...12), start: start)
      case 7:
        .dates(
          (0...random.int(1...20)).map { _ in start.adding(days: random.int(0...800)) } + [start])
      // Distances that divide a day have phrases of their own.
      case 8: .elapsed(minutes: random.pick([7, 11, 25, 36, 100]) * 60, start: start)
      default: .days(random.int(1...40), cadence)
      }
    var times = [CivilTime(hour: random.int(0...23), minute: random.int(0...59))!]
    if case .elapsed = recurrence {
      var limits = Schedule.Limits.random(&random, start)
      if limits.onHoliday != nil { limits.onHoliday = .skip }
      return try Schedule(recurrence, times: times, limits: limits)
    }
    guard case .once = recurrence else {
      if random.one(in: 10) {
        let from = CivilTime(hour: random.int(6...12), minute: random.int(0...59))!
        let to = CivilTime(hour: random.int(13...19), minute: random.int(0...59))!
        let window = TimeWindow(
          from: from, to: to, interval: random.pick([30, 60, 90, 120, 180]))!
        return try Schedule(recurrence, times: window.times, limits: .random(&random, start))
      }
      if random.one(in: 2) {
        times.append(CivilTime(hour: random.int(0...23), minute: random.int(0...59))!)
      }
      return try Schedule(recurrence, times: times, limits: .random(&random, start))
    }
    return try Schedule(recurrence, times: times)
  }
}

extension Recurrence.MonthDay {
  static func random(_ random: inout SeededGenerator, maxDay: Int = 31) -> [Self] {
    (0...random.int(0...2)).map { _ in
      switch random.int(0...5) {
      case 0: .last
      case 1: .fromEnd(random.int(1...31))
      case 2: .weekday(random.pick([1, 2, 3, 4, 5, -1, -2, -5]), random.pick(Weekday.allCases))
      case 3: .workday(random.pick([1, 2, 10, 20, 23, -1, -3]))
      default: .day(random.int(1...maxDay))
      }
    }
  }
}

extension Schedule.Limits {
  fileprivate static func random(
    _ random: inout SeededGenerator, _ start: CivilDate
  ) -> Schedule.Limits {
    var limits = Schedule.Limits.none
    if random.one(in: 3) {
      let last = start.adding(days: random.int(0...1200))
      limits.until =
        random.one(in: 2)
        ? Schedule.Limits.end(of: last)
        : CivilDateTime(last, CivilTime(hour: random.int(0...23), minute: random.int(0...59))!)
    }
    if random.one(in: 3) {
      limits.exceptions = (0...random.int(0...20)).map { _ in
        start.adding(days: random.int(-10...1400))
      }
    }
    if random.one(in: 6) { limits.months = (0...random.int(0...4)).map { _ in random.int(1...12) } }
    if random.one(in: 3) { limits.onHoliday = random.pick(Schedule.HolidayRule.allCases) }
    return limits
  }
}

extension WorkCalendar {
  /// Returns random working days and holidays within about four years of the schedules' starts.
  public static func random(_ random: inout SeededGenerator) -> WorkCalendar {
    var workdays = WorkCalendar.defaultWorkdays
    if random.one(in: 3) {
      workdays = WeekdaySet(Weekday.allCases.filter { _ in random.one(in: 2) } + [.wednesday])
    }
    // Some rows of holidays are so long that they exhaust the search for a working day.
    var holidays: [CivilDate] = []
    for _ in 0..<random.int(0...60) {
      let first = CivilDate(dayNumber: random.int(19_900...23_200))
      let length = random.one(in: 12) ? random.int(20...40) : random.int(1...4)
      holidays += (0..<length).map { first.adding(days: $0) }
    }
    return WorkCalendar(workdays: workdays, holidays: holidays)
  }
}

/// The occurrences of a schedule by its definition: a check of each single day, without cycles or steps.
public struct DayByDay {
  private let schedule: Schedule
  private let calendar: WorkCalendar

  /// Creates the occurrences of a schedule that does not follow completions.
  public init(_ schedule: Schedule, _ calendar: WorkCalendar) {
    self.schedule = schedule
    self.calendar = calendar
  }

  /// Returns the occurrences on the days of a range.
  public func occurrences(in range: Range<CivilDate>) -> [CivilDateTime] {
    if case .elapsed(let minutes, let start) = schedule.recurrence {
      return minuteByMinute(minutes, from: CivilDateTime(start, schedule.times[0]), in: range)
    }
    var dates: Set<CivilDate> = []
    // A move covers at most 31 days.
    var day = range.lowerBound.adding(days: -31)
    while day < range.upperBound.adding(days: 31) {
      if isOn(day), let moved = moved(day) { dates.insert(moved) }
      day = day.adding(days: 1)
    }
    return dates.filter { range.contains($0) && isAllowed($0) }.sorted()
      .flatMap { date in schedule.times.map { CivilDateTime(date, $0) } }
      .filter { occurrence in schedule.limits.until.map { occurrence <= $0 } ?? true }
  }

  private func minuteByMinute(
    _ distance: Int, from first: CivilDateTime, in range: Range<CivilDate>
  ) -> [CivilDateTime] {
    var result: [CivilDateTime] = []
    var moment = first
    while moment.date < range.upperBound {
      let isOmitted =
        !isAllowed(moment.date)
        || (schedule.limits.onHoliday == .skip && calendar.holidays.contains(moment.date))
      if range.contains(moment.date), !isOmitted,
        schedule.limits.until.map({ moment <= $0 }) ?? true
      {
        result.append(moment)
      }
      moment = CivilDateTime(minuteNumber: moment.minuteNumber + distance)
    }
    return result
  }

  private func isAllowed(_ day: CivilDate) -> Bool {
    let months = schedule.limits.months
    return !schedule.limits.exceptions.contains(day)
      && (months.isEmpty || months.contains(day.month))
  }

  private func moved(_ day: CivilDate) -> CivilDate? {
    guard let rule = schedule.limits.onHoliday, calendar.holidays.contains(day) else { return day }
    if rule == .skip { return nil }
    for distance in 1...31 {
      let other = day.adding(days: rule == .before ? -distance : distance)
      if isWorkday(other) { return other }
    }
    return day
  }

  private func isWorkday(_ day: CivilDate) -> Bool {
    calendar.workdays.contains(day.weekday) && !calendar.holidays.contains(day)
  }

  private func isOn(_ day: CivilDate) -> Bool {
    if case .dates(let dates) = schedule.recurrence { return dates.contains(day) }
    guard let cadence = schedule.recurrence.cadence else {
      return schedule.recurrence == .once(day)
    }
    let start = cadence.start
    guard day >= start else { return false }
    let days = day.dayNumber - start.dayNumber
    let months = (day.year - start.year) * 12 + day.month - start.month
    func monday(_ date: CivilDate) -> Int { date.dayNumber - date.weekday.rawValue }
    switch schedule.recurrence {
    case .once, .dates, .elapsed, .afterDone: return false
    case .cyclic(let on, let off, _): return days % (on + off) < on
    case .daily: return days % cadence.interval == 0
    case .days(let count, _): return days % (count * cadence.interval) == 0
    case .weekly(let weekdays, _):
      let weeks = (monday(day) - monday(start)) / 7
      return weekdays.contains(day.weekday) && weeks % cadence.interval == 0
    case .monthly(let wanted, _):
      return months % cadence.interval == 0 && wanted.contains { isOn(day, $0) }
    case .annual(let wantedMonths, let wanted, _):
      return (day.year - start.year) % cadence.interval == 0 && wantedMonths.contains(day.month)
        && wanted.contains { isOn(day, $0) }
    }
  }

  private func isOn(_ day: CivilDate, _ wanted: Recurrence.MonthDay) -> Bool {
    let length = CivilDate.length(ofMonth: day.month, year: day.year)
    /// Returns the position of the day among those of its month that satisfy a condition, from the start or the end.
    func position(_ ordinal: Int, _ condition: (CivilDate) -> Bool) -> Bool {
      guard condition(day) else { return false }
      let others = (1...length).map { CivilDate(year: day.year, month: day.month, day: $0) }
      return ordinal > 0
        ? others.count { $0 <= day && condition($0) } == ordinal
        : others.count { $0 >= day && condition($0) } == -ordinal
    }
    switch wanted {
    case .day(let number): return day.day == min(number, length)
    case .fromEnd(let number): return day.day == max(length - number + 1, 1)
    case .weekday(let ordinal, let weekday): return position(ordinal) { $0.weekday == weekday }
    case .workday(let ordinal): return position(ordinal, isWorkday)
    }
  }
}
