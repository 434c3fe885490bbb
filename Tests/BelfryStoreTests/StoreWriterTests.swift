import BelfryCore
import Files
import Foundation
import TestSupport
import Testing

@testable import BelfryStore

/// Commits of records, and their failures before the commit point.
@Suite struct StoreWriterTests {
  @Test("Creating a writer changes nothing")
  func initializer() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    try fixture.leaveJournal([AlarmRecord.path(tea.id): fixture.renamed(tea, "Coffee")])
    try fixture.sandbox.write("{", to: fixture.store.path + "/settings.json")
    let (head, seen) = (try fixture.head(), fixture.store.local.readSeen())
    let writer = try fixture.writer()
    #expect(fixture.store.local.hasJournal)
    #expect(try fixture.head() == head)
    #expect(fixture.store.local.readSeen() == seen)
    #expect(writer.latestStage == .mergeConflicts)
  }

  @Test("A commit moves the branch once, and leaves the work tree, the index and the branch equal")
  func commit() async throws {
    let fixture = try await StoreFixture()
    let before = try fixture.head()
    let change = try fixture.change("Tea")
    try fixture.writer().commit(change)
    #expect(try await fixture.subjects(since: before) == ["Add Tea"])
    #expect(try await fixture.status().isEmpty)
    #expect(fixture.store.local.readSeen() == (try fixture.head()))
    #expect(!fixture.store.local.hasJournal)
    #expect(fixture.leftovers().isEmpty)
    #expect(try fixture.store.overview().summaries.map(\.title) == ["Tea"])
  }

  @Test("A commit of many files leaves no backups, and the alarm index has their summaries")
  func manyFiles() async throws {
    let fixture = try await StoreFixture()
    let changes = try (0..<600).map { try fixture.change("Tea \($0)") }
    try fixture.writer().commit(
      Store.Change(
        alarms: changes.flatMap(\.alarms), entries: [], message: CommitMessage("Add", device: nil)))
    let alarms = try fixture.store.allAlarms().alarms
    try fixture.writer().commit(
      Dictionary(
        uniqueKeysWithValues: alarms.map {
          (AlarmRecord.path($0.id), fixture.renamed($0, $0.title + "!"))
        }), message: CommitMessage("Rename", device: nil))
    #expect(fixture.leftovers().isEmpty)
    #expect(try await fixture.status().isEmpty)
    let index = try #require(fixture.store.alarmIndexCache.read())
    let titles = index.rows.compactMap { $0.summary?.title }
    #expect(Set(titles) == Set((0..<600).map { "Tea \($0)!" }))
  }

  @Test("A kept file is committed, and stays in the work tree as it is")
  func kept() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let path = AlarmRecord.path(tea.id)
    let edited = try fixture.sandbox.read(fixture.file(tea)).replacing("Tea", with: "Mine")
    try fixture.sandbox.write(edited, to: fixture.file(tea))
    let bytes = fixture.renamed(tea, "Coffee")
    try fixture.writer().commit(
      [path: bytes], keeping: [path], message: CommitMessage("Rename", device: nil))
    #expect(try fixture.sandbox.read(fixture.file(tea)) == edited)
    #expect(
      try await fixture.git("show", "main:\(path)").out == String(decoding: bytes, as: UTF8.self))
    #expect(try await fixture.status() == " M \(path)\n")
  }

  @Test("A removed path leaves the branch, and its file stays")
  func removed() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let path = AlarmRecord.path(tea.id)
    try fixture.writer().commit([path: nil], message: CommitMessage("Remove", device: nil))
    #expect(try await fixture.git("ls-tree", "main", "--", path).out.isEmpty)
    #expect(FileManager.default.fileExists(atPath: fixture.file(tea)))
  }

  @Test("An error before the commit point restores the files, the index and the branch")
  func rollBack() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let (head, text) = (try fixture.head(), try fixture.sandbox.read(fixture.file(tea)))
    let milk = try fixture.change("Milk")
    let writer = try fixture.writer()
    var files = milk.files
    files[AlarmRecord.path(tea.id)] = fixture.renamed(tea, "Coffee")
    #expect(throws: StoreWriter.MovedElsewhere.self) {
      try writer.write(files) { blobs in
        let tree = try writer.tree(from: writer.repository.commit(head).tree, blobs)
        let signature = try fixture.store.signature(writer.repository)
        let other = try writer.repository.writeCommit(
          tree: tree, parents: [], signature: signature, message: "Other")
        // The branch is elsewhere, which the last step finds.
        return StoreWriter.Move(from: other, to: other == head ? other : head)
      }
    }
    #expect(try fixture.sandbox.read(fixture.file(tea)) == text)
    #expect(!FileManager.default.fileExists(atPath: fixture.file(milk.alarms[0])))
    #expect(try fixture.head() == head)
    #expect(try await fixture.status().isEmpty)
    #expect(!fixture.store.local.hasJournal)
    #expect(fixture.leftovers().isEmpty)
  }

  @Test("A rollback that fails is repeated by the next write")
  func failedRollBack() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let (head, text) = (try fixture.head(), try fixture.sandbox.read(fixture.file(tea)))
    let renamed = fixture.renamed(tea, "Coffee")
    try fixture.leaveJournal([AlarmRecord.path(tea.id): renamed])
    try fixture.sandbox.write(String(decoding: renamed, as: UTF8.self), to: fixture.file(tea))
    fixture.store.local.log.refuse()
    #expect(try fixture.store.local.interruptedWrites().refused != nil)
    try fixture.store.write(reconciling: .branch) { _ in }
    #expect(try fixture.sandbox.read(fixture.file(tea)) == text)
    #expect(!fixture.store.local.hasJournal)
    #expect(try fixture.head() == head)
    #expect(try await fixture.status().isEmpty)
  }

  @Test("A write fails while another process holds the store's lock, and changes nothing")
  func heldStoreLock() async throws {
    let fixture = try await StoreFixture("Tea")
    let head = try fixture.head()
    let change = try fixture.change("Milk")
    // A process that another test starts at this moment shares the fixture's lock until it executes its program.
    let lock = try FileLock(fixture.store.local.lock, holder: "belfry edit", timeout: 60_000)
    let error = #expect(throws: StoreError.self) { try fixture.store.commit(change) }
    guard case .locked(by: "belfry edit")? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    withExtendedLifetime(lock) {}
    #expect(try fixture.head() == head)
    #expect(!FileManager.default.fileExists(atPath: fixture.file(change.alarms[0])))
  }

  @Test(
    "A write fails while another git process holds a lock, and is rolled back",
    arguments: ["index.lock", "refs/heads/main.lock"])
  func heldGitLock(name: String) async throws {
    let fixture = try await StoreFixture("Tea", lockTimeout: 0)
    let head = try fixture.head()
    let change = try fixture.change("Milk")
    let lock = "\(fixture.store.path)/.git/\(name)"
    try fixture.sandbox.write("", to: lock)
    // A lock without a visible holder is stale after a few seconds, which this test can take on a busy machine.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: 3600)], ofItemAtPath: lock)
    var error = #expect(throws: StoreError.self) { try fixture.store.commit(change) }
    // A process that another test starts at this moment shares the store's lock until it executes its program.
    for _ in 0..<1_000 {
      guard case .locked(by: _)? = error else { break }
      try await Task.sleep(for: .milliseconds(20))
      error = #expect(throws: StoreError.self) { try fixture.store.commit(change) }
    }
    guard case .gitBusy(path: let path, by: _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path.hasSuffix(name))
    #expect(unlink(lock) == 0)
    #expect(try fixture.head() == head)
    #expect(try await fixture.status().isEmpty)
    #expect(!fixture.store.local.hasJournal)
    try fixture.store.commit(change)
    #expect(try fixture.store.overview().summaries.map(\.title).sorted() == ["Milk", "Tea"])
  }

  @Test("A tree shares unchanged folders with its base, and loses an empty folder")
  func tree() async throws {
    let fixture = try await StoreFixture("Tea")
    let writer = try fixture.writer()
    let base = try writer.repository.commit(fixture.head()).tree
    let blob = try writer.repository.writeBlob(Array("{}".utf8))
    let added = try writer.tree(from: base, ["log/2026/11/20/x.json": blob])
    #expect(try writer.repository.blob(at: "log/2026/11/20/x.json", in: added) == blob)
    #expect(
      try writer.repository.entry(at: "alarms", in: added)?.id
        == writer.repository.entry(at: "alarms", in: base)?.id)
    let removed = try writer.tree(from: added, ["log/2026/11/20/x.json": nil])
    #expect(removed == base)
  }
}
