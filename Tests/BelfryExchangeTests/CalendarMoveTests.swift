import BelfryCore
import BelfryStore
import TestSupport
import Testing

@testable import BelfryExchange

private func event(_ lines: String..., title: String = "A", uid: String = "q") -> [String] {
  ["BEGIN:VEVENT", "UID:\(uid)", "DTSTAMP:20260101T000000Z", "SUMMARY:\(title)"] + lines
    + ["END:VEVENT"]
}

private func reminder(_ trigger: String) -> String {
  "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER\(trigger)\r\nEND:VALARM"
}

private let weekly = event("DTSTART;TZID=Europe/Berlin:20261130T090000", "RRULE:FREQ=WEEKLY")

/// Returns a calendar with the property `RECURRENCE-ID` for the event on 7 December at 09:00 in Berlin.
private func changed(_ lines: String..., title: String = "A") -> [String] {
  ["BEGIN:VEVENT", "UID:q", "DTSTAMP:20260101T000000Z", "SUMMARY:\(title)"]
    + ["RECURRENCE-ID;TZID=Europe/Berlin:20261207T090000"] + lines + ["END:VEVENT"]
}

private func read(
  _ lines: [String], now: String = "2026-11-23T09:00:00Z", zone: String = "Europe/Berlin"
) throws -> (alarms: [ForeignAlarm], leftOut: [Remark]) {
  try CalendarCase("", lines, [], now: now, zone: zone).read()
}

/// The schedules of alarms, each with its moves: `every monday … [2026-12-07T09:00 > 2026-12-08T11:00]`.
private func summary(_ alarms: [ForeignAlarm]) -> [String] {
  alarms.map { alarm in
    let moves = alarm.moved.sorted { $0.key < $1.key }.map { "\($0) > \($1)" }
    let schedule =
      if case .once = alarm.schedule.recurrence { alarm.schedule.summary } else { "series" }
    return ([schedule] + moves).joined(separator: " ")
  }
}

/// Tests of changes of single events, which are moves of the alarm of their series.
@Suite struct CalendarMoveTests {
  /// The definition that calendars in the web write.
  private static let berlin = [
    "BEGIN:VTIMEZONE", "TZID:Europe/Berlin", "X-LIC-LOCATION:Europe/Berlin", "BEGIN:DAYLIGHT",
    "TZOFFSETFROM:+0100", "TZOFFSETTO:+0200", "TZNAME:CEST", "DTSTART:19700329T020000",
    "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU", "END:DAYLIGHT", "BEGIN:STANDARD",
    "TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "TZNAME:CET", "DTSTART:19701025T030000",
    "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU", "END:STANDARD", "END:VTIMEZONE",
  ]

