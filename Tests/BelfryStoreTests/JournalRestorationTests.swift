import BelfryCore
import Files
import Foundation
import Git
import Synchronization
import TestSupport
import Testing

@testable import BelfryStore

/// Objects and records that are made again from the journal, and files that a reboot must not replace.
@Suite struct JournalRestorationTests {
  /// Marks the journal as one of another session.
  private func endSession(_ store: Store) throws {
    let log = store.local.log
    let entries = try log.entries()
    #expect(unlink(log.path) == 0)
    for entry in entries.applied { _ = try log.append(entry, session: 1) }
    log.finish()
  }

  private func open(_ path: String, _ fixture: StoreFixture) throws -> Store {
    try Store.open(
      path,
      context: StoreFixture.context(now: "2026-11-20T22:50:00Z", notices: fixture.notices)
    ).store
  }

  private func titles(_ store: Store) throws -> [String] {
    try store.overview().summaries.map(\.title).sorted()
  }

  // MARK: Objects

  @Test("A checkpoint makes the damaged and missing objects of acknowledged writes again")
  func checkpointVerifies() async throws {
    let fixture = try await StoreFixture("A", "B", "C", "D", "E", "F", "G", "H", "I", "J")
    let repository = try fixture.store.repository()
    let head = try fixture.head()
    let tree = try repository.commit(head).tree
    let alarms = try #require(try repository.tree(tree).entry(named: "alarms")?.id)
    #expect(unlink(fixture.object(alarms)) == 0)
    #expect(chmod(fixture.object(tree), 0o644) == 0)
    // Another object's content, as if two processes had written through one temporary file.
    try Data(contentsOf: URL(filePath: fixture.object(head)))
      .write(to: URL(filePath: fixture.object(tree)))
    #expect(try await fixture.git("fsck", "--strict").status != 0)
    try fixture.store.checkpoint.run()
    #expect(try #require(try fixture.store.local.log.state()).isEmpty)
    #expect(try await fixture.git("fsck", "--strict").status == 0)
  }

  @Test("A repair takes the objects of recent writes from the journal")
  func repair() async throws {
    let fixture = try await StoreFixture("Tea", "Milk")
    let head = try fixture.head()
    let tree = try fixture.store.repository().commit(head).tree
    for id in [head, tree] {
      #expect(chmod(fixture.object(id), 0o644) == 0)
      try fixture.sandbox.write("", to: fixture.object(id))
    }
    let restored = Mutex<Set<ObjectID>>([])
    try await Repair(fixture.store) { item in
      if case .object(let id, source: .journal) = item { restored.withLock { _ = $0.insert(id) } }
    }.run()
    #expect(restored.withLock { $0 } == [head, tree])
    #expect(try fixture.head() == head)
    #expect(try await fixture.git("fsck", "--strict").status == 0)
    #expect(try titles(fixture.store) == ["Milk", "Tea"])
  }

  @Test("A checkpoint removes the temporary files of objects that dead processes have left")
  func temporaryFiles() async throws {
    let fixture = try await StoreFixture("Tea")
    let left = fixture.store.local.folder + "/new-object-left"
    try fixture.sandbox.write("half of an object", to: left)
    try fixture.store.checkpoint.run()
    #expect(access(left, F_OK) != 0)
  }

  @Test("A heartbeat is written under the store's lock, and its commit is removed again")
  func heartbeat() async throws {
    let fixture = try await StoreFixture("Tea")
    let store = fixture.store
    let pushed = Mutex<[ObjectID]>([])
    let remote = RecordingRemote { commit in pushed.withLock { $0.append(commit) } }
    func exchange() async throws {
      await store.sync.exchangeHeartbeats(try store.repository(), [remote], spacing: 0)
    }
    let lock = try FileLock(store.local.lock, holder: "another process", timeout: 3_000)
    try await exchange()
    #expect(pushed.withLock { $0 }.isEmpty)
    withExtendedLifetime(lock) {}
    _ = consume lock
    for _ in 0..<2 { try await exchange() }
    let commits = pushed.withLock { $0 }
    // At the same time and with the same content, each one is a commit of its own.
    #expect(commits.count == 2 && commits[0] != commits[1])
    for commit in commits { #expect(access(fixture.object(commit), F_OK) != 0) }
  }

  @Test("Only the value that has created an object can discard it")
  func discard() async throws {
    let fixture = try await StoreFixture()
    let (one, other) = (try fixture.store.repository(), try fixture.store.repository())
    let blob = try one.writeBlob([1, 2, 3])
    #expect(try other.writeBlob([1, 2, 3]) == blob)
    other.discard(blob)
    #expect(access(fixture.object(blob), F_OK) == 0)
    one.discard(blob)
    #expect(access(fixture.object(blob), F_OK) != 0)
  }

  // MARK: Backups

  /// Copies a store, then makes changes in the original, and gives the copy the later journal.
  private func backup(_ fixture: StoreFixture) async throws -> String {
    let path = fixture.sandbox.root + "/backup"
    _ = try await fixture.sandbox.run("/bin/cp", ["-a", fixture.store.path, path])
    try fixture.store.commit(fixture.change("Lost"))
    try fixture.store.checkpoint.run()
    try fixture.store.commit(fixture.change("Late"))
    _ = try await fixture.sandbox.run(
      "/bin/cp", [fixture.store.local.journal, path + "/.git/belfry/journal"])
    return path
  }

  @Test("The writes of a journal that is newer than its store are committed again")
  func newerJournal() async throws {
    let fixture = try await StoreFixture("Tea")
    let path = try await backup(fixture)
    let store = try open(path, fixture)
    #expect(try titles(store) == ["Late", "Tea"])
    try store.commit(fixture.change("After", to: store))
    #expect(try titles(store) == ["After", "Late", "Tea"])
    #expect(try await fixture.git("status", "--porcelain", in: path).out.isEmpty)
    #expect(try await fixture.git("fsck", "--strict", in: path).status == 0)
    #expect(
      try await fixture.git("log", "--format=%s", in: path).out.contains("Add Late"))
    #expect(!store.local.hasJournal)
  }

