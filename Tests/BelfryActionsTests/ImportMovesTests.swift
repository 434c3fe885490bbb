import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryStore
import Testing

/// Tests of imports that move occurrences, and of later versions of their files.
@Suite struct ImportMovesTests {
  private let fixture: ActionFixture
  private let monday = CivilDateTime("2026-12-07T09:00")!

  init() throws { fixture = try ActionFixture() }

  /// Returns a calendar with a series on Mondays at 09:00, and a change of 7 December with some lines.
  private func calendar(_ change: String?..., title: String = "Bins") -> [UInt8] {
    let series = [
      "BEGIN:VEVENT", "UID:q", "SUMMARY:Bins", "DTSTART:20261130T090000", "RRULE:FREQ=WEEKLY",
      "END:VEVENT",
    ]
    let lines = change.compactMap(\.self)
    let changed =
      ["BEGIN:VEVENT", "UID:q", "SUMMARY:\(title)", "RECURRENCE-ID:20261207T090000"] + lines
      + ["END:VEVENT"]
    return Array(
      (["BEGIN:VCALENDAR"] + series + (lines.isEmpty ? [] : changed) + ["END:VCALENDAR", ""])
        .joined(separator: "\r\n").utf8)
  }

  /// Imports a calendar at a time.
  @discardableResult
  private func load(
    _ calendar: [UInt8], at time: String = "2026-11-23T08:00:00Z"
  ) throws -> ImportAlarms.Result {
    let store = fixture.at(time)
    let read = try CalendarDocument().read(
      calendar, now: store.context.now, zones: store.context.zones)
    let action = ImportAlarms(read.alarms, ended: read.leftOut.compactMap(\.ended))
    let preview = try action.preview(in: store)
    let result = try action.perform(in: store)
    #expect(preview.moves == result.moves)
    #expect(preview.new.map(\.id) == result.new.map(\.id))
    return result
  }

