import BelfryCore
import BelfryStore
import TestSupport
import Testing

@testable import BelfryExchange

/// The reading of calendars that are followed, and the difference between two versions of them.
@Suite struct CalendarFeedTests {
  private let now = Instant(seconds: 1_795_000_000)  // 2026-11-18

  private func document(_ lines: String) -> [UInt8] {
    let lines = lines.split(separator: "\n").joined(separator: "\r\n")
    return Array("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n\(lines)\r\nEND:VCALENDAR\r\n".utf8)
  }

  private func feed(
    _ lines: String, silent: CalendarFeed.SilentItems = .ignored, tags: Set<AlarmTag> = []
  ) throws -> CalendarFeed {
    try CalendarDocument().feed(
      document(lines), silent: silent, tags: tags, now: now, zones: ZoneLibrary(variable: "UTC"))
  }

  private func event(
    _ uid: String, _ time: String = "20261201T090000", _ lines: String = "", reminds: Bool = true
  ) -> String {
    let reminder = reminds ? "BEGIN:VALARM\nACTION:DISPLAY\nTRIGGER:-PT10M\nEND:VALARM\n" : ""
    return
      "BEGIN:VEVENT\nUID:\(uid)\nSUMMARY:\(uid)\nDTSTART:\(time)\n\(lines.isEmpty ? "" : lines + "\n")\(reminder)END:VEVENT\n"
  }

  @Test("Only events with a reminder become alarms, with the changes of their occurrences")
  func reminders() throws {
    let apple = "BEGIN:VALARM\nACTION:NONE\nTRIGGER;VALUE=DATE-TIME:19760401T005545Z\nEND:VALARM"
    let text =
      event("a") + event("b", reminds: false) + event("c", "20261201T090000", apple, reminds: false)
      + event("d", "20261201T090000", "RRULE:FREQ=DAILY;COUNT=5")
      + event(
        "d", "20261203T110000", "RECURRENCE-ID:20261203T090000", reminds: false
      )
      .replacing("SUMMARY:d\nDTSTART:20261203", with: "SUMMARY:Other\nDTSTART:20261203")
    let ignoring = try feed(text)
    #expect(Set(ignoring.alarms.map(\.title)) == ["a", "d", "Other"])
    #expect(ignoring.silentCount == 2)
    #expect(ignoring.itemCount == 5)
    #expect(Set(ignoring.series.keys) == ["a", "d"])
    #expect(ignoring.series["d"]?.alarms.count == 2)
    #expect(try feed(text, silent: .ringing).alarms.count == 5)
    let before = try feed(event("b", reminds: false), silent: .ringingBefore(900)).alarms
    #expect(before.first?.schedule.times.map(\.description) == ["08:45"])
    let wholeDay = event("b", "20261201", reminds: false)
      .replacing("DTSTART:", with: "DTSTART;VALUE=DATE:")
    let days = try feed(wholeDay, silent: .ringingBefore(900)).alarms
    #expect(days.first?.schedule.times.map(\.description) == ["09:00"])
    let tagged = try feed(
      event("a", "20261201T090000", "CATEGORIES:Home"), tags: [try AlarmTag("work")])
    #expect(tagged.alarms.first?.tags.map(\.text).sorted() == ["home", "work"])
  }

