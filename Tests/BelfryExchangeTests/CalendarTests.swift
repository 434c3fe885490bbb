import BelfryCore
import BelfryStore
import Glibc
import TestSupport
import Testing

@testable import BelfryExchange

private let utc = ZoneLibrary(variable: "UTC")
private let now = Instant(seconds: 1_795_000_000)  // 2026-11-18

private func alarm(
  _ recurrence: Recurrence, times: [String] = ["09:00"], title: String = "Rent",
  note: String? = nil, zone: Alarm.Zone = .floating
) throws -> Alarm {
  try Alarm.created(
    id: TestIdentifier.make(), title: title, note: note,
    schedule: Schedule(recurrence, times: times.compactMap { CivilTime($0) }), zone: zone,
    delivery: Alarm.Delivery(), at: now, device: TestIdentifier.make())
}

private func timeline(_ alarm: Alarm, _ calendar: WorkCalendar = .standard) -> Timeline {
  Timeline(alarm, zone: .utc, calendar: calendar)
}

private func read(_ text: String, zones: ZoneLibrary = utc) throws -> (
  alarms: [ForeignAlarm], leftOut: [Remark]
) {
  let lines = text.split(separator: "\n").joined(separator: "\r\n")
  return try CalendarDocument().read(
    Array("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n\(lines)\r\nEND:VCALENDAR\r\n".utf8), now: now,
    zones: zones)
}

@Suite struct MovedOccurrenceTests {
  private let monday = CivilDateTime("2026-11-23T09:00")!
  private let moved = CivilDateTime("2026-11-24T15:00")!

  private func weekly(zone: Alarm.Zone = .floating) throws -> Alarm {
    var result = try alarm(
      .weekly([.monday], .init(start: CivilDate(year: 2026, month: 11, day: 16))), zone: zone)
    result.progress.moves[monday] = OccurrenceMove(to: moved, stamp: result.latestStamp)
    return result
  }

  @Test("A moved occurrence is written with a RECURRENCE-ID, and read back as the same move")
  func roundTrip() throws {
    for zone in [Alarm.Zone.floating, .named("Europe/Berlin")] {
      let written = try CalendarDocument().write(
        [Timeline(try weekly(zone: zone), zone: utc.zone(of: try weekly(zone: zone)))], now: now)
      let text = String(decoding: written.bytes, as: UTF8.self)
      let parameter = zone == .floating ? "" : ";TZID=Europe/Berlin"
      #expect(text.contains("RECURRENCE-ID\(parameter):20261123T090000\r\n"))
      #expect(text.contains("DTSTART\(parameter):20261124T150000\r\n"))
      let read = try CalendarDocument().read(written.bytes, now: now, zones: utc)
      #expect(read.alarms.count == 1)
      #expect(read.alarms.first?.moved == [monday: moved])
      #expect(read.alarms.first?.skipped == [])
    }
  }

  @Test("A one-time alarm that was moved is written at its new time")
  func once() throws {
    var single = try alarm(.once(monday.date))
    single.progress.moves[monday] = OccurrenceMove(to: moved, stamp: single.latestStamp)
    let written = try CalendarDocument().write([timeline(single)], now: now)
    #expect(String(decoding: written.bytes, as: UTF8.self).contains("DTSTART:20261124T150000"))
    let read = try CalendarDocument().read(written.bytes, now: now, zones: utc)
    #expect(read.alarms.map(\.schedule.recurrence) == [.once(moved.date)])
  }

  @Test("A settled move, and one of no occurrence, are not written")
  func settled() throws {
    var done = try weekly()
    done.progress.occurrences[monday] = OccurrenceRecord(.done, since: now)
    var other = try weekly()
    other.progress.moves = [
      CivilDateTime("2026-11-25T09:00")!: OccurrenceMove(to: moved, stamp: other.latestStamp)
    ]
    for alarm in [done, other] {
      let written = try CalendarDocument().write([timeline(alarm)], now: now)
      #expect(!String(decoding: written.bytes, as: UTF8.self).contains("RECURRENCE-ID"))
    }
  }
}