  @Test("The writes of a newer journal are committed again after a power failure, too")
  func newerJournalAfterFailure() async throws {
    let fixture = try await StoreFixture("Tea", "Milk")
    let path = try await backup(fixture)
    // The copy keeps the identity of the store, as on a restored disk.
    _ = try await fixture.sandbox.run("/bin/rm", ["-rf", fixture.store.path])
    _ = try await fixture.sandbox.run("/bin/mv", [path, fixture.store.path])
    let store = fixture.reopened()
    try endSession(store)
    try store.write(reconciling: .records) { _ in }
    #expect(try titles(store) == ["Late", "Milk", "Tea"])
    #expect(try await fixture.status().isEmpty)
    #expect(try await fixture.git("fsck", "--strict").status == 0)
  }

  // MARK: Files after a reboot

  @Test(
    "A reboot leaves an invalid hand edit and a record of a newer format as they are",
    arguments: [("\"title\": \"Tea\"", "\"title\": \"Tea"), ("\"format\": 1", "\"format\": 99")])
  func handEdit(_ old: String, _ new: String) async throws {
    let fixture = try await StoreFixture("Tea")
    let file = fixture.file(try fixture.alarm("Tea"))
    let before = try fixture.sandbox.read(file)
    let typed = before.replacing(old, with: new)
    try #require(typed != before)
    try fixture.sandbox.write(typed, to: file)
    try fixture.sandbox.write(
      "{ \"format\": 1, \"snooze\": 420,\n", to: "\(fixture.store.path)/settings.json")
    try endSession(fixture.store)
    let store = fixture.reopened()
    try store.write(reconciling: .all) { _ in }
    #expect(try fixture.sandbox.read(file) == typed)
    #expect(
      try fixture.sandbox.read("\(fixture.store.path)/settings.json")
        == "{ \"format\": 1, \"snooze\": 420,\n")
    #expect(try titles(store) == ["Tea"])
    #expect(fixture.notices.all.isEmpty)
  }

  @Test("What is left of a damaged file is moved to the quarantine and named")
  func remains() async throws {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let file = fixture.file(tea)
    let before = try fixture.sandbox.read(file)
    let torn = "{\"mine\"" + String(repeating: "\0", count: 20)
    try fixture.sandbox.write(torn, to: file)
    try endSession(fixture.store)
    try fixture.reopened().write(reconciling: .branch) { _ in }
    #expect(try fixture.sandbox.read(file) == before)
    let aside = fixture.notices.all.compactMap { notice -> (String, String)? in
      if case .setAside(let path, let destination) = notice { (path, destination) } else { nil }
    }
    try #require(aside.count == 1)
    #expect(aside[0].0 == AlarmRecord.path(tea.id))
    #expect(try fixture.sandbox.read(aside[0].1) == torn)
  }

  @Test("A damaged file without any content is replaced without a notice")
  func zeros() async throws {
    let fixture = try await StoreFixture("Tea")
    let file = fixture.file(try fixture.alarm("Tea"))
    let before = try fixture.sandbox.read(file)
    try fixture.sandbox.write("", to: file)
    try endSession(fixture.store)
    try fixture.reopened().write(reconciling: .branch) { _ in }
    #expect(try fixture.sandbox.read(file) == before)
    #expect(fixture.notices.all.isEmpty)
  }
}

/// A remote that accepts every commit, and reports it.
private struct RecordingRemote: RemoteTransport {
  let accept: @Sendable (ObjectID) -> Void

  func fetch(_ branch: String) async throws -> ObjectID? { nil }
  func refetch(_ branch: String) async throws {}
  func fetchHeartbeats(of devices: Set<Identifier>) async throws {}
  func push(_ commit: ObjectID, to branch: String) async throws -> PushOutcome { .moved }
  func leave(_ commit: ObjectID, as reference: String) async throws { accept(commit) }
}
