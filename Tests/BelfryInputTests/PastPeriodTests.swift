import BelfryCore
import BelfryInput
import Testing

/// Periods of the past as people type them.
@Suite struct PastPeriodTests {
  /// Friday, 27 November 2026.
  private func context() throws -> InputContext {
    let zone = TimeZoneRules.utc
    let now = try #require(CivilDateTime("2026-11-27T10:17"))
    return InputContext(instant: zone.instant(of: now), zone: zone)
  }

  @Test(arguments: [
    ("today", "2026-11-27 2026-11-27"), ("yesterday", "2026-11-26 2026-11-26"),
    ("this week", "2026-11-23 2026-11-29"), ("week", "2026-11-23 2026-11-29"),
    ("last week", "2026-11-16 2026-11-22"), ("This Month", "2026-11-01 2026-11-30"),
    ("last month", "2026-10-01 2026-10-31"), ("this quarter", "2026-10-01 2026-12-31"),
    ("previous quarter", "2026-07-01 2026-09-30"), ("last year", "2025-01-01 2025-12-31"),
    ("2026", "2026-01-01 2026-12-31"), ("2026-02", "2026-02-01 2026-02-28"),
    ("2026-q2", "2026-04-01 2026-06-30"), ("Q4 2025", "2025-10-01 2025-12-31"),
    ("2025 q4", "2025-10-01 2025-12-31"), ("q3", "2026-07-01 2026-09-30"),
    ("2026-W48", "2026-11-23 2026-11-29"), ("2026-w53", "2026-12-28 2027-01-03"),
    ("2026-W01", "2025-12-29 2026-01-04"), ("november", "2026-11-01 2026-11-30"),
    ("dec", "2025-12-01 2025-12-31"), ("feb 2024", "2024-02-01 2024-02-29"),
    ("2026-11-23", "2026-11-23 2026-11-23"), ("last 30 days", "2026-10-29 2026-11-27"),
    ("past 2 weeks", "2026-11-14 2026-11-27"), ("last 3 months", "2026-08-28 2026-11-27"),
    ("last 2 years", "2024-11-28 2026-11-27"), ("last two weeks", "2026-11-14 2026-11-27"),
    ("2026-01-01..2026-03-31", "2026-01-01 2026-03-31"),
    ("january to march", "2026-01-01 2026-03-31"), ("from 2024 to 2025", "2024-01-01 2025-12-31"),
    ("2026-11-20 .. today", "2026-11-20 2026-11-27"),
    // As in calendars.
    ("2025 nov", "2025-11-01 2025-11-30"), ("jan-mar", "2026-01-01 2026-03-31"),
    ("2026w48", "2026-11-23 2026-11-29"), ("2024-2025", "2024-01-01 2025-12-31"),
    ("q1 till q3", "2026-01-01 2026-09-30"),
  ])
  func aPeriodHasItsDates(_ text: String, _ dates: String) throws {
    let read = Input.dates(ofPeriod: text, in: try context())
    #expect(read.map { "\($0.lowerBound) \($0.upperBound)" } == dates)
  }

  @Test(arguments: [
    "", "rent", "2026-13", "2025-W53", "q5", "last", "weeks", "last weeks", "5 days",
    "march to january",
    "last 0 days", "20 26", "11/2026", "11 2026", "48", "w48", "this", "now", "tomorrow", "24 dec",
    "0800",
    "12", "2026-1", "to", "..", "next week", "m", "last 3 m",
  ])
  func othersAreNone(_ text: String) throws {
    #expect(Input.dates(ofPeriod: text, in: try context()) == nil)
  }

  @Test(arguments: [
    ("2026", "2026-01-01", "2026-12-31"), ("last month", "2026-10-01", "2026-10-31"),
    ("2026-01-01", "2026-01-01", "2026-01-01"), ("monday", "2026-11-23", "2026-11-23"),
    ("24 dec", "2025-12-24", "2025-12-24"), ("3 weeks ago", "2026-11-06", "2026-11-06"),
  ])
  func limitsAreInThePast(_ text: String, _ first: String, _ last: String) throws {
    let context = try context()
    #expect("\(try Input.date(.first, ofPeriod: text, in: context))" == first)
    #expect("\(try Input.date(.last, ofPeriod: text, in: context))" == last)
  }

  @Test func aLimitThatIsNoDateIsRefused() throws {
    let context = try context()
    #expect(throws: InputError.self) { try Input.date(.first, ofPeriod: "rent", in: context) }
  }

  @Test(
    arguments: [
      (["rent"], nil, ["rent"]), (["last", "month"], "2026-10-01", []),
      (["rent", "last month"], "2026-10-01", ["rent"]),
      (["+home", "this", "quarter"], "2026-10-01", ["+home"]),
      (["2025", "pay", "rent"], "2025-01-01", ["pay", "rent"]),
      (["pills", "last", "30", "days", "+home"], "2026-10-29", ["pills", "+home"]),
      (["Taxes", "2026"], nil, ["Taxes", "2026"]), (["week"], nil, ["week"]),
    ] as [([String], String?, [String])])
  func aPeriodStandsAmongNames(_ words: [String], _ first: String?, _ rest: [String]) throws {
    let read = Input.period(in: words, try context()) { ["Taxes 2026", "week"].contains($0) }
    #expect(read.dates.map { "\($0.lowerBound)" } == first)
    #expect(read.words == rest)
  }
}
