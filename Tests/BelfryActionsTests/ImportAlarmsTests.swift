import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryStore
import Testing

/// Tests of importing a calendar into a store.
@Suite struct ImportAlarmsTests {
  private func calendar(_ lines: String...) -> [UInt8] {
    Array(
      (["BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:q", "SUMMARY:Bins"] + lines + [
        "END:VEVENT", "END:VCALENDAR", "",
      ]).joined(separator: "\r\n").utf8)
  }

  @Test("A change of one occurrence skips that of a series from an earlier import, once")
  func changes() throws {
    let fixture = try ActionFixture()
    let store = fixture.store
    let (now, zones) = (store.context.now, store.context.zones)
    let document = try CalendarDocument()
    let series = try document.read(
      calendar(
        "DTSTART:20261130T090000", "RRULE:FREQ=WEEKLY", "BEGIN:VALARM", "TRIGGER:-PT30M",
        "END:VALARM"), now: now, zones: zones)
    let alarm = try #require(try ImportAlarms(series.alarms).perform(in: store).new.first)

    let moved = calendar(
      "RECURRENCE-ID:20261207T090000", "DTSTART:20261208T110000", "BEGIN:VALARM",
      "TRIGGER:-PT30M", "END:VALARM")
    let changes = ImportChanges(try document.changes(moved, now: now, zones: zones))
    let single = try document.read(moved, now: now, zones: zones).alarms
    #expect(single.map(\.schedule.summary) == ["once on 2026-12-08 at 10:30"])
    #expect(single.map(\.id) != [alarm.id])
    let skipped = try changes.perform(in: store, settings: fixture.settings)
    #expect(skipped.map(\.occurrence.description) == ["2026-12-07T08:30"])
    let record = try store.alarm(alarm.id)?.progress.occurrences
    #expect(record?.filter { $0.value.state == .skipped }.count == 1)
    #expect(try changes.perform(in: store, settings: fixture.settings).isEmpty)
  }

  @Test("A change of a series that was not imported changes nothing")
  func unknownSeries() throws {
    let fixture = try ActionFixture()
    let store = fixture.store
    let document = try CalendarDocument()
    let changes = try document.changes(
      calendar("RECURRENCE-ID:20261207T090000", "STATUS:CANCELLED"), now: store.context.now,
      zones: store.context.zones)
    #expect(changes.count == 1)
    #expect(
      try ImportChanges(changes).perform(in: store, settings: fixture.settings).isEmpty)
  }
}
