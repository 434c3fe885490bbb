import BelfryCore
import Foundation
import TestSupport
import Testing

@testable import BelfryStore

/// Tests of the holiday calendars of a store.
@Suite struct StoreCalendarTests {
  private let christmas = CivilDate(year: 2026, month: 12, day: 25)
  private let newYear = CivilDate(year: 2027, month: 1, day: 1)

  /// Returns a store with an alarm at 08:00 on each day but holidays, and Christmas 2026 as a holiday.
  private func fixture() async throws -> StoreFixture {
    let fixture = try await StoreFixture("Tea")
    _ = try fixture.store.calendars.importing([christmas: "Christmas"], into: "de-BE")
    let tea = try fixture.alarm("Tea")
    try fixture.store.update(tea.id) { before in
      var after = before
      after.schedule = try Schedule(
        before.schedule.recurrence, times: before.schedule.times, limits: .init(onHoliday: .skip))
      let alarm = after.stamped(
        against: before, at: fixture.store.context.now, device: fixture.store.device)
      return (
        Store.Change(
          alarms: [alarm], entries: [],
          message: CommitMessage("Edit", device: fixture.store.device)), ()
      )
    }
    return fixture
  }

  private func file(_ fixture: StoreFixture) -> String {
    "\(fixture.store.path)/\(CalendarRecord.path("de-BE"))"
  }

  private func next(_ store: Store) throws -> CivilDate? {
    try store.overview().summaries.first?.status.next?.civil.date
  }

  @Test("An import changes the next occurrences of alarms in the index")
  func index() async throws {
    let fixture = try await fixture()
    let eve = fixture.reopened(now: "2026-12-24T12:00:00Z")
    #expect(try next(eve) == CivilDate(year: 2026, month: 12, day: 26))
    _ = try eve.calendars.importing(
      [christmas: "Christmas", christmas.adding(days: 1): "Boxing Day"], into: "de-BE")
    #expect(try next(eve) == CivilDate(year: 2026, month: 12, day: 27))
    _ = try eve.calendars.removing("de-BE")
    #expect(try next(eve) == christmas)
    #expect(eve.calendars.all().calendars.first?.isRemoved == true)
    #expect(try await fixture.status().isEmpty)
  }

