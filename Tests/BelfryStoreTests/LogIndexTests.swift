import BelfryCore
import Files
import Foundation
import TestSupport
import Testing

@testable import BelfryStore

/// The index of the log, which must never show anything else than the log's files.
@Suite struct LogIndexTests {
  /// The number of days of the log, so many that some are read from the index on all cores.
  private static let days = 150

  /// A store with entries of many days, some of which have all values.
  private func fixture() async throws -> StoreFixture {
    let fixture = try await StoreFixture("Tea")
    let tea = try fixture.alarm("Tea")
    let start = try #require(Instant(rfc3339: "2026-05-01T23:59:59Z"))
    let actions: [LogEntry.Action] = [.fired, .done, .snoozed, .unknown("later"), .edited]
    for day in 0..<LogIndexTests.days {
      for number in 0..<3 {
        let at = start.adding(seconds: Int64(day) * 86_400 + Int64(number) * 3_600 - 7_200)
        let entry = LogEntry(
          id: fixture.store.context.makeIdentifier(),
          alarm: number == 2 ? fixture.store.context.makeIdentifier() : tea.id,
          title: number == 1 ? "Grüner Tee" : "Tea",
          occurrence: number == 0 ? nil : CivilDateTime(minuteNumber: 29_000_000 + day),
          action: actions[(day + number) % actions.count], at: at, device: fixture.store.device,
          auto: day % 2 == 0, payload: day % 7 == 0 ? .fields([.title]) : nil,
          effective: day % 3 == 0 ? at.adding(seconds: -60) : nil,
          undoes: day % 5 == 0 ? fixture.store.context.makeIdentifier() : nil, revision: day % 4,
          state: day % 6 == 0 ? .done : nil, extras: day % 11 == 0 ? ["later": "[1,2]"] : [:])
        let file = "\(fixture.store.path)/\(LogRecord.path(entry))"
        try DurableFile.makeFolder(DurableFile.parent(of: file), syncing: false)
        try fixture.sandbox.write(
          String(decoding: LogRecord.encode(entry), as: UTF8.self), to: file)
      }
    }
    return fixture
  }

  /// Makes the files old enough for the index, and writes the index.
  private func index(_ fixture: StoreFixture) async throws {
    try await Task.sleep(for: .milliseconds(200))
    LogIndex(store: fixture.store).update()
  }

  private func log(_ fixture: StoreFixture, of alarm: Identifier? = nil) -> [LogEntry] {
    Array(fixture.store.history.log(of: alarm))
  }

  /// Returns the number of days that are read from the index.
  private func indexedDays(_ fixture: StoreFixture) -> Int {
    let known = LogIndex(store: fixture.store).days(Array(LogReader.days(fixture.store)))
    return known.count { day, bytes in
      LogReader.unchangedRows(bytes, path: "\(fixture.store.path)/log/\(day)") != nil
    }
  }

  @Test("The log with an index is the log without one, entirely and for an alarm")
  func same() async throws {
    let fixture = try await fixture()
    let tea = try fixture.alarm("Tea")
    let (all, own) = (log(fixture), log(fixture, of: tea.id))
    #expect(all.count == LogIndexTests.days * 3)
    #expect(all == all.sorted { $0.at > $1.at })
    try await index(fixture)
    #expect(indexedDays(fixture) >= LogIndexTests.days)
    #expect(log(fixture) == all)
    #expect(log(fixture, of: tea.id) == own)
    #expect(log(fixture, of: fixture.store.context.makeIdentifier()).isEmpty)
  }

  @Test("The log of a period begins with its first day, with an index and without one")
  func period() async throws {
    let fixture = try await fixture()
    let tea = try fixture.alarm("Tea")
    let start = try #require(CivilDate("2026-08-15"))
    func check() {
      for alarm in [nil, tea.id] {
        let expected = log(fixture, of: alarm).filter { $0.at.rfc3339 >= "\(start)" }
        let found = Array(fixture.store.history.log(of: alarm, since: start))
        #expect(found == expected && !found.isEmpty)
      }
    }
    check()
    try await index(fixture)
    check()
    let later = try #require(CivilDate("2028-01-01"))
    #expect(Array(fixture.store.history.log(since: later)).isEmpty)
  }

