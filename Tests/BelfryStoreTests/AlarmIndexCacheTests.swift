import BelfryCore
import Files
import Foundation
import TestSupport
import Testing

@testable import BelfryStore

/// The alarm index of a store: its updates, and the effects of damage.
@Suite struct AlarmIndexCacheTests {
  private func titles(_ store: Store) throws -> [String] {
    try store.overview().summaries.map(\.title).sorted()
  }

  private func content(_ store: Store) throws -> AlarmIndexCache.Content {
    try #require(store.alarmIndexCache.read())
  }

  /// Returns the titles in the index, which may be outdated.
  private func indexed(_ store: Store) throws -> [String] {
    try content(store).rows.compactMap { $0.summary?.title }.sorted()
  }

  @Test("A write of an alarm updates its row")
  func write() async throws {
    let fixture = try await StoreFixture("Tea", "Milk")
    let store = fixture.store
    #expect(try titles(store) == ["Milk", "Tea"])
    try store.commit(fixture.change("Rye"))
    #expect(try indexed(store) == ["Milk", "Rye", "Tea"])
    let tea = try fixture.alarm("Tea")
    let renamed = try AlarmRecord.decode(
      fixture.renamed(tea, "Coffee"), id: tea.id, now: store.context.now)
    try store.commit(
      Store.Change(
        alarms: [renamed], entries: [],
        message: CommitMessage("Rename", device: fixture.store.device)))
    #expect(try indexed(store) == ["Coffee", "Milk", "Rye"])
    #expect(try store.likely(titled: "Coffee").map(\.id) == [tea.id])
    #expect(try store.likely(titled: "Tea").isEmpty)
    #expect(try store.likely(titled: "Milk").count == 1)
    #expect(fixture.leftovers().isEmpty)
  }

  @Test("The first read after a write reads the file again, and the next one saves nothing")
  func read() async throws {
    let fixture = try await StoreFixture("Tea", "Milk")
    let store = fixture.store
    _ = try titles(store)
    try store.commit(fixture.change("Rye"))
    // The files must be older than the read by more than a tick.
    usleep(100_000)
    let written = try content(store).generation
    #expect(try titles(store) == ["Milk", "Rye", "Tea"])
    let read = try content(store).generation
    #expect(read != written)
    #expect(try titles(store) == ["Milk", "Rye", "Tea"])
    #expect(try content(store).generation == read)
    // A hand edit.
    let tea = try fixture.alarm("Tea")
    try fixture.sandbox.write(
      try fixture.sandbox.read(fixture.file(tea)).replacing("Tea", with: "Oat"),
      to: fixture.file(tea))
    #expect(try titles(store) == ["Milk", "Oat", "Rye"])
    #expect(try indexed(store) == ["Milk", "Rye", "Tea"])
  }

