import BelfryCore
import Files
import Foundation
import TestSupport
import Testing

@testable import BelfryStore

/// Caches that depend on the rules of time zones, when these rules change under the same name.
@Suite struct ZoneRulesTests {
  private let folder: String
  private let fixture: StoreFixture

  init() async throws {
    fixture = try await StoreFixture()
    folder = fixture.sandbox.root + "/zones"
    try install("Africa/Algiers")
  }

  /// Gives the zones Test/City and Test/Local the rules of another one, in the same files.
  private func install(_ zone: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder + "/Test", withIntermediateDirectories: true)
    for name in ["City", "Local"] {
      let bytes = try #require(
        try DurableFile.read("\(ZoneLibrary.systemFolder)/\(zone)")
          ?? DurableFile.read(realPath("\(ZoneLibrary.systemFolder)/\(zone)"))
      ).bytes
      try Data(bytes).write(to: URL(filePath: "\(folder)/Test/\(name)"))
    }
  }

  private func realPath(_ path: String) -> String {
    URL(filePath: path).resolvingSymlinksInPath().path
  }

  private func library(_ variable: String) -> ZoneLibrary {
    ZoneLibrary(variable: variable, folder: folder)
  }

  /// Returns the store as a command with the present rules opens it, on 1 July 2026 at 05:00 UTC.
  private func store(_ variable: String) -> Store {
    var context = fixture.store.context
    context.now = Instant(rfc3339: "2026-07-01T05:00:00Z")!
    context.zones = library(variable)
    return Store(
      path: fixture.store.path, context: context, device: fixture.store.device,
      local: fixture.store.local)
  }

  private func add(_ zone: String?, _ store: Store) throws {
    let id = store.context.makeIdentifier()
    let text = """
      {"format": 1, "id": "\(id)", "title": "Pills", \(zone.map { "\"zone\": \"\($0)\"," } ?? "")
       "schedule": {"kind": "daily", "start": "2026-06-01", "times": ["09:00"]}}
      """
    let alarm = try AlarmRecord.decode(Array(text.utf8), id: id, now: store.context.now)
    try store.commit(
      Store.Change(
        alarms: [alarm.stamped(against: nil, at: store.context.now, device: store.device)],
        entries: [], message: CommitMessage("Add", device: store.device)))
  }

  private func next(_ store: Store) throws -> String? {
    let index = try AlarmIndex(store)
    index.save()
    return index.summaries().first { $0.title == "Pills" }?.next?.at.rfc3339Milliseconds
  }

  @Test(
    "A cached status follows the rules of the local and of a named zone",
    arguments: [(":/Test/Local", nil), ("Test/Local", nil), ("UTC", "Test/City")])
  func statuses(_ variable: String, _ zone: String?) throws {
    let variable = variable.replacing(":/", with: ":\(folder)/")
    try add(zone, store(variable))
    for _ in 0..<2 { #expect(try next(store(variable)) == "2026-07-01T08:00:00.000Z") }
    try install("Europe/Berlin")
    #expect(try next(store(variable)) == "2026-07-01T07:00:00.000Z")
    // The index was written with the new rules.
    #expect(try next(store(variable)) == "2026-07-01T07:00:00.000Z")
  }

  @Test("A write of another alarm does not make the earlier statuses current")
  func laterWrite() throws {
    try add("Test/City", store("UTC"))
    #expect(try next(store("UTC")) == "2026-07-01T08:00:00.000Z")
    try install("Europe/Berlin")
    try store("UTC").commit(fixture.change("Tea", to: store("UTC")))
    #expect(try next(store("UTC")) == "2026-07-01T07:00:00.000Z")
  }

  @Test("An alarm in a zone that was not used before is added to the index")
  func furtherZone() throws {
    try store("UTC").commit(fixture.change("Tea", to: store("UTC")))
    _ = try next(store("UTC"))
    try add("Test/City", store("UTC"))
    let cache = store("UTC").alarmIndexCache
    let file = try #require(cache.read())
    #expect(cache.isCurrent(file.fingerprint))
    try install("Europe/Berlin")
    let later = store("UTC").alarmIndexCache
    #expect(!later.isCurrent(file.fingerprint))
  }

  @Test("A library has the same rules as a later one until a file that it has read changes")
  func libraries() throws {
    let first = library("UTC")
    #expect(first.zone(named: "Test/City") != nil)
    #expect(first.zone(named: "Test/Missing") == nil)
    #expect(first.hasSameRules(as: library("UTC")))
    #expect(!first.hasSameRules(as: library("Test/Local")))
    #expect(first.files.contains(folder + "/Test/City"))
    try Data(contentsOf: URL(filePath: folder + "/Test/City"))
      .write(to: URL(filePath: folder + "/Test/Missing"))
    #expect(!first.hasSameRules(as: library("UTC")))
    try FileManager.default.removeItem(atPath: folder + "/Test/Missing")
    #expect(first.hasSameRules(as: library("UTC")))
    try install("Europe/Berlin")
    #expect(!first.hasSameRules(as: library("UTC")))
    // A library that has not used them does not depend on them.
    #expect(library("UTC").hasSameRules(as: library("UTC")))
  }
}
