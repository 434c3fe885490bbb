import BelfryCore
import Foundation
import Git
import TestSupport
import Testing

@testable import BelfryStore

/// The import of hand edits of alarms and settings.
@Suite struct HandEditImportTests {
  @Test("An edit is stamped, logged and committed as the user's")
  func edit() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    try fixture.edit(fixture.file(tea), "\"Tea\"", "\"Coffee\"")
    let head = try fixture.head()
    try HandEditImport(.alarms([tea.id])).run(fixture.writer())
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: Coffee"])
    let after = try fixture.alarm("Coffee")
    #expect(try #require(after.mergeState.stamps[.title]) > #require(tea.mergeState.stamps[.title]))
    #expect(after.mergeState.stamps[.schedule] == tea.mergeState.stamps[.schedule])
    let entries = fixture.store.history.log().filter { $0.alarm == tea.id }
    #expect(entries.map(\.action) == [.edited])
    #expect(try await fixture.status().isEmpty)
    let settled = try fixture.head()
    try HandEditImport(.unsettled).run(fixture.writer())
    #expect(try fixture.head() == settled)
  }

  @Test("Several edits become one commit")
  func severalEdits() async throws {
    let fixture = try await StoreFixture("Tea", "Milk", "Bread")
    for (title, new) in [("Tea", "Coffee"), ("Milk", "Cream")] {
      try fixture.edit(fixture.file(try fixture.alarm(title)), "\"\(title)\"", "\"\(new)\"")
    }
    let head = try fixture.head()
    try HandEditImport(.unsettled).run(fixture.writer())
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: 2 alarms"])
    #expect(Array(fixture.store.history.log()).count == 2)
  }

  @Test("An outdated file reverts nothing")
  func outdatedFile() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let old = try fixture.sandbox.read(fixture.file(tea))
    try fixture.writer().commit(
      [AlarmRecord.path(tea.id): fixture.renamed(tea, "Coffee")],
      message: CommitMessage("Rename", device: nil))
    try fixture.sandbox.write(old, to: fixture.file(tea))
    try HandEditImport(.unsettled).run(fixture.writer())
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("Coffee"))
    #expect(try await fixture.status().isEmpty)
  }

  @Test("An invalid file stays as it is, and its last valid version stays in use")
  func invalidFile() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    try fixture.sandbox.write("{ my words", to: fixture.file(tea))
    let head = try fixture.head()
    let writer = try fixture.writer()
    #expect(try HandEditImport(.unsettled).run(writer).isEmpty)
    #expect(writer.checkedAlarms?.invalid == [tea.id])
    #expect(try fixture.head() == head)
    #expect(try fixture.sandbox.read(fixture.file(tea)) == "{ my words")
    #expect(try fixture.store.alarm(tea.id)?.title == "Tea")
    #expect(throws: StoreError.self) { try fixture.store.update(tea.id) { _ in (nil, ()) } }
  }

  @Test("A file that is not an alarm is not imported")
  func stray() async throws {
    let fixture = try await StoreFixture("Tea")
    try fixture.sandbox.write("{}", to: fixture.store.path + "/alarms/notes.json")
    let head = try fixture.head()
    try HandEditImport(.unsettled).run(fixture.writer())
    #expect(try fixture.head() == head)
    // Until the signature of the folder proves that nothing has changed.
    try await Task.sleep(for: .milliseconds(200))
    for _ in 1...3 {
      #expect(try fixture.store.overview().problems.map(\.path) == ["alarms/notes.json"])
    }
  }

  @Test("A missing file is restored, from a version that can be read")
  func missingFile() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let text = try fixture.sandbox.read(fixture.file(tea))
    #expect(unlink(fixture.file(tea)) == 0)
    let head = try fixture.head()
    #expect(
      try HandEditImport(.unsettled).run(fixture.writer()) == [AlarmRecord.path(tea.id)])
    #expect(try fixture.sandbox.read(fixture.file(tea)) == text)
    #expect(try fixture.head() == head)

    // Without a readable version, nothing is restored, and no error is thrown.
    #expect(unlink(fixture.file(tea)) == 0)
    #expect(unlink(fixture.object(Repository.blobID(Array(text.utf8)))) == 0)
    #expect(try HandEditImport(.unsettled).run(fixture.writer()).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: fixture.file(tea)))
  }

  @Test("A new file is imported as a created alarm")
  func newFile() async throws {
    let fixture = try await StoreFixture("Tea")
    let id = fixture.store.context.makeIdentifier()
    try fixture.sandbox.write(
      """
      {"format": 1, "id": "\(id)", "title": "Milk", "schedule":
       {"kind": "daily", "start": "2026-11-20", "times": ["08:00"]}}
      """, to: "\(fixture.store.path)/\(AlarmRecord.path(id))")
    let head = try fixture.head()
    try HandEditImport(.unsettled).run(fixture.writer())
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: Milk"])
    #expect(fixture.store.history.log().map(\.action) == [.created])
    #expect(try fixture.alarm("Milk").mergeState.stamps[.title]?.device == fixture.store.device)
  }

  @Test("An edit that another program committed only updates the alarm index")
  func committedFile() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    try fixture.sandbox.write(
      String(decoding: fixture.renamed(tea, "Coffee"), as: UTF8.self), to: fixture.file(tea))
    try await fixture.git("commit", "-qam", "By hand")
    let head = try fixture.head()
    try fixture.store.write(reconciling: .records) { _ in }
    #expect(try fixture.head() == head)
    #expect(try AlarmIndex(fixture.store).unsettled.isEmpty)
    #expect(try fixture.store.overview().summaries.map(\.title) == ["Coffee"])
  }

  @Test("An edited setting is stamped and committed, and an invalid file stays")
  func settings() async throws {
    let fixture = try await StoreFixture()
    try fixture.store.set(.grace, to: .seconds(3600))
    let file = fixture.store.path + "/settings.json"
    let before = try fixture.store.settingsRecord()
    try fixture.edit(file, "3600", "7200")
    let head = try fixture.head()
    try SettingsHandEditImport().run(fixture.writer())
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: settings"])
    let after = try fixture.store.settingsRecord()
    let key = Setting.grace.rawValue
    #expect(try #require(after.stamps[key]) > #require(before.stamps[key]))
    #expect(fixture.store.settingsAreSettled)

    let settled = try fixture.head()
    try fixture.sandbox.write("{", to: file)
    try SettingsHandEditImport().run(fixture.writer())
    #expect(try fixture.head() == settled)
    #expect(try fixture.sandbox.read(file) == "{")
  }
}
