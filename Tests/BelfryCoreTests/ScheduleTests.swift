import BelfryCore
import TestSupport
import Testing

func civil(_ text: String) -> CivilDateTime { CivilDateTime(text)! }
func date(_ text: String) -> CivilDate { CivilDate(text)! }
func time(_ text: String) -> CivilTime { CivilTime(text)! }
func instant(_ text: String) -> Instant { Instant(rfc3339: text)! }

func schedule(_ recurrence: Recurrence, _ times: String...) throws -> Schedule {
  try Schedule(recurrence, times: times.map(time))
}

@Suite struct ScheduleTests {
  /// 2026-11-23 is a Monday.
  @Test func aWeeklyScheduleBeforeItsTimeIsToday() throws {
    let weekly = try schedule(.weekly([.monday], .init(start: date("2026-11-20"))), "09:00")
    #expect(weekly.next(after: civil("2026-11-23T08:00")) == civil("2026-11-23T09:00"))
  }

  @Test func aWeeklyScheduleAfterItsTimeIsNextWeek() throws {
    let weekly = try schedule(.weekly([.monday], .init(start: date("2026-11-20"))), "09:00")
    #expect(weekly.next(after: civil("2026-11-23T10:00")) == civil("2026-11-30T09:00"))
    #expect(weekly.next(after: civil("2026-11-23T09:00")) == civil("2026-11-30T09:00"))
  }

  @Test func theMonthly31stIsClampedAndDoesNotDrift() throws {
    let monthly = try schedule(.monthly([.day(31)], .init(start: date("2026-01-01"))), "09:00")
    let february = try #require(monthly.next(after: civil("2026-01-31T09:00")))
    #expect(february == civil("2026-02-28T09:00"))
    #expect(monthly.next(after: february) == civil("2026-03-31T09:00"))
  }

  @Test func anAnnualLeapDayIsClampedAndReturns() throws {
    let annual = try schedule(.annual(month: 2, day: 29, .init(start: date("2028-01-01"))), "09:00")
    var found: [String] = []
    var last = civil("2028-03-01T00:00")
    for _ in 0..<4 {
      last = try #require(annual.next(after: last))
      found.append("\(last.date)")
    }
    #expect(found == ["2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"])
  }

  @Test func theLastFridayOfFebruaryIsFound() throws {
    let monthly = try schedule(
      .monthlyWeekday(.last, .friday, .init(start: date("2026-01-01"))), "09:00")
    #expect(monthly.next(after: civil("2026-02-01T00:00")) == civil("2026-02-27T09:00"))
  }

  @Test(arguments: [
    (Recurrence.Ordinal.first, Weekday.monday, "2026-12-07"), (.second, .tuesday, "2026-12-08"),
    (.third, .wednesday, "2026-12-16"), (.fourth, .thursday, "2026-12-24"),
    (.last, .thursday, "2026-12-31"),
  ])
  func theOrdinalWeekdayOfDecemberIsFound(
    _ ordinal: Recurrence.Ordinal, _ day: Weekday, _ expected: String
  ) throws {
    let monthly = try schedule(
      .monthlyWeekday(ordinal, day, .init(start: date("2026-12-01"))), "09:00")
    #expect(monthly.next(after: civil("2026-12-01T00:00"))?.date == date(expected))
  }

  /// Friday 2026-11-20 starts the count: its week, and every second week after it.
  @Test func everyTwoWeeksStaysInPhaseWithTheStart() throws {
    let weekly = try schedule(
      .weekly([.friday], .init(interval: 2, start: date("2026-11-20"))), "09:00")
    for (after, expected) in [
      ("2026-11-20T08:00", "2026-11-20"), ("2026-11-20T09:00", "2026-12-04"),
      ("2026-11-29T00:00", "2026-12-04"), ("2026-12-05T00:00", "2026-12-18"),
      ("2031-06-15T12:00", "2031-06-27"),
    ] {
      #expect(weekly.next(after: civil(after))?.date == date(expected), "after \(after)")
    }
  }

  @Test func daysThatAreClampedToOneFireOnce() throws {
    let monthly = try schedule(
      .monthly([.day(30), .day(31), .last], .init(start: date("2026-02-01"))), "09:00")
    #expect(monthly.next(after: civil("2026-02-01T00:00")) == civil("2026-02-28T09:00"))
    #expect(monthly.next(after: civil("2026-02-28T09:00")) == civil("2026-03-30T09:00"))
  }

  @Test func aScheduleHasSeveralTimesADay() throws {
    let daily = try schedule(.daily(.init(start: date("2026-11-20"))), "17:00", "09:00", "12:00")
    #expect(daily.next(after: civil("2026-11-21T09:00")) == civil("2026-11-21T12:00"))
    #expect(daily.next(after: civil("2026-11-21T17:00")) == civil("2026-11-22T09:00"))
  }

  @Test func noOccurrenceIsBeforeTheStart() throws {
    let daily = try schedule(.days(7, .init(start: date("2026-12-01"))), "09:00")
    #expect(daily.next(after: civil("2026-11-01T00:00")) == civil("2026-12-01T09:00"))
    #expect(daily.last(onOrBefore: civil("2026-11-30T00:00")) == nil)
    #expect(daily.last(onOrBefore: civil("2026-12-14T00:00")) == civil("2026-12-08T09:00"))
  }

  @Test func aOneTimeScheduleHasOneOccurrence() throws {
    let once = try schedule(.once(date("2026-12-24")), "18:00")
    #expect(once.next(after: civil("2026-11-01T00:00")) == civil("2026-12-24T18:00"))
    #expect(once.next(after: civil("2026-12-24T18:00")) == nil)
  }

