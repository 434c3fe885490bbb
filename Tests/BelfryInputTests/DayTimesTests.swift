import BelfryCore
import BelfryInput
import Testing

/// The times of day of the settings: those of words such as `evening`, and that of schedules without a time.
@Suite struct DayTimesTests {
  private static let times = DayTimes(
    standard: CivilTime("09:00"), morning: CivilTime("08:15"), noon: CivilTime("12:30") ?? .noon,
    afternoon: CivilTime("15:00"), evening: CivilTime("19:00"), night: CivilTime("22:30"))

  /// Thursday, 10:17.
  private func context(_ times: DayTimes) throws -> InputContext {
    let zone = TimeZoneRules.utc
    let now = try #require(CivilDateTime("2026-11-26T10:17"))
    return InputContext(instant: zone.instant(of: now), zone: zone, dayTimes: { times })
  }

  private func dates(_ phrase: String, _ times: DayTimes, _ count: Int = 1) throws -> [String] {
    let context = try context(times)
    let schedule = try Input.schedule(phrase, in: context).schedule(in: context)
    var dates: [CivilDateTime] = []
    while dates.count < count {
      let last = dates.last ?? context.now
      dates.append(try #require(Occurrences(schedule, in: context.calendar).next(after: last)))
    }
    return dates.map(\.description)
  }

  @Test(arguments: [
    ("tonight", "2026-11-26T22:30"), ("this evening", "2026-11-26T19:00"),
    ("tomorrow evening", "2026-11-27T19:00"), ("every morning", "2026-11-27T08:15"),
    ("monday morning", "2026-11-30T08:15"), ("monday mornings", "2026-11-30T08:15"),
    ("every afternoon", "2026-11-26T15:00"), ("eod", "2026-11-26T19:00"),
    ("end of day friday", "2026-11-27T19:00"), ("nightly", "2026-11-26T22:30"),
    ("tomorrow noon", "2026-11-27T12:30"), ("tomorrow 12 noon", "2026-11-27T12:00"),
    ("monday morning at 9", "2026-11-30T09:00"), ("tonight at 8", "2026-11-26T20:00"),
  ])
  func wordsHaveTheTimesOfTheSettings(_ phrase: String, _ date: String) throws {
    #expect(try dates(phrase, Self.times) == [date])
  }

  @Test func tonightIsTheEveningIfTheNightHasNoTime() throws {
    #expect(
      try dates("tonight", DayTimes(evening: CivilTime("19:00"))) == ["2026-11-26T19:00"])
  }

  /// `evening` alone is the end of a title such as `Parents evening`.
  @Test(arguments: ["tonight", "every morning", "monday afternoon", "eod", "evening"])
  func wordsWithoutATimeAreRefused(_ phrase: String) throws {
    #expect(throws: InputError.unsupported(.partOfDay)) { try dates(phrase, DayTimes()) }
    #expect(throws: InputError.unsupported(.partOfDay)) { try dates("evening", Self.times) }
  }

  @Test(arguments: [
    ("tomorrow", "2026-11-27T09:00", "2026-11-27T10:17"),
    ("every monday", "2026-11-30T09:00", "2026-11-30T10:17"),
    ("daily", "2026-11-27T09:00", "2026-11-27T10:17"),
    ("thursday", "2026-12-03T09:00", "2026-12-03T10:17"),
    ("in 20 minutes", "2026-11-26T10:37", "2026-11-26T10:37"),
  ])
  func schedulesWithoutATime(_ phrase: String, _ standard: String, _ now: String) throws {
    #expect(try dates(phrase, Self.times) == [standard])
    #expect(try dates(phrase, DayTimes()) == [now])
  }

  @Test func todayIsTheWeekdayIfTheTimeIsAhead() throws {
    let times = DayTimes(standard: CivilTime("18:00"))
    #expect(try dates("thursday", times) == ["2026-11-26T18:00"])
  }

  @Test func values() {
    for setting in [Setting.morning, .noon, .afternoon, .evening, .night, .defaultTime] {
      #expect(Input.value(of: setting, "9am") == .word("09:00"))
      #expect(Input.value(of: setting, "25:00") == nil)
      #expect(!setting.admits(.word("9am")))
    }
    #expect(Input.value(of: .defaultTime, "now") == .word("now"))
    #expect(Input.value(of: .evening, "none") == .word("none"))
    #expect(Input.value(of: .noon, "none") == nil && Input.value(of: .evening, "now") == nil)
  }
}
