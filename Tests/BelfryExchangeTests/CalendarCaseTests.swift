import BelfryCore
import BelfryStore
import Testing

@testable import BelfryExchange

/// A calendar, the situation in which it is imported, and the next occurrences of its alarms.
struct CalendarCase: Sendable, CustomTestStringConvertible {
  let name: String
  let lines: [String]
  /// The local times of the first occurrences, `2026-11-30 00:30`.
  let times: [String]
  var now = "2026-11-23T09:00:00Z"
  var zone = "Europe/Berlin"

  var testDescription: String { name }

  init(
    _ name: String, _ lines: [String], _ times: [String], now: String = "2026-11-23T09:00:00Z",
    zone: String = "Europe/Berlin"
  ) {
    (self.name, self.lines, self.times, self.now, self.zone) = (name, lines, times, now, zone)
  }

  /// Returns the alarms of the calendar.
  func read() throws -> (alarms: [ForeignAlarm], leftOut: [Remark]) {
    let text = (["BEGIN:VCALENDAR", "VERSION:2.0"] + lines + ["END:VCALENDAR", ""])
      .joined(separator: "\r\n")
    return try CalendarDocument().read(
      Array(text.utf8), now: try #require(Instant(rfc3339: now)), zones: ZoneLibrary(variable: zone)
    )
  }

  /// Returns the next occurrences of all alarms in local time.
  func next() throws -> [String] {
    let zones = ZoneLibrary(variable: zone)
    let now = try #require(Instant(rfc3339: now))
    var instants: [Instant] = []
    for alarm in try read().alarms {
      let rules =
        if case .named(let name) = alarm.zone { try #require(zones.zone(named: name)) } else {
          zones.local
        }
      let occurrences = Occurrences(alarm.schedule, in: .standard)
      var next = occurrences.next(after: rules.civil(at: now))
      let moved = alarm.moved.values.map { rules.instant(of: $0) }.filter { $0 > now }
      for _ in 0..<(times.count + alarm.skipped.count + alarm.moved.count + 1) {
        guard let moment = next else { break }
        if !alarm.skipped.contains(moment), alarm.moved[moment] == nil {
          instants.append(rules.instant(of: moment))
        }
        next = occurrences.next(after: moment)
      }
      instants += moved
    }
    return instants.sorted().map { "\(zones.local.civil(at: $0))".replacing("T", with: " ") }
  }
}

private func event(_ lines: String..., uid: String = "q", kind: String = "VEVENT") -> [String] {
  ["BEGIN:\(kind)", "UID:\(uid)", "DTSTAMP:20260101T000000Z", "SUMMARY:A"] + lines
    + ["END:\(kind)"]
}

private func reminder(_ trigger: String) -> String {
  "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER\(trigger)\r\nEND:VALARM"
}

private let definition = [
  "BEGIN:VTIMEZONE", "TZID:Customized Time Zone", "BEGIN:STANDARD", "DTSTART:16011101T020000",
  "RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11", "TZOFFSETFROM:-0400", "TZOFFSETTO:-0500",
  "END:STANDARD", "BEGIN:DAYLIGHT", "DTSTART:16010302T020000",
  "RRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3", "TZOFFSETFROM:-0500", "TZOFFSETTO:-0400",
  "END:DAYLIGHT", "END:VTIMEZONE",
]