  @Test func invalidSchedulesAreRefused() {
    let cadence = Recurrence.Cadence(start: date("2026-11-20"))
    #expect(throws: ScheduleError.noTimes) { try Schedule(.daily(cadence), times: []) }
    #expect(throws: ScheduleError.noDays) { try schedule(.weekly([], cadence), "09:00") }
    #expect(throws: ScheduleError.dayOutOfRange(32)) {
      try schedule(.monthly([.day(32)], cadence), "09:00")
    }
    #expect(throws: ScheduleError.noSuchDate(month: 2, day: 30)) {
      try schedule(.annual(month: 2, day: 30, cadence), "09:00")
    }
    #expect(throws: ScheduleError.intervalOutOfRange(0)) {
      try schedule(.daily(.init(interval: 0, start: date("2026-11-20"))), "09:00")
    }
    #expect(throws: ScheduleError.onceAtSeveralTimes) {
      try schedule(.once(date("2026-11-20")), "09:00", "10:00")
    }
  }
}

/// Random schedules, compared with a check of each single day that does not use cycles or steps.
@Suite struct ScheduleLaws {
  private func random(_ random: inout SeededGenerator) throws -> Schedule {
    let start = CivilDate(dayNumber: random.int(20_000...21_500))
    let cadence = Recurrence.Cadence(interval: random.int(1...4), start: start)
    let recurrence: Recurrence =
      switch random.int(0...6) {
      case 0: .once(start.adding(days: random.int(0...400)))
      case 1: .daily(cadence)
      case 2: .weekly(Weekday.allCases.filter { _ in random.one(in: 3) } + [.sunday], cadence)
      case 3:
        .monthly(
          (0...random.int(0...2)).map { _ in random.one(in: 4) ? .last : .day(random.int(1...31)) },
          cadence)
      case 4:
        .monthlyWeekday(
          random.pick(Recurrence.Ordinal.allCases), random.pick(Weekday.allCases), cadence)
      case 5: .annual(month: 2, day: random.int(27...29), cadence)
      default: .days(random.int(1...40), cadence)
      }
    var times = [CivilTime(hour: random.int(0...23), minute: random.int(0...59))!]
    if random.one(in: 2), !isOnce(recurrence) {
      times.append(CivilTime(hour: random.int(0...23), minute: random.int(0...59))!)
    }
    return try Schedule(recurrence, times: times)
  }

  private func isOnce(_ recurrence: Recurrence) -> Bool {
    if case .once = recurrence { return true }
    return false
  }

  /// Returns true if a rule includes a day, by its definition only.
  private func isOn(_ recurrence: Recurrence, _ day: CivilDate) -> Bool {
    func clamped(_ wanted: Int) -> Bool {
      day.day == min(wanted, CivilDate.length(ofMonth: day.month, year: day.year))
    }
    guard let cadence = recurrence.cadence else { return recurrence == .once(day) }
    let start = cadence.start
    guard day >= start else { return false }
    let days = day.dayNumber - start.dayNumber
    let months = (day.year - start.year) * 12 + day.month - start.month
    func monday(_ date: CivilDate) -> Int { date.dayNumber - date.weekday.rawValue }
    switch recurrence {
    case .once: return false
    case .daily: return days % cadence.interval == 0
    case .days(let count, _): return days % (count * cadence.interval) == 0
    case .weekly(let weekdays, _):
      let weeks = (monday(day) - monday(start)) / 7
      return weekdays.contains(day.weekday) && weeks % cadence.interval == 0
    case .monthly(let wanted, _):
      return months % cadence.interval == 0
        && wanted.contains { $0 == .last ? clamped(31) : $0.number.map(clamped) ?? false }
    case .monthlyWeekday(let ordinal, let weekday, _):
      let isLast = day.adding(days: 7).month != day.month
      return months % cadence.interval == 0 && day.weekday == weekday
        && (ordinal == .last ? isLast : (day.day - 1) / 7 + 1 == ordinal.rawValue)
    case .annual(let month, let wanted, _):
      return (day.year - start.year) % cadence.interval == 0 && day.month == month
        && clamped(wanted)
    }
  }

  @Test(arguments: 0..<1024 as Range<UInt64>)
  func theSequenceIncreasesFollowsTheRuleAndIsTheSameFromAnyStart(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let schedule = try random(&generator)
    let from = (schedule.recurrence.cadence?.start ?? date("2026-01-01")).adding(
      days: generator.int(-30...30))
    let begin = CivilDateTime(from, time("00:00"))
    let end = from.adding(days: 1500)

    // The sequence, from one occurrence to the next.
    var walked: [CivilDateTime] = []
    var last = begin
    while let next = schedule.next(after: last), next.date < end {
      #expect(next > last)
      walked.append(next)
      last = next
    }
    // Every day separately.
    var expected: [CivilDateTime] = []
    var day = from
    while day < end {
      if isOn(schedule.recurrence, day) {
        expected += schedule.times.map { CivilDateTime(day, $0) }.filter { $0 > begin }
      }
      day = day.adding(days: 1)
    }
    #expect(walked == expected, "seed \(seed): \(schedule.summary)")
    // Queries from every point in between, forwards and backwards.
    for _ in 0..<20 {
      let moment = CivilDateTime(
        minuteNumber: begin.minuteNumber + generator.int(0...(1400 * 1440)))
      #expect(
        schedule.next(after: moment).map { $0.date < end ? $0 : nil } ?? nil
          == expected.first { $0 > moment })
      let before = expected.last { $0 <= moment }
      if let before { #expect(schedule.last(onOrBefore: moment) == before) }
    }
  }
}

extension Recurrence.MonthDay {
  fileprivate var number: Int? {
    if case .day(let number) = self { return number }
    return nil
  }
}
