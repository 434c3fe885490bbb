import BelfryCore
import Foundation
import TestSupport
import Testing

func zone(_ name: String) throws -> TimeZoneRules {
  let bytes = try [UInt8](Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(name)")))
  return try #require(TimeZoneRules(name: name, tzif: bytes))
}

@Suite struct TimeZoneTests {
  /// Clocks change from 02:00 to 03:00.
  @Test func aTimeInTheGapIsTheFirstInstantAfterIt() throws {
    let newYork = try zone("America/New_York")
    let fired = newYork.instant(of: civil("2026-03-08T02:30"))
    #expect(fired == instant("2026-03-08T07:00:00Z"))
    #expect(newYork.civil(at: fired) == civil("2026-03-08T03:00"))
  }

  /// Clocks change from 02:00 back to 01:00.
  @Test func aRepeatedTimeIsTheFirstOne() throws {
    let newYork = try zone("America/New_York")
    #expect(newYork.instant(of: civil("2026-11-01T01:30")) == instant("2026-11-01T05:30:00Z"))
  }

  @Test func anOmittedDayIsHandled() throws {
    // Samoa crossed the date line: 2011-12-30 does not exist there.
    let apia = try zone("Pacific/Apia")
    let fired = apia.instant(of: civil("2011-12-30T12:00"))
    #expect(apia.civil(at: fired) == civil("2011-12-31T00:00"))
  }

  @Test func rulesApplyBeyondTheTable() throws {
    let berlin = try zone("Europe/Berlin")
    #expect(berlin.offset(at: instant("2090-01-15T12:00:00Z")) == 3600)
    #expect(berlin.offset(at: instant("2090-07-15T12:00:00Z")) == 7200)
    let sydney = try zone("Australia/Sydney")
    #expect(sydney.offset(at: instant("2090-01-15T12:00:00Z")) == 11 * 3600)
    #expect(sydney.offset(at: instant("2090-07-15T12:00:00Z")) == 10 * 3600)
  }

  @Test func anInvalidZoneFileIsRefused() {
    #expect(TimeZoneRules(name: "x", tzif: []) == nil)
    #expect(TimeZoneRules(name: "x", tzif: Array("TZif2 is not enough".utf8)) == nil)
    for cut in [44, 60, 200] {
      let bytes = [UInt8](
        FileManager.default.contents(atPath: "/usr/share/zoneinfo/Europe/Berlin") ?? Data())
      #expect(TimeZoneRules(name: "x", tzif: Array(bytes.prefix(cut))) == nil)
    }
  }

  @Test(arguments: ["", "5", "CET", "CET-1CEST", "CET-1CEST,M13.5.0,M10.5.0", "<+03-3"])
  func anInvalidPosixRuleIsRefused(_ text: String) {
    #expect(TimeZoneRules(name: "x", posix: text) == nil || text == "CET")
  }

  /// Foundation computes the same offsets from its own data (ICU), for every zone that both have.
  @Test(arguments: [
    "Europe/Berlin", "Europe/London", "Europe/Dublin", "America/New_York", "America/Sao_Paulo",
    "America/St_Johns", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Tokyo", "Asia/Jerusalem",
    "Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia", "Africa/Lagos", "Atlantic/Azores",
    "America/Havana", "Asia/Tehran", "Pacific/Kiritimati", "UTC",
  ])
  func offsetsEqualThoseOfFoundation(_ name: String) throws {
    let ours = try zone(name)
    let theirs = try #require(TimeZone(identifier: name))
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<4000 {
      // 1990 to 2060, which includes the tables and the rules of both.
      let seconds = Int64(generator.int(631_152_000...2_840_140_800))
      let expected = theirs.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
      #expect(ours.offset(at: Instant(seconds: seconds)) == expected, "\(name) at \(seconds)")
    }
  }

  /// Every wall time fires once, in order, at an instant that shows it or, in a gap, right after it.
  @Test(arguments: ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"])
  func instantsFollowTheWallClock(_ name: String) throws {
    let rules = try zone(name)
    var last: Instant?
    var minute = civil("2026-01-01T00:15").minuteNumber
    while minute < civil("2027-01-01T00:00").minuteNumber {
      let wall = CivilDateTime(minuteNumber: minute)
      let at = rules.instant(of: wall)
      if let last { #expect(at >= last) }
      #expect(rules.civil(at: at) >= wall)
      last = at
      minute += 30
    }
  }
}

@Suite struct InstantTests {
  @Test(arguments: [
    ("2026-11-20T22:41:00Z", "2026-11-20T22:41:00Z"),
    ("2026-11-20T23:41:00+01:00", "2026-11-20T22:41:00Z"),
    ("2026-11-20T22:41:00.5Z", "2026-11-20T22:41:00.500Z"),
    ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
    ("2028-02-29T00:00:00-05:30", "2028-02-29T05:30:00Z"),
  ])
  func instantsRoundTrip(_ text: String, _ expected: String) throws {
    #expect(try #require(Instant(rfc3339: text)).rfc3339 == expected)
  }

  @Test(arguments: [
    "", "2026-11-20", "2026-11-20T22:41:00", "2026-02-29T00:00:00Z", "2026-11-20T24:00:00Z",
    "2026-11-20T22:41:00+1:00", "2026-11-20T22:41:00Zx", "2026-11-20T22:41:00.Z",
  ])
  func invalidInstantsAreRefused(_ text: String) {
    #expect(Instant(rfc3339: text) == nil)
  }

  @Test func offsetsAreShown() {
    #expect(instant("2026-11-20T22:41:00Z").rfc3339(offset: 3600) == "2026-11-20T23:41:00+01:00")
    #expect(instant("2026-11-20T22:41:00Z").rfc3339(offset: -12_600) == "2026-11-20T19:11:00-03:30")
  }
}

@Suite struct CivilDateTests {
  @Test func everyDayOfManyYearsRoundTrips() {
    var day = date("1899-12-31")
    var (year, month, number) = (1899, 12, 31)
    for _ in 0..<100_000 {
      #expect(day.components == (year, month, number))
      #expect(CivilDate(year: year, month: month, day: number) == day)
      day = day.adding(days: 1)
      number += 1
      if number > CivilDate.length(ofMonth: month, year: year) { (month, number) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
  }

  @Test func weekdaysAreCorrect() {
    #expect(date("2026-11-20").weekday == .friday)
    #expect(date("1970-01-01").weekday == .thursday)
    #expect(date("1969-12-28").weekday == .sunday)
  }

  @Test(arguments: [
    "2026-13-01", "2026-02-29", "2026-1-01", "02026-01-01", "2026-01-00", "0000-01-01", "abc",
  ])
  func invalidDatesAreRefused(_ text: String) {
    #expect(CivilDate(text) == nil)
  }
}