/// Returns the occurrences to which libical expands a rule.
private func expanded(_ rule: String, from start: CivilDateTime) throws -> [CivilDateTime] {
  let handle = try #require(dlopen("libical.so.3", RTLD_NOW))
  typealias Expand =
    @convention(c) (
      UnsafePointer<CChar>, time_t, Int32, UnsafeMutablePointer<time_t>
    ) -> Int32
  let expand = unsafeBitCast(
    try #require(dlsym(handle, "icalrecur_expand_recurrence")), to: Expand.self)
  // The number of occurrences on a day.
  let perDay = rule.split(separator: ";").filter {
    $0.hasPrefix("BYHOUR") || $0.hasPrefix("BYMINUTE")
  }.map { $0.split(separator: ",").count }.reduce(1, *)
  var times = [time_t](repeating: 0, count: 9000 * perDay)
  _ = expand(rule, start.minuteNumber * 60, Int32(times.count), &times)
  return times.filter { $0 != 0 }.map { CivilDateTime(minuteNumber: $0 / 60) }
}

/// Returns the occurrences of a document up to a date, in order.
private func expanded(_ bytes: [UInt8], until end: CivilDate) throws -> [CivilDateTime] {
  var result: [CivilDateTime] = []
  for event in try CalendarLibrary().read(bytes).flatMap({ $0.components("VEVENT") }) {
    let start = try #require(event.first("DTSTART").flatMap { CalendarTime.read($0.value) }).civil
    func list(_ name: String) -> [CivilDateTime] {
      event.all(name).flatMap { CalendarTime.list($0.value) }
    }
    let rule = try event.first("RRULE").map { try expanded($0.value, from: start) } ?? [start]
    let omitted = Set(list("EXDATE"))
    result += rule.filter { !omitted.contains($0) } + list("RDATE")
  }
  return result.filter { $0.date <= end }.sorted()
}

/// Tests of exporting alarms to iCalendar.
@Suite struct CalendarWritingTests {
  /// Compares clamping and intervals with libical's independent expansion.
  @Test(arguments: 0..<300)
  func schedulesExpandToTheSameDaysInLibical(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    let start = CivilDate(year: number(2023...2027), month: number(1...12), day: number(1...28))
    let cadence = Recurrence.Cadence(interval: number(1...4), start: start)
    let recurrence: Recurrence
    switch seed % 6 {
    case 0: recurrence = .daily(cadence)
    case 1:
      recurrence = .weekly(
        Weekday.allCases.filter { _ in Bool.random(using: &generator) } + [.friday], cadence)
    case 2:
      let days = (0..<number(1...4)).map { _ in
        Bool.random(using: &generator)
          ? Recurrence.MonthDay.day(number(26...31)) : .day(number(1...31))
      }
      recurrence = .monthly(days + (seed % 4 == 0 ? [.last] : []), cadence)
    case 3:
      recurrence = .monthly(
        [.weekday([1, 2, 3, 4, -1][number(0...4)], Weekday.allCases[number(0...6)])], cadence)
    case 4:
      recurrence =
        seed % 12 < 6
        ? .annual(months: [2], [.day(29)], cadence)
        : .annual(months: [number(1...12)], [.day(number(1...28))], cadence)
    default: recurrence = .days(number(1...40), cadence)
    }
    let alarm = try alarm(recurrence)
    let end = CivilDate(year: start.year + 5, month: 12, day: 31)
    var days: [CivilDateTime] = []
    var day = alarm.schedule.recurrence.first(onOrAfter: start, in: .standard)
    while let current = day, current <= end {
      days.append(CivilDateTime(current, alarm.schedule.times[0]))
      day = alarm.schedule.recurrence.first(onOrAfter: current.adding(days: 1), in: .standard)
    }
    let document = try CalendarDocument().write([timeline(alarm)], now: now).bytes
    #expect(try expanded(document, until: end) == days, "\(alarm.schedule.summary), seed \(seed)")

    // The document imports to the same schedule and identifier.
    let back = try CalendarDocument().read(document, now: now, zones: utc)
    #expect(back.alarms.map(\.schedule) == [alarm.schedule])
    #expect(back.alarms.map(\.id) == [alarm.id])
  }

  /// Compares every kind of schedule, with ends, exceptions, working days and holidays, with libical's expansion.
  @Test(arguments: RandomSamples.seeds(10))
  func randomSchedulesExpandToTheSameOccurrencesInLibical(_ batch: UInt64) throws {
    for seed in (batch * 25)..<((batch + 1) * 25) {
      var generator = SeededGenerator(seed: seed)
      var alarm = try alarm(.daily(.init(start: CivilDate(year: 2026, month: 1, day: 1))))
      alarm.schedule = try Schedule.random(&generator)
      let timeline = timeline(alarm, .random(&generator))
      let start = alarm.schedule.recurrence.cadence?.start ?? CivilDate(dayNumber: 20_000)
      let end = start.adding(days: 2000)
      var expected: [CivilDateTime] = []
      var last = CivilDateTime(start.adding(days: -40), .midnight)
      while let next = timeline.scheduled.next(after: last), next.date <= end {
        expected.append(next)
        last = next
      }
      let document = try CalendarDocument().write([timeline], now: now).bytes
      // A date that rules of two kinds contain occurs twice.
      #expect(
        Set(try expanded(document, until: end)) == Set(expected),
        "\(alarm.schedule.summary), seed \(seed)")

      let back = try CalendarDocument().read(
        document, now: Instant(seconds: 0), zones: utc, calendar: timeline.calendar)
      #expect(back.leftOut.isEmpty)
      let isEmpty = timeline.scheduled.next(after: CivilDateTime(.earliest, .midnight)) == nil
      if !isEmpty || !back.alarms.isEmpty {
        #expect(back.alarms.map(\.schedule) == [alarm.schedule], "seed \(seed)")
      }
    }
  }

  @Test("The next date of a schedule that follows completions is exported")
  func completions() throws {
    var filter = try alarm(
      .afterDone(Period(90, .day), .init(start: CivilDate(year: 2026, month: 11, day: 20))))
    let done = try #require(CivilDateTime("2026-11-20T09:00"))
    filter.progress.occurrences[done] = OccurrenceRecord(
      .done, completed: CivilDate(year: 2026, month: 11, day: 23))
    let (bytes, remarks) = try CalendarDocument().write([timeline(filter)], now: now)
    #expect(String(decoding: bytes, as: UTF8.self).contains("DTSTART:20270221T090000"))
    #expect(remarks.contains { $0.reason.contains("90 days after done") })
    let back = try CalendarDocument().read(bytes, now: now, zones: utc).alarms
    #expect(
      back.first?.schedule.recurrence
        == .afterDone(Period(90, .day), .init(start: CivilDate(year: 2027, month: 2, day: 21))))
  }

  @Test("An overdue schedule that follows completions is exported with one future date")
  func overdue() throws {
    var filter = try alarm(
      .afterDone(Period(90, .day), .init(start: CivilDate(year: 2026, month: 10, day: 20))))
    filter.schedule = try Schedule(
      filter.schedule.recurrence, times: filter.schedule.times, limits: .init(onHoliday: .after))
    let holidays = WorkCalendar(
      workdays: WorkCalendar.defaultWorkdays,
      holidays: [
        CivilDate(year: 2026, month: 11, day: 18), CivilDate(year: 2026, month: 12, day: 25),
      ])
    let bytes = try CalendarDocument().write([timeline(filter, holidays)], now: now).bytes
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("DTSTART:20261119T090000"), "\(text)")
    #expect(!text.contains("RDATE"))
    let back = try CalendarDocument().read(bytes, now: now, zones: utc, calendar: holidays).alarms
    #expect(back.map(\.id) == [filter.id])
    #expect(back.first?.schedule.limits.onHoliday == .after)
  }

  @Test("A moved date is exported though its rule has no occurrence before the end")
  func movedDate() throws {
    var tax = try alarm(
      .annual(
        months: [2, 12], [.workday(1)], .init(start: CivilDate(year: 2026, month: 11, day: 23))))
    let end = Schedule.Limits.end(of: CivilDate(year: 2026, month: 12, day: 31))
    tax.schedule = try Schedule(
      tax.schedule.recurrence, times: tax.schedule.times, limits: .init(until: end))
    let holidays = WorkCalendar(
      workdays: WorkCalendar.defaultWorkdays, holidays: [CivilDate(year: 2026, month: 12, day: 1)])
    let bytes = try CalendarDocument().write([timeline(tax, holidays)], now: now).bytes
    #expect(
      try expanded(bytes, until: end.date).map(\.description) == ["2026-12-02T09:00"])
    tax.schedule = try Schedule(
      .annual(
        months: [12], [.workday(1)], .init(start: CivilDate(year: 2026, month: 12, day: 2))),
      times: tax.schedule.times, limits: .init(until: end))
    let single = try CalendarDocument().write([timeline(tax, holidays)], now: now).bytes
    #expect(
      try expanded(single, until: end.date).map(\.description) == ["2026-12-02T09:00"])
  }

  @Test func unsupportedPropertiesAreReportedOnExport() throws {
    var odd = try alarm(.daily(Recurrence.Cadence(start: CivilDate(year: 2026, month: 11, day: 1))))
    odd.delivery = Alarm.Delivery(persistent: true, sound: "pulse", strict: true)
    odd.enabled = false
    let (bytes, remarks) = try CalendarDocument().write([timeline(odd)], now: now)
    #expect(remarks.count == 4)
    #expect(!String(decoding: bytes, as: UTF8.self).contains("VALARM"))
    let back = try CalendarDocument().read(bytes, now: now, zones: utc).alarms
    #expect(back.first?.delivery == odd.delivery)
    #expect(back.first?.enabled == false)
  }

  @Test func movedEventIsImportedSeparately() throws {
    let pills = try alarm(
      .daily(Recurrence.Cadence(start: CivilDate(year: 2026, month: 11, day: 1))),
      times: ["08:30", "21:00"])
    let text = String(
      decoding: try CalendarDocument().write([timeline(pills)], now: now).bytes, as: UTF8.self)
    let moved = text.replacing("DTSTART:20261101T083000", with: "DTSTART:20261101T071500")
    let back = try CalendarDocument().read(Array(moved.utf8), now: now, zones: utc).alarms
    #expect(back.flatMap(\.schedule.times).map(\.description).sorted() == ["07:15", "21:00"])
  }

  @Test func textsZonesAndSkipsSurviveRoundTrip() throws {
    let title = "Rent; \"big\", \\n ❤️ " + String(repeating: "x", count: 150)
    var one = try alarm(
      .daily(Recurrence.Cadence(start: CivilDate(year: 2026, month: 11, day: 1))),
      times: ["09:00", "21:30"], title: title, note: "a\nb, c; d\\e",
      zone: .named("Europe/Berlin"))
    let civil = try #require(CivilDateTime("2026-12-01T21:30"))
    one.progress.occurrences[civil] = OccurrenceRecord(.skipped)
    let bytes = try CalendarDocument().write([timeline(one)], now: now).bytes
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("BEGIN:VTIMEZONE"))
    #expect(text.contains("TZID:Europe/Berlin"))
    #expect(
      text.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 75 },
      "\(text.split(separator: "\r\n").map(\.utf8.count).max() ?? 0)")
    let back = try #require(try CalendarDocument().read(bytes, now: now, zones: utc).alarms.first)
    #expect(back.title == title)
    #expect(back.note == "a\nb, c; d\\e")
    #expect(back.zone == .named("Europe/Berlin"))
    #expect(back.schedule.times.count == 2)
    #expect(back.skipped == [civil])
  }
}

