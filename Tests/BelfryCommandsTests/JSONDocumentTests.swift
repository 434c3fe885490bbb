import BelfryCore
import BelfryStore
import TestSupport
import Testing

@testable import BelfryCommands
@testable import BelfryDocuments

/// The documents of `--json`.
@Suite struct JSONDocumentTests {
  private struct Sample: JSONDocument {
    struct Part: Encodable {
      var number = 3
      var missing: String?
    }
    var text = "a \"quoted\" \\ text/with ü\u{1B}\u{202E}\u{AD}\n"
    var flag = true
    var real = 34.0625
    var whole = 34.0
    var large = Int64.max
    var absent: Int?
    var parts = [Part(), Part(number: -1, missing: "no")]
    var none: [String] = []
    var names = ["b", "a"]
    var byName = ["z": 1, "a": 2]
    var empty: [String: Int] = [:]
  }

  @Test("A document has the canonical form of records, and escapes invisible characters")
  func canonicalForm() throws {
    let expected = JSON.object([
      "text": .string(Sample().text), "flag": true, "real": .real(34.0625), "whole": .real(34),
      "large": .integer(.max),
      "parts": .array([
        .object(["number": 3]), .object(["number": -1, "missing": "no"]),
      ]), "none": .array([]), "names": .array(["b", "a"]),
      "byName": .object(["z": 1, "a": 2]), "empty": .object([:]),
    ])
    let document = try DocumentEncoder.document(Sample())
    #expect(document == expected.document)
    #expect(
      try DocumentEncoder.document([Sample(), Sample()])
        == JSON.array([expected, expected]).document)
    #expect(try DocumentEncoder.document([Sample]()) == JSON.array([]).document)
    #expect(try DocumentEncoder.document(EmptyDocument()) == JSON.object([:]).document)
  }

  @Test(
    "A document has the same schedule as a record",
    arguments: [
      Recurrence.once(CivilDate(year: 2026, month: 12, day: 1)),
      .daily(Recurrence.Cadence(start: CivilDate(year: 2026, month: 12, day: 1))),
      .weekly(
        [.monday, .friday],
        Recurrence.Cadence(interval: 2, start: CivilDate(year: 2026, month: 12, day: 1))),
      .monthly(
        [.day(5), .last], Recurrence.Cadence(start: CivilDate(year: 2026, month: 12, day: 1))),
      .monthly(
        [.weekday(-1, .friday)],
        Recurrence.Cadence(start: CivilDate(year: 2026, month: 12, day: 1))),
      .afterDone(Period(90, .day), .init(start: CivilDate(year: 2026, month: 12, day: 1))),
      .annual(
        months: [2], [.day(29)], Recurrence.Cadence(start: CivilDate(year: 2026, month: 12, day: 1))
      ),
      .days(10, Recurrence.Cadence(start: CivilDate(year: 2026, month: 12, day: 1))),
    ])
  func schedule(_ recurrence: Recurrence) throws {
    let time = try #require(CivilTime("09:00"))
    let schedule = try Schedule(recurrence, times: [time])
    #expect(
      try DocumentEncoder.document(ScheduleDocument(schedule))
        == ScheduleRecord.encode(schedule).document)
  }

  @Test(
    "A document has the same random schedule as a record", arguments: 0..<20 as Range<UInt64>)
  func randomSchedules(batch: UInt64) throws {
    for seed in (batch * 25)..<((batch + 1) * 25) {
      var generator = SeededGenerator(seed: seed)
      let schedule = try Schedule.random(&generator)
      #expect(
        try DocumentEncoder.document(ScheduleDocument(schedule))
          == ScheduleRecord.encode(schedule).document, "seed \(seed)")
    }
  }

  @Test("Each setting has one name, in commands and in documents", arguments: Setting.allCases)
  func settingNames(_ setting: Setting) throws {
    let value = Settings()[keyPath: setting.value]
    let document = try DocumentEncoder.document(SettingsDocument(setting, value))
    #expect(document == JSON.object([setting.name: JSON(value)]).document)
    #expect(Setting(named: setting.name) == setting)
  }

  @Test("A warning is printed once")
  func warnings() throws {
    let warnings = CommandWarnings()
    #expect(warnings.isNew(["a", "b"]))
    #expect(!warnings.isNew(["a", "b"]))
    #expect(warnings.isNew(["a"]))
  }
}