  @Test("A fingerprint depends on everything but the time of writing and the order")
  func fingerprints() throws {
    let base = try feed(event("a") + event("b")).series
    #expect(
      try feed(event("b") + event("a", "20261201T090000", "DTSTAMP:20261101T000000Z")).series
        == base)
    let changed = try feed(event("a", "20261201T093000") + event("b")).series
    #expect(changed["a"]?.fingerprint != base["a"]?.fingerprint)
    #expect(changed["b"] == base["b"])
    let reminder = try feed(event("a").replacing("PT10M", with: "PT20M") + event("b")).series
    #expect(reminder["a"]?.fingerprint != base["a"]?.fingerprint)
  }

  @Test("Only differences are imported")
  func differences() throws {
    let before = try feed(event("a") + event("b") + event("c") + event("d"))
    let bad = event("d", "20261201T090000", "RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY")
    let after = try feed(
      event("a") + event("b", "20261201T093000") + bad
        + event("e", "20261201T090000", "STATUS:CANCELLED"))
    let change = FeedChange(after, since: before.series)
    #expect(change.alarms.map(\.title) == ["b"])
    #expect(change.vanished == before.series["c"]?.alarms)
    #expect(change.unsupported == before.series["d"]?.alarms)
    #expect(change.ended == [Identifier(naming: "e")])
    let series = change.series(keeping: [])
    #expect(Set(series.keys) == ["a", "b", "d"])
    // It is compared again.
    #expect(series["d"]?.fingerprint == "")
    let held = change.series(keeping: Set(change.vanished))
    #expect(held["c"]?.alarms == before.series["c"]?.alarms)
    let same = FeedChange(before, since: before.series)
    #expect(same.alarms.isEmpty && same.vanished.isEmpty && same.ended.isEmpty)
    #expect(same.series(keeping: []) == before.series)
  }

  @Test(
    "The interval that a calendar asks for",
    arguments: [
      ("REFRESH-INTERVAL;VALUE=DURATION:PT2H", 7200), ("X-PUBLISHED-TTL:P1D", 86_400),
      ("X-PUBLISHED-TTL:PT1H\nREFRESH-INTERVAL;VALUE=DURATION:PT2H", 7200),
      ("REFRESH-INTERVAL;VALUE=DURATION:-PT2H", nil), ("REFRESH-INTERVAL:soon", nil),
      ("X-A:b", nil),
    ] as [(String, Int64?)])
  func refreshInterval(_ line: String, _ seconds: Int64?) throws {
    #expect(try feed("\(line)\n" + event("a")).refreshInterval == seconds)
  }

  @Test("A calendar cannot run the user's actions, and does not own the alarms of an export")
  func exportedAlarms() throws {
    var alarm = try Alarm.created(
      id: TestIdentifier.make(), title: "Tea", note: nil,
      schedule: Schedule(
        .once(CivilDate(year: 2026, month: 12, day: 1)), times: [CivilTime(hour: 9, minute: 0)!]),
      zone: .floating, delivery: Alarm.Delivery(), at: now, device: TestIdentifier.make())
    alarm.delivery.run = ActionName("poweroff")
    alarm.delivery.runDone = ActionName("poweroff")
    alarm.delivery.persistent = true
    let zones = ZoneLibrary(variable: "UTC")
    let export = try CalendarDocument().write(
      [Timeline(alarm, zone: .utc, calendar: .standard)], now: now
    ).bytes
    let feed = try CalendarDocument().feed(export, now: now, zones: zones)
    let read = try #require(feed.alarms.first)
    #expect(read.id == alarm.id && read.delivery.persistent)
    #expect(read.delivery.run == nil && read.delivery.runDone == nil)
    #expect(read.losses == ["the action poweroff", "the action poweroff"])
    #expect(feed.series.isEmpty)
    #expect(FeedChange(feed, since: [:]).vanished.isEmpty)
  }

  @Test("The tasks that Belfry writes for a phone are no events")
  func ownTasks() throws {
    let feed = try feed(event("a") + event("b", "20261201T090000", "X-BELFRY-REV:1a2b"))
    #expect(feed.alarms.map(\.title) == ["a"])
    #expect(feed.itemCount == 1)
  }

  @Test func titles() {
    #expect(CalendarDocument.title(document("X-WR-CALNAME:Team\\, work\n")) == "Team, work")
    #expect(CalendarDocument.title(document("X-WR-CALNAME:x\nNAME;LANGUAGE=en:Own")) == "Own")
    #expect(CalendarDocument.title(document("BEGIN:VEVENT\nNAME:Event\nEND:VEVENT")) == nil)
  }

  @Test func damage() {
    let whole = document(event("a"))
    #expect(CalendarDamage(of: whole) == nil)
    #expect(CalendarDamage(of: document("")) == nil)
    #expect(CalendarDamage(of: Array(event("a").utf8)) == nil)
    #expect(CalendarDamage(of: [0xEF, 0xBB, 0xBF] + whole) == nil)
    #expect(CalendarDamage(of: whole + Array("\r\n\r\n".utf8)) == nil)
    #expect(CalendarDamage(of: whole + whole) == nil)
    #expect(CalendarDamage(of: []) == .empty)
    #expect(CalendarDamage(of: Array(" \r\n".utf8)) == .empty)
    #expect(CalendarDamage(of: Array("\n<!doctype html>".utf8)) == .webPage)
    #expect(CalendarDamage(of: Array("{\"error\": 1}".utf8)) == .otherKind)
    for count in 1..<whole.count - 3 {
      #expect(CalendarDamage(of: Array(whole.prefix(count))) != nil, "\(count)")
    }
    let folded = document(
      event("a", "20261201T090000", "DESCRIPTION:x\n END:VEVENT\n BEGIN:VEVENT"))
    #expect(CalendarDamage(of: folded) == nil)
    let many = String(repeating: "BEGIN:VEVENT\nEND:VEVENT\n", count: CalendarFeed.maxItems + 1)
    #expect(CalendarDamage(of: document(many)) == .tooManyItems(CalendarFeed.maxItems + 1))
  }

  @Test("Rules with very many occurrences and many events are read in bounded time")
  func hostileRules() throws {
    let rules = [
      "FREQ=SECONDLY", "FREQ=MINUTELY;INTERVAL=1",
      "FREQ=YEARLY;BYSETPOS=366;BYDAY=MO,TU,WE,TH,FR,SA,SU",
      "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=HOURLY;COUNT=999999999",
      "FREQ=YEARLY;BYMONTH=1,2,3;BYHOUR=1,2,3,4,5,6,7,8,9;BYMINUTE=1,2,3,4,5,6,7,8,9",
    ]
    let began = ContinuousClock.now
    for rule in rules {
      _ = try feed(event("a", "20200101T090000", "RRULE:\(rule)"))
    }
    #expect(ContinuousClock.now - began < .seconds(30))
  }
}