/// Tests of importing alarms from iCalendar.
@Suite struct CalendarReadingTests {
  @Test(arguments: [
    ("DTSTART:20261130T090000\nRRULE:FREQ=WEEKLY;BYDAY=MO,FR", "weekly on mon, fri at 09:00"),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR",
      "weekly on mon, tue, wed, thu, fri at 09:00"
    ),
    ("DTSTART:20261130T090000\nRRULE:FREQ=MONTHLY;BYDAY=-1FR", "monthly on the last fri at 09:00"),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=MONTHLY;BYDAY=MO;BYSETPOS=2",
      "monthly on the second mon at 09:00"
    ),
    (
      "DTSTART:20260115T090000\nRRULE:FREQ=YEARLY;BYMONTH=1,4,7,10",
      "every 3 months on the 15th at 09:00, from 2026-01-15"
    ),
    ("DTSTART:20260315T090000\nRRULE:FREQ=YEARLY", "annual on 15 Mar at 09:00"),
    ("DTSTART:20261130T090000\nRRULE:FREQ=MONTHLY;BYDAY=5MO", "monthly on the fifth mon at 09:00"),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=MONTHLY;BYDAY=MO;BYMONTHDAY=8,9,10,11,12,13,14",
      "monthly on the second mon at 09:00"
    ),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,-1",
      "monthly on the first workday, the last workday at 09:00"
    ),
    (
      "DTSTART:20261126T090000\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
      "annual on the fourth thu of Nov at 09:00"
    ),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=MONTHLY;BYMONTHDAY=-3",
      "monthly on the third-to-last day at 09:00"
    ),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=MONTHLY;BYMONTH=3,6,11;BYMONTHDAY=10",
      "annual on 10 Mar, 10 Jun, 10 Nov at 09:00"
    ),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=WEEKLY;UNTIL=20270331T215959Z",
      "weekly on mon at 09:00, until 2027-03-31 21:59"
    ),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=WEEKLY;UNTIL=20270331",
      "weekly on mon at 09:00, until 2027-03-31"
    ),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=WEEKLY;COUNT=3\nEXDATE:20261207T090000",
      "weekly on mon at 09:00, until 2026-12-14 09:00, except 2026-12-07"
    ),
    ("DTSTART:20261130T090000\nRRULE:FREQ=DAILY;BYHOUR=8,20;BYMINUTE=30", "daily at 08:30, 20:30"),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=HOURLY;INTERVAL=2;BYHOUR=9,11,13,15,17",
      "daily every 2 h from 09:00 to 17:00"
    ),
    (
      "DTSTART:20261130T090500\nRRULE:FREQ=MINUTELY;INTERVAL=20;BYDAY=MO,FR",
      "weekly on mon, fri every 20 min from 00:05 to 23:45"
    ),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=HOURLY;INTERVAL=6;BYMINUTE=0,30",
      "daily at 03:00, 03:30, 09:00, 09:30, 15:00, 15:30, 21:00, 21:30"
    ),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU",
      "every 2 weeks on sun at 09:00, from 2026-12-13"
    ),
    (
      "DTSTART:20261129T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=MO,TU",
      "every 2 weeks on mon, tue at 09:00, from 2026-11-30"
    ),
    ("DTSTART;VALUE=DATE:20261224", "once on 2026-12-24 at 09:00"),
    ("DUE:20261224T180000\nPRIORITY:1", "once on 2026-12-24 at 18:00"),
    // A VALARM half an hour before the event, also across midnight.
    (
      "DTSTART:20261130T001500\nRRULE:FREQ=WEEKLY;BYDAY=MO\nBEGIN:VALARM\nTRIGGER:-PT30M\nEND:VALARM",
      "weekly on sun at 23:45"
    ),
    (
      "DTSTART:20261201T001500\nRRULE:FREQ=MONTHLY\nBEGIN:VALARM\nTRIGGER:-PT30M\nEND:VALARM",
      "monthly on the last day at 23:45"
    ),
    (
      "DTSTART:20261130T100000\nRRULE:FREQ=DAILY\nBEGIN:VALARM\nTRIGGER:-PT10M\nEND:VALARM\nBEGIN:VALARM\nACTION:EMAIL\nTRIGGER:-P1D\nEND:VALARM",
      "daily at 09:50"
    ),
    (
      "DTSTART:20261201T080000\nDTEND:20261201T200000\nBEGIN:VALARM\nTRIGGER;RELATED=END:-PT30M\nEND:VALARM",
      "once on 2026-12-01 at 19:30"
    ),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=DAILY\nBEGIN:VALARM\nTRIGGER:-PT30M\nEND:VALARM\nBEGIN:VALARM\nTRIGGER:PT0S\nEND:VALARM",
      "daily at 08:30, 09:00"
    ),
  ])
  func rulesAndAlarmsAreImported(_ lines: String, _ summary: String) throws {
    let (alarms, leftOut) = try read("BEGIN:VEVENT\nUID:1\nSUMMARY:x\n\(lines)\nEND:VEVENT")
    #expect(leftOut.isEmpty)
    #expect(alarms.map(\.schedule.summary) == [summary])
    // The identifier depends only on the event's UID.
    #expect(
      try read("BEGIN:VEVENT\nUID:1\nSUMMARY:y\n\(lines)\nEND:VEVENT").alarms.map(\.id)
        == alarms.map(\.id))
  }

  @Test(arguments: [
    (
      "DTSTART:20261130T090000Z\nRRULE:FREQ=HOURLY;INTERVAL=5;BYDAY=MO", "differ from day to day"
    ),
    ("DTSTART:20261130T090000Z\nRRULE:FREQ=HOURLY;BYMONTHDAY=3", "limited to some days"),
    ("DTSTART:20201130T090000Z", "over"),
    ("DTSTART:20201130T090000Z\nRRULE:FREQ=DAILY;UNTIL=20211130T090000Z", "ended"),
    ("DTSTART:20201130T090000Z\nRRULE:FREQ=DAILY;COUNT=5", "ended on 2020-12-04"),
    ("DTSTART:20261125T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,WE;WKST=SU", "weeks begin"),
    ("DTSTART:20261130T090000\nRRULE:FREQ=MONTHLY;BYDAY=6MO", "no month has such a day"),
    ("DTSTART:20261130T090000\nRRULE:FREQ=YEARLY;BYDAY=20MO", "weekdays of a year"),
    ("DTSTART:20261130T090000\nRRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "weekdays of a month"),
    ("DTSTART:20261130T090000\nRRULE:FREQ=MONTHLY;BYDAY=MO,WE;BYSETPOS=1", "BYSETPOS"),
    ("DTSTART:20261130T090000\nRRULE:FREQ=YEARLY;BYWEEKNO=3", "BYWEEKNO"),
    (
      "DTSTART:20261130T090000\nRRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=9,17",
      "BYSETPOS with several times"
    ),
    (
      "DTSTART:20261201T090000\nRRULE:FREQ=YEARLY;BYMONTH=3,6,9,12;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
      "positions in several months"
    ),
    ("DTSTART:20261130T090000\nSTATUS:CANCELLED", "cancelled"),
    ("SUMMARY:nothing", "no time"),
  ])
  func unsupportedEventsAreReportedOnImport(_ lines: String, _ word: String) throws {
    let (alarms, leftOut) = try read("BEGIN:VEVENT\nUID:1\n\(lines)\nEND:VEVENT")
    #expect(alarms.isEmpty)
    #expect(leftOut.first?.reason.contains(word) == true, "\(leftOut)")
  }

  @Test func nonstandardZoneNamesAreMapped() throws {
    func zone(_ name: String) throws -> ForeignAlarm? {
      try read(
        "BEGIN:VEVENT\nUID:1\nDTSTART;TZID=\(name):20261130T090000\nEND:VEVENT"
      ).alarms.first
    }
    #expect(try zone("Europe/Berlin")?.zone == .named("Europe/Berlin"))
    #expect(try zone("/mozilla.org/20050126_1/Europe/Berlin")?.zone == .named("Europe/Berlin"))
    #expect(try zone("Eastern Standard Time")?.zone == .named("America/New_York"))
    let odd = try zone("Customized Time Zone")
    #expect(odd?.zone == .floating)
    #expect(odd?.losses.isEmpty == false)
  }

  @Test(arguments: 0..<200)
  func damagedDocumentsDoNotCrash(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let damaged = try alarm(
      .monthly(
        [.day(30), .day(31)], Recurrence.Cadence(start: CivilDate(year: 2026, month: 1, day: 1))),
      note: "note", zone: .named("Europe/Berlin"))
    let document = try CalendarDocument().write([timeline(damaged)], now: now).bytes
    var bytes = document
    for _ in 0..<Int.random(in: 1...20, using: &generator) {
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      switch UInt8.random(in: 0...2, using: &generator) {
      case 0: bytes[place] = .random(in: 1...255, using: &generator)
      case 1: bytes.remove(at: place)
      default: bytes.insert(UInt8(ascii: "\n"), at: place)
      }
    }
    // Any result is valid, as long as the reader does not crash.
    _ = try? CalendarDocument().read(bytes, now: now, zones: utc)
  }
}

