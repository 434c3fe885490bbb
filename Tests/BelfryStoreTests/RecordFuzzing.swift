import BelfryCore
import TestSupport
import Testing

@testable import BelfryStore

/// Thousands of mutations of valid records: each is a record or has a reason, and none crashes the process.
@Suite struct RecordFuzzing {
  private static let alarm = """
    {
      "cascade": {
        "earlier": [ { "every": 60, "on": true, "targets": [], "until": "2026-11-20T22:40:00Z" } ],
        "every": 90, "on": true, "primary": "laptopaaaaaaaaaaaaaaaaaaaa",
        "removed": { "person Jen": "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa" },
        "stamps": { "on": "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa" },
        "targets": [
          { "device": "serveraaaaaaaaaaaaaaaaaaaa", "order": 1000000, "stamp": "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa" },
          { "message": "Room 412", "order": 2000000, "phone": "+442079460958" }
        ]
      },
      "delivery": { "followUps": [1800, 3600], "persistent": true, "run": "light", "runDone": "tell", "sound": "bell", "strict": true },
      "deleted": { "title": "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa" },
      "enabled": true,
      "format": 1,
      "id": "rentaaaaaaaaaaaaaaaaaaaaaa",
      "note": "Pay landlord",
      "progress": {
        "armed": "2026-11-20T22:41:00Z",
        "cleared": "2026-11-20T22:42:00Z",
        "floor": "2026-11-20T09:00",
        "occurrences": {
          "2026-11-23T09:00": { "followUps": 1, "revision": 0, "since": "2026-11-23T08:03:10Z", "state": "pending" },
          "2026-11-27T09:00": { "revision": 2, "since": "2026-11-26T08:03:10Z", "completed": "2026-11-26", "snoozes": 3, "state": "snoozed", "until": "2026-11-27T10:00:00Z" },
          "2026-11-30T09:00": { "revision": 0, "schedule": "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa", "state": "skipped" }
        }
      },
      "schedule": { "days": ["mon", "fri"], "interval": 2, "kind": "weekly", "start": "2026-11-20", "times": ["09:00", "21:30"] },
      "stamps": { "schedule": "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa", "tags": "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa", "tags.home": "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa", "tags.old": "2026-11-20T22:41:00.000Z-0000-laptopaaaaaaaaaaaaaaaaaaaa", "title": "2026-11-20T22:41:00.000Z-0001-laptopaaaaaaaaaaaaaaaaaaaa" },
      "tags": [ "home", "pills" ],
      "title": "Rent reminder",
      "zone": "Europe/Berlin"
    }
    """

  private static let schedules = [
    "{ \"kind\": \"once\", \"date\": \"2026-11-23\", \"times\": [\"09:00\"] }",
    "{ \"kind\": \"daily\", \"interval\": 3, \"start\": \"2026-11-20\", \"times\": [\"09:00\"] }",
    "{ \"kind\": \"monthly\", \"days\": [31, \"last\"], \"interval\": 1, \"start\": \"2026-11-20\", \"times\": [\"09:00\"] }",
    "{ \"kind\": \"monthly-weekday\", \"ordinal\": \"last\", \"weekday\": \"fri\", \"interval\": 1, \"start\": \"2026-11-20\", \"times\": [\"09:00\"] }",
    "{ \"kind\": \"annual\", \"date\": \"02-29\", \"interval\": 1, \"start\": \"2026-11-20\", \"times\": [\"09:00\"] }",
    "{ \"kind\": \"monthly\", \"days\": [\"last-2\", \"first mon\", \"23rd workday\"], \"until\": \"2027-06-30\", \"except\": [\"2026-12-24\"], \"onHoliday\": \"before\", \"interval\": 1, \"start\": \"2026-11-20\", \"times\": [\"09:00\"] }",
    "{ \"kind\": \"annual\", \"months\": [3, 11], \"days\": [\"fourth thu\"], \"interval\": 1, \"start\": \"2026-11-20\", \"times\": [\"09:00\"] }",
    "{ \"kind\": \"after-done\", \"after\": \"90d\", \"completionsAfter\": \"2026-11-22\", \"start\": \"2026-11-23\", \"times\": [\"09:00\"] }",
    "{ \"kind\": \"days\", \"count\": 90, \"interval\": 1, \"start\": \"2026-11-20\", \"times\": [\"09:00\"] }",
  ]

  /// Replacement values that a mistake or an attack could produce.
  private static let values = [
    "null", "true", "-1", "0", "1", "10000", "10001", "1000000", "9223372036854775807",
    "-9223372036854775808", "99999999999999999999", "1e308", "\"\"", "\"x\"", "[]", "{}", "[[]]",
    "\"0001-01-01\"", "\"9999-12-31\"", "\"9999-12-31T23:59\"", "\"0001-01-01T00:00\"",
    "\"0001-01-01T00:00:00Z\"", "\"9999-12-31T23:59:59.999Z\"", "\"2026-02-30\"", "\"24:00\"",
    "\"done\"", "\"open\"", "\"floating\"", "\"../../etc/passwd\"", "[1, 1]", "[\"sun\", \"sun\"]",
  ]