/// Tests of the dates on which imported alarms ring.
@Suite struct CalendarCaseTests {
  @Test(
    "An exception is an instant, compared in the zone of the series",
    arguments: [
      CalendarCase(
        "in UTC on the day before",
        event(
          "DTSTART;TZID=Europe/Berlin:20261130T003000", "RRULE:FREQ=WEEKLY",
          "EXDATE:20261206T233000Z"),
        ["2026-11-30 00:30", "2026-12-14 00:30", "2026-12-21 00:30"]),
      CalendarCase(
        "in UTC on the day after",
        event(
          "DTSTART;TZID=America/Los_Angeles:20261130T170000", "RRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR",
          "EXDATE:20261203T010000Z"),
        ["2026-11-30 17:00", "2026-12-04 17:00", "2026-12-07 17:00"], zone: "America/Los_Angeles"),
      CalendarCase(
        "in another zone",
        event(
          "DTSTART;TZID=Europe/Berlin:20261130T003000", "RRULE:FREQ=WEEKLY",
          "EXDATE;TZID=America/New_York:20261206T183000"),
        ["2026-11-30 00:30", "2026-12-14 00:30"]),
      CalendarCase(
        "several in UTC, of a zone to the east",
        event(
          "DTSTART;TZID=Asia/Tokyo:20261130T080000", "RRULE:FREQ=WEEKLY",
          "EXDATE:20261206T230000Z,20261213T230000Z"),
        ["2026-11-30 00:00", "2026-12-21 00:00"]),
      CalendarCase(
        "a date",
        event(
          "DTSTART;TZID=Asia/Tokyo:20261130T080000", "RRULE:FREQ=WEEKLY",
          "EXDATE;VALUE=DATE:20261207"),
        ["2026-11-30 00:00", "2026-12-14 00:00"]),
      CalendarCase(
        "midnight in UTC of a whole day",
        event(
          "DTSTART;VALUE=DATE:20261130", "RRULE:FREQ=WEEKLY", "EXDATE:20261206T230000Z"),
        ["2026-11-30 09:00", "2026-12-14 09:00"]),
      CalendarCase(
        "at another time: none",
        event(
          "DTSTART;TZID=Europe/Amsterdam:20261219T140000", "RRULE:FREQ=MONTHLY;BYDAY=3SA",
          "EXDATE:20270116T120000Z"),
        ["2026-12-19 14:00", "2027-01-16 14:00", "2027-02-20 14:00"]),
      CalendarCase(
        "a rule for weekdays",
        event(
          "DTSTART:20261127T110000", "RRULE:FREQ=DAILY;COUNT=5", "EXRULE:FREQ=WEEKLY;BYDAY=SA,SU"),
        ["2026-11-27 11:00", "2026-11-30 11:00", "2026-12-01 11:00"]),
      CalendarCase(
        "the only date", event("DTSTART:20261125T090000", "EXDATE:20261125T090000"), []),
    ])
  func exceptions(_ example: CalendarCase) throws {
    #expect(try Array(example.next().prefix(example.times.count)) == example.times)
    if example.times.isEmpty { #expect(try example.next().isEmpty) }
  }

  @Test(
    "An exception is the time of an event, not of its reminder",
    arguments: [
      CalendarCase(
        "15 hours before a whole day",
        event(
          "DTSTART;VALUE=DATE:20261126", "RRULE:FREQ=WEEKLY;BYDAY=TH",
          "EXDATE;VALUE=DATE:20261224,20261231", reminder(":-PT15H")),
        ["2026-12-16 09:00", "2027-01-06 09:00", "2027-01-13 09:00"], now: "2026-12-15T09:00:00Z"),
      CalendarCase(
        "in the evening before",
        event(
          "DTSTART;VALUE=DATE:20261126", "RRULE:FREQ=WEEKLY;BYDAY=TH",
          "EXDATE;VALUE=DATE:20261224,20261231", reminder(":-PT6H")),
        ["2026-12-16 18:00", "2027-01-06 18:00"], now: "2026-12-15T09:00:00Z"),
      CalendarCase(
        "after the end, on the next day",
        event(
          "DTSTART;TZID=Europe/Berlin:20261130T220000", "DTEND;TZID=Europe/Berlin:20261201T000000",
          "RRULE:FREQ=WEEKLY", "EXDATE:20261207T210000Z", reminder(";RELATED=END:PT30M")),
        ["2026-12-01 00:30", "2026-12-15 00:30"]),
      CalendarCase(
        "two reminders",
        event(
          "DTSTART:20261130T090000", "RRULE:FREQ=WEEKLY", "EXDATE:20261207T090000",
          reminder(":-PT30M"), reminder(":PT0S")),
        ["2026-11-30 08:30", "2026-11-30 09:00", "2026-12-14 08:30", "2026-12-14 09:00"]),
      CalendarCase(
        "one of two times of day",
        event(
          "DTSTART:20261130T080000", "RRULE:FREQ=DAILY;BYHOUR=8,20", "EXDATE:20261201T200000",
          reminder(":-PT30M")),
        ["2026-11-30 07:30", "2026-11-30 19:30", "2026-12-01 07:30", "2026-12-02 07:30"]),
      CalendarCase(
        "every second week, on the day before",
        event(
          "DTSTART:20261130T090000", "RRULE:FREQ=WEEKLY;INTERVAL=2", "EXDATE:20261214T090000",
          reminder(":-P1D")),
        ["2026-11-29 09:00", "2026-12-27 09:00"]),
    ])
  func reminders(_ example: CalendarCase) throws {
    #expect(try Array(example.next().prefix(example.times.count)) == example.times)
  }

  @Test(
    "A rule by months moves with its reminder only if all dates do",
    arguments: [
      CalendarCase(
        "the last day",
        event(
          "DTSTART:20261130T100000", "RRULE:FREQ=MONTHLY;BYMONTHDAY=-1", reminder(":-P1D")),
        ["2026-11-29 10:00", "2026-12-30 10:00", "2027-01-30 10:00", "2027-02-27 10:00"]),
      CalendarCase(
        "every second month",
        event(
          "DTSTART:20260115T090000", "RRULE:FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=1",
          reminder(":-P1D")),
        ["2026-12-31 09:00", "2027-02-28 09:00"]),
      CalendarCase(
        "the day after February",
        event("DTSTART;VALUE=DATE:20260301", "RRULE:FREQ=YEARLY", reminder(":-PT15H")),
        ["2027-02-28 09:00", "2028-02-29 09:00"]),
      CalendarCase(
        "a weekday of a month, which rings at the start",
        event("DTSTART:20261207T090000", "RRULE:FREQ=MONTHLY;BYDAY=1MO", reminder(":-P1D")),
        ["2026-12-07 09:00", "2027-01-04 09:00"]),
    ])
  func months(_ example: CalendarCase) throws {
    #expect(try Array(example.next().prefix(example.times.count)) == example.times)
    let alarm = try #require(try example.read().alarms.first)
    #expect(alarm.losses.isEmpty == (alarm.delivery.warnings == nil))
  }

  @Test(
    "Hours are exact over a clock change, and an end is an instant",
    arguments: [
      CalendarCase(
        "an hour before, in spring", event("DTSTART:20270328T033000", reminder(":-PT1H")),
        ["2027-03-28 01:30"], now: "2027-03-20T09:00:00Z"),
      CalendarCase(
        "eight hours before, in spring", event("DTSTART:20270328T090000", reminder(":-PT8H")),
        ["2027-03-28 00:00"], now: "2027-03-20T09:00:00Z"),
      CalendarCase(
        "a day before, in spring", event("DTSTART:20270328T090000", reminder(":-P1D")),
        ["2027-03-27 09:00"], now: "2027-03-20T09:00:00Z"),
      CalendarCase(
        "at the end, in autumn",
        event("DTSTART:20261025T013000", "DURATION:PT3H", reminder(";RELATED=END:PT0S")),
        ["2026-10-25 03:30"], now: "2026-10-20T09:00:00Z"),
      CalendarCase(
        "a rule that ends in the repeated hour",
        event(
          "DTSTART;TZID=Europe/Amsterdam:20261024T023000", "RRULE:FREQ=DAILY;UNTIL=20261025T010000Z"
        ), ["2026-10-24 02:30", "2026-10-25 02:30"], now: "2026-10-20T09:00:00Z"),
      CalendarCase(
        "a rule that ends before the repeated hour",
        event(
          "DTSTART;TZID=Europe/Amsterdam:20261023T023000", "RRULE:FREQ=DAILY;UNTIL=20261025T002900Z"
        ), ["2026-10-23 02:30", "2026-10-24 02:30"], now: "2026-10-20T09:00:00Z"),
      CalendarCase(
        "a rule of whole days that ends at midnight in UTC",
        event("DTSTART;VALUE=DATE:20261130", "RRULE:FREQ=WEEKLY;UNTIL=20261213T230000Z"),
        ["2026-11-30 09:00", "2026-12-07 09:00", "2026-12-14 09:00"]),
      CalendarCase(
        "both ends, of which the earlier one counts",
        event("DTSTART:20261125T090000", "RRULE:FREQ=WEEKLY;COUNT=2;UNTIL=20270101T000000Z"),
        ["2026-11-25 09:00", "2026-12-02 09:00"]),
    ])
  func clockChanges(_ example: CalendarCase) throws {
    #expect(try example.next() == example.times)
  }

  @Test("The second of two equal times of the wall clock is written in UTC")
  func repeatedHour() throws {
    let example = CalendarCase(
      "", event("DTSTART;TZID=Europe/Berlin:20271031T033000", reminder(":-PT1H")), [])
    #expect(try example.read().alarms.map(\.zone) == [.named("UTC")])
    #expect(try example.read().alarms.map(\.schedule.summary) == ["once on 2027-10-31 at 01:30"])
  }

  @Test(
    "A rule with an end has no occurrences in months and years without its day",
    arguments: [
      CalendarCase(
        "the 31st", event("DTSTART:20270131T090000", "RRULE:FREQ=MONTHLY;COUNT=4"),
        ["2027-01-31 09:00", "2027-03-31 09:00", "2027-05-31 09:00", "2027-07-31 09:00"]),
      CalendarCase(
        "the 30th, until a date",
        event("DTSTART:20270130T090000", "RRULE:FREQ=MONTHLY;UNTIL=20270430T090000"),
        ["2027-01-30 09:00", "2027-03-30 09:00", "2027-04-30 09:00"]),
      CalendarCase(
        "29 February, with an exception",
        event(
          "DTSTART:20280229T090000", "RRULE:FREQ=YEARLY;COUNT=3", "EXDATE:20320229T090000"),
        ["2028-02-29 09:00", "2036-02-29 09:00"]),
    ])
  func shortMonths(_ example: CalendarCase) throws {
    #expect(try example.next() == example.times)
    #expect(try example.read().alarms.flatMap(\.losses).isEmpty)
  }

  @Test(
    "Changed occurrences are applied",
    arguments: [
      CalendarCase(
        "moved",
        event("DTSTART;TZID=Europe/Berlin:20261130T090000", "RRULE:FREQ=WEEKLY")
          + event(
            "RECURRENCE-ID;TZID=Europe/Berlin:20261207T090000",
            "DTSTART;TZID=Europe/Berlin:20261208T110000"),
        ["2026-11-30 09:00", "2026-12-08 11:00", "2026-12-14 09:00"]),
      CalendarCase(
        "moved, before the series, in UTC, with a reminder",
        event("RECURRENCE-ID:20261207T080000Z", "DTSTART:20261208T100000Z", reminder(":-PT1H"))
          + event(
            "DTSTART;TZID=Europe/Berlin:20261130T090000", "RRULE:FREQ=WEEKLY", reminder(":-PT1H")),
        ["2026-11-30 08:00", "2026-12-08 10:00", "2026-12-14 08:00"]),
      CalendarCase(
        "cancelled",
        event("DTSTART;TZID=Europe/Berlin:20261130T090000", "RRULE:FREQ=WEEKLY")
          + event(
            "RECURRENCE-ID;TZID=Europe/Berlin:20261207T090000",
            "DTSTART;TZID=Europe/Berlin:20261207T090000", "STATUS:CANCELLED"),
        ["2026-11-30 09:00", "2026-12-14 09:00"]),
      CalendarCase(
        "completed",
        event(
          "DTSTART:20261120T190000", "DUE:20261120T190000", "RRULE:FREQ=DAILY", kind: "VTODO")
          + event(
            "RECURRENCE-ID:20261123T190000", "DTSTART:20261123T190000", "DUE:20261123T190000",
            "STATUS:COMPLETED", kind: "VTODO"), ["2026-11-24 19:00", "2026-11-25 19:00"]),
      CalendarCase(
        "a whole day, with a reminder on the day before",
        event("DTSTART;VALUE=DATE:20261126", "RRULE:FREQ=WEEKLY", reminder(":-PT6H"))
          + event(
            "RECURRENCE-ID;VALUE=DATE:20261224", "DTSTART;VALUE=DATE:20261223", reminder(":-PT6H")),
        ["2026-12-16 18:00", "2026-12-22 18:00", "2026-12-30 18:00"], now: "2026-12-15T09:00:00Z"),
      CalendarCase(
        "this and all later ones",
        event("DTSTART:20261130T090000", "RRULE:FREQ=WEEKLY", "EXDATE:20261221T090000")
          + event("RECURRENCE-ID;RANGE=THISANDFUTURE:20261214T090000", "DTSTART:20261215T103000"),
        ["2026-11-30 09:00", "2026-12-07 09:00", "2026-12-15 10:30", "2026-12-29 10:30"]),
      CalendarCase(
        "alone", event("RECURRENCE-ID:20261207T090000", "DTSTART:20261208T110000"),
        ["2026-12-08 11:00"]),
      CalendarCase(
        "an additional date of a series",
        event(
          "DTSTART:20261201T090000", "RRULE:FREQ=WEEKLY;COUNT=2", "RDATE:20261217T090000")
          + event("RECURRENCE-ID:20261217T090000", "DTSTART:20261218T143000"),
        ["2026-12-01 09:00", "2026-12-08 09:00", "2026-12-18 14:30"]),
      CalendarCase(
        "an additional date of a series, cancelled",
        event(
          "DTSTART:20261201T090000", "RRULE:FREQ=WEEKLY;COUNT=2", "RDATE:20261217T090000")
          + event(
            "RECURRENCE-ID:20261217T090000", "DTSTART:20261217T090000", "STATUS:CANCELLED"),
        ["2026-12-01 09:00", "2026-12-08 09:00"]),
      CalendarCase(
        "of another property, without effect",
        event("DTSTART:20261130T090000", "RRULE:FREQ=WEEKLY")
          + event("RECURRENCE-ID:20261207T090000", "DTSTART:20261207T090000", "LOCATION:x"),
        ["2026-11-30 09:00", "2026-12-07 09:00", "2026-12-14 09:00"]),
    ])
  func changes(_ example: CalendarCase) throws {
    #expect(try Array(example.next().prefix(example.times.count)) == example.times)
    #expect(try example.read().leftOut.isEmpty)
    #expect(try example.read().alarms.flatMap(\.losses).isEmpty)
  }

  @Test(
    "Additional dates are kept",
    arguments: [
      CalendarCase(
        "periods",
        event(
          "DTSTART;TZID=Europe/Brussels:20261124T160000",
          "RDATE;VALUE=PERIOD;TZID=Europe/Brussels:20261222T160000/20261222T170000,20270119T160000/PT1H"
        ), ["2026-11-24 16:00", "2026-12-22 16:00", "2027-01-19 16:00"]),
      CalendarCase(
        "beside a rule, with a reminder",
        event(
          "DTSTART:20261125T090000", "RRULE:FREQ=WEEKLY",
          "RDATE:20261127T090000,20261202T090000", reminder(":-PT30M")),
        ["2026-11-25 08:30", "2026-11-27 08:30", "2026-12-02 08:30", "2026-12-09 08:30"]),
      CalendarCase(
        "with an exception",
        event(
          "DTSTART:20201124T160000", "RDATE:20261222T160000,20270119T160000",
          "EXDATE:20261222T160000"), ["2027-01-19 16:00"]),
      CalendarCase(
        "a rule in hours that does not fit into a day, with an exception",
        event(
          "DTSTART:20261125T090000", "RRULE:FREQ=HOURLY;INTERVAL=7", "EXDATE:20261125T160000",
          reminder(":-PT30M")),
        ["2026-11-25 08:30", "2026-11-25 22:30", "2026-11-26 05:30", "2026-11-26 12:30"]),
    ])
  func additionalDates(_ example: CalendarCase) throws {
    #expect(try Array(example.next().prefix(example.times.count)) == example.times)
    let alarms = try example.read().alarms
    #expect(Set(alarms.map(\.id)).count == alarms.count)
  }

  @Test(
    "The last date of a rule with days that short months lack is kept",
    arguments: [
      CalendarCase(
        "an end in UTC, in a zone east of it",
        event(
          "DTSTART;TZID=Europe/Berlin:20260131T090000",
          "RRULE:FREQ=MONTHLY;UNTIL=20261231T080000Z"), ["2026-12-31 09:00"]),
      CalendarCase(
        "whole days",
        event("DTSTART;VALUE=DATE:20260131", "RRULE:FREQ=MONTHLY;UNTIL=20261231"),
        ["2026-12-31 09:00"]),
      CalendarCase(
        "a leap day",
        event("DTSTART;VALUE=DATE:20240229", "RRULE:FREQ=YEARLY;UNTIL=20320229"),
        ["2028-02-29 09:00", "2032-02-29 09:00"]),
      CalendarCase(
        "counted from the end of the month",
        event("DTSTART:20261201T090000", "RRULE:FREQ=MONTHLY;BYMONTHDAY=-31;COUNT=3"),
        ["2026-12-01 09:00", "2027-01-01 09:00", "2027-03-01 09:00"]),
    ])
  func lastDates(_ example: CalendarCase) throws {
    #expect(try example.next() == example.times)
  }

  @Test(
    "Rules by days in some months, and hours of a whole day",
    arguments: [
      CalendarCase(
        "weekdays in some months",
        event("DTSTART:20261207T090000", "RRULE:FREQ=WEEKLY;BYDAY=MO;BYMONTH=12,3"),
        [
          "2026-12-07 09:00", "2026-12-14 09:00", "2026-12-21 09:00", "2026-12-28 09:00",
          "2027-03-01 09:00",
        ]),
      CalendarCase(
        "a date has no hours",
        event("DTSTART;VALUE=DATE:20261201", "RRULE:FREQ=DAILY;BYHOUR=8;COUNT=3"),
        ["2026-12-01 09:00", "2026-12-02 09:00", "2026-12-03 09:00"]),
      CalendarCase(
        "a reminder on the day before, over the start of the week",
        event(
          "DTSTART:20261130T090000", "RRULE:FREQ=WEEKLY;BYDAY=MO,WE,FR", reminder(":-P1D")),
        ["2026-11-29 09:00", "2026-12-01 09:00", "2026-12-03 09:00"]),
    ])
  func rulesByDays(_ example: CalendarCase) throws {
    #expect(try Array(example.next().prefix(example.times.count)) == example.times)
    #expect(try example.read().alarms.flatMap(\.losses).isEmpty)
  }

  @Test("A change of all later occurrences moves the later additional dates, too")
  func laterDates() throws {
    let lines =
      event(
        "DTSTART:20261201T120000", "RRULE:FREQ=WEEKLY;COUNT=4",
        "RDATE:20261203T120000,20261217T120000")
      + event("RECURRENCE-ID;RANGE=THISANDFUTURE:20261215T120000", "DTSTART:20261215T090000")
    let times = [
      "2026-12-01 12:00", "2026-12-03 12:00", "2026-12-08 12:00", "2026-12-15 09:00",
      "2026-12-17 09:00", "2026-12-22 09:00",
    ]
    #expect(try CalendarCase("later dates", lines, times).next() == times)
  }

  @Test("An event and a to-do with the same UID are two alarms")
  func sameUID() throws {
    let lines =
      event("DTSTART:20261201T090000") + event("DUE:20261202T090000", kind: "VTODO")
    #expect(try CalendarCase("both", lines, []).read().alarms.count == 2)
  }

  @Test("A malformed time is named")
  func malformedStart() throws {
    let read = try CalendarCase("malformed", event("DTSTART:20270231T130000Z"), []).read()
    #expect(read.alarms.isEmpty)
    #expect(read.leftOut.first?.reason.contains("start is not valid") == true, "\(read.leftOut)")
  }

  @Test("Dates with the same time of day are one alarm, also after the first ones are over")
  func listOfDates() throws {
    let lines = event(
      "DTSTART:20261130T090000",
      "RDATE:20261203T090000,20270114T090000,20270201T101500,20270202T101500")
    let early = try CalendarCase("early", lines, []).read().alarms
    #expect(
      early.map(\.schedule.summary) == [
        "once on 2026-11-30, 2026-12-03, 2027-01-14 at 09:00",
        "once on 2027-02-01, 2027-02-02 at 10:15",
      ])
    let late = try CalendarCase("late", lines, [], now: "2026-12-10T09:00:00Z").read().alarms
    #expect(late.map(\.id) == early.map(\.id))
    #expect(late.first?.schedule.summary == "once on 2027-01-14 at 09:00")
  }