/// Tests of importing tasks from Taskwarrior.
@Suite struct TaskwarriorTests {
  @Test(arguments: [
    ("daily", "daily at 08:00"), ("weekdays", "weekly on mon, tue, wed, thu, fri at 08:00"),
    ("weekly", "weekly on mon at 08:00"), ("P2W", "every 2 weeks on mon at 08:00, from 2026-11-30"),
    ("monthly", "monthly on the 30th at 08:00"),
    ("quarterly", "every 3 months on the 30th at 08:00, from 2026-11-30"),
    ("3days", "every 3 days at 08:00, from 2026-11-30"),
    ("yearly", "annual on 30 Nov at 08:00"),
    ("2 yrs", "every 2 years on 30 Nov at 08:00, from 2026-11-30"),
    ("5hours", "every 5 hours"), ("36h", "every 36 hours"), ("PT12H", "daily at 08:00, 20:00"),
    ("90min", "daily every 1 h 30 min from 00:30 to 23:00"),
    ("P1Y2M", "every 14 months on the 30th at 08:00, from 2026-11-30"),
    ("P1M", "monthly on the 30th at 08:00"), ("", nil),
  ])
  func periodsAreImported(_ period: String, _ summary: String?) throws {
    let json = try JSON(
      parsing: Array(
        """
        [{"uuid": "u", "description": "Pay", "status": "recurring", "recur": "\(period)",
          "due": "20261130T080000Z", "project": "home", "tags": ["bills"]},
         {"uuid": "v", "description": "Pay", "status": "pending", "parent": "u", "due": "20261130T080000Z"}]
        """.utf8))
    #expect(TaskwarriorDocument.matches(json))
    let (alarms, leftOut) = TaskwarriorDocument.read(json, now: now, zone: .utc)
    #expect(alarms.map(\.schedule.summary) == (summary.map { [$0] } ?? []))
    #expect(leftOut.count == (summary == nil ? 1 : 0))
    #expect(alarms.first?.note ?? "project:home" == "project:home")
    #expect(alarms.first?.tags.text ?? "bills" == "bills")
  }
}