  @Test(
    "The files of other programs",
    arguments: [
      // Google Calendar
      ["CALSCALE:GREGORIAN", "METHOD:PUBLISH", "X-WR-TIMEZONE:Europe/Berlin"] + berlin
        + event(
          "DTSTART;TZID=Europe/Berlin:20261130T090000", "DTEND;TZID=Europe/Berlin:20261130T100000",
          "RRULE:FREQ=WEEKLY;BYDAY=MO", "CREATED:20261101T080000Z",
          "LAST-MODIFIED:20261120T080000Z", "SEQUENCE:0", "STATUS:CONFIRMED", "TRANSP:OPAQUE",
          uid: "0abc@google.com")
        + event(
          "DTSTART;TZID=Europe/Berlin:20261208T110000", "DTEND;TZID=Europe/Berlin:20261208T120000",
          "RECURRENCE-ID;TZID=Europe/Berlin:20261207T090000", "CREATED:20261101T080000Z",
          "LAST-MODIFIED:20261121T080000Z", "SEQUENCE:1", "STATUS:CONFIRMED", "TRANSP:OPAQUE",
          uid: "0abc@google.com"),
      // Thunderbird
      berlin
        + event(
          "CREATED:20261101T080000Z", "LAST-MODIFIED:20261120T080000Z", "RRULE:FREQ=WEEKLY",
          "DTSTART;TZID=Europe/Berlin:20261130T090000", "DTEND;TZID=Europe/Berlin:20261130T100000",
          "TRANSP:OPAQUE", "X-MOZ-GENERATION:2", "X-MOZ-LASTACK:20261120T080000Z")
        + event(
          "CREATED:20261101T080000Z", "LAST-MODIFIED:20261120T080000Z",
          "RECURRENCE-ID;TZID=Europe/Berlin:20261207T090000",
          "DTSTART;TZID=Europe/Berlin:20261208T110000", "DTEND;TZID=Europe/Berlin:20261208T120000",
          "TRANSP:OPAQUE", "X-MOZ-GENERATION:2", "SEQUENCE:1"),
      // Apple Calendar
      ["CALSCALE:GREGORIAN"] + berlin
        + event(
          "TRANSP:OPAQUE", "DTEND;TZID=Europe/Berlin:20261130T100000",
          "X-APPLE-TRAVEL-ADVISORY-BEHAVIOR:AUTOMATIC",
          "DTSTART;TZID=Europe/Berlin:20261130T090000",
          "RRULE:FREQ=WEEKLY;INTERVAL=1", "SEQUENCE:0")
        + event(
          "TRANSP:OPAQUE", "DTEND;TZID=Europe/Berlin:20261208T120000",
          "X-APPLE-TRAVEL-ADVISORY-BEHAVIOR:AUTOMATIC",
          "DTSTART;TZID=Europe/Berlin:20261208T110000", "SEQUENCE:1",
          "RECURRENCE-ID;TZID=Europe/Berlin:20261207T090000"),
      // khal
      berlin
        + event(
          "DTSTART;TZID=Europe/Berlin;VALUE=DATE-TIME:20261130T090000",
          "DTEND;TZID=Europe/Berlin;VALUE=DATE-TIME:20261130T100000", "RRULE:FREQ=WEEKLY")
        + event(
          "DTSTART;TZID=Europe/Berlin;VALUE=DATE-TIME:20261208T110000",
          "DTEND;TZID=Europe/Berlin;VALUE=DATE-TIME:20261208T120000",
          "RECURRENCE-ID;TZID=Europe/Berlin;VALUE=DATE-TIME:20261207T090000"),
      // Nextcloud, in UTC
      weekly + event("RECURRENCE-ID:20261207T080000Z", "DTSTART:20261208T100000Z", "SEQUENCE:2"),
    ])
  func programs(_ lines: [String]) throws {
    let result = try read(lines)
    #expect(summary(result.alarms) == ["series 2026-12-07T09:00 > 2026-12-08T11:00"])
    #expect(result.alarms.first?.zone == .named("Europe/Berlin"))
    #expect(result.alarms.flatMap(\.losses).isEmpty)
    #expect(result.leftOut.isEmpty)
    #expect(result.alarms.first?.substitutes.count == 1)
  }

  @Test(
    "The new time is that of the alarm's zone and of the reminders",
    arguments: [
      (
        weekly + changed("DTSTART;TZID=America/New_York:20261208T110000"),
        ["series 2026-12-07T09:00 > 2026-12-08T17:00"]
      ),
      (
        event(
          "DTSTART;TZID=Europe/Berlin:20261130T090000", "RRULE:FREQ=WEEKLY", reminder(":-PT30M"))
          + changed("DTSTART;TZID=Europe/Berlin:20261208T110000", reminder(":-PT10M")),
        ["series 2026-12-07T08:30 > 2026-12-08T10:50"]
      ),
      (
        event(
          "DTSTART;TZID=Europe/Berlin:20261130T090000", "RRULE:FREQ=WEEKLY", reminder(":-PT30M"))
          + changed("DTSTART;TZID=Europe/Berlin:20261207T090000", reminder(":-PT10M")),
        ["series 2026-12-07T08:30 > 2026-12-07T08:50"]
      ),
      (
        event(
          "DTSTART;TZID=Europe/Berlin:20261130T090000", "RRULE:FREQ=WEEKLY", reminder(":-PT30M"),
          reminder(":-PT5M"))
          + changed(
            "DTSTART;TZID=Europe/Berlin:20261208T110000", reminder(":-PT30M"), reminder(":-PT5M")),
        ["series 2026-12-07T08:30 > 2026-12-08T10:30 2026-12-07T08:55 > 2026-12-08T10:55"]
      ),
      (
        event("DTSTART;VALUE=DATE:20261130", "RRULE:FREQ=WEEKLY", reminder(":-PT6H"))
          + event(
            "RECURRENCE-ID;VALUE=DATE:20261207", "DTSTART;VALUE=DATE:20261209", reminder(":-PT6H")),
        ["series 2026-12-06T18:00 > 2026-12-08T18:00"]
      ),
      // The warnings are on another day than the alarm.
      (
        event(
          "DTSTART;TZID=Europe/Berlin:20261130T090000", "RRULE:FREQ=WEEKLY", reminder(":-P1D"),
          reminder(":PT0S"))
          + changed(
            "DTSTART;TZID=Europe/Berlin:20261208T110000", reminder(":-P1D"), reminder(":PT0S")),
        ["series 2026-12-07T09:00 > 2026-12-08T11:00"]
      ),
      // The own time of the first moved occurrence has passed.
      (
        event("DTSTART;TZID=Europe/Berlin:20261116T090000", "RRULE:FREQ=WEEKLY")
          + event(
            "RECURRENCE-ID;TZID=Europe/Berlin:20261116T090000",
            "DTSTART;TZID=Europe/Berlin:20261124T110000"),
        ["series 2026-11-16T09:00 > 2026-11-24T11:00"]
      ),
      // Only a moved occurrence is left.
      (
        event("DTSTART;TZID=Europe/Berlin:20261109T090000", "RRULE:FREQ=WEEKLY;COUNT=2")
          + event(
            "RECURRENCE-ID;TZID=Europe/Berlin:20261116T090000",
            "DTSTART;TZID=Europe/Berlin:20261124T110000"),
        ["series 2026-11-16T09:00 > 2026-11-24T11:00"]
      ),
      (
        weekly + changed("DTSTART;TZID=Europe/Berlin:20261103T110000"),
        ["series 2026-12-07T09:00 > 2026-11-03T11:00"]
      ),
    ])
  func times(_ lines: [String], _ expected: [String]) throws {
    let result = try read(lines)
    #expect(summary(result.alarms) == expected)
    #expect(result.leftOut.isEmpty)
    #expect(result.alarms.flatMap(\.losses).isEmpty)
  }