  @Test(
    "The statistics are those of the log, with an index and without, and an invalid entry is reported"
  )
  func statistics() async throws {
    let fixture = try await fixture()
    let summaries = try fixture.store.overview().summaries
    let tea = try #require(summaries.first { $0.title == "Tea" })
    let expected = Statistics(log(fixture, of: tea.id))
    #expect(!expected.settled.isEmpty)
    func check(_ invalid: [String] = []) {
      for alarms in [[tea], summaries] {
        var reported: [String] = []
        let all = fixture.store.history.statistics(of: alarms, skipBreaksStreak: false) { path, _ in
          reported.append(path)
        }
        #expect(all.map(\.summary) == alarms)
        #expect(all.first { $0.summary.id == tea.id }?.statistics == expected)
        #expect(reported == invalid)
      }
    }
    check()
    try await index(fixture)
    check()
    let day = try #require(Array(LogReader.days(fixture.store)).dropFirst(40).first)
    // The name of an entry, which has no valid content.
    let path = "log/\(day)/000000000-\(fixture.store.context.makeIdentifier()).json"
    try fixture.sandbox.write("\"\(tea.id)\"", to: "\(fixture.store.path)/\(path)")
    check([path])
  }

  @Test("A day that has changed since is read from its files, and the next index has it")
  func changes() async throws {
    let fixture = try await fixture()
    try await index(fixture)
    let before = log(fixture)
    let days = Array(LogReader.days(fixture.store))
    func files(_ number: Int) -> [String] {
      let folder = "\(fixture.store.path)/log/\(days[number])"
      return DurableFile.names(in: folder).sorted().map { "\(folder)/\($0)" }
    }
    // Edited in place, removed, and not valid.
    let edited = files(20)[0]
    let text = try fixture.sandbox.read(edited)
    let handle = try #require(FileHandle(forWritingAtPath: edited))
    try handle.write(contentsOf: Data(text.replacing("\"title\": \"", with: "\"title\": \"X").utf8))
    try handle.close()
    #expect(unlink(files(30)[0]) == 0)
    try fixture.sandbox.write("{", to: files(40)[0])
    var invalid: [String] = []
    let after = Array(fixture.store.history.log { path, _ in invalid.append(path) })
    #expect(after.count == before.count - 2)
    #expect(after.contains { $0.title.hasPrefix("X") })
    #expect(invalid.count == 1)
    try await index(fixture)
    #expect(indexedDays(fixture) == Array(LogReader.days(fixture.store)).count - 1)
    #expect(log(fixture) == after)
  }

  @Test("A removed day leaves the index")
  func removedDay() async throws {
    let fixture = try await fixture()
    try await index(fixture)
    let days = Array(LogReader.days(fixture.store))
    try FileManager.default.removeItem(atPath: "\(fixture.store.path)/log/\(days[20])")
    let after = log(fixture)
    try await index(fixture)
    #expect(LogIndex(store: fixture.store).days(days)[days[20]] == nil)
    #expect(log(fixture) == after)
  }

  @Test("A damaged day counts as none, and the next index has it")
  func damage() async throws {
    let fixture = try await fixture()
    try await index(fixture)
    let all = log(fixture)
    let days = Array(LogReader.days(fixture.store))
    let known = LogIndex(store: fixture.store).days(days)
    #expect(known.count >= LogIndexTests.days)
    for (number, day) in days[20..<40].enumerated() {
      var bytes = try #require(known[day])
      bytes[bytes.count * number / 20] ^= 1
      if number == 7 { bytes.removeLast() }
      if number == 8 { bytes = [] }
      let damaged = bytes
      try #require(
        fixture.store.cache.write {
          try $0.run(
            "UPDATE days SET content = ? WHERE day = ?", [[.bytes(damaged), .text(day)]])
        } != nil)
    }
    #expect(log(fixture) == all)
    let indexed = indexedDays(fixture)
    LogIndex(store: fixture.store).update()
    #expect(indexedDays(fixture) == indexed + 20)
    #expect(log(fixture) == all)
    // A database that cannot be read is none.
    try fixture.sandbox.write("no database", to: fixture.store.local.cache)
    #expect(log(fixture) == all)
  }

  @Test("Maintenance writes the index of a long log")
  func maintenance() async throws {
    let fixture = try await fixture()
    try await fixture.store.maintenance.runDaily()
    let days = LogIndex(store: fixture.store).days(Array(LogReader.days(fixture.store)))
    #expect(days.count >= LogIndexTests.days)
  }
}
