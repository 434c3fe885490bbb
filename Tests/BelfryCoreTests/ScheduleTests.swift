import TestSupport
import Testing

@testable import BelfryCore

func civil(_ text: String) -> CivilDateTime { CivilDateTime(text)! }
func date(_ text: String) -> CivilDate { CivilDate(text)! }
func time(_ text: String) -> CivilTime { CivilTime(text)! }
func instant(_ text: String) -> Instant { Instant(rfc3339: text)! }

func schedule(
  _ recurrence: Recurrence, _ times: String..., limits: Schedule.Limits = .none
) throws -> Schedule {
  try Schedule(recurrence, times: times.map(time), limits: limits)
}

/// Returns the occurrences of a schedule without holidays.
func occurrences(
  _ recurrence: Recurrence, _ times: String..., limits: Schedule.Limits = .none
) throws -> Occurrences {
  Occurrences(try Schedule(recurrence, times: times.map(time), limits: limits), in: .standard)
}

@Suite struct ScheduleTests {
  /// 2026-11-23 is a Monday.
  @Test func aWeeklyScheduleBeforeItsTimeIsToday() throws {
    let weekly = try occurrences(.weekly([.monday], .init(start: date("2026-11-20"))), "09:00")
    #expect(weekly.next(after: civil("2026-11-23T08:00")) == civil("2026-11-23T09:00"))
  }

  @Test func aWeeklyScheduleAfterItsTimeIsNextWeek() throws {
    let weekly = try occurrences(.weekly([.monday], .init(start: date("2026-11-20"))), "09:00")
    #expect(weekly.next(after: civil("2026-11-23T10:00")) == civil("2026-11-30T09:00"))
    #expect(weekly.next(after: civil("2026-11-23T09:00")) == civil("2026-11-30T09:00"))
  }

  @Test func theMonthly31stIsClampedAndDoesNotDrift() throws {
    let monthly = try occurrences(.monthly([.day(31)], .init(start: date("2026-01-01"))), "09:00")
    let february = try #require(monthly.next(after: civil("2026-01-31T09:00")))
    #expect(february == civil("2026-02-28T09:00"))
    #expect(monthly.next(after: february) == civil("2026-03-31T09:00"))
  }

  @Test func anAnnualLeapDayIsClampedAndReturns() throws {
    let annual = try occurrences(
      .annual(months: [2], [.day(29)], .init(start: date("2028-01-01"))), "09:00")
    var found: [String] = []
    var last = civil("2028-03-01T00:00")
    for _ in 0..<4 {
      last = try #require(annual.next(after: last))
      found.append("\(last.date)")
    }
    #expect(found == ["2029-02-28", "2030-02-28", "2031-02-28", "2032-02-29"])
  }

  @Test func theLastFridayOfFebruaryIsFound() throws {
    let monthly = try occurrences(
      .monthly([.weekday(-1, .friday)], .init(start: date("2026-01-01"))), "09:00")
    #expect(monthly.next(after: civil("2026-02-01T00:00")) == civil("2026-02-27T09:00"))
  }

  @Test(arguments: [
    (1, Weekday.monday, "2026-12-07"), (2, .tuesday, "2026-12-08"), (3, .wednesday, "2026-12-16"),
    (4, .thursday, "2026-12-24"), (5, .thursday, "2026-12-31"), (-1, .thursday, "2026-12-31"),
    (-2, .friday, "2026-12-18"), (-5, .tuesday, "2026-12-01"),
  ])
  func theOrdinalWeekdayOfDecemberIsFound(
    _ ordinal: Int, _ day: Weekday, _ expected: String
  ) throws {
    let monthly = try occurrences(
      .monthly([.weekday(ordinal, day)], .init(start: date("2026-12-01"))), "09:00")
    #expect(monthly.first(onOrAfter: civil("2026-12-01T00:00"))?.date == date(expected))
  }