  @Test(
    "Of one UID, the latest revision counts, and different events are different alarms",
    arguments: [
      CalendarCase(
        "a to-do that was opened again",
        event(
          "DUE:20261125T090000", "STATUS:NEEDS-ACTION", "COMPLETED:20261101T000000Z", kind: "VTODO"),
        ["2026-11-25 09:00"]),
      CalendarCase(
        "the highest SEQUENCE",
        event("DTSTART:20261125T090000", "SEQUENCE:1")
          + event("DTSTART:20261126T100000", "SEQUENCE:2"), ["2026-11-26 10:00"]),
      CalendarCase(
        "in the other order",
        event("DTSTART:20261126T100000", "SEQUENCE:12") + event("DTSTART:20261125T090000"),
        ["2026-11-26 10:00"]),
      CalendarCase(
        "without a SEQUENCE",
        event("DTSTART:20261125T090000") + event("DTSTART:20261126T100000"),
        ["2026-11-25 09:00", "2026-11-26 10:00"]),
    ])
  func revisions(_ example: CalendarCase) throws {
    #expect(try example.next() == example.times)
  }

  @Test(
    "Items that are cancelled or done are left out",
    arguments: [
      (["METHOD:CANCEL"] + event("DTSTART:20261125T090000"), "cancelled"),
      (event("DUE:20261125T090000", "PERCENT-COMPLETE:100", kind: "VTODO"), "completed"),
      (event("DUE:20261125T090000", "COMPLETED:20261101T000000Z", kind: "VTODO"), "completed"),
      (event("DTSTART:20261125T090000", "X-KDE-KALARM-TYPE:ARCHIVED"), "archived"),
      (event("DTSTART:20261125T090000", "X-KDE-KALARM-TYPE:TEMPLATE"), "template"),
      (
        event(
          "DTSTART:20261125T090000", "X-KDE-KALARM-TYPE:ACTIVE", "BEGIN:VALARM",
          "ACTION:PROCEDURE", "ATTACH:/bin/true", "TRIGGER:PT0S", "END:VALARM"), "command"
      ),
      (
        event(
          "DUE:20261125T090000", "STATUS:NEEDS-ACTION", "COMPLETED:20261101T000000Z",
          "PERCENT-COMPLETE:100", kind: "VTODO"), "completed"
      ),
      (event("DTSTART:20261028T090000", "RRULE:FREQ=WEEKLY;UNTIL="), "not valid: UNTIL="),
      (event("DTSTART:20261028T090000", "RRULE:FREQ=WEEKLY;INTERVAL=0"), "INTERVAL=0"),
      (event("RECURRENCE-ID:20261207T090000", "STATUS:CANCELLED"), "cancelled"),
    ])
  func leftOut(_ lines: [String], _ word: String) throws {
    let result = try CalendarCase("", lines, []).read()
    #expect(result.alarms.isEmpty)
    #expect(result.leftOut.count == 1)
    #expect(result.leftOut.first?.reason.contains(word) == true, "\(result.leftOut)")
  }

