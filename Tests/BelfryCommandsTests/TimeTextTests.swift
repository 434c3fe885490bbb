import BelfryCore
import BelfryInput
import BelfryStore
import TestSupport
import Testing

@testable import BelfryCommands
@testable import BelfryTerminal

extension TimeText {
  /// The formatter of Mon 23 Nov 2026, 09:30 UTC, in the default format.
  static var utc: TimeText { TimeText.utc(TimeFormat()) }

  static func utc(_ format: TimeFormat) -> TimeText {
    TimeText(
      now: Instant(seconds: 1_795_426_200), zones: ZoneLibrary(variable: "UTC"), format: format)
  }
}

/// Times, dates and schedules as text, in the formats of locales and of the setting.
@Suite struct TimeTextTests {
  private func civil(_ text: String) throws -> CivilDateTime { try #require(CivilDateTime(text)) }

  private func format(_ locale: String) -> TimeFormat { TimeFormat(locale: locale) }

  // MARK: Formats

  @Test(
    "A locale determines the clock, the order of dates and the first weekday",
    arguments: [
      ("en_US.UTF-8", "Mon, Nov 23, 2026, 9:05 PM", Weekday.sunday),
      ("en_GB.UTF-8", "Mon 23 Nov 2026, 21:05", .monday),
      ("de_DE@euro", "Mon 23 Nov 2026, 21:05", .monday),
      ("en_CA.UTF-8", "Mon 2026-11-23, 9:05 PM", .sunday),
      ("fr_CA.UTF-8", "Mon 2026-11-23, 21:05", .sunday),
      ("sv_SE.UTF-8", "Mon 2026-11-23, 21:05", .monday),
      ("en_DK.UTF-8", "Mon 2026-11-23, 21:05", .monday),
      ("ja_JP.UTF-8", "Mon 2026-11-23, 21:05", .sunday),
      ("en_AU", "Mon 23 Nov 2026, 9:05 PM", .monday),
      ("ar_EG.UTF-8", "Mon 23 Nov 2026, 9:05 PM", .saturday),
    ])
  func locales(_ locale: String, _ expected: String, _ first: Weekday) throws {
    let times = TimeText.utc(format(locale))
    #expect(times.full(try civil("2026-11-23T21:05")) == expected)
    #expect(times.week.first == first)
    #expect(Set(times.week).count == 7)
  }

  @Test(
    "Without a territory the clock has 24 hours, the day is first, and weeks start on Monday",
    arguments: ["", "C", "POSIX", "C.UTF-8", "en", "xx_YY"])
  func defaults(_ locale: String) {
    #expect(format(locale) == TimeFormat())
    #expect(format(locale).clock == .twentyFourHour && format(locale).order == .dayMonthYear)
    #expect(format(locale).firstWeekday == .monday)
  }

  @Test("The first variable that is not empty names the locale")
  func variables() {
    func clock(_ environment: [String: String]) -> TimeFormat.Clock {
      TimeFormat(environment: environment).clock
    }
    #expect(clock(["LANG": "en_US.UTF-8"]) == .twelveHour)
    #expect(clock(["LANG": "en_US.UTF-8", "LC_TIME": "de_DE.UTF-8"]) == .twentyFourHour)
    #expect(clock(["LC_TIME": "de_DE.UTF-8", "LC_ALL": "en_US.UTF-8"]) == .twelveHour)
    #expect(clock(["LC_TIME": "", "LC_ALL": "", "LANG": "en_US.UTF-8"]) == .twelveHour)
    #expect(clock(["LC_ALL": "C", "LANG": "en_US.UTF-8"]) == .twentyFourHour)
    #expect(clock(["LC_NUMERIC": "en_US.UTF-8"]) == .twentyFourHour)
  }

  @Test("The setting replaces the clock of the locale, and nothing else")
  func setting() {
    let american = ["LANG": "en_US.UTF-8"]
    let format = TimeFormat(environment: american, clock: .twentyFourHour)
    #expect(format.clock == .twentyFourHour && format.order == .monthDayYear)
    #expect(TimeFormat(environment: [:], clock: .twelveHour).clock == .twelveHour)
    #expect(TimeFormat(environment: american, clock: .auto).clock == .twelveHour)
  }

  // MARK: Times

  @Test(
    "A clock of 12 hours has no hour 0",
    arguments: [
      ("00:00", "12:00 AM"), ("00:59", "12:59 AM"), ("01:00", "1:00 AM"), ("11:59", "11:59 AM"),
      ("12:00", "12:00 PM"), ("13:07", "1:07 PM"), ("23:59", "11:59 PM"),
    ])
  func twelveHours(_ time: String, _ expected: String) throws {
    let time = try #require(CivilTime(time))
    #expect(TimeText.utc(format("en_US")).time(time) == expected)
    #expect(TimeText.utc.time(time) == time.description)
  }

  @Test func secondsAndHoursWithOneDigit() throws {
    let time = try #require(CivilTime("05:01"))
    #expect(TimeText.utc.time(time, seconds: 3, isPadded: false) == "5:01:03")
    #expect(TimeText.utc(format("en_US")).time(time, seconds: 30) == "5:01:30 AM")
  }

  @Test(
    "Times within a week are relative, others have a date, with the year if it is another",
    arguments: [
      ("2026-11-23T09:00", "today 09:00"), ("2026-11-24T00:00", "tomorrow 00:00"),
      ("2026-11-22T23:59", "yesterday 23:59"), ("2026-11-25T09:00", "Wed 09:00"),
      ("2026-11-29T09:00", "Sun 09:00"), ("2026-11-30T09:00", "30 Nov 09:00"),
      ("2026-11-17T09:00", "Tue 09:00"), ("2026-11-16T09:00", "16 Nov 09:00"),
      ("2026-12-24T09:00", "24 Dec 09:00"), ("2027-01-01T09:00", "1 Jan 2027 09:00"),
    ])
  func relative(_ moment: String, _ expected: String) throws {
    #expect(TimeText.utc.relative(try civil(moment)) == expected)
  }

  @Test func relativeTimesHaveTheFormatOfTheLocale() throws {
    let times = TimeText.utc(format("en_US"))
    #expect(times.relative(try civil("2026-12-24T18:00")) == "Dec 24 6:00 PM")
    #expect(times.relative(try civil("2027-01-01T09:00")) == "Jan 1 2027 9:00 AM")
    #expect(
      TimeText.utc(format("sv_SE")).relative(try civil("2026-12-24T18:00")) == "2026-12-24 18:00")
  }