  /// Friday 2026-11-20 starts the count: its week, and every second week after it.
  @Test func everyTwoWeeksStaysInPhaseWithTheStart() throws {
    let weekly = try occurrences(
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
    let monthly = try occurrences(
      .monthly([.day(30), .day(31), .last], .init(start: date("2026-02-01"))), "09:00")
    #expect(monthly.next(after: civil("2026-02-01T00:00")) == civil("2026-02-28T09:00"))
    #expect(monthly.next(after: civil("2026-02-28T09:00")) == civil("2026-03-30T09:00"))
  }

  @Test func aScheduleHasSeveralTimesADay() throws {
    let daily = try occurrences(.daily(.init(start: date("2026-11-20"))), "17:00", "09:00", "12:00")
    #expect(daily.next(after: civil("2026-11-21T09:00")) == civil("2026-11-21T12:00"))
    #expect(daily.next(after: civil("2026-11-21T17:00")) == civil("2026-11-22T09:00"))
  }

  @Test func noOccurrenceIsBeforeTheStart() throws {
    let daily = try occurrences(.days(7, .init(start: date("2026-12-01"))), "09:00")
    #expect(daily.next(after: civil("2026-11-01T00:00")) == civil("2026-12-01T09:00"))
    #expect(daily.last(onOrBefore: civil("2026-11-30T00:00")) == nil)
    #expect(daily.last(onOrBefore: civil("2026-12-14T00:00")) == civil("2026-12-08T09:00"))
  }

  @Test func aOneTimeScheduleHasOneOccurrence() throws {
    let once = try occurrences(.once(date("2026-12-24")), "18:00")
    #expect(once.next(after: civil("2026-11-01T00:00")) == civil("2026-12-24T18:00"))
    #expect(once.next(after: civil("2026-12-24T18:00")) == nil)
  }

  @Test(arguments: [
    ("09:00-17:00/2h", ["09:00", "11:00", "13:00", "15:00", "17:00"]),
    ("09:00-17:00/3h", ["09:00", "12:00", "15:00"]),
    ("9:30-10:30/30m", ["09:30", "10:00", "10:30"]),
    ("09:00-09:00/1h", ["09:00"]), ("/8h", ["00:00", "08:00", "16:00"]),
  ])
  func aWindowHasTimesAtADistance(_ text: String, _ times: [String]) throws {
    let window = try #require(TimeWindow(text))
    #expect(window.times.map(\.description) == times)
    #expect(TimeWindow(window.description) == window)
  }

  @Test(arguments: [
    "", "09:00", "09:00-17:00", "17:00-09:00/2h", "09:00-17:00/", "09:00-17:00/2", "09:00-/2h",
    "09:00-17:00/90s", "09:00-17:00/0h", "09:00-17:00/2d", "09:00-25:00/2h", "a-b/1h",
    "09:00-12:00-17:00/1h", "/1h/2h",
  ])
  func anotherTextIsNoWindow(_ text: String) {
    #expect(TimeWindow(text) == nil)
  }

  @Test func manyTimesAreShownAsAWindow() throws {
    let cadence = Recurrence.Cadence(start: date("2026-11-20"))
    func schedule(_ window: String) throws -> Schedule {
      try Schedule(.daily(cadence), times: try #require(TimeWindow(window)).times)
    }
    #expect(try schedule("09:00-17:00/2h").summary == "daily every 2 h from 09:00 to 17:00")
    #expect(try schedule("/20m").summary == "daily every 20 min from 00:00 to 23:40")
    #expect(try schedule("08:00-20:00/90m").summary == "daily every 1 h 30 min from 08:00 to 20:00")
    #expect(try schedule("09:00-15:00/2h").summary == "daily at 09:00, 11:00, 13:00, 15:00")
    #expect(try schedule("09:00-17:00/2h").window?.description == "09:00-17:00/2h")
    #expect(try schedule("09:00-15:00/2h").window == nil)
    let irregular = try Schedule(
      .daily(cadence), times: try #require(TimeWindow("09:00-17:00/2h")).times + [.midnight])
    #expect(irregular.window == nil)
  }

  @Test func invalidSchedulesAreRefused() {
    let cadence = Recurrence.Cadence(start: date("2026-11-20"))
    #expect(throws: ScheduleError.noTimes) { try Schedule(.daily(cadence), times: []) }
    #expect(throws: ScheduleError.noDays) { try schedule(.weekly([], cadence), "09:00") }
    #expect(throws: ScheduleError.dayOutOfRange(32)) {
      try schedule(.monthly([.day(32)], cadence), "09:00")
    }
    #expect(throws: ScheduleError.noSuchDate(month: 2, day: 30)) {
      try schedule(.annual(months: [2], [.day(30)], cadence), "09:00")
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
  /// The number of schedules of each test case.
  private static let batch: UInt64 = 100

  @Test(
    "The occurrences follow the rule, in order, from any start", arguments: RandomSamples.seeds(20))
  func occurrences(batch: UInt64) throws {
    for seed in (batch * Self.batch)..<((batch + 1) * Self.batch) {
      var generator = SeededGenerator(seed: seed)
      let schedule = try Schedule.random(&generator)
      let calendar = WorkCalendar.random(&generator)
      let occurrences = Occurrences(schedule, in: calendar)
      let from = (schedule.recurrence.cadence?.start ?? date("2026-01-01")).adding(
        days: generator.int(-30...30))
      let begin = CivilDateTime(minuteNumber: from.dayNumber * 1440 - 1)
      let end = from.adding(days: 900)
      let expected = DayByDay(schedule, calendar).occurrences(in: from..<end)

      var walked: [CivilDateTime] = []
      var last = begin
      while let next = occurrences.next(after: last), next.date < end {
        #expect(next > last)
        walked.append(next)
        last = next
      }
      #expect(walked == expected, "seed \(seed): \(schedule.summary)")
      // Queries from every point in between, forwards and backwards.
      for _ in 0..<10 {
        let moment = CivilDateTime(
          minuteNumber: begin.minuteNumber + generator.int(0...(899 * 1440)))
        #expect(
          occurrences.next(after: moment).map { $0.date < end ? $0 : nil } ?? nil
            == expected.first { $0 > moment }, "seed \(seed): \(schedule.summary)")
        #expect(occurrences.contains(moment) == expected.contains(moment))
        if let before = expected.last(where: { $0 <= moment }) {
          #expect(
            occurrences.last(onOrBefore: moment) == before, "seed \(seed): \(schedule.summary)")
        }
      }
    }
  }

  @Test("Two schedules have the same canonical text only if they are equal")
  func canonicalTexts() throws {
    var generator = SeededGenerator(seed: 77)
    var known: [String: Schedule] = [:]
    for _ in 0..<3_000 {
      let schedule = try Schedule.random(&generator)
      let earlier = known.updateValue(schedule, forKey: schedule.canonicalText)
      #expect(earlier == nil || earlier == schedule, "\(schedule.canonicalText)")
      // Another start is another schedule.
      guard case .elapsed(let minutes, let start) = schedule.recurrence else { continue }
      let later = try Schedule(
        .elapsed(minutes: minutes, start: start.adding(days: 1)), times: schedule.times,
        limits: schedule.limits)
      #expect(later.canonicalText != schedule.canonicalText)
    }
  }

  @Test(
    "Each day of a month has a text that is read as the same day",
    arguments: 0..<500 as Range<UInt64>)
  func monthDayTexts(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    guard case .monthly(let days, _) = try Schedule.random(&generator).recurrence else { return }
    for day in days { #expect(Recurrence.MonthDay(day.description) == day) }
  }
}
