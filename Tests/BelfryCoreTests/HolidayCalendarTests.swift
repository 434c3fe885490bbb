import BelfryCore
import TestSupport
import Testing

/// Tests of holiday calendars and of the schedules that depend on them.
@Suite struct HolidayCalendarTests {
  private let now = instant("2026-11-20T12:00:00Z")
  private let christmas = [date("2026-12-25"): "Christmas Day", date("2026-12-26"): "Boxing Day"]

  private func dates(
    _ recurrence: Recurrence, _ onHoliday: Schedule.HolidayRule? = nil, from: String,
    count: Int, _ calendar: WorkCalendar
  ) throws -> [String] {
    let schedule = try schedule(recurrence, "09:00", limits: .init(onHoliday: onHoliday))
    let occurrences = Occurrences(schedule, in: calendar)
    var result: [String] = []
    var last = civil("\(from)T00:00")
    for _ in 0..<count {
      guard let next = occurrences.next(after: last) else { break }
      result.append("\(next.date)")
      last = next
    }
    return result
  }

  @Test("An occurrence on a holiday is left out, or moves to the next workday in a direction")
  func holidays() throws {
    let calendar = WorkCalendar(holidays: christmas.keys)
    let fridays = Recurrence.weekly([.friday], .init(start: date("2026-12-01")))
    let cases: [(Schedule.HolidayRule?, [String])] = [
      (nil, ["2026-12-18", "2026-12-25", "2027-01-01"]),
      (.skip, ["2026-12-18", "2027-01-01", "2027-01-08"]),
      (.before, ["2026-12-18", "2026-12-24", "2027-01-01"]),
      (.after, ["2026-12-18", "2026-12-28", "2027-01-01"]),
    ]
    for (rule, expected) in cases {
      #expect(try dates(fridays, rule, from: "2026-12-12", count: 3, calendar) == expected)
    }
    // A move from before the start of a search is found.
    #expect(try dates(fridays, .after, from: "2026-12-26", count: 1, calendar) == ["2026-12-28"])
  }

  @Test("Working days of a month leave out the weekend and the holidays")
  func workdays() throws {
    let calendar = WorkCalendar(holidays: [date("2026-12-31"), date("2027-01-01")])
    let cadence = Recurrence.Cadence(start: date("2026-12-01"))
    #expect(
      try dates(.monthly([.workday(-1)], cadence), from: "2026-12-01", count: 2, calendar)
        == ["2026-12-30", "2027-01-29"])
    #expect(
      try dates(.monthly([.workday(1)], cadence), from: "2026-12-15", count: 1, calendar)
        == ["2027-01-04"])
    // Not every month has so many.
    #expect(
      try dates(.monthly([.workday(23)], cadence), from: "2027-01-01", count: 2, .standard)
        == ["2027-03-31", "2027-12-31"])
    let weekend = WorkCalendar(workdays: [.saturday, .sunday])
    #expect(
      try dates(
        .monthly([.workday(1), .workday(-1)], cadence), from: "2026-12-01", count: 2, weekend)
        == ["2026-12-05", "2026-12-27"])
  }

  @Test("An import replaces the years that it contains, and a removal leaves an empty year")
  func years() {
    let empty = HolidayCalendar(name: "de-BE")
    let first = empty.importing(christmas, at: now, device: laptop)
    let later = first.importing([date("2027-01-01"): "New Year"], at: now, device: laptop)
    #expect(later.holidays.count == 3)
    let replaced = later.importing([date("2026-10-03"): "Unity Day"], at: now, device: laptop)
    #expect(replaced.holidays.keys.sorted() == [date("2026-10-03"), date("2027-01-01")])
    // The same dates again are a later statement, which wins over an edit of another device before it.
    let repeated = replaced.importing([date("2026-10-03"): "Unity Day"], at: now, device: server)
    #expect(repeated.holidays == replaced.holidays && repeated != replaced)
    #expect(HolidayCalendar.join(replaced, repeated) == repeated)
    let removed = replaced.removed(at: now, device: server)
    #expect(removed.isRemoved && HolidayCalendar.join(replaced, removed) == removed)
    // Another device's import of another year survives.
    let other = later.importing([date("2028-01-01"): "New Year"], at: now, device: server)
    #expect(HolidayCalendar.join(removed, other).holidays.keys.sorted() == [date("2028-01-01")])
  }

  @Test("An edited year gets a new stamp")
  func handEdit() {
    let before = HolidayCalendar(name: "de-BE").importing(christmas, at: now, device: laptop)
    var edited = before
    edited.years[2026]?.holidays[date("2026-12-24")] = "Christmas Eve"
    #expect(edited.yearsEditedByHand(since: before) == [2026])
    let stamped = edited.stamped(against: before, at: now, device: server)
    #expect(HolidayCalendar.join(before, stamped) == stamped)
    #expect(stamped.yearsEditedByHand(since: before).isEmpty)
  }

  @Test(
    "Names are short and safe in a path",
    arguments: [
      ("de-BE", true), ("school_2027", true), ("", false), ("..", false), ("a/b", false),
      ("a.json", false), (String(repeating: "a", count: 65), false), ("ö", false),
    ])
  func names(_ name: String, _ isName: Bool) { #expect(HolidayCalendar.isName(name) == isName) }
}