/// Tests of rules as text.
@Suite struct RecurrenceRuleTextTests {
  @Test(
    "A rule that is not valid is refused, and no part is ignored",
    arguments: [
      ("FREQ=DAILY;UNTIL=foo", "UNTIL=FOO"), ("FREQ=DAILY;COUNT=x", "COUNT=X"),
      ("FREQ=DAILY;COUNT=0", "COUNT=0 is not from 1"), ("FREQ=DAILY;FOO=1", "unknown part: FOO=1"),
      ("FREQ=DAILY;INTERVAL=2,3", "INTERVAL=2,3"), ("FREQ=DAILY;INTERVAL=0", "INTERVAL=0"),
      ("FREQ=DAILY;COUNT=3;UNTIL=20270101", "both COUNT and UNTIL"),
      ("FREQ=WEEKLY;BYMONTHDAY=13;BYDAY=FR", "limited to some weeks"),
      ("FREQ=WEEKLY;BYDAY=1MO", "only months have numbered weekdays"),
      ("FREQ=DAILY;BYDAY=1MO", "only months have numbered weekdays"),
      ("FREQ=DAILY;FREQ=WEEKLY", "several parts FREQ"), ("FREQ=DAILY;;COUNT=3", "not valid"),
      ("FREQ=MONTHLY;BYMONTH=13", "BYMONTH=13 is not from 1 to 12"),
      ("FREQ=DAILY;BYHOUR=25", "BYHOUR=25 is not from 0 to 23"),
      ("FREQ=DAILY;BYMINUTE=-1", "BYMINUTE=-1 is not from 0 to 59"),
      ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY=0"), ("FREQ=MONTHLY;BYDAY=0MO", "BYDAY=0MO"),
      ("FREQ=WEEKLY;WKST=XX", "WKST=XX"), ("INTERVAL=2", "no FREQ"),
    ])
  func invalid(_ text: String, _ words: String) throws {
    let start = try #require(CivilDateTime("2026-11-23T10:00"))
    let error = #expect(throws: ExchangeError.self) {
      try RecurrenceRuleText(text, start: start, zone: .utc)
    }
    #expect(error?.reason.contains(words) == true, "\(error?.reason ?? "")")
  }
}
