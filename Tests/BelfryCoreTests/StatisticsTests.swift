import BelfryCore
import TestSupport
import Testing

/// The statistics of a log: outcomes, streaks, delays and periods.
@Suite struct StatisticsTests {
  private let alarm = Identifier(high: 1, low: 1)

  private func entry(
    _ action: LogEntry.Action, _ occurrence: String, at: String, auto: Bool = false,
    revision: Int = 0
  ) -> LogEntry {
    LogEntry(
      id: TestIdentifier.make(), alarm: alarm, title: "Pills", occurrence: civil(occurrence),
      action: action, at: instant(at), device: alarm, auto: auto, revision: revision)
  }

  private var week: [LogEntry] {
    [
      entry(.done, "2026-11-23T09:00", at: "2026-11-23T09:02:00Z"),
      entry(.done, "2026-11-24T09:00", at: "2026-11-24T09:30:00Z"),
      entry(.missed, "2026-11-25T09:00", at: "2026-11-25T09:30:00Z"),
      entry(.done, "2026-11-26T09:00", at: "2026-11-26T08:50:00Z"),
      entry(.skipped, "2026-11-27T09:00", at: "2026-11-26T12:00:00Z"),
      entry(.done, "2026-11-28T09:00", at: "2026-11-28T09:30:01Z"),
      entry(.done, "2026-11-29T09:00", at: "2026-11-30T09:00:00Z", auto: true),
      entry(.done, "2026-11-30T09:00", at: "2026-11-30T11:00:00Z"),
    ]
  }

  private func responses(_ entries: [LogEntry]) -> [Statistics.Response] {
    Statistics(entries).responses { TimeZoneRules.utc.instant(of: $0) }
  }

  @Test(
    "A plot over time has an early completion on its own date, and a late one on that of its occurrence"
  )
  func plotDates() {
    let entries = [
      entry(.done, "2026-12-01T09:00", at: "2026-11-24T10:00:00Z"),
      entry(.done, "2026-12-03T09:00", at: "2026-12-05T09:00:00Z"),
      entry(.missed, "2026-12-06T09:00", at: "2026-12-06T09:30:00Z"),
    ]
    #expect(
      responses(entries).map(\.plotDate)
        == [date("2026-11-24"), date("2026-12-03"), date("2026-12-06")])
  }

  @Test("A completion is on time if it is early or at most 30 minutes late")
  func onTime() {
    let summary = ResponseSummary(responses(week))
    #expect(summary.done == 5)
    #expect(summary.missed == 1)
    #expect(summary.skipped == 1)
    #expect(summary.autoCompleted == 1)
    #expect(summary.delays == [-600, 120, 1800, 1801, 7200])
    #expect(summary.onTime == 3)
    // The skipped one does not count.
    #expect(summary.expected == 7)
    #expect(summary.onTimePercent == 42)
    #expect(summary.median == 1800)
    #expect(summary.quartiles?.lower == 120)
    #expect(summary.quartiles?.upper == 1801)
    #expect(Statistics(week).lateness { TimeZoneRules.utc.instant(of: $0) } == summary.delays)
  }

  @Test("Without completions there is no percentage and no median")
  func nothing() {
    let summary = ResponseSummary([])
    #expect(summary.onTimePercent == nil)
    #expect(summary.median == nil)
    #expect(summary.quartiles == nil)
    let skipped = ResponseSummary(
      responses([entry(.skipped, "2026-11-27T09:00", at: "2026-11-26T12:00:00Z")]))
    #expect(skipped.onTimePercent == nil)
    let one = ResponseSummary(
      responses([entry(.done, "2026-11-27T09:00", at: "2026-11-27T09:01:00Z")]))
    #expect(one.quartiles?.lower == 60)
    #expect(one.quartiles?.upper == 60)
  }

  @Test("A period has the occurrences of its dates, and streaks start in it")
  func period() {
    var tally = Statistics.Tally()
    for entry in week { tally.add(entry) }
    let all = tally.statistics(skipBreaksStreak: false)
    #expect(all.streak == 1)
    #expect(all.longestStreak == 2)
    let part = tally.statistics(
      skipBreaksStreak: false, on: date("2026-11-24")...date("2026-11-28"))
    #expect(part.settled.count == 5)
    #expect(part.streak == 2)
    #expect(part.longestStreak == 2)
    #expect(part.lastDone == instant("2026-11-28T09:30:01Z"))
    let broken = tally.statistics(
      skipBreaksStreak: true, on: date("2026-11-24")...date("2026-11-28"))
    #expect(broken.streak == 1)
  }

  @Test("The statistics of parts of a log are those of the log")
  func partsOfALog() {
    let actions: [LogEntry.Action] = [
      .fired, .stopped, .done, .skipped, .missed, .dismissed, .undone, .snoozed,
    ]
    for seed in 1...200 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let entries = (0..<random.int(1...40)).map { _ in
        entry(
          random.pick(actions), "2026-11-2\(random.int(0...4))T09:00",
          at: "2026-11-2\(random.int(0...9))T1\(random.int(0...9)):00:00Z",
          auto: random.one(in: 4), revision: random.int(0...2))
      }
      var parts = [Statistics.Tally](repeating: Statistics.Tally(), count: 3)
      for entry in entries { parts[random.int(0...2)].add(entry) }
      let whole = Statistics(entries)
      let joined = Statistics.Tally.statistics(of: parts, skipBreaksStreak: false)
      #expect(joined == whole, "seed \(seed)")
    }
  }

  @Test("Groups have the weekday and the hour of the due time")
  func groups() {
    let days = ResponseSummary.byWeekday(responses(week))
    #expect(days.map(\.count) == [2, 1, 1, 1, 1, 1, 1])
    #expect(days[0].median == 3660)
    let hours = ResponseSummary.byHour(responses(week))
    #expect(hours[9].count == 8)
    #expect(hours.map(\.count).reduce(0, +) == 8)
  }

  @Test(
    "Dates are divided into the smallest units that fit",
    arguments: [
      ("2026-11-01", "2026-11-14", 14, CalendarUnit.day, 14),
      ("2026-11-01", "2026-11-15", 14, .isoWeek, 3), ("2026-01-01", "2026-12-31", 14, .month, 12),
      ("2024-01-01", "2026-12-31", 14, .quarter, 12), ("2016-11-20", "2026-11-20", 14, .year, 11),
      ("1900-01-01", "2026-11-20", 14, .year, 127),
    ])
  func buckets(
    _ first: String, _ last: String, _ most: Int, _ unit: CalendarUnit, _ count: Int
  ) {
    let dates = date(first)...date(last)
    let buckets = DateBuckets(dates, maxCount: most)
    #expect(buckets.unit == unit)
    #expect(buckets.count == count)
    #expect(buckets.index(of: dates.lowerBound) == 0)
    #expect(buckets.index(of: dates.upperBound) == count - 1)
    for index in 0..<min(count, 20) {
      let part = buckets.dates(index)
      #expect(buckets.index(of: part.lowerBound) == index)
      #expect(buckets.index(of: part.upperBound) == index)
      if index > 0 {
        #expect(buckets.dates(index - 1).upperBound.adding(days: 1) == part.lowerBound)
      }
    }
    #expect(buckets.index(of: buckets.dates(0).lowerBound.adding(days: -1)) == nil)
  }
}
