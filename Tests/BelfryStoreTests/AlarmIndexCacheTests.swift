import BelfryCore
import Foundation
import Git
import TestSupport
import Testing

@testable import BelfryStore

/// The alarm index of a store: which of its files are written, and the effects of damage.
@Suite struct AlarmIndexCacheTests {
  private func inode(_ path: String) -> UInt64? {
    var status = stat()
    return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }

  private func titles(_ store: Store) throws -> [String] {
    try store.overview().summaries.map(\.title).sorted()
  }

  /// Returns the titles in the files of the index, which may be outdated.
  private func indexed(_ store: Store) throws -> [String] {
    let file = try #require(store.alarmIndexCache.read())
    return (0..<file.count).filter(file.isUsed).compactMap { file.summary($0)?.title }.sorted()
  }

  @Test("A write of an alarm replaces only the file of changes")
  func write() async throws {
    let fixture = try await StoreFixture("Tea", "Milk")
    let (store, local) = (fixture.store, fixture.store.local)
    #expect(try titles(store) == ["Milk", "Tea"])
    let (main, changes) = (inode(local.alarmIndex), inode(local.alarmIndexChanges))
    #expect(main != nil && changes != nil)
    try store.commit(fixture.change("Rye"))
    #expect(inode(local.alarmIndex) == main)
    #expect(try indexed(store) == ["Milk", "Rye", "Tea"])
    let tea = try fixture.alarm("Tea")
    let renamed = try AlarmRecord.decode(
      fixture.renamed(tea, "Coffee"), id: tea.id, now: store.context.now)
    try store.commit(
      Store.Change(
        alarms: [renamed], entries: [],
        message: CommitMessage("Rename", device: fixture.store.device)))
    #expect(inode(local.alarmIndex) == main)
    #expect(try indexed(store) == ["Coffee", "Milk", "Rye"])
    #expect(try store.likely(titled: "Coffee").map(\.id) == [tea.id])
    #expect(try store.likely(titled: "Tea").isEmpty)
    #expect(try store.likely(titled: "Milk").count == 1)
    #expect(fixture.leftovers().isEmpty)
  }

  @Test("A read after a write saves only the file of changes, and the next one nothing")
  func read() async throws {
    let fixture = try await StoreFixture("Tea", "Milk")
    let (store, local) = (fixture.store, fixture.store.local)
    _ = try titles(store)
    try store.commit(fixture.change("Rye"))
    // The signatures must be older than the index by more than a tick.
    usleep(100_000)
    let main = inode(local.alarmIndex)
    #expect(try titles(store) == ["Milk", "Rye", "Tea"])
    usleep(100_000)
    #expect(try titles(store) == ["Milk", "Rye", "Tea"])
    let changes = inode(local.alarmIndexChanges)
    #expect(try titles(store) == ["Milk", "Rye", "Tea"])
    #expect(inode(local.alarmIndex) == main)
    #expect(inode(local.alarmIndexChanges) == changes)
  }

  @Test("Many writes move the changes to the main file")
  func manyWrites() async throws {
    let fixture = try await StoreFixture("Tea")
    let (store, local) = (fixture.store, fixture.store.local)
    _ = try titles(store)
    let main = inode(local.alarmIndex)
    let expected = (0..<70).map { "Alarm \($0)" }
    let alarms = try expected.map { try fixture.change($0).alarms[0] }
    for part in [alarms[..<40], alarms[40...]] {
      try store.commit(
        Store.Change(
          alarms: Array(part), entries: [],
          message: CommitMessage("Add", device: fixture.store.device)))
    }
    #expect(inode(local.alarmIndex) != main)
    #expect(try #require(store.alarmIndexCache.read()).changes.count == 0)
    #expect(try titles(store) == (expected + ["Tea"]).sorted())
  }

  /// Damage to the files of the index, or a state that a crash between two renames leaves.
  enum Damage: CaseIterable, Sendable {
    case noMain, noChanges, neither, truncatedMain, truncatedChanges, emptyChanges
    case flippedMain, flippedChanges, flippedHeaderOfMain
    case folderAsChanges, linkAsChanges
    case mainOfOtherStore, changesOfOtherStore, swapped
    case earlierMain, earlierChanges
  }

