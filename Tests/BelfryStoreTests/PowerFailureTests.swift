import BelfryCore
import Files
import Foundation
import Git
import TestSupport
import Testing

@testable import BelfryStore

/// The entries of the journal.
@Suite struct JournalEntryTests {
  private let entry = JournalEntry(
    head: Repository.blobID([1]), target: Repository.blobID([2]),
    files: [
      .init(path: "alarms/a.json", blob: Repository.blobID([3]), isKept: true),
      .init(path: "alarms/b.json", blob: nil),
    ], objects: [EncodedObject(id: Repository.blobID([3]), bytes: [4, 5, 6])])

  @Test("An entry is read as it was written")
  func coding() {
    #expect(JournalEntry(entry.bytes) == entry)
    let first = JournalEntry(head: nil, target: Repository.blobID([2]), files: [], objects: [])
    #expect(JournalEntry(first.bytes) == first)
  }

  @Test("An entry of version 1.0 with differences of trees is read")
  func earlierTrees() {
    var expected = entry
    expected.trees = [
      EarlierTree(
        id: Repository.blobID([7]), base: Repository.blobID([8]),
        entries: [
          "a.json": .init(name: "a.json", mode: .file, id: Repository.blobID([3])),
          "b.json": nil,
          "log": .init(name: "log", mode: .folder, id: Repository.blobID([5])),
        ]),
      EarlierTree(id: Repository.blobID([9]), base: Repository.blobID([7]), entries: [:]),
    ]
    let bytes = entry.earlierBytes(with: expected.trees)
    #expect(JournalEntry(bytes) == expected)
    for count in bytes.indices { #expect(JournalEntry(Array(bytes.prefix(count))) == nil) }
  }

  @Test("A truncated entry, one of another version and one with an impossible count are refused")
  func damage() {
    for count in entry.bytes.indices {
      #expect(JournalEntry(Array(entry.bytes.prefix(count))) == nil)
    }
    var later = entry.bytes
    later[0] = 99
    #expect(JournalEntry(later) == nil)
    let empty = JournalEntry(head: nil, target: Repository.blobID([2]), files: [], objects: [])
    var huge = empty.bytes
    for index in huge.indices.suffix(8) { huge[index] = 0xFF }
    #expect(JournalEntry(huge) == nil)
  }
}

extension JournalEntry {
  /// Returns the entry in the form of version 1.0, with differences of trees.
  fileprivate func earlierBytes(with trees: [EarlierTree]) -> [UInt8] {
    var bytes = bytes
    bytes[0] = 2
    func append(_ number: Int) { CacheCoding.append(UInt64(number), to: &bytes) }
    append(trees.count)
    for tree in trees {
      bytes += tree.id.bytes + tree.base.bytes
      append(tree.entries.count)
      for (name, entry) in tree.entries.sorted(by: { $0.key < $1.key }) {
        append(name.utf8.count)
        bytes += Array(name.utf8)
        bytes.append(entry == nil ? 0 : 1)
        if let entry { bytes += entry.id.bytes }
        bytes.append(entry?.mode == .folder ? 1 : 0)
      }
    }
    return bytes
  }
}

/// The recovery from power failures, which keep any part of what was not flushed.
@Suite struct PowerFailureTests {
  /// Marks the journal as one of another session, in which all of its writes were applied.
  private func loseSession(_ fixture: StoreFixture) throws {
    let log = fixture.store.local.log
    let entries = try log.entries()
    try #require(entries.pending.isEmpty)
    #expect(unlink(log.path) == 0)
    for entry in entries.applied { _ = try log.append(entry, session: 1) }
    log.finish()
  }

  private func open(_ fixture: StoreFixture) throws -> Store {
    try #require(
      try Store.existing(
        fixture.store.path,
        context: StoreFixture.context(now: "2026-11-20T22:50:00Z", notices: fixture.notices)))
  }