  private func alarm() throws -> Alarm {
    try #require(
      try fixture.store.allAlarms().alarms.first {
        if case .weekly = $0.schedule.recurrence { true } else { false }
      })
  }

  /// Returns the next times at which alarms ring after a time.
  private func rings(after time: String, _ count: Int = 2) throws -> [String] {
    let now = Instant(rfc3339: time)!
    let store = fixture.at(time)
    return try store.allAlarms().alarms.filter { !$0.isDeleted }.flatMap { alarm in
      store.timeline(alarm).upcoming(after: now).prefix(count).map { $0.time }
    }.sorted().prefix(count).map(\.description)
  }

  @Test(
    "A change moves the occurrence; again, it changes nothing; later versions move it again and back"
  )
  func versions() async throws {
    let first = try load(calendar("DTSTART:20261208T110000"))
    #expect(first.new.count == 1)
    #expect(first.moves.map(\.time.description) == ["2026-12-08T11:00"])
    #expect(try rings(after: "2026-12-01T00:00:00Z") == ["2026-12-08T11:00", "2026-12-14T09:00"])
    var head = try await fixture.head
    let again = try load(calendar("DTSTART:20261208T110000"))
    #expect(again.moves.isEmpty && again.new.isEmpty && again.changedCount == 0)
    #expect(try await fixture.head == head)

    let later = try load(calendar("DTSTART:20261209T120000"))
    #expect(later.moves.map(\.time.description) == ["2026-12-09T12:00"])
    #expect(later.changedCount == 1)
    #expect(try rings(after: "2026-12-01T00:00:00Z") == ["2026-12-09T12:00", "2026-12-14T09:00"])
    #expect(try alarm().progress.moves[monday]?.isImported == true)

    let back = try load(calendar())
    #expect(back.moves.map(\.time) == [monday])
    #expect(try rings(after: "2026-12-01T00:00:00Z") == ["2026-12-07T09:00", "2026-12-14T09:00"])
    head = try await fixture.head
    #expect(try load(calendar()).changedCount == 0)
    #expect(try await fixture.head == head)
    #expect(try load(calendar("DTSTART:20261208T110000")).moves.count == 1)
  }

  @Test("A move by a person stays, whatever the file says")
  func person() throws {
    try load(calendar("DTSTART:20261208T110000"))
    let target = CivilDateTime("2026-12-10T10:00")!
    _ = try MoveOccurrences(
      [alarm().id], occurrence: monday, to: .moment(.civil(target)), settings: fixture.settings
    ).perform(in: fixture.store)
    for file in [calendar("DTSTART:20261208T110000"), calendar("DTSTART:20261209T110000")] {
      let result = try load(file)
      #expect(result.moves.isEmpty)
      #expect(result.editedMoves.count == 1)
    }
    let removed = try load(calendar())
    #expect(removed.moves.isEmpty && removed.editedMoves.isEmpty)
    #expect(try alarm().progress.moves[monday]?.time == target)
  }

  @Test(
    "After the moved occurrence has rung, the file changes nothing, and its move is not taken back")
  func past() async throws {
    try load(calendar("DTSTART:20261208T110000"))
    let head = try await fixture.head
    for file in [calendar("DTSTART:20261208T110000"), calendar()] {
      let result = try load(file, at: "2026-12-08T12:00:00Z")
      #expect(result.changedCount == 0 && result.new.isEmpty && result.editedMoves.isEmpty)
    }
    #expect(try await fixture.head == head)
  }

  @Test("A move to a time that has passed skips the occurrence")
  func movedToThePast() throws {
    let new = try load(calendar("DTSTART:20261102T110000"))
    #expect(new.moves.isEmpty && new.skipped.count == 1)
    #expect(try rings(after: "2026-12-01T00:00:00Z", 1) == ["2026-12-14T09:00"])
    try load(calendar())
    #expect(try rings(after: "2026-12-01T00:00:00Z", 1) == ["2026-12-14T09:00"])
  }

  @Test("A skip that a person has taken back is not repeated by the next import")
  func unskipped() throws {
    let file = calendar("DTSTART:20261102T110000")
    let id = try #require(try load(file).new.first?.id)
    _ = try AnswerAlarms(.unskip(), to: [id], settings: fixture.settings)
      .perform(in: fixture.at("2026-11-23T08:01:00Z"))
    #expect(try load(file, at: "2026-11-23T08:02:00Z").skipped.isEmpty)
    #expect(try rings(after: "2026-12-01T00:00:00Z", 1) == ["2026-12-07T09:00"])
  }

  @Test("A later version that moves the occurrence to a time that has passed skips it")
  func laterMovedToThePast() throws {
    try load(calendar("DTSTART:20261208T110000"))
    let result = try load(calendar("DTSTART:20261102T110000"))
    #expect(result.moves.isEmpty && result.skipped.count == 1 && result.changedCount == 1)
    #expect(try rings(after: "2026-12-01T00:00:00Z", 1) == ["2026-12-14T09:00"])
  }

  @Test("A move that is removed from the file after the occurrence's own time skips it")
  func removedLate() throws {
    try load(calendar("DTSTART:20261208T110000"))
    let result = try load(calendar(), at: "2026-12-07T12:00:00Z")
    #expect(result.moves.isEmpty && result.skipped.count == 1)
    #expect(try rings(after: "2026-12-07T12:00:00Z", 1) == ["2026-12-14T09:00"])
  }

  @Test("An occurrence whose own time passed before the import rings at its new time")
  func ownTimePassed() throws {
    try load(calendar("DTSTART:20261208T110000"), at: "2026-12-07T12:00:00Z")
    #expect(
      try rings(after: "2026-12-07T12:00:00Z") == ["2026-12-08T11:00", "2026-12-14T09:00"])
  }

  @Test("An occurrence that was answered, and is moved after that, is an alarm of its own")
  func answered() throws {
    try load(calendar())
    let store = fixture.at("2026-12-07T09:05:00Z")
    _ = try AnswerAlarms(.done(), to: [alarm().id], settings: fixture.settings).perform(in: store)
    let result = try load(calendar("DTSTART:20261208T110000"), at: "2026-12-07T10:00:00Z")
    #expect(result.new.map(\.schedule.summary) == ["once on 2026-12-08 at 11:00"])
    #expect(result.moves.isEmpty && result.changedCount == 0)
    let again = try load(calendar("DTSTART:20261208T110000"), at: "2026-12-07T11:00:00Z")
    #expect(again.new.isEmpty && again.removed.isEmpty)
    #expect(
      try rings(after: "2026-12-07T12:00:00Z") == ["2026-12-08T11:00", "2026-12-14T09:00"])
  }

  @Test(
    "An alarm of its own goes when its change becomes a move, and comes back with another title")
  func titles() throws {
    let own = try load(calendar("DTSTART:20261208T110000", title: "Glass"))
    #expect(own.new.count == 2)
    let moved = try load(calendar("DTSTART:20261208T110000"))
    #expect(moved.removed.map(\.title) == ["Glass"])
    #expect(moved.moves.count == 1 && moved.changedCount == 1)
    #expect(try rings(after: "2026-12-01T00:00:00Z") == ["2026-12-08T11:00", "2026-12-14T09:00"])

    let again = try load(calendar("DTSTART:20261209T110000", title: "Glass"))
    #expect(again.new.map(\.title) == ["Glass"])
    #expect(try rings(after: "2026-12-01T00:00:00Z") == ["2026-12-09T11:00", "2026-12-14T09:00"])
    let id = try #require(again.new.first?.id)
    _ = try DeleteAlarms([id]).perform(in: fixture.store)
    #expect(try load(calendar("DTSTART:20261209T110000", title: "Glass")).new.isEmpty)
    #expect(try rings(after: "2026-12-01T00:00:00Z", 1) == ["2026-12-14T09:00"])
  }

  @Test("A cancelled change of a moved occurrence silences it")
  func cancelled() throws {
    try load(calendar("DTSTART:20261208T110000"))
    let result = try load(calendar("DTSTART:20261208T110000", "STATUS:CANCELLED"))
    #expect(result.changedCount == 1)
    #expect(try rings(after: "2026-12-01T00:00:00Z", 1) == ["2026-12-14T09:00"])
  }

  @Test("The move of a disabled alarm counts when it is enabled")
  func disabled() throws {
    try load(calendar())
    _ = try EditAlarms.disabling([alarm().id]).perform(in: fixture.store)
    #expect(try load(calendar("DTSTART:20261208T110000")).moves.count == 1)
    _ = try EditAlarms.enabling([alarm().id]).perform(in: fixture.store)
    #expect(try rings(after: "2026-12-01T00:00:00Z") == ["2026-12-08T11:00", "2026-12-14T09:00"])
  }

  @Test("An undo of a later version moves the occurrence back, and counts as a move by a person")
  func undo() throws {
    try load(calendar())
    try load(calendar("DTSTART:20261208T110000"))
    _ = try UndoLastAction().perform(in: fixture.store)
    #expect(try rings(after: "2026-12-01T00:00:00Z", 1) == ["2026-12-07T09:00"])
    #expect(try load(calendar("DTSTART:20261208T110000")).editedMoves.count == 1)
  }
}
