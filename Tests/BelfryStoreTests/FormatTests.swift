import BelfryCore
import Foundation
import Testing

@testable import BelfryStore

/// Records of every earlier format are read with their original meaning.
@Suite struct FormatTests {
  /// The records of format 1, as written by the first version of Belfry. They must not change.
  private static let first = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures/format-1")

  private func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: FormatTests.first.appending(path: path)))
  }

  private var files: [String] {
    get throws {
      let root = FormatTests.first.path(percentEncoded: false)
      return try FileManager.default.subpathsOfDirectory(atPath: root).sorted()
        .filter { $0.hasSuffix(".json") }
    }
  }

  @Test func everyRecordOfTheFirstFormatIsRead() throws {
    var kinds: Set<String> = []
    for path in try files {
      let kind = try #require(RecordPath(path), "\(path)")
      #expect(kind.error(in: try bytes(path)) == nil, "\(path)")
      kinds.insert(String(path.prefix { $0 != "/" }))
    }
    #expect(kinds == ["alarms", "devices", "log", "settings.json"])
  }

  @Test func recordsKeepTheirMeaning() throws {
    let alarms = try files.filter { $0.hasPrefix("alarms/") }.map { path in
      try AlarmRecord.decode(
        bytes(path), id: try #require(Identifier(path.dropFirst(7).dropLast(5))),
        now: Instant(seconds: 0))
    }
    #expect(
      alarms.map { "\($0.title): \($0.schedule.summary)" }.sorted() == [
        "Books: monthly on the last day at 17:00", "Call: monthly on the first mon at 10:00",
        "Dentist: once on 2026-12-24 at 18:00", "Filter: every 90 days at 08:00, from 2026-11-20",
        "Pills: daily at 09:00, 21:00", "Rent: every 2 weeks on mon, fri at 09:00, from 2026-11-20",
        "Taxes: annual on 29 Feb at 12:00",
      ])
    let pills = try #require(alarms.first { $0.title == "Pills" })
    #expect(pills.delivery.persistent)
    #expect(pills.delivery.strict)
    #expect(pills.delivery.sound == "pulse")
    #expect(pills.delivery.followUps?.seconds == [600, 1800])
    #expect(Set(pills.progress.occurrences.values.map(\.state)).contains(.pending))
    let rent = try #require(alarms.first { $0.title == "Rent" })
    #expect(rent.zone == .named("Europe/Berlin"))
    #expect(rent.note == "Pay landlord")
    #expect(rent.mergeState.extras["colour"] == "\"red\"")
    #expect(rent.progress.occurrences.values.contains { $0.state == .skipped })
    #expect(alarms.first { $0.title == "Call" }?.isDeleted == true)
    #expect(alarms.first { $0.title == "Books" }?.enabled == false)

    let actions = try files.filter { $0.hasPrefix("log/") }
      .map { try LogRecord.decode(bytes($0)).action }
    #expect(Set(actions).isSuperset(of: [.created, .fired, .stopped, .done, .skipped, .undone]))
    let record = try SettingsFile.decode(bytes("settings.json"))
    var settings = Settings()
    try SettingsFile.apply(record, local: false, to: &settings)
    #expect(settings.tier == .premium)
    #expect(settings.snooze == 600)
  }

  /// As long as the format is the first one, they are also written unchanged.
  @Test func recordsAreWrittenInTheCurrentFormat() throws {
    for path in try files where path.hasPrefix("alarms/") {
      let id = try #require(Identifier(path.dropFirst(7).dropLast(5)))
      let before = try bytes(path)
      let after = AlarmRecord.encode(
        try AlarmRecord.decode(before, id: id, now: Instant(seconds: 0)))
      #expect(try JSON(parsing: after)["format"]?.integer == RecordFormat.current)
      if RecordFormat.current == 1 { #expect(after == before, "\(path)") }
    }
    for path in try files where path.hasPrefix("log/") {
      let before = try bytes(path)
      let entry = try LogRecord.decode(before)
      #expect(entry.extras.isEmpty, "\(path)")
      if RecordFormat.current == 1 { #expect(LogRecord.encode(entry) == before, "\(path)") }
    }
  }

  /// The migration to a later format: each step once, in order, starting at the record's format.
  @Test func migrationStepsLeadFromEachFormatToTheLatest() throws {
    let steps: [RecordFormat.Step] = [
      { $0["name"] = $0.removeValue(forKey: "title") },
      { members in members["name"] = members["name"]?.string.map { .string($0 + "!") } },
    ]
    func migrated(_ members: [String: JSON]) throws -> [String: JSON] {
      var members = members
      try RecordFormat.migrate(&members, through: steps)
      return members
    }
    let last: [String: JSON] = ["format": 3, "name": "Tea!", "odd": true]
    #expect(try migrated(["format": 1, "title": "Tea", "odd": true]) == last)
    #expect(try migrated(["format": 2, "name": "Tea", "odd": true]) == last)
    #expect(try migrated(last) == last)
    for bad: JSON in [0, 4, "1", .real(1.5)] {
      #expect(throws: RecordError.self) { try migrated(["format": bad]) }
    }
    let error = #expect(throws: RecordError.self) { try migrated(["format": 4]) }
    #expect(error?.kind == .newerFormat(4))
  }
}
