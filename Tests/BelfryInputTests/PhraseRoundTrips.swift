import BelfryCore
import BelfryInput
import TestSupport
import Testing

/// Tests that a schedule survives its own phrase.
@Suite struct PhraseRoundTrips {
  @Test("Random schedules are read back from their phrases")
  func randomSchedules() throws {
    var random = SeededGenerator(seed: 2020)
    for number in RandomSamples.seeds(3_000) {
      let schedule = try Schedule.random(&random)
      let now = CivilDateTime(
        CivilDate(dayNumber: random.int(20_000...21_500)), CivilTime("10:30")!)
      let context = InputContext.test(now)
      let read = try Input.schedule(schedule.phrase, in: context).schedule(in: context)
      #expect(read.normalized == schedule.normalized, "\(number): \(schedule.phrase)")
    }
  }

  @Test(arguments: [1, 2, 6, 12])
  func afterDone(_ count: Int) throws {
    for unit in Period.Unit.allCases {
      let schedule = try Schedule(
        .afterDone(Period(count, unit), .init(start: CivilDate("2027-02-01")!)),
        times: [CivilTime("18:00")!])
      let context = InputContext.test(CivilDateTime("2026-11-23T10:00")!)
      #expect(try Input.schedule(schedule.phrase, in: context).schedule(in: context) == schedule)
    }
  }
}

extension Schedule {
  /// The same occurrences with one form for `every 6 days`, which has several.
  fileprivate var normalized: Schedule? {
    let recurrence: Recurrence =
      switch recurrence {
      case .daily(let cadence): .days(cadence.interval, .init(start: cadence.start))
      case .days(let count, let cadence):
        .days(count * cadence.interval, .init(start: cadence.start))
      default: recurrence
      }
    return try? Schedule(recurrence, times: times, limits: limits)
  }
}

extension InputContext {
  /// Returns a context in UTC with a few zones.
  static func test(_ now: CivilDateTime, _ calendar: WorkCalendar = .standard) -> InputContext {
    let names = [
      "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Europe/London", "UTC", "Asia/Kolkata",
      "Asia/Calcutta",
    ]
    let zones = ZoneNames(load: { names }, rules: { $0 == "UTC" ? .utc : nil })
    return InputContext(
      instant: TimeZoneRules.utc.instant(of: now), zone: .utc, calendar: calendar,
      zoneNames: zones)
  }
}