  @Test(
    "A misspelled reminder is read",
    arguments: [
      (":-P1H", "08:00"), (":-P30M", "08:30"), (":PT-15M", "08:45"), (":-PT1H 30M", "07:30"),
      (":-p1h", "08:00"), (";RELATED=END:-P1H", "11:00"), (":P", "09:00"), (":-PT90M", "07:30"),
      (":bogus", "09:00"), (";VALUE=DATE-TIME:20261125T070000Z", "08:00"),
    ])
  func misspelledReminders(_ trigger: String, _ time: String) throws {
    let example = CalendarCase(
      "", event("DTSTART:20261125T090000", "DTEND:20261125T120000", reminder(trigger)), [])
    #expect(try example.next() == ["2026-11-25 \(time)"])
    #expect(try example.read().alarms.first?.losses.isEmpty == (trigger != ":bogus"))
  }

  @Test("Of several reminders of one date, the last one rings, and the others are warnings")
  func severalReminders() throws {
    let example = CalendarCase(
      "", event("DTSTART:20261127T090000", reminder(":-PT30M"), reminder(":-P3D")), [])
    #expect(try example.next() == ["2026-11-27 08:30"])
    let warnings = try example.read().alarms.first?.delivery.warnings
    #expect(warnings?.seconds == [3 * 86_400 - 30 * 60])
  }

