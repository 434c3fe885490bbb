import BelfryCore
import Foundation
import Git
import Glibc
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
    try fixture.writer().reconcile(HandEditImport(.alarms([tea.id])))
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: Coffee"])
    let after = try fixture.alarm("Coffee")
    #expect(try #require(after.mergeState.stamps[.title]) > #require(tea.mergeState.stamps[.title]))
    #expect(after.mergeState.stamps[.schedule] == tea.mergeState.stamps[.schedule])
    let entries = fixture.store.history.log().filter { $0.alarm == tea.id }
    #expect(entries.map(\.action) == [.edited])
    #expect(try await fixture.status().isEmpty)
    let settled = try fixture.head()
    try fixture.writer().reconcile(HandEditImport(.edited))
    #expect(try fixture.head() == settled)
  }

  @Test("Several edits become one commit")
  func severalEdits() async throws {
    let fixture = try await StoreFixture("Tea", "Milk", "Bread")
    for (title, new) in [("Tea", "Coffee"), ("Milk", "Cream")] {
      try fixture.edit(fixture.file(try fixture.alarm(title)), "\"\(title)\"", "\"\(new)\"")
    }
    let head = try fixture.head()
    try fixture.writer().reconcile(HandEditImport(.edited))
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: 2 alarms"])
    #expect(Array(fixture.store.history.log()).count == 2)
  }

  @Test(
    "An edit during the change of the same alarm stays, and is imported by the next write",
    arguments: [true, false])
  func editDuringWrite(isRenamed: Bool) async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let file = fixture.file(tea)
    try fixture.store.update(tea.id) { alarm in
      let text = try fixture.sandbox.read(file).replacing("\"Tea\"", with: "\"Coffee\"")
      try fixture.sandbox.write(text, to: isRenamed ? file + "~" : file)
      if isRenamed { #expect(Glibc.rename(file + "~", file) == 0) }
      let change = Store.Change(
        alarms: [fixture.noted(alarm, "Green")], entries: [],
        message: CommitMessage("Change the note", device: nil))
      return (change, ())
    }
    #expect(try fixture.sandbox.read(file).contains("Coffee"))
    #expect(fixture.leftovers().isEmpty)
    try fixture.store.write(reconciling: .records) { _ in }
    let after = try fixture.alarm("Coffee")
    #expect(after.note == "Green")
    #expect(try fixture.sandbox.read(file).contains("Green"))
    #expect(try await fixture.status().isEmpty)
  }

  @Test(
    "An edit between the import and the change of the same alarm is not taken over without a stamp")
  func editBeforeRead() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let file = fixture.file(tea)
    let old = try fixture.sandbox.read(file)
    // The editor holds the version from before this edit.
    try fixture.edit(file, "\"Tea\"", "\"Coffee\"")
    try fixture.store.write(reconciling: .alarms([tea.id])) { writer in
      try fixture.sandbox.write(old.replacing("\"Tea\"", with: "\"Milk\""), to: file)
      guard case .good(let alarm, _) = try writer.readAlarm(tea.id) else {
        Issue.record("not valid")
        return
      }
      #expect(alarm.title == "Coffee")
      try writer.commit(
        [AlarmRecord.path(tea.id): AlarmRecord.encode(fixture.noted(alarm, "Green"))],
        message: CommitMessage("Change the note", device: nil))
    }
    #expect(try fixture.sandbox.read(file).contains("Milk"))
    try fixture.store.write(reconciling: .records) { _ in }
    let after = try fixture.alarm("Milk")
    #expect(after.note == "Green")
    let stamps = after.mergeState.stamps
    #expect(try #require(stamps[.title]) > #require(stamps[.note]))
    #expect(try await fixture.status().isEmpty)
  }

  @Test("An edit while all alarms are evaluated is not taken over without a stamp")
  func editBeforeEvaluation() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let file = fixture.file(tea)
    let old = try fixture.sandbox.read(file)
    try fixture.edit(file, "\"Tea\"", "\"Coffee\"")
    try fixture.store.write(reconciling: .evaluation) { writer in
      try fixture.sandbox.write(old.replacing("\"Tea\"", with: "\"Milk\""), to: file)
      let index = try #require(writer.checkedAlarms)
      #expect(try fixture.store.alarms(changingIn: index, writer).map(\.title) == ["Coffee"])
    }
  }

  @Test(
    "A commit of an outdated file by git does not take back what was committed on top of another commit of git"
  )
  func outdatedCommit() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let path = AlarmRecord.path(tea.id)
    let old = try fixture.sandbox.read(fixture.file(tea))
    try fixture.store.update(tea.id) { alarm in
      try fixture.commitElsewhere(["README": Array("Alarms".utf8)])
      let message = CommitMessage("Change the note", device: fixture.store.device)
      let noted = fixture.noted(alarm, "Green")
      return (Store.Change(alarms: [noted], entries: [], message: message), ())
    }
    let edited = old.replacing("\"Tea\"", with: "\"Coffee\"")
    try fixture.sandbox.write(edited, to: fixture.file(tea))
    try fixture.commitElsewhere([path: Array(edited.utf8)])
    // A write of another record must not forget it.
    try fixture.store.commit(fixture.change("Milk"))
    try fixture.store.write(reconciling: .records) { _ in }
    #expect(try fixture.alarm("Coffee").note == "Green")
  }

  @Test(
    "An edit of an outdated file counts although git has committed it before a commit of another alarm"
  )
  func outdatedEdit() async throws {
    let fixture = try await StoreFixture("Tea", "Milk")
    let (tea, milk) = (try fixture.alarm("Tea"), try fixture.alarm("Milk"))
    let old = try fixture.sandbox.read(fixture.file(tea))
    try fixture.writer().commit(
      [AlarmRecord.path(tea.id): fixture.renamed(tea, "Coffee")],
      message: CommitMessage("Rename", device: fixture.store.device))
    let edited = old.replacing("\"Tea\"", with: "\"Cocoa\"")
    try fixture.store.update(milk.id) { alarm in
      try fixture.sandbox.write(edited, to: fixture.file(tea))
      try fixture.commitElsewhere([AlarmRecord.path(tea.id): Array(edited.utf8)])
      let message = CommitMessage("Change the note", device: fixture.store.device)
      let noted = fixture.noted(alarm, "Fresh")
      return (Store.Change(alarms: [noted], entries: [], message: message), ())
    }
    try fixture.store.write(reconciling: .records) { _ in }
    #expect(try fixture.alarm("Cocoa").id == tea.id)
  }

  @Test(
    "An edit of a version that this device committed on top of git's, and that git has committed, takes nothing back"
  )
  func editOfOwnOutdatedVersion() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let (path, file) = (AlarmRecord.path(tea.id), fixture.file(tea))
    let message = CommitMessage("Change", device: fixture.store.device)
    try fixture.store.write(reconciling: .alarms([tea.id])) { writer in
      try fixture.commitElsewhere(["README": Array("Alarms".utf8)])
      let renamed = fixture.renamed(tea, "Coffee")
      try writer.commit([path: renamed], message: message)
      let text = String(decoding: renamed, as: UTF8.self)
      try fixture.sandbox.write(text.replacing("\"Coffee\"", with: "\"Milk\""), to: file)
      let coffee = try AlarmRecord.decode(renamed, id: tea.id, now: fixture.store.context.now)
      try writer.commit(
        [path: AlarmRecord.encode(fixture.noted(coffee, "Green"))], message: message)
    }
    try fixture.commitElsewhere([path: Array(try fixture.sandbox.read(file).utf8)])
    // A write of another record must not forget it.
    try fixture.store.commit(fixture.change("Bread"))
    try fixture.store.write(reconciling: .records) { _ in }
    #expect(try fixture.alarm("Milk").note == "Green")
  }

  @Test("An edit is stamped although the index has an earlier version than the branch")
  func outdatedIndex() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let path = AlarmRecord.path(tea.id)
    let renamed = fixture.renamed(tea, "Coffee")
    // Committed, and not written to the work tree, so that the index has the version before it.
    try fixture.writer().commit(
      [path: renamed], keeping: [path],
      message: CommitMessage("Rename", device: fixture.store.device)
    )
    let text = String(decoding: renamed, as: UTF8.self)
    try fixture.sandbox.write(text.replacing("\"Coffee\"", with: "\"Milk\""), to: fixture.file(tea))
    try fixture.writer().reconcile(HandEditImport(.alarms([tea.id])))
    let stamp = try fixture.alarm("Milk").mergeState.stamps[.title]
    let before = try AlarmRecord.decode(renamed, id: tea.id, now: fixture.store.context.now)
    #expect(try #require(stamp) > #require(before.mergeState.stamps[.title]))
  }

  @Test(
    "After git has committed an emptied file, nothing that was committed before is lost",
    arguments: [true, false])
  func emptiedFile(isOutdated: Bool) async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let (path, file) = (AlarmRecord.path(tea.id), fixture.file(tea))
    let old = try fixture.sandbox.read(file)
    // Committed, and not written to the work tree, so that the index has the version before it.
    try fixture.writer().commit(
      [path: AlarmRecord.encode(fixture.noted(tea, "Green"))], keeping: [path],
      message: CommitMessage("Change the note", device: fixture.store.device))
    try fixture.sandbox.write("", to: file)
    try fixture.commitElsewhere([path: []])
    #expect(try fixture.store.alarm(tea.id)?.note == "Green")
    try fixture.store.commit(fixture.change("Milk"))
    #expect(try fixture.store.alarm(tea.id)?.note == "Green")
    if isOutdated {
      try fixture.sandbox.write(old.replacing("\"Tea\"", with: "\"Coffee\""), to: file)
    } else {
      #expect(unlink(file) == 0)
    }
    try fixture.store.write(reconciling: .records) { _ in }
    let after = try #require(try fixture.store.alarm(tea.id))
    #expect(after.title == (isOutdated ? "Coffee" : "Tea"))
    #expect(after.note == "Green")
    #expect(try fixture.sandbox.read(file).contains("Green"))
    #expect(try await fixture.status().isEmpty)
  }

  @Test("An edit of the settings between their import and a change is imported by the next write")
  func settingsEditBeforeRead() async throws {
    let fixture = try await StoreFixture()
    _ = try fixture.store.set(.snooze, to: .seconds(300))
    let file = fixture.store.path + "/settings.json"
    let text = try fixture.sandbox.read(file)
    let edited = text.replacing("\"snooze\": 300", with: "\"snooze\": 420")
    #expect(edited != text)
    try fixture.store.write(reconciling: .settings) { writer in
      try fixture.sandbox.write(edited, to: file)
      #expect(try writer.readSettings().values["snooze"] == "300")
    }
    #expect(!fixture.store.isCommitted(SettingsFile.self))
    let head = try fixture.head()
    try fixture.store.write(reconciling: .settings) { _ in }
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: settings"])
    #expect(fixture.store.isCommitted(SettingsFile.self))
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
    try fixture.writer().reconcile(HandEditImport(.edited))
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("Coffee"))
    #expect(try await fixture.status().isEmpty)
  }

  @Test(
    "An edit that was made from an earlier version overrides the later one", arguments: [1, 4])
  func editOfOutdatedFile(changes: Int) async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let old = try fixture.sandbox.read(fixture.file(tea))
    for number in 1...changes { try rename(tea, "Coffee \(number)", fixture) }
    let latest = try #require(try fixture.alarm("Coffee \(changes)").latestStamp)
    try fixture.sandbox.write(old.replacing("\"Tea\"", with: "\"Milk\""), to: fixture.file(tea))
    let head = try fixture.head()
    try fixture.writer().reconcile(HandEditImport(.edited))
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: Milk"])
    #expect(try #require(try fixture.alarm("Milk").mergeState.stamps[.title]) > latest)
    #expect(try await fixture.status().isEmpty)
  }

  /// Renames an alarm by a command.
  private func rename(_ alarm: Alarm, _ title: String, _ fixture: StoreFixture) throws {
    let store = fixture.store
    try store.update(alarm.id) { alarm in
      var after = alarm
      after.title = title
      let stamped = after.stamped(against: alarm, at: store.context.now, device: store.device)
      let message = CommitMessage("Rename", device: nil)
      return (Store.Change(alarms: [stamped], entries: [], message: message), ())
    }
  }

  @Test("An edit that was made from an earlier version, and that git has committed, overrides it")
  func committedEditOfOutdatedFile() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let old = try fixture.sandbox.read(fixture.file(tea))
    try rename(tea, "Coffee", fixture)
    try fixture.sandbox.write(old.replacing("\"Tea\"", with: "\"Milk\""), to: fixture.file(tea))
    _ = try await fixture.git("commit", "-a", "-q", "-m", "Milk")
    try fixture.store.write(reconciling: .records) { _ in }
    #expect(try fixture.alarm("Milk").id == tea.id)
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("\"Milk\""))
    // The same without an edit.
    try rename(tea, "Coffee", fixture)
    try fixture.sandbox.write(old, to: fixture.file(tea))
    _ = try await fixture.git("commit", "-a", "-q", "-m", "Outdated")
    try fixture.store.write(reconciling: .records) { _ in }
    #expect(try fixture.alarm("Coffee").id == tea.id)
    #expect(try await fixture.status().isEmpty)
  }

  @Test("An edit is later than the branch's version, also for a command that started earlier")
  func earlierClock() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let path = AlarmRecord.path(tea.id)
    // The branch has a version that the alarm index lacks, because the file had been edited.
    try fixture.edit(fixture.file(tea), "\"Tea\"", "\"Milk\"")
    try fixture.writer().commit(
      [path: fixture.renamed(tea, "Coffee")], keeping: [path],
      message: CommitMessage("Rename", device: nil))
    let earlier = fixture.reopened(now: "2026-11-20T22:40:30Z")
    try earlier.write(reconciling: .records) { _ in }
    #expect(try fixture.alarm("Milk").id == tea.id)
    #expect(try await fixture.status().isEmpty)
  }

  @Test("An edit of settings that was made from an earlier version overrides the later one")
  func editOfOutdatedSettings() async throws {
    let fixture = try await StoreFixture()
    let file = fixture.store.path + "/settings.json"
    _ = try fixture.store.set(.tier, to: .word("plus"))
    let old = try fixture.sandbox.read(file)
    _ = try fixture.store.set(.tier, to: .word("premium"))
    let head = try fixture.head()
    try fixture.sandbox.write(old, to: file)
    try fixture.writer().reconcile(TrackedRecordImport<SettingsFile>())
    #expect(try fixture.store.settings().settings.tier == .premium)
    #expect(try fixture.head() == head)
    try fixture.sandbox.write(old.replacing("\"plus\"", with: "\"free\""), to: file)
    try fixture.writer().reconcile(TrackedRecordImport<SettingsFile>())
    #expect(try fixture.store.settings().settings.tier == .free)
    #expect(try await fixture.status().isEmpty)
  }

  @Test("An edit of settings that were committed on top of another commit of git is stamped")
  func settingsEditAfterOtherCommit() async throws {
    let fixture = try await StoreFixture()
    let store = fixture.store
    _ = try store.set(.snooze, to: .seconds(300))
    try store.write(reconciling: .settings) { writer in
      try fixture.commitElsewhere(["README": Array("Alarms".utf8)])
      var record = try writer.readSettings()
      let stamp = Stamp.next(
        after: record.latestStamp, now: store.context.now, device: store.device)
      SettingsFile.set(.snooze, to: .seconds(600), stamp: stamp, in: &record)
      try writer.commit(
        [SettingsFile.path: SettingsFile.encode(record)],
        message: CommitMessage("Set the snooze", device: store.device))
    }
    let before = try store.settingsRecord()
    try fixture.edit(store.path + "/settings.json", "\"snooze\": 600", "\"snooze\": 420")
    try store.write(reconciling: .settings) { _ in }
    let after = try store.settingsRecord()
    #expect(after.values["snooze"] == "420")
    #expect(try #require(after.latestStamp) > #require(before.latestStamp))
  }

  @Test("An invalid file stays as it is, and its last valid version stays in use")
  func invalidFile() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    try fixture.sandbox.write("{ my words", to: fixture.file(tea))
    let head = try fixture.head()
    let writer = try fixture.writer()
    #expect(try writer.reconcile(HandEditImport(.edited)).restored.isEmpty)
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
    try fixture.writer().reconcile(HandEditImport(.edited))
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
      try fixture.writer().reconcile(HandEditImport(.edited)).restored == [
        AlarmRecord.path(tea.id)
      ])
    #expect(try fixture.sandbox.read(fixture.file(tea)) == text)
    #expect(try fixture.head() == head)

    // Without a readable version, nothing is restored, and no error is thrown.
    #expect(unlink(fixture.file(tea)) == 0)
    #expect(unlink(fixture.object(Repository.blobID(Array(text.utf8)))) == 0)
    #expect(try fixture.writer().reconcile(HandEditImport(.edited)).restored.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: fixture.file(tea)))
  }

  /// Writes the file of a new alarm, Milk.
  private func addMilkByHand(_ fixture: StoreFixture) throws {
    let id = fixture.store.context.makeIdentifier()
    try fixture.sandbox.write(
      """
      {"format": 1, "id": "\(id)", "title": "Milk", "schedule":
       {"kind": "daily", "start": "2026-11-20", "times": ["08:00"]}}
      """, to: "\(fixture.store.path)/\(AlarmRecord.path(id))")
  }

  @Test("A new file is imported as a created alarm")
  func newFile() async throws {
    let fixture = try await StoreFixture("Tea")
    try addMilkByHand(fixture)
    let head = try fixture.head()
    try fixture.writer().reconcile(HandEditImport(.edited))
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: Milk"])
    #expect(fixture.store.history.log().map(\.action) == [.created])
    #expect(try fixture.alarm("Milk").mergeState.stamps[.title]?.device == fixture.store.device)
  }

  @Test("A new file that a reader has listed is imported")
  func newFileAfterListing() async throws {
    let fixture = try await StoreFixture("Tea")
    try addMilkByHand(fixture)
    // A later change of the folder would have another time, so that its signature proves that it is unchanged.
    usleep(150_000)
    for _ in 0..<3 {
      let index = try AlarmIndex(fixture.store)
      index.save()
      #expect(index.summaries().map(\.title).sorted() == ["Milk", "Tea"])
    }
    try fixture.writer().reconcile(HandEditImport(.edited))
    #expect(fixture.store.history.log().map(\.action) == [.created])
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
    #expect(try AlarmIndex(fixture.store).edited.isEmpty)
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
    try fixture.writer().reconcile(TrackedRecordImport<SettingsFile>())
    #expect(try await fixture.subjects(since: head) == ["Edited by hand: settings"])
    let after = try fixture.store.settingsRecord()
    let key = Setting.grace.rawValue
    #expect(try #require(after.stamps[key]) > #require(before.stamps[key]))
    #expect(fixture.store.isCommitted(SettingsFile.self))

    let settled = try fixture.head()
    try fixture.sandbox.write("{", to: file)
    try fixture.writer().reconcile(TrackedRecordImport<SettingsFile>())
    #expect(try fixture.head() == settled)
    #expect(try fixture.sandbox.read(file) == "{")
  }
}