  @Test("A status is made again after its time, and under other settings")
  func statuses() async throws {
    let fixture = try await StoreFixture("Tea")
    _ = try titles(fixture.store)
    usleep(100_000)
    _ = try titles(fixture.store)
    let generation = try content(fixture.store).generation
    func next(_ store: Store) throws -> String? {
      try store.overview().summaries.first?.next?.at.rfc3339Milliseconds
    }
    #expect(try next(fixture.reopened()) == "2026-11-21T08:00:00.000Z")
    #expect(try content(fixture.store).generation == generation)
    #expect(
      try next(fixture.reopened(now: "2026-11-21T09:00:00Z")) == "2026-11-22T08:00:00.000Z")
    #expect(try content(fixture.store).generation != generation)
    #expect(try next(fixture.reopened(zone: "Africa/Algiers")) == "2026-11-21T07:00:00.000Z")
    let fingerprint = try content(fixture.store).fingerprint
    #expect(fixture.reopened(zone: "Africa/Algiers").alarmIndexCache.isCurrent(fingerprint))
    try fixture.sandbox.write(
      "{\"format\": 1, \"snooze\": \"7m\"}\n", to: fixture.store.path + "/settings.json")
    #expect(!fixture.reopened(zone: "Africa/Algiers").alarmIndexCache.isCurrent(fingerprint))
  }

  /// A power failure can leave a fingerprint beside statuses that were made under other settings.
  @Test func statusesOfEarlierBootsAreMadeAgain() async throws {
    let fixture = try await StoreFixture("Tea")
    let store = fixture.store
    _ = try titles(store)
    let fingerprint = try content(store).fingerprint
    #expect(store.alarmIndexCache.isCurrent(fingerprint))
    let boot = try #require(ProcessIdentity.currentBoot)
    let other = String(boot.map { $0 == "0" ? "1" : "0" })
    #expect(!store.alarmIndexCache.isCurrent(fingerprint.replacing(boot, with: other)))
  }

  @Test("A transaction that a killed process has left is undone")
  func killedWriter() async throws {
    let fixture = try await StoreFixture("Tea")
    let store = fixture.store
    _ = try titles(store)
    let path = store.local.cache
    func bytes(_ suffix: String) throws -> [UInt8] {
      try #require(try DurableFile.read(path + suffix)).bytes
    }
    let before = try bytes("")
    // The database and the journal in the middle of a transaction that does not fit into memory.
    let writer = try CacheDatabase(path, creating: false)
    try writer.execute("PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE state SET count = 9")
    try writer.execute("UPDATE alarms SET content = zeroblob(100000)")
    let (database, journal) = try (bytes(""), bytes("-journal"))
    try writer.execute("ROLLBACK")
    #expect(database != before && !journal.isEmpty)
    store.cache.remove()
    for (bytes, suffix) in [(database, ""), (journal, "-journal")] {
      try DurableFile.write(bytes, to: path + suffix, temporary: path + "-other")
    }
    #expect(try indexed(store) == ["Tea"])
  }

  /// Damage to the database, or a state in which it cannot be used.
  enum Damage: CaseIterable, Sendable {
    case removed, strayJournal, empty, truncated, noDatabase
    case flippedRow, lostRow, sameRowTwice, noState, otherVersion
    case folder, link
  }

  private func cause(_ damage: Damage, _ store: Store) throws {
    let path = store.local.cache
    func run(_ sql: String) throws {
      try CacheDatabase(path, creating: false).execute(sql)
    }
    switch damage {
    case .removed: store.cache.remove()
    case .strayJournal:
      let other = path + "-other"
      try DurableFile.write(
        Array(String(repeating: "no journal", count: 1000).utf8), to: path + "-journal",
        temporary: other)
    case .empty: #expect(truncate(path, 0) == 0)
    case .truncated:
      var status = stat()
      #expect(stat(path, &status) == 0 && status.st_size > 8192)
      #expect(truncate(path, status.st_size - 5000) == 0)
    case .noDatabase:
      let other = path + "-other"
      try DurableFile.write(
        Array(String(repeating: "no database", count: 1000).utf8), to: path, temporary: other)
    case .flippedRow:
      try run("UPDATE alarms SET content = substr(content, 1, 40) || 'x' || substr(content, 42)")
    case .lostRow: try run("DELETE FROM alarms WHERE title = (SELECT max(title) FROM alarms)")
    case .sameRowTwice:
      try run("UPDATE alarms SET content = (SELECT content FROM alarms ORDER BY title LIMIT 1)")
    case .noState: try run("DROP TABLE state")
    case .otherVersion: try run("PRAGMA user_version = 99")
    case .folder:
      store.cache.remove()
      #expect(mkdir(path, 0o755) == 0)
    case .link:
      #expect(rename(path, path + "-moved") == 0)
      #expect(symlink(path + "-moved", path) == 0)
    }
  }

  @Test(
    "Damage to the database hides no alarm and no removed file", arguments: Damage.allCases)
  func damage(_ damage: Damage) async throws {
    let fixture = try await StoreFixture("Tea")
    let store = fixture.store
    _ = try titles(store)
    try store.commit(fixture.change("Rye"))
    let rye = try fixture.alarm("Rye")
    try cause(damage, store)
    // SQLite ignores a journal that it has not written.
    #expect(damage == .strayJournal || store.alarmIndexCache.read() == nil)
    #expect(try store.likely(titled: "Rye").map(\.id) == [rye.id])
    _ = rmdir(store.local.cache)
    store.cache.remove()
    _ = try titles(store)
    try store.commit(fixture.change("Milk"))
    let milk = try fixture.alarm("Milk")
    try cause(damage, store)
    #expect(unlink(fixture.file(milk)) == 0)
    let overview = try fixture.reopened().overview()
    #expect(overview.summaries.map(\.title).sorted() == ["Milk", "Rye", "Tea"])
    #expect(overview.problems.map(\.path) == [AlarmRecord.path(milk.id)])
    // A write restores the file and, if it can, the index.
    try fixture.reopened().write(reconciling: .records) { _ in }
    if [.folder, .link].contains(damage) {
      #expect(store.alarmIndexCache.read() == nil)
      _ = rmdir(store.local.cache)
      store.cache.remove()
    }
    #expect(try titles(fixture.reopened()) == ["Milk", "Rye", "Tea"])
    #expect(access(fixture.file(milk), F_OK) == 0)
    #expect(try titles(fixture.reopened()) == ["Milk", "Rye", "Tea"])
    #expect(try indexed(store) == ["Milk", "Rye", "Tea"])
  }

  @Test("A store works without a database")
  func noDatabase() async throws {
    let fixture = try await StoreFixture("Tea")
    let store = fixture.store
    try cause(.folder, store)
    try store.commit(fixture.change("Rye"))
    #expect(try titles(store) == ["Rye", "Tea"])
    let rye = try fixture.alarm("Rye")
    #expect(unlink(fixture.file(rye)) == 0)
    #expect(try titles(store) == ["Rye", "Tea"])
    try fixture.reopened().write(reconciling: .records) { _ in }
    #expect(access(fixture.file(rye), F_OK) == 0)
    #expect(try store.overview().problems.isEmpty)
  }

  @Test("The first index replaces the caches of earlier versions")
  func earlierFiles() async throws {
    let fixture = try await StoreFixture("Tea")
    fixture.store.cache.remove()
    let earlier = ["alarm-index", "alarm-index-changes", "log-index", "new-alarm-index-12~"]
    for name in earlier {
      try fixture.sandbox.write("x", to: "\(fixture.store.local.folder)/\(name)")
    }
    #expect(try titles(fixture.store) == ["Tea"])
    let names = DurableFile.names(in: fixture.store.local.folder)
    #expect(names.contains("cache.db") && Set(names).isDisjoint(with: earlier))
  }

  // MARK: Other processes

  @Test("An index that another process has changed is not overwritten")
  func replacedMeanwhile() async throws {
    let fixture = try await StoreFixture("Tea")
    let store = fixture.store
    _ = try titles(store)
    usleep(100_000)
    let slow = try AlarmIndex(store)
    try store.commit(fixture.change("Rye"))
    slow.save()
    #expect(try indexed(store) == ["Rye", "Tea"])
    // The same with a new index.
    store.cache.remove()
    let first = try AlarmIndex(store)
    _ = try titles(store)
    let generation = try content(store).generation
    first.save()
    #expect(try content(store).generation == generation)
  }

  @Test("While another process holds the database, commands work without it")
  func locked() async throws {
    let fixture = try await StoreFixture("Tea")
    let store = fixture.store
    _ = try titles(store)
    let other = try CacheDatabase(store.local.cache, creating: false)
    try other.transaction(writing: true) {
      #expect(try titles(store) == ["Tea"])
      try store.commit(fixture.change("Rye"))
      #expect(try titles(store) == ["Rye", "Tea"])
      #expect(try indexed(store) == ["Tea"])
    }
    #expect(try titles(store) == ["Rye", "Tea"])
    #expect(try indexed(store) == ["Rye", "Tea"])
  }

  @Test("Readers never see a mixture of indexes while another process writes")
  func concurrentReaders() async throws {
    let fixture = try await StoreFixture()
    let store = fixture.store
    store.cache.remove()
    @Sendable func rows(_ round: Int) -> [AlarmIndexCache.Change] {
      (0..<40).map { CachedAlarmTests.entry($0, title: "Round \(round)") }
    }
    store.alarmIndexCache.save(rows(0), fingerprint: "other", after: nil)
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask {
        for round in 1...300 { store.alarmIndexCache.replace(rows(round)) }
        return 0
      }
      for _ in 0..<3 {
        group.addTask {
          var found = 0
          for _ in 0..<300 {
            guard let content = store.alarmIndexCache.read() else { continue }
            found += 1
            #expect(content.fingerprint == "other" && content.rows.count == 40)
            #expect(Set(content.rows.compactMap { $0.summary?.title }).count == 1)
          }
          return found
        }
      }
      let found = try await group.reduce(0, +)
      #expect(found > 300)
    }
  }
}