  @Test func momentsOfTodayHaveNoDate() throws {
    #expect(TimeText.utc.at(Instant(seconds: 1_795_426_200)) == "at 09:30")
    #expect(TimeText.utc.at(Instant(seconds: 1_795_512_600)) == "on Tue 24 Nov 2026 at 09:30")
    #expect(TimeText.utc.brief(try civil("2026-11-23T09:00")) == "09:00")
    #expect(TimeText.utc.brief(try civil("2026-11-20T09:00")) == "Fri 09:00")
  }

  // MARK: Schedules

  @Test func rulesHaveFewWords() throws {
    let start = try #require(CivilDate("2026-11-20"))
    func cadence(_ interval: Int) -> Recurrence.Cadence { .init(interval: interval, start: start) }
    func words(
      _ rule: Recurrence, _ times: [String] = ["09:00"], _ format: TimeFormat = TimeFormat()
    ) -> String {
      TimeText.utc(format).rule(rule, times: times.compactMap { CivilTime($0) })
    }
    let american = TimeFormat(locale: "en_US")
    #expect(words(.once(start)) == "once 20 Nov 2026 09:00")
    #expect(words(.daily(cadence(1)), ["09:00", "21:00"]) == "daily 09:00, 21:00")
    #expect(words(.daily(cadence(3))) == "every 3 days 09:00")
    #expect(words(.days(7, cadence(2))) == "every 14 days 09:00")
    #expect(words(.weekly([.monday, .friday], cadence(1))) == "Mon, Fri 09:00")
    // A weekday alone would be a date.
    #expect(words(.weekly([.friday], cadence(1))) == "every Fri 09:00")
    #expect(
      words(.annual(months: [3, 6, 9, 12], [.day(10)], cadence(1)))
        == "annual 10 Mar, Jun, Sep, Dec 09:00")
    #expect(
      words(.annual(months: [3, 9], [.day(10)], cadence(1)), ["09:00"], american)
        == "annual Mar 10, Sep 10 9:00 AM")
    #expect(words(.weekly([.tuesday], cadence(2)), ["19:00"]) == "Tue every 2 weeks 19:00")
    #expect(
      words(.weekly([.monday, .tuesday, .wednesday, .thursday, .friday], cadence(1)))
        == "Mon–Fri 09:00")
    #expect(words(.weekly(Weekday.allCases, cadence(1))) == "daily 09:00")
    #expect(
      words(.weekly([.monday, .sunday], cadence(1)), ["18:00"], american) == "Sun, Mon 6:00 PM")
    #expect(
      words(.monthly([.day(15), .fromEnd(1)], cadence(1))) == "monthly 15th day, last day 09:00")
    #expect(words(.monthly([.weekday(1, .monday)], cadence(2))) == "every 2 months first Mon 09:00")
    #expect(words(.annual(months: [12], [.day(24)], cadence(1))) == "annual 24 Dec 09:00")
    #expect(
      words(.annual(months: [12], [.day(24)], cadence(1)), ["09:00"], american)
        == "annual Dec 24 9:00 AM")
    #expect(
      words(.annual(months: [11], [.weekday(4, .thursday)], cadence(1)))
        == "annual fourth Thu of Nov 09:00")
    #expect(words(.afterDone(Period(90, .day), .init(start: start))) == "90 days after done 09:00")
    let hours = (9...17).map { "\($0 < 10 ? "0" : "")\($0):00" }
    #expect(words(.daily(cadence(1)), hours) == "daily every 1 h 09:00–17:00")
    #expect(
      words(.daily(cadence(1)), ["06:00", "07:00", "09:00", "12:00", "18:00"])
        == "daily 06:00 and 4 more")
  }

  @Test func schedulesNameTheirLimits() throws {
    let start = try #require(CivilDate("2026-11-24"))
    let schedule = try Schedule(
      .weekly([.tuesday], .init(interval: 2, start: start)), times: [#require(CivilTime("19:00"))],
      limits: .init(
        until: Schedule.Limits.end(of: #require(CivilDate("2027-06-30"))),
        exceptions: [#require(CivilDate("2026-12-24"))], onHoliday: .after))
    #expect(
      TimeText.utc.schedule(schedule)
        == "Tue every 2 weeks 19:00, from 24 Nov, until 30 Jun 2027, except 24 Dec, or the workday after a holiday"
    )
    #expect(
      TimeText.utc(TimeFormat(locale: "en_US")).schedule(schedule, zone: "Asia/Tokyo")
        == "Tue every 2 weeks 7:00 PM Asia/Tokyo, from Nov 24, until Jun 30 2027, except Dec 24, or the workday after a holiday"
    )
  }

  @Test("Random schedules are read back from their texts, in each format of dates")
  func schedulesAreReadBack() throws {
    let context = InputContext(
      instant: TimeText.utc.now, zone: .utc,
      zoneNames: ZoneNames(load: { [] }, rules: { _ in .utc }))
    var random = SeededGenerator(seed: 2026)
    for locale in ["C", "en_US", "sv_SE"] {
      let times = TimeText.utc(format(locale))
      for number in 0..<400 {
        let schedule = try Schedule.random(&random)
        let text = times.schedule(schedule)
        // Long lists are cut, and completions before the start have no words.
        if text.contains(" more") { continue }
        let read: Schedule
        do {
          read = try Input.schedule(text, in: context).schedule(in: context)
        } catch {
          Issue.record("\(locale) \(number): \(text): \(error)")
          continue
        }
        func next(_ schedule: Schedule) -> [CivilDateTime] {
          var found: [CivilDateTime] = []
          let occurrences = Occurrences(schedule, in: .standard)
          while found.count < 5, let civil = occurrences.next(after: found.last ?? context.now) {
            found.append(civil)
          }
          return found
        }
        #expect(next(read) == next(schedule), "\(locale) \(number): \(text)")
      }
    }
  }
}