  @Test(
    "Names of zones that are not IANA names",
    arguments: [
      ("\"(UTC+01:00) Brussels, Copenhagen, Madrid, Paris\"", "Europe/Brussels"),
      ("\"(UTC-05:00) Eastern Time (US & Canada)\"", "America/New_York"),
      ("\"(GMT+09:00) Osaka, Sapporo, Tokyo\"", "Asia/Tokyo"),
      ("\"(UTC+05:30) Chennai, Kolkata, Mumbai, New Delhi\"", "Asia/Kolkata"),
      ("Customized Time Zone", "America/New_York"), ("europe/berlin", "Europe/Berlin"),
      ("GMT+0100", "Etc/GMT-1"), ("tzone://Microsoft/Utc", "UTC"),
      ("W. Europe Standard Time 1", "Europe/Berlin"), ("\"(UTC+01:00) Atlantis\"", nil),
    ])
  func zones(_ name: String, _ zone: String?) throws {
    let example = CalendarCase(
      "", definition + event("DTSTART;TZID=\(name):20261124T103500"), [])
    let alarm = try #require(try example.read().alarms.first)
    #expect(alarm.zone == zone.map { .named($0) } ?? .floating)
    #expect(alarm.losses.isEmpty == (zone != nil))
  }

  @Test("A file in Latin-1 or UTF-16 is read, and folded characters are joined")
  func encodings() throws {
    let text =
      "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:q\r\nSUMMARY:Müll abholen\r\n"
      + "DTSTART:20261125T090000\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    let latin: [UInt8] = text.unicodeScalars.map { UInt8($0.value) }
    let wide: [UInt8] = [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let bytes = Array(text.utf8)
    let middle = try #require(bytes.firstIndex(of: 0xC3)) + 1
    let folded = Array(bytes[..<middle]) + Array("\r\n ".utf8) + Array(bytes[middle...])
    let marked: [UInt8] = [0xEF, 0xBB, 0xBF] + bytes
    for document in [latin, wide, folded, marked] {
      #expect(CalendarDocument.matches(document))
      let alarms = try CalendarDocument().read(
        document, now: Instant(seconds: 1_795_000_000), zones: ZoneLibrary(variable: "UTC")
      ).alarms
      #expect(alarms.map(\.title) == ["Müll abholen"])
    }
  }

  @Test(
    "Without a summary, the text of the reminder or the description is the title",
    arguments: [
      ("BEGIN:VALARM\r\nDESCRIPTION:Take the pill\r\nTRIGGER:PT0S\r\nEND:VALARM", "Take the pill"),
      ("DESCRIPTION:Water the ferns", "Water the ferns"),
      (
        "DESCRIPTION:Ferns\r\nBEGIN:VALARM\r\nDESCRIPTION:Reminder\r\nTRIGGER:PT0S\r\nEND:VALARM",
        "Ferns"
      ),
      ("CLASS:PUBLIC", "Untitled"),
    ])
  func titles(_ lines: String, _ title: String) throws {
    let example = CalendarCase(
      "", ["BEGIN:VEVENT", "UID:q", "DTSTART:20261125T090000", lines, "END:VEVENT"], [])
    #expect(try example.read().alarms.map(\.title) == [title])
  }

  @Test("A yearly date that all its months have is imported without a remark")
  func existingDates() throws {
    for rule in ["FREQ=YEARLY;BYMONTH=8;BYMONTHDAY=30", "FREQ=YEARLY"] {
      let example = CalendarCase("", event("DTSTART:20260830T090000", "RRULE:\(rule)"), [])
      #expect(try example.read().alarms.first?.losses == [])
    }
  }
}

/// Tests of importing holidays.
@Suite struct HolidayDocumentTests {
  @Test(arguments: [
    (event("DTSTART:20270422", "DTEND:20270422"), "2027-04-22"),
    (event("DTSTART;VALUE=DATE:20270422", "DTEND;VALUE=DATE:20270421"), "2027-04-22"),
    (event("DTSTART;VALUE=DATE:20270422", "DTEND;VALUE=DATE:20270424"), "2027-04-22 2027-04-23"),
    (event("DTSTART;VALUE=DATE:20270422", "DURATION:P2D"), "2027-04-22 2027-04-23"),
    (event("DTSTART:20270422T000000", "DTEND:20270424T000000"), "2027-04-22 2027-04-23"),
    (event("DTSTART:20270422T200000", "DTEND:20270423T020000"), "2027-04-22"),
    (
      event("DTSTART;VALUE=DATE:20270422", "RDATE;VALUE=DATE:20270601,20280601"),
      "2027-04-22 2027-06-01 2028-06-01"
    ),
    (
      event("DTSTART;VALUE=DATE:20260607", "RRULE:FREQ=YEARLY;COUNT=3")
        + event("RECURRENCE-ID;VALUE=DATE:20270607", "DTSTART;VALUE=DATE:20270606"),
      "2026-06-07 2027-06-06 2028-06-07"
    ),
    (
      event("DTSTART;VALUE=DATE:20260607", "RRULE:FREQ=YEARLY;COUNT=3")
        + event(
          "RECURRENCE-ID;VALUE=DATE:20270607", "DTSTART;VALUE=DATE:20270607", "STATUS:CANCELLED"),
      "2026-06-07 2028-06-07"
    ),
    (
      event("DTSTART;VALUE=DATE:20240229", "RRULE:FREQ=YEARLY;UNTIL=20330101"),
      "2028-02-29 2032-02-29"
    ),
    (
      event("DTSTART;VALUE=DATE:20261231", "RRULE:FREQ=MONTHLY;COUNT=3"),
      "2026-12-31 2027-01-31 2027-03-31"
    ),
    (event("DTSTART;VALUE=DATE:20270422", "RRULE:FREQ=YEARLY;UNTIL="), ""),
    (["METHOD:CANCEL"] + event("DTSTART;VALUE=DATE:20270422"), ""),
  ])
  func days(_ lines: [String], _ days: String) throws {
    let text = (["BEGIN:VCALENDAR"] + lines + ["END:VCALENDAR", ""]).joined(separator: "\r\n")
    let result = try HolidayDocument().read(
      Array(text.utf8), today: CivilDate(year: 2026, month: 11, day: 23))
    #expect(result.holidays.keys.sorted().map(\.description).joined(separator: " ") == days)
    #expect(result.leftOut.isEmpty == !text.contains("UNTIL=\r"))
  }
}

/// Tests of importing tasks that do not repeat.
@Suite struct TaskwarriorDueTests {
  private static let pay =
    #"{"uuid":"u","description":"Pay","status":"pending","due":"20261125T080000Z"}"#
  private static let call =
    #"{"uuid":"v","description":"Call","status":"waiting","due":"20261126T080000Z"}"#