  @Test("An equal import changes nothing but the stamps, so that it wins over an earlier one")
  func commits() async throws {
    let fixture = try await fixture()
    let head = try fixture.head()
    #expect(
      try !fixture.store.calendars.importing([christmas: "Christmas"], into: "de-BE").isChanged)
    #expect(try await fixture.subjects(since: head) == ["Import the holidays de-BE"])
    let again = try fixture.head()
    #expect(try fixture.store.calendars.removing("de-BE").isChanged)
    #expect(try await fixture.subjects(since: again) == ["Remove the holidays de-BE"])
  }

  @Test("A missing file counts until the next write restores it")
  func missing() async throws {
    let fixture = try await fixture()
    let head = try fixture.head()
    try FileManager.default.removeItem(atPath: file(fixture))
    try fixture.store.write(reconciling: .evaluation) { _ in }
    #expect(fixture.store.calendars.all().calendars.map(\.holidays.count) == [1])
    #expect(try fixture.head() == head)
    #expect(try await fixture.status().isEmpty)
  }

  @Test("A hand edit is committed by an evaluation without due alarms, and by a repair")
  func handEdit() async throws {
    let fixture = try await fixture()
    _ = try fixture.store.evaluate { _ in nil }
    let head = try fixture.head()
    try fixture.edit(file(fixture), "12-25", "12-24")
    #expect(try StoreStatus(of: fixture.store).handEdits == 1)
    _ = try fixture.store.evaluate { _ in nil }
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: holidays"])
    // A new file is compared once more.
    _ = try fixture.store.evaluate { _ in nil }
    #expect(try StoreStatus(of: fixture.store).handEdits == 0)
    let again = try fixture.head()
    try fixture.edit(file(fixture), "12-24", "12-26")
    try await Repair(fixture.store) { _ in }.run()
    #expect(try await fixture.subjects(since: again) == ["Edited by hand: holidays"])
  }

  @Test("An invalid file counts in its last valid version, is reported and never overwritten")
  func invalid() async throws {
    let fixture = try await fixture()
    try fixture.edit(file(fixture), "12-25", "13-25")
    let (calendars, problems) = fixture.store.calendars.all()
    #expect(calendars.map(\.holidays.count) == [1])
    #expect(problems.map(\.path) == ["calendars/de-BE.json"])
    try fixture.store.write(reconciling: .evaluation) { _ in }
    #expect(try fixture.sandbox.read(file(fixture)).contains("13-25"))
    #expect(throws: StoreError.self) {
      try fixture.store.calendars.importing([newYear: "New Year"], into: "de-BE")
    }
    #expect(
      try next(fixture.reopened(now: "2026-12-24T12:00:00Z"))
        == CivilDate(year: 2026, month: 12, day: 26))
  }

  @Test("While the store is not available, the known holidays count")
  func unavailable() async throws {
    let fixture = try await fixture()
    let known = fixture.store.calendars.workCalendar
    #expect(known.isHoliday(christmas))
    try FileManager.default.moveItem(
      atPath: fixture.store.path, toPath: fixture.sandbox.root + "/away")
    #expect(fixture.store.calendars.workCalendar == known)
  }

  @Test("A store of version 0.1 gets the attributes of calendars with the first one")
  func attributes() async throws {
    let fixture = try await StoreFixture("Tea")
    let path = "\(fixture.store.path)/.gitattributes"
    try fixture.sandbox.write(
      String(decoding: Store.earlierAttributes, as: UTF8.self), to: path)
    try await fixture.git("commit", "-qam", "Attributes of version 0.1")
    _ = try fixture.store.calendars.importing([christmas: "Christmas"], into: "de-BE")
    #expect(try fixture.sandbox.read(path) == String(decoding: Store.attributes, as: UTF8.self))
    #expect(try await fixture.status().isEmpty)
    // In a merge of both versions, the later one wins, whatever the order.
    for (ours, theirs) in [
      (Store.attributes, Store.earlierAttributes), (Store.earlierAttributes, Store.attributes),
    ] {
      let join = RecordJoin(.attributes, ours: .success(ours), theirs: .success(theirs))
      #expect(join.bytes == Store.attributes)
    }
  }

  @Test("Two versions of a calendar merge year by year")
  func merge() throws {
    let empty = HolidayCalendar(name: "de-BE")
    let now = Instant(rfc3339: "2026-11-20T22:41:00Z")!
    let ours = empty.importing([christmas: "Christmas"], at: now, device: TestIdentifier.make())
    let theirs = empty.importing([newYear: "New Year"], at: now, device: TestIdentifier.make())
    let join = RecordJoin(
      .calendar("de-BE"), ours: .success(CalendarRecord.encode(ours)),
      theirs: .success(CalendarRecord.encode(theirs)))
    let joined = try CalendarRecord.decode(try #require(join.bytes), name: "de-BE")
    #expect(joined.holidays == [christmas: "Christmas", newYear: "New Year"])
  }

  @Test(
    "Records with unusual content are refused with a reason",
    arguments: [
      ("\"de-BE\"", "\"fr\"", "'name' is not the file's name"),
      ("\"2026\"", "\"26\"", "'years' names '26', which is not a year"),
      ("12-25", "02-30", "'02-30' is not a month and day of 2026"),
      ("\"Christmas\"", "7", "is not a name without control characters"),
      ("\"holidays\": {", "\"holidays\": [], \"x\": {", "'years.2026.holidays' is not an object"),
    ])
  func refusals(_ old: String, _ new: String, _ reason: String) throws {
    let calendar = HolidayCalendar(name: "de-BE").importing(
      [christmas: "Christmas"], at: Instant(seconds: 0), device: TestIdentifier.make())
    let text = String(decoding: CalendarRecord.encode(calendar), as: UTF8.self)
    #expect(text.contains(old))
    let error = #expect(throws: RecordError.self) {
      try CalendarRecord.decode(Array(text.replacing(old, with: new).utf8), name: "de-BE")
    }
    #expect(error?.reason.contains(reason) == true, "\(String(describing: error))")
  }

  @Test(
    "Each schedule survives its record, with the same bytes", arguments: 0..<20 as Range<UInt64>)
  func schedules(batch: UInt64) throws {
    for seed in (batch * 50)..<((batch + 1) * 50) {
      var generator = SeededGenerator(seed: seed)
      let schedule = try Schedule.random(&generator)
      let json = ScheduleRecord.encode(schedule)
      #expect(try ScheduleRecord.decode(json) == schedule, "seed \(seed)")
      #expect(ScheduleRecord.encode(try ScheduleRecord.decode(json)) == json, "seed \(seed)")
    }
  }
}