  private func titles(_ store: Store) throws -> [String] {
    try store.overview().summaries.map(\.title).sorted()
  }

  /// A store with two alarms, whose writes are in the journal.
  private func fixture() async throws -> (StoreFixture, tea: Alarm, milk: Alarm) {
    let fixture = try await StoreFixture("Tea", "Milk")
    return (fixture, try fixture.alarm("Tea"), try fixture.alarm("Milk"))
  }

  @Test("A command that only reads restores everything that was not flushed")
  func everything() async throws {
    let (fixture, tea, milk) = try await fixture()
    let head = try fixture.head()
    let git = fixture.store.path + "/.git"
    let first = try fixture.store.repository().commit(head).parents[0]
    try loseSession(fixture)
    // The branch went back, an object is empty, a file is missing, and another one is filled with zeros.
    try fixture.sandbox.write("\(first)\n", to: git + "/refs/heads/main")
    #expect(chmod(fixture.object(head), 0o644) == 0)
    try fixture.sandbox.write("", to: fixture.object(head))
    #expect(unlink(fixture.file(milk)) == 0)
    let size = try fixture.sandbox.read(fixture.file(tea)).utf8.count
    try fixture.sandbox.write(String(repeating: "\0", count: size), to: fixture.file(tea))
    try fixture.sandbox.write("DIRC", to: git + "/index")
    try fixture.sandbox.write("", to: fixture.store.local.folder + "/seen")
    #expect(try titles(open(fixture)) == ["Milk", "Tea"])
    #expect(try fixture.head() == head)
    #expect(try await fixture.status().isEmpty)
    #expect(try await fixture.git("fsck", "--strict").status == 0)
    #expect(!fixture.store.local.hasJournal)
    #expect(try #require(try fixture.store.local.log.state()).isEmpty)
    #expect(fixture.leftovers().isEmpty)
  }

  /// Marks the journal as one of another session, whose writes were applied by version 1.0: each has the folder of
  /// alarms as the difference from the earlier one. Returns these trees.
  private func loseSessionOfVersion10(_ fixture: StoreFixture) throws -> [EarlierTree] {
    let repository = try fixture.store.repository()
    let log = fixture.store.local.log
    var trees: [EarlierTree] = []
    let entries = try log.entries().applied.map { bytes -> [UInt8] in
      var entry = try #require(JournalEntry(bytes))
      func alarms(_ commit: ObjectID?) throws -> ObjectID? {
        try commit.flatMap {
          try repository.tree(repository.commit($0).tree).entry(named: "alarms")?.id
        }
      }
      guard let base = try alarms(entry.head), let id = try alarms(entry.target), base != id else {
        return bytes
      }
      var changes: [String: TreeData.Entry?] = [:]
      for file in entry.files where file.path.hasPrefix("alarms/") {
        let name = String(file.path.dropFirst("alarms/".count))
        changes[name] = .some(file.blob.map { .init(name: name, mode: .file, id: $0) })
      }
      let tree = EarlierTree(id: id, base: base, entries: changes)
      trees.append(tree)
      entry.objects.removeAll { $0.id == id }
      return entry.earlierBytes(with: [tree])
    }
    #expect(unlink(log.path) == 0)
    for entry in entries { _ = try log.append(entry, session: 1) }
    log.finish()
    return trees
  }