  @Test(
    "A change that a move cannot express is an alarm of its own, without a loss",
    arguments: [
      // another title, at another or the same time
      changed("DTSTART;TZID=Europe/Berlin:20261208T110000", title: "B"),
      changed("DTSTART;TZID=Europe/Berlin:20261207T090000", title: "B"),
      // a note or a label of its own
      changed("DTSTART;TZID=Europe/Berlin:20261208T110000", "DESCRIPTION:Bring the key"),
      changed("DTSTART;TZID=Europe/Berlin:20261207T090000", "DESCRIPTION:Bring the key"),
      changed("DTSTART;TZID=Europe/Berlin:20261208T110000", "CATEGORIES:Work"),
      // the time of another occurrence
      changed("DTSTART;TZID=Europe/Berlin:20261214T090000"),
      // another number of reminders
      changed(
        "DTSTART;TZID=Europe/Berlin:20261208T110000", reminder(":-PT10M"), reminder(":PT0S")),
      // a fixed time
      changed(
        "DTSTART;TZID=Europe/Berlin:20261208T110000",
        reminder(";VALUE=DATE-TIME:20261208T080000Z")),
      // the second 02:30 in the night of the clock change
      changed("DTSTART:20271031T013000Z"),
    ])
  func alone(_ change: [String]) throws {
    let result = try read(weekly + change)
    #expect(result.alarms.count == 2)
    #expect(result.alarms.first?.moved == [:])
    #expect(result.alarms.first?.schedule.limits.exceptions.map(\.description) == ["2026-12-07"])
    #expect(result.leftOut.isEmpty)
    #expect(result.alarms.flatMap(\.losses).isEmpty)
  }