  @Test(arguments: [
    (pay, ["Pay"]), ("[\(pay),\(call)]", ["Pay", "Call"]), ("\(pay)\n\(call)\n", ["Pay", "Call"]),
    ("\(pay),\n\(call)", ["Pay", "Call"]), ("[\n\(pay),\n\(call)\n]", ["Pay", "Call"]),
    (#"[{"uuid":"u","description":"D","status":"completed","due":"20261125T080000Z"}]"#, []),
    (#"[{"uuid":"u","description":"N","status":"pending"}]"#, []),
  ])
  func forms(_ text: String, _ titles: [String]) throws {
    let bytes = Array(text.utf8)
    let json = try TaskwarriorDocument.lines(bytes) ?? JSON(parsing: bytes)
    #expect(TaskwarriorDocument.matches(json))
    let (alarms, leftOut) = TaskwarriorDocument.read(
      json, now: Instant(seconds: 1_795_000_000), zone: .utc)
    #expect(alarms.map(\.title) == titles)
    #expect(leftOut.isEmpty)
  }

  @Test("An overdue task is left out with its reason, and other documents are no tasks")
  func others() throws {
    let json = try JSON(parsing: Array("[\(Self.pay)]".utf8))
    let later = TaskwarriorDocument.read(json, now: Instant(seconds: 1_800_000_000), zone: .utc)
    #expect(later.leftOut.map(\.reason) == ["it was due on 2026-11-25"])
    #expect(TaskwarriorDocument.lines(Array("{\"belfry\": \"export\"}".utf8)) == nil)
    #expect(!TaskwarriorDocument.matches(try JSON(parsing: Array("{\"a\": 1}".utf8))))
  }
}