  private func cause(_ damage: Damage, _ fixture: StoreFixture, _ other: LocalState) throws {
    let local = fixture.store.local
    func read(_ path: String) throws -> [UInt8] { try #require(try DurableFile.read(path)).bytes }
    func write(_ bytes: [UInt8], _ path: String) throws {
      try DurableFile.write(bytes, to: path, temporary: path + ".new", syncing: false)
    }
    func flip(_ path: String, at offset: (Int) -> Int) throws {
      var bytes = try read(path)
      bytes[offset(bytes.count)] ^= 0x10
      try write(bytes, path)
    }
    let (main, changes) = (local.alarmIndex, local.alarmIndexChanges)
    switch damage {
    case .noMain: #expect(unlink(main) == 0)
    case .noChanges: #expect(unlink(changes) == 0)
    case .neither: fixture.store.alarmIndexCache.remove()
    case .truncatedMain: try write(read(main).dropLast(7), main)
    case .truncatedChanges: try write(read(changes).dropLast(7), changes)
    case .emptyChanges: try write([], changes)
    case .flippedMain: try flip(main) { $0 - 9 }
    case .flippedChanges: try flip(changes) { $0 - 9 }
    case .flippedHeaderOfMain: try flip(main) { _ in 9 }
    case .folderAsChanges:
      #expect(unlink(changes) == 0)
      #expect(mkdir(changes, 0o755) == 0)
    case .linkAsChanges:
      #expect(rename(changes, changes + "-moved") == 0)
      #expect(symlink(changes + "-moved", changes) == 0)
    case .mainOfOtherStore: try write(read(other.alarmIndex), main)
    case .changesOfOtherStore: try write(read(other.alarmIndexChanges), changes)
    case .swapped:
      let bytes = (try read(main), try read(changes))
      try write(bytes.1, main)
      try write(bytes.0, changes)
    case .earlierMain, .earlierChanges:
      let before = (try read(main), try read(changes))
      let file = try #require(fixture.store.alarmIndexCache.read())
      // Another fingerprint writes both files.
      let output = AlarmIndexFile.output(
        from: file, replacing: [:], folder: file.folder, fingerprint: "other")
      if damage == .earlierMain {
        try write(output.changes, changes)
      } else {
        try write(try #require(output.main), main)
      }
      #expect(before.0 != output.main && before.1 != output.changes)
    }
  }

  @Test(
    "Damage to a file of the index hides no alarm and no removed file", arguments: Damage.allCases)
  func damage(_ damage: Damage) async throws {
    let (fixture, other) = (try await StoreFixture("Tea"), try await StoreFixture("Oats"))
    let store = fixture.store
    for fixture in [fixture, other] {
      _ = try titles(fixture.store)
      try fixture.store.commit(fixture.change("Rye"))
    }
    let rye = try fixture.alarm("Rye")
    try cause(damage, fixture, other.store.local)
    #expect(store.alarmIndexCache.read() == nil)
    #expect(try store.likely(titled: "Rye").map(\.id) == [rye.id])
    try cause(.neither, fixture, other.store.local)
    _ = rmdir(store.local.alarmIndexChanges)
    _ = try titles(store)
    try store.commit(fixture.change("Milk"))
    let milk = try fixture.alarm("Milk")
    try cause(damage, fixture, other.store.local)
    // The file of a new alarm is missing, of which only the changes had a row.
    #expect(unlink(fixture.file(milk)) == 0)
    let overview = try fixture.reopened().overview()
    #expect(overview.summaries.map(\.title).sorted() == ["Milk", "Rye", "Tea"])
    #expect(overview.problems.map(\.path) == [AlarmRecord.path(milk.id)])
    // A write restores the file, and an index that both files make up again.
    try fixture.reopened().write(reconciling: .records) { _ in }
    _ = rmdir(store.local.alarmIndexChanges)
    #expect(try titles(fixture.reopened()) == ["Milk", "Rye", "Tea"])
    #expect(access(fixture.file(milk), F_OK) == 0)
    #expect(try titles(fixture.reopened()) == ["Milk", "Rye", "Tea"])
    #expect(store.alarmIndexCache.read() != nil)
  }

  @Test("An index that another process has replaced is not overwritten")
  func replacedMeanwhile() async throws {
    let fixture = try await StoreFixture("Tea")
    let store = fixture.store
    _ = try titles(store)
    let slow = try AlarmIndex(store)
    try store.commit(fixture.change("Rye"))
    slow.save()
    #expect(try indexed(store) == ["Rye", "Tea"])
    let file = try #require(store.alarmIndexCache.read())
    let rewritten = AlarmIndexFile.output(
      from: file, replacing: [:], folder: file.folder, fingerprint: "other")
    try store.commit(fixture.change("Milk"))
    store.alarmIndexCache.write(rewritten, replacing: file.head)
    #expect(try indexed(store) == ["Milk", "Rye", "Tea"])
    #expect(fixture.leftovers().isEmpty)
  }

  @Test("Readers never see a mixture of indexes while another process replaces both files")
  func concurrentReaders() async throws {
    let fixture = try await StoreFixture("Tea")
    let store = fixture.store
    _ = try titles(store)
    let file = try #require(store.alarmIndexCache.read())
    let outputs = [3, 40].map { count in
      let rows = Dictionary(
        uniqueKeysWithValues: (0..<count).map { number in
          let entry = AlarmIndexFileTests.entry(number)
          return (entry.row.id, Optional(entry))
        })
      return AlarmIndexFile.output(
        from: nil, replacing: rows, folder: file.folder, fingerprint: "\(count)")
    }
    store.alarmIndexCache.write(outputs[0], replacing: nil)
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask {
        for round in 0..<300 {
          store.alarmIndexCache.write(outputs[round % 2], replacing: nil)
          usleep(300)
        }
        return 0
      }
      for _ in 0..<3 {
        group.addTask {
          var found = 0
          for _ in 0..<300 {
            guard let file = store.alarmIndexCache.read() else { continue }
            found += 1
            #expect(["3", "40"].contains(file.fingerprint))
            #expect(file.fingerprint == "\(file.count)")
          }
          return found
        }
      }
      let found = try await group.reduce(0, +)
      #expect(found > 300)
    }
  }
}
