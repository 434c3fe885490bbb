import BelfryCore
import BelfryInput
import Testing

/// A schedule that changes another one keeps what it does not name.
@Suite struct ScheduleEditingTests {
  private func context() throws -> InputContext {
    let zone = TimeZoneRules.utc
    let now = try #require(CivilDateTime("2026-11-26T10:17"))
    return InputContext(instant: zone.instant(of: now), zone: zone)
  }

  private func changed(_ earlier: String, _ phrase: String) throws -> String {
    let context = try context()
    let schedule = try Input.schedule(earlier, in: context).schedule(in: context)
    let draft = try Input.schedule(phrase, in: context).changing(schedule, in: context)
    return try draft.schedule(in: context).summary(today: context.today)
  }

  @Test(arguments: [
    ("tue 18:00 until 15 dec every week", "19:00", "weekly on tue at 19:00, until 2026-12-15"),
    (
      "every tue 18:00 except 8 dec", "every wed",
      "weekly on wed at 18:00, except 2026-12-08"
    ),
    (
      "every workday 9am", "11am",
      "weekly on mon, tue, wed, thu, fri at 11:00, not on holidays"
    ),
    (
      "tue thu 18:00 until 31 jan", "every 3 weeks",
      "every 3 weeks on tue, thu at 18:00, from 2026-11-26, until 2027-01-31"
    ),
    (
      "monthly on the 5th 9am", "every 2 months",
      "every 2 months on the 5th at 09:00, from 2026-12-05"
    ),
    (
      "last workday 9am", "quarterly",
      "every 3 months on the last workday at 09:00, from 2026-11-30"
    ),
    ("every other tue 9am", "wed", "every 2 weeks on wed at 09:00, from 2026-12-02"),
    ("every tue 9am", "next wed", "once on 2026-12-02 at 09:00"),
    ("every tue 9am until 15 dec", "tomorrow", "once on 2026-11-27 at 09:00"),
    ("daily 9am", "from 4 jan", "daily at 09:00, from 2027-01-04"),
    (
      "every 2 weeks on mon 9am", "from 4 jan 8am", "every 2 weeks on mon at 08:00, from 2027-01-04"
    ),
    ("24 dec 18:00", "19:00", "once on 2026-12-24 at 19:00"),
    ("24 dec 18:00", "every mon", "weekly on mon at 18:00"),
    ("daily 9am until 15 dec", "until 20 dec", "daily at 09:00, until 2026-12-20"),
  ])
  func keeps(_ earlier: String, _ phrase: String, _ summary: String) throws {
    #expect(try changed(earlier, phrase) == summary)
  }

  /// An alarm that repeats must not ring only once without a word.
  @Test func weekdayOfAnAlarmThatIsNotWeekly() throws {
    #expect(throws: InputError.ambiguous("wed", readings: ["every wed", "next wed"])) {
      try changed("monthly on the 5th 9am", "wed")
    }
  }
}