  @Test("A change of no occurrence of the series is an alarm of its own")
  func noOccurrence() throws {
    let change = event(
      "RECURRENCE-ID;TZID=Europe/Berlin:20261208T090000",
      "DTSTART;TZID=Europe/Berlin:20261208T110000"
    )
    #expect(summary(try read(weekly + change).alarms) == ["series", "once on 2026-12-08 at 11:00"])
    let excepted = event(
      "DTSTART;TZID=Europe/Berlin:20261130T090000", "RRULE:FREQ=WEEKLY",
      "EXDATE;TZID=Europe/Berlin:20261207T090000")
    #expect(
      summary(try read(excepted + changed("DTSTART;TZID=Europe/Berlin:20261208T110000")).alarms)
        == ["series", "once on 2026-12-08 at 11:00"])
  }

  @Test("Two changes to the same time are a move and an alarm of its own")
  func sameTime() throws {
    let other = event(
      "RECURRENCE-ID;TZID=Europe/Berlin:20261214T090000",
      "DTSTART;TZID=Europe/Berlin:20261208T110000"
    )
    let result = try read(weekly + changed("DTSTART;TZID=Europe/Berlin:20261208T110000") + other)
    #expect(
      summary(result.alarms) == [
        "series 2026-12-07T09:00 > 2026-12-08T11:00", "once on 2026-12-08 at 11:00",
      ])
  }

  @Test("White space in a note, and a missing note, are no other text")
  func whiteSpace() throws {
    let series = event(
      "DTSTART;TZID=Europe/Berlin:20261130T090000", "RRULE:FREQ=WEEKLY", "DESCRIPTION:a b")
    for note in ["DESCRIPTION:a  b\\n", "DESCRIPTION: ", "LOCATION:x"] {
      let result = try read(series + changed("DTSTART;TZID=Europe/Berlin:20261208T110000", note))
      #expect(summary(result.alarms) == ["series 2026-12-07T09:00 > 2026-12-08T11:00"])
    }
  }

  @Test("Of several changes of an event, the highest revision counts, then the one written last")
  func revisions() throws {
    func change(
      _ time: String, _ lines: String..., id: String = ";TZID=Europe/Berlin:20261207T090000"
    )
      -> [String]
    {
      ["BEGIN:VEVENT", "UID:q", "SUMMARY:A", "RECURRENCE-ID\(id)"]
        + ["DTSTART;TZID=Europe/Berlin:202612\(time)"] + lines + ["END:VEVENT"]
    }
    let older = change("08T100000", "DTSTAMP:20261102T000000Z", "SEQUENCE:1")
    let latest = change("08T110000", "DTSTAMP:20261101T000000Z", "SEQUENCE:2")
    let utc = change(
      "08T110000", "DTSTAMP:20261101T000000Z", "SEQUENCE:2", id: ":20261207T080000Z")
    let written = change("08T100000", "DTSTAMP:20261031T000000Z", "SEQUENCE:2")
    let cancelled = change(
      "07T090000", "DTSTAMP:20261031T000000Z", "SEQUENCE:2", "STATUS:CANCELLED")
    for pair in [older + latest, latest + older, written + latest, latest + written]
      + [older + utc, utc + older, utc + written, cancelled + latest, latest + cancelled]
    {
      #expect(
        summary(try read(weekly + pair).alarms) == ["series 2026-12-07T09:00 > 2026-12-08T11:00"])
    }
    let newer = change(
      "07T090000", "DTSTAMP:20261102T000000Z", "SEQUENCE:2", "STATUS:CANCELLED")
    #expect(summary(try read(weekly + newer + latest).alarms) == ["series"])
  }

  @Test("A later version of the series that lacks the changed event wins over the change")
  func laterSeries() throws {
    let series = event(
      "DTSTART;TZID=Europe/Berlin:20261130T090000", "RRULE:FREQ=WEEKLY", "SEQUENCE:3",
      "EXDATE;TZID=Europe/Berlin:20261207T090000")
    let change = changed("DTSTART;TZID=Europe/Berlin:20261208T110000", "SEQUENCE:2")
    #expect(summary(try read(series + change).alarms) == ["series"])
  }

  @Test("A series that is cut off, and its single changes")
  func following() throws {
    let later = event(
      "RECURRENCE-ID;TZID=Europe/Berlin;RANGE=THISANDFUTURE:20261214T090000",
      "DTSTART;TZID=Europe/Berlin:20261214T100000")
    let result = try read(
      weekly + changed("DTSTART;TZID=Europe/Berlin:20261208T110000") + later)
    #expect(
      summary(result.alarms) == ["series 2026-12-07T09:00 > 2026-12-08T11:00", "series"])
  }

  @Test("Moves of another program survive an export and the next import")
  func roundTrip() throws {
    let zones = ZoneLibrary(variable: "Europe/Berlin")
    let now = try #require(Instant(rfc3339: "2026-11-23T09:00:00Z"))
    let item = try #require(
      try read(weekly + changed("DTSTART;TZID=America/New_York:20261208T110000")).alarms.first)
    var alarm = Alarm.created(
      id: item.id, title: item.title, note: item.note, tags: item.tags, schedule: item.schedule,
      zone: item.zone, delivery: item.delivery, at: now, device: TestIdentifier.make())
    for (civil, time) in item.moved {
      alarm.progress.moves[civil] = OccurrenceMove(
        to: time, stamp: alarm.latestStamp, isImported: true)
    }
    let written = try CalendarDocument().write(
      [Timeline(alarm, zone: zones.zone(of: alarm))], now: now)
    let read = try CalendarDocument().read(written.bytes, now: now, zones: zones)
    #expect(read.alarms.map(\.id) == [item.id])
    #expect(read.alarms.map(\.moved) == [item.moved])
    #expect(read.alarms.map(\.schedule) == [item.schedule])
  }
}
