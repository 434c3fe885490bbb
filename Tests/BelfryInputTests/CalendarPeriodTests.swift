import BelfryCore
import BelfryInput
import TestSupport
import Testing

/// Tests of the periods of calendars, with every accepted spelling.
@Suite struct CalendarPeriodTests {
  /// Monday.
  private let context = InputContext.test(CivilDateTime("2026-11-23T10:00")!)

  private func text(_ words: String, _ unit: CalendarUnit) throws -> String {
    let (period, rest) = try Input.calendarPeriod(
      words.split(separator: " ").map(String.init), of: unit, in: context)
    let dates = period.map { "\($0.dates.lowerBound) \($0.dates.upperBound) \($0.count)" } ?? "-"
    return ([dates] + rest).joined(separator: " ")
  }

  @Test(
    "Months",
    arguments: [
      ("", "-"), ("this", "2026-11-01 2026-11-30 1"), ("next", "2026-12-01 2026-12-31 1"),
      ("next month", "2026-12-01 2026-12-31 1"), ("last", "2026-10-01 2026-10-31 1"),
      ("december", "2026-12-01 2026-12-31 1"), ("DEC", "2026-12-01 2026-12-31 1"),
      ("dezember", "2026-12-01 2026-12-31 1"), ("october", "2026-10-01 2026-10-31 1"),
      // The nearest one.
      ("january", "2027-01-01 2027-01-31 1"), ("june", "2026-06-01 2026-06-30 1"),
      ("may", "2027-05-01 2027-05-31 1"),
      ("december 2028", "2028-12-01 2028-12-31 1"), ("2028 dec", "2028-12-01 2028-12-31 1"),
      ("2028-12", "2028-12-01 2028-12-31 1"), ("12/2028", "2028-12-01 2028-12-31 1"),
      ("12.2028", "2028-12-01 2028-12-31 1"), ("12 2028", "2028-12-01 2028-12-31 1"),
      ("12", "2026-12-01 2026-12-31 1"), ("2027", "2027-01-01 2027-12-31 12"),
      ("2026-12-24", "2026-12-01 2026-12-31 1"), ("24 dec", "2026-12-01 2026-12-31 1"),
      ("in 2 months", "2027-01-01 2027-01-31 1"), ("tomorrow", "2026-11-01 2026-11-30 1"),
      ("next year", "2027-01-01 2027-01-31 1"),
      ("december to february", "2026-12-01 2027-02-28 3"),
      ("december 2026 to february", "2026-12-01 2027-02-28 3"),
      ("november to january 2026", "2025-11-01 2026-01-31 3"),
      ("dec-feb", "2026-12-01 2027-02-28 3"), ("dec - feb", "2026-12-01 2027-02-28 3"),
      ("2026-12..2027-02", "2026-12-01 2027-02-28 3"),
      ("2027-02 to 2026-12", "2026-12-01 2027-02-28 3"),
      ("this to next", "2026-11-01 2026-12-31 2"),
      ("from december to february", "2026-12-01 2027-02-28 3"),
      // Other words select alarms.
      ("december rent", "2026-12-01 2026-12-31 1 rent"),
      ("rent dec", "2026-12-01 2026-12-31 1 rent"),
      ("next +home rent", "2026-12-01 2026-12-31 1 +home rent"), ("rent", "- rent"),
      ("sun cream", "- sun cream"), ("friday", "- friday"), ("+home", "- +home"),
      ("to", "- to"), ("pay to win", "- pay to win"), ("8ball", "- 8ball"),
      ("past", "- past"), ("current", "- current"),
      ("this quarter", "2026-11-01 2026-11-30 1 quarter"),
      ("december 2026 to february +home", "2026-12-01 2027-02-28 3 +home"),
    ])
  func months(_ words: String, _ expected: String) throws {
    #expect(try text(words, .month) == expected)
  }

  @Test(
    "Weeks",
    arguments: [
      ("", "-"), ("next", "2026-11-30 2026-12-06 1"), ("last week", "2026-11-16 2026-11-22 1"),
      ("2026-12-16", "2026-12-14 2026-12-20 1"), ("2026-W51", "2026-12-14 2026-12-20 1"),
      ("2026w51", "2026-12-14 2026-12-20 1"), ("w51", "2026-12-14 2026-12-20 1"),
      ("51", "2026-12-14 2026-12-20 1"), ("w53", "2026-12-28 2027-01-03 1"),
      ("w1", "2027-01-04 2027-01-10 1"), ("in 2 weeks", "2026-12-07 2026-12-13 1"),
      ("next month", "2026-11-30 2026-12-06 1"),
      ("14 dec to 4 jan", "2026-12-14 2027-01-10 4"), ("w51 to w1", "2026-12-14 2027-01-10 4"),
      ("next pills", "2026-11-30 2026-12-06 1 pills"), ("friday", "- friday"),
    ])
  func weeks(_ words: String, _ expected: String) throws {
    #expect(try text(words, .week(.monday)) == expected)
  }

  @Test("A week starts on the first weekday of the locale")
  func firstWeekday() throws {
    #expect(try text("2026-11-22", .week(.sunday)) == "2026-11-22 2026-11-28 1")
    #expect(try text("2026-11-21", .week(.sunday)) == "2026-11-15 2026-11-21 1")
    #expect(try text("2026-11-22", .week(.saturday)) == "2026-11-21 2026-11-27 1")
    #expect(try text("w51", .week(.sunday)) == "2026-12-13 2026-12-19 1")
  }

  @Test(
    "Years",
    arguments: [
      ("", "-"), ("2027", "2027-01-01 2027-12-31 1"), ("next", "2027-01-01 2027-12-31 1"),
      ("last", "2025-01-01 2025-12-31 1"), ("2026 to 2028", "2026-01-01 2028-12-31 3"),
      ("2026-2028", "2026-01-01 2028-12-31 3"), ("in 2 years", "2028-01-01 2028-12-31 1"),
      ("2027 rent", "2027-01-01 2027-12-31 1 rent"),
    ])
  func years(_ words: String, _ expected: String) throws {
    #expect(try text(words, .year) == expected)
  }

  @Test("Numbers that are no period, and periods that are too long, are refused")
  func refused() {
    #expect(throws: InputError.notUnderstood("2026-13", suggestion: nil)) {
      try text("2026-13", .month)
    }
    #expect(throws: InputError.ambiguous("3/4", readings: ["3 Apr", "4 Mar"])) {
      try text("3/4", .month)
    }
    #expect(throws: InputError.outOfRange("2000 to 2020")) { try text("2000 to 2020", .year) }
    #expect(throws: InputError.outOfRange("1990 to 2020")) { try text("1990 to 2020", .month) }
    #expect(throws: InputError.noSuchDate("31.2.")) { try text("31.2.", .week(.monday)) }
  }

  @Test("Units follow each other without gaps")
  func units() {
    for unit in [CalendarUnit.month, .week(.sunday), .year] {
      let period = CalendarPeriod(unit, containing: CivilDate("2024-02-29")!, count: 9)
      let units = period.units
      #expect(units.first?.contains(CivilDate("2024-02-29")!) == true)
      #expect(units.count == 9)
      #expect(units.last?.upperBound == period.dates.upperBound)
      for (one, two) in zip(units, units.dropFirst()) {
        #expect(one.upperBound.adding(days: 1) == two.lowerBound)
      }
      #expect(period.extended(before: 1, after: 1).units[1] == units[0])
    }
  }
}