  /// Returns values of the same shape as a present one, at the limits of the range.
  private static func like(_ value: String) -> [String] {
    switch value.utf8.count {
    case _ where value == "true": ["false"]
    case _ where Int(value) != nil: ["0", "1", "2", "12", "10000", "1000000"]
    case 12: ["\"0001-01-01\"", "\"9999-12-31\"", "\"2028-02-29\"", "\"1970-01-01\""]
    case 18: ["\"0001-01-01T00:00\"", "\"9999-12-31T23:59\"", "\"2026-03-08T02:30\""]
    case 22:
      ["\"0001-01-01T00:00:00Z\"", "\"9999-12-31T23:59:59.999Z\"", "\"2026-11-23T09:00:00Z\""]
    case 9, 10: OccurrenceRecord.State.allCases.map { "\"\($0)\"" }
    default: values
    }
  }

  private func mutated(_ random: inout SeededGenerator) -> [UInt8] {
    var text = RecordFuzzing.alarm
    if random.one(in: 2) {
      let start = text.firstRange(of: "{ \"days\": [\"mon\"")!.lowerBound
      let end = text[start...].firstIndex(of: "}")!
      text.replaceSubrange(start...end, with: random.pick(RecordFuzzing.schedules))
    }
    var bytes = Array(text.utf8)
    for _ in 0..<random.int(1...3) {
      let index = random.int(0...(bytes.count - 1))
      switch random.int(0...24) {
      case 0: bytes[index] = UInt8(random.int(0...255))
      case 1: bytes.remove(at: index)
      case 2: bytes.insert(UInt8(random.int(0...255)), at: index)
      case 3: bytes.removeSubrange(index..<min(bytes.count, index + random.int(1...200)))
      case 4:
        bytes.insert(
          contentsOf: bytes[index..<min(bytes.count, index + random.int(1...100))], at: index)
      default:
        // Another value after a colon.
        let colons = bytes.indices.dropLast().filter {
          bytes[$0] == UInt8(ascii: ":") && bytes[$0 + 1] == 0x20
        }
        guard let colon = colons.isEmpty ? nil : random.pick(colons) else { continue }
        let end =
          bytes[(colon + 2)...].firstIndex { [0x2C, 0x0A, 0x7D].contains($0) } ?? bytes.count
        let value = String(decoding: bytes[(colon + 2)..<end], as: UTF8.self)
          .filter { $0 != " " }
        let choices = random.one(in: 4) ? RecordFuzzing.values : RecordFuzzing.like(value)
        bytes.replaceSubrange((colon + 2)..<end, with: Array(random.pick(choices).utf8))
      }
      if bytes.isEmpty { bytes = [0x7B] }
    }
    return bytes
  }

  @Test func everyMutationIsARecordOrHasAReason() throws {
    let id = try #require(Identifier("rentaaaaaaaaaaaaaaaaaaaaaa"))
    let device = try #require(Identifier("serveraaaaaaaaaaaaaaaaaaaa"))
    let zones = ZoneLibrary(variable: "America/New_York")
    let good = try AlarmRecord.decode(
      Array(RecordFuzzing.alarm.utf8), id: id, now: Instant(seconds: 0))
    let moments = ["2026-11-27T12:00:00Z", "0002-01-01T00:00:00Z", "9998-12-31T00:00:00Z"]
      .compactMap { Instant(rfc3339: $0) }
    var random = SeededGenerator(seed: 1)
    var (records, reasons) = (0, 0)
    for _ in RandomSamples.seeds(3_000) {
      let bytes = mutated(&random)
      let alarm: Alarm
      do throws(RecordError) {
        alarm = try AlarmRecord.decode(bytes, id: id, now: moments[0])
      } catch {
        #expect(!error.reason.isEmpty)
        reasons += 1
        continue
      }
      records += 1
      // A record can be used in every operation on records.
      #expect(
        try AlarmRecord.decode(AlarmRecord.encode(alarm), id: id, now: moments[0]) == alarm,
        "\(String(decoding: bytes, as: UTF8.self))")
      let joined = Alarm.join(alarm, good)
      #expect(joined == Alarm.join(good, alarm))
      for now in moments {
        let timeline = Timeline(alarm, zone: zones.zone(of: alarm))
        for tier in Settings.Tier.allCases {
          let settings = Settings(tier: tier)
          _ = timeline.status(at: now, settings: settings, ledger: DeliveryLedger())
          let evaluation = timeline.evaluate(at: now, settings: settings, ledger: DeliveryLedger())
          let after = Timeline(evaluation.transition.alarm, zone: timeline.zone)
          for answer in [
            Answer.stop, .done(early: true), .snooze(seconds: 31_622_400), .skip(.count(5)),
            .unskip(all: true), .dismiss,
          ] {
            guard
              let transition = try? after.answer(
                answer, at: now, settings: settings, ledger: DeliveryLedger())
            else { continue }
            _ = try? Timeline(transition.alarm, zone: timeline.zone).undoing(
              transition.alarm, before: alarm, acted: now, at: now, device: device)
          }
        }
        _ = Array(timeline.upcoming(after: now).prefix(3))
        _ = alarm.stamped(against: good, at: now, device: device)
      }
    }
    // Some mutations are valid and some are not, so the test is meaningful.
    #expect(records > 200 && reasons > 200, "\(records) records, \(reasons) reasons")
  }
}