  @Test("Trees that version 1.0 left as differences are made again, each from the earlier one")
  func earlierTrees() async throws {
    let titles = (0..<12).map { "Alarm \($0)" }
    let fixture = try await StoreFixture()
    for title in titles { try fixture.store.commit(fixture.change(title)) }
    let head = try fixture.head()
    let ids = Set(try loseSessionOfVersion10(fixture).map(\.id))
    #expect(ids.count == titles.count - 1)
    for id in ids { #expect(unlink(fixture.object(id)) == 0) }
    #expect(try self.titles(open(fixture)) == titles.sorted())
    #expect(try fixture.head() == head)
    for id in ids { #expect(access(fixture.object(id), F_OK) == 0) }
    #expect(try await fixture.git("fsck", "--strict").status == 0)
    #expect(try await fixture.status().isEmpty)
  }

  @Test("Trees of version 1.0 are made again from an earlier tree that git has packed meanwhile")
  func packedTrees() async throws {
    let fixture = try await StoreFixture("A", "B", "C", "D", "E", "F", "G", "H")
    try fixture.store.checkpoint.run()
    try await fixture.git("repack", "-adfq")
    try await fixture.git("prune-packed")
    for title in ["I", "J"] { try fixture.store.commit(fixture.change(title)) }
    let trees = try loseSessionOfVersion10(fixture)
    #expect(trees.count == 2)
    for tree in trees { #expect(unlink(fixture.object(tree.id)) == 0) }
    #expect(try titles(open(fixture)).count == 10)
    #expect(try await fixture.git("fsck", "--strict").status == 0)
  }

  @Test("A lost tree of version 1.0 stops the recovery before it moves the branch")
  func lostBase() async throws {
    let fixture = try await StoreFixture("A", "B", "C", "D", "E", "F", "G", "H")
    try fixture.store.checkpoint.run()
    try fixture.store.commit(fixture.change("I"))
    let head = try fixture.head()
    let tree = try #require(try loseSessionOfVersion10(fixture).first)
    #expect(unlink(fixture.object(tree.id)) == 0)
    #expect(unlink(fixture.object(tree.base)) == 0)
    let store = try open(fixture)
    #expect(throws: GitError.self) { try store.write(reconciling: .branch) { _ in } }
    #expect(try titles(store).count == 9)
    #expect(try fixture.head() == head)
    #expect(store.local.hasJournal)
  }

  @Test("The journal contains the trees of its writes")
  func trees() async throws {
    let fixture = try await StoreFixture("A", "B", "C")
    try fixture.store.checkpoint.run()
    let repository = try fixture.store.repository()
    var lost: [ObjectID] = []
    for title in ["D", "E"] {
      try fixture.store.commit(fixture.change(title))
      let tree = try repository.commit(fixture.head()).tree
      lost += [tree, try #require(try repository.tree(tree).entry(named: "alarms")).id]
    }
    let head = try fixture.head()
    try loseSession(fixture)
    for id in lost { #expect(unlink(fixture.object(id)) == 0) }
    #expect(try titles(open(fixture)) == ["A", "B", "C", "D", "E"])
    #expect(try fixture.head() == head)
    #expect(try await fixture.git("fsck", "--strict").status == 0)
  }

  @Test("A ledger that a power failure left empty is replaced by that of the last checkpoint")
  func emptyLedger() async throws {
    let fixture = try await StoreFixture("Tea")
    let id = OccurrenceID(
      alarm: try fixture.alarm("Tea").id, occurrence: CivilDateTime("2026-11-20T08:00")!)
    let now = fixture.store.context.now
    _ = fixture.store.ledger.update { $0.recordFiring(id, due: now, at: now) }
    let flushed = fixture.store.ledger.read()
    try fixture.store.checkpoint.run()
    // A later change that was not flushed.
    _ = fixture.store.ledger.update { $0.recordFiring(id, due: now.adding(seconds: 1), at: now) }
    #expect(fixture.store.ledger.read() != flushed)
    try fixture.sandbox.write("", to: fixture.store.localFolder + "/ledger.json")
    #expect(fixture.store.ledger.read() == flushed && flushed.hasRung(id))
  }

  @Test("An index whose end is zeros is built again, although git accepts zeros as its checksum")
  func tornIndex() async throws {
    let fixture = try await StoreFixture("Tea")
    let repository = try fixture.store.repository()
    let path = repository.gitDirectory + "index"
    #expect(repository.isIndexIntact)
    var bytes = try #require(try DurableFile.read(path)).bytes
    for size in [ObjectID.byteCount, 40, 60] {
      bytes.replaceSubrange((bytes.count - size)..., with: repeatElement(0, count: size))
      try Data(bytes).write(to: URL(filePath: path))
      #expect(!repository.isIndexIntact)
    }
  }

  @Test("A hand edit that survived stays, and is imported")
  func handEdit() async throws {
    let (fixture, tea, _) = try await fixture()
    try loseSession(fixture)
    try fixture.edit(fixture.file(tea), "\"Tea\"", "\"Green tea\"")
    let store = try open(fixture)
    #expect(try titles(store) == ["Green tea", "Milk"])
    try store.write(reconciling: .records) { _ in }
    #expect(try await fixture.git("show", "main:\(AlarmRecord.path(tea.id))").out.contains("Green"))
  }

  @Test("A commit of git on top of the last write stays")
  func laterCommit() async throws {
    let (fixture, _, milk) = try await fixture()
    try await fixture.git("commit", "-q", "--allow-empty", "-m", "Other")
    let head = try fixture.head()
    try loseSession(fixture)
    #expect(unlink(fixture.file(milk)) == 0)
    #expect(try titles(open(fixture)) == ["Milk", "Tea"])
    #expect(try fixture.head() == head)
    #expect(try await fixture.status().isEmpty)
  }

  @Test("Writes are joined with a branch that went elsewhere")
  func elsewhere() async throws {
    let (fixture, tea, _) = try await fixture()
    let before = try fixture.head()
    try fixture.store.commit(
      Store.Change(
        alarms: [
          try AlarmRecord.decode(
            fixture.renamed(tea, "Coffee"), id: tea.id, now: fixture.store.context.now)
        ],
        entries: [], message: CommitMessage("Rename", device: fixture.store.device)))
    try loseSession(fixture)
    try await fixture.git("reset", "-q", "--hard", "\(before)")
    try await fixture.git("commit", "-q", "--allow-empty", "-m", "Other")
    #expect(try titles(open(fixture)) == ["Coffee", "Milk"])
    #expect(
      try await fixture.git("show", "main:\(AlarmRecord.path(tea.id))").out.contains("Coffee"))
    #expect(try await fixture.status().isEmpty)
  }

  @Test("Torn references and reflog entries of lost commits are removed, and intact ones stay")
  func references() async throws {
    let (fixture, _, _) = try await fixture()
    let git = fixture.store.path + "/.git"
    let head = try fixture.head()
    let lost = String(repeating: "ab", count: 20)
    try await fixture.git("update-ref", "refs/remotes/origin/main", "HEAD")
    try fixture.sandbox.write("", to: git + "/refs/remotes/origin/torn")
    try fixture.sandbox.write(lost + "\n", to: git + "/refs/remotes/origin/lost")
    let reflog = try fixture.sandbox.read(git + "/logs/HEAD")
    try fixture.sandbox.write(
      reflog + "\(head) \(lost) Ada <ada@example.org> 1 +0000\tcommit: Lost\n",
      to: git + "/logs/HEAD")
    try loseSession(fixture)
    _ = try open(fixture)
    #expect(try await fixture.git("fsck", "--strict").status == 0)
    #expect(
      DurableFile.names(in: git + "/refs/remotes/origin").sorted() == ["main"])
    #expect(try fixture.sandbox.read(git + "/logs/HEAD") == reflog)
  }

  @Test("A reflog loses a commit of git whose tree is lost, also behind a move of the recovery")
  func reflogOfLostTree() async throws {
    let (fixture, tea, _) = try await fixture()
    let git = fixture.store.path + "/.git"
    let head = try fixture.head()
    try fixture.edit(fixture.file(tea), "\"Tea\"", "\"Coffee\"")
    try await fixture.git("commit", "-a", "-q", "-m", "Edit")
    let commit = try fixture.head()
    let tree = try fixture.store.repository().commit(commit).tree
    #expect(unlink(fixture.object(tree)) == 0)
    // The recovery has moved the branch back.
    for name in ["HEAD", "refs/heads/main"] {
      #expect(try fixture.sandbox.read("\(git)/logs/\(name)").contains("\(head) \(commit)"))
    }
    try fixture.sandbox.write("\(head)\n", to: git + "/refs/heads/main")
    let line = "\(head) \(head) Ada <ada@example.org> 1 +0000\tbelfry\n"
    let reflog = try fixture.sandbox.read(git + "/logs/HEAD")
    try fixture.sandbox.write(reflog + line, to: git + "/logs/HEAD")
    try loseSession(fixture)
    _ = try open(fixture)
    #expect(try await fixture.git("fsck", "--strict").status == 0)
    for name in ["HEAD", "refs/heads/main"] {
      #expect(try !fixture.sandbox.read("\(git)/logs/\(name)").contains("\(commit)"))
    }
    #expect(try fixture.sandbox.read(git + "/logs/HEAD").hasSuffix(line))
  }

  @Test("Packed references that were not written entirely are mended")
  func packedReferences() async throws {
    let (fixture, _, _) = try await fixture()
    let packed = fixture.store.path + "/.git/packed-refs"
    let head = try fixture.head()
    try await fixture.git("tag", "one")
    try await fixture.git("tag", "two")
    try await fixture.git("pack-refs", "--all")
    let text = try fixture.sandbox.read(packed)
    try fixture.sandbox.write(String(text.prefix(text.count - 20)), to: packed)
    try loseSession(fixture)
    #expect(try titles(open(fixture)) == ["Milk", "Tea"])
    #expect(try fixture.head() == head)
    #expect(try await fixture.git("tag").out == "one\n")
    #expect(try await fixture.git("fsck", "--strict").status == 0)
  }

  @Test("A refused write is undone, and the earlier ones are restored")
  func refused() async throws {
    let (fixture, tea, milk) = try await fixture()
    let head = try fixture.head()
    try loseSession(fixture)
    let renamed = fixture.renamed(tea, "Coffee")
    try fixture.leaveJournal([AlarmRecord.path(tea.id): renamed])
    fixture.store.local.log.refuse()
    try fixture.sandbox.write(String(decoding: renamed, as: UTF8.self), to: fixture.file(tea))
    #expect(unlink(fixture.file(milk)) == 0)
    try fixture.store.write(reconciling: .branch) { _ in }
    #expect(try fixture.sandbox.read(fixture.file(tea)).contains("Tea"))
    #expect(try fixture.head() == head)
  }

  /// Repeats an action until the journal is empty. A process that another test starts at this moment shares the store's
  /// lock until it executes its program, and then there is no checkpoint.
  private func untilEmpty(_ fixture: StoreFixture, _ action: () throws -> Void) async throws {
    for _ in 0..<1_000 {
      try action()
      if try #require(try fixture.store.local.log.state()).isEmpty { return }
      try await Task.sleep(for: .milliseconds(20))
    }
    Issue.record("The journal is not emptied.")
  }

  @Test("A checkpoint empties the journal, unless a write is interrupted")
  func checkpoint() async throws {
    let (fixture, tea, _) = try await fixture()
    let log = fixture.store.local.log
    #expect(try !#require(try log.state()).isEmpty)
    try await untilEmpty(fixture) { fixture.store.checkpoint.runIfIdle() }
    try fixture.leaveJournal([AlarmRecord.path(tea.id): fixture.renamed(tea, "Coffee")])
    fixture.store.checkpoint.runIfIdle()
    #expect(fixture.store.local.hasJournal)
    #expect(try titles(fixture.store) == ["Coffee", "Milk"])
  }

  @Test("An idle evaluation makes a checkpoint")
  func idle() async throws {
    let (fixture, _, _) = try await fixture()
    let store = fixture.reopened(now: "2026-11-20T22:42:00Z")
    try await untilEmpty(fixture) { _ = try store.evaluate { _ in nil } }
  }
}
