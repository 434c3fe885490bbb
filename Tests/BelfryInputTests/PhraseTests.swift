import BelfryCore
import BelfryInput
import Foundation
import TestSupport
import Testing

/// Tests of all spellings of schedules. The files in `Phrases` list them with their results.
@Suite struct PhraseTests {
  static let context = InputContext.test(CivilDateTime("2026-11-23T10:00")!)

  /// A line of a table.
  struct Row: CustomTestStringConvertible, Sendable {
    let phrase: String
    let fields: [String]
    var testDescription: String { phrase }

    /// Returns the rows of a file in `Phrases`.
    static func all(_ file: String) throws -> [Row] {
      let path = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Phrases/\(file)")
      return try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
        .filter { !$0.hasPrefix("#") }
        .map { line in
          let fields = String(line).components(separatedBy: " | ")
          return Row(phrase: fields[0], fields: Array(fields.dropFirst()))
        }
    }
  }

  @Test("Each spelling has its schedule and its next occurrences")
  func accepted() throws {
    let rows = try Row.all("accepted.txt") + Row.all("typed.txt")
    #expect(rows.count >= 700)
    for row in rows {
      let draft = try Input.schedule(row.phrase, in: PhraseTests.context)
      let schedule = try draft.schedule(in: PhraseTests.context)
      let zone = draft.zone.map { " [\($0)]" } ?? ""
      #expect(schedule.summary + zone == row.fields[0], "\(row.phrase)")
      let next = PhraseTests.next(3, of: schedule).map(\.description).joined(separator: " ")
      #expect(next == row.fields[1], "\(row.phrase)")
      // The shown schedule is a phrase, too. Only a schedule with more exceptions than are shown is shortened.
      let again = try Input.schedule(schedule.phrase, in: PhraseTests.context)
        .schedule(in: PhraseTests.context)
      #expect(
        PhraseTests.next(50, of: again) == PhraseTests.next(50, of: schedule), "\(row.phrase)")
    }
  }

  @Test("Each text without one clear meaning is refused with the reason")
  func refused() throws {
    let rows = try Row.all("refused.txt")
    #expect(rows.count >= 50)
    for row in rows {
      do throws(InputError) {
        let draft = try Input.schedule(row.phrase, in: PhraseTests.context)
        Issue.record("\(row.phrase) is \(draft)")
      } catch {
        let text = "\(error)".replacing("BelfryInput.InputError.", with: "")
          .replacing("Part.", with: ".").replacing("Unsupported.", with: ".")
          .replacing("Format.", with: ".")
        #expect(text == row.fields[0], "\(row.phrase)")
      }
    }
  }

  @Test(
    "Each reading of an ambiguous text is understood in its place",
    arguments: ["3/4 9am", "every day at 3", "every 3rd fri 9am", "the 15th at 10:00", "at 7"])
  func readings(_ phrase: String) throws {
    do throws(InputError) {
      _ = try Input.schedule(phrase, in: PhraseTests.context)
      Issue.record("\(phrase) is not ambiguous")
    } catch {
      guard case .ambiguous(let words, let readings) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(readings.count == 2)
      var schedules: Set<Schedule> = []
      for reading in readings {
        let text = phrase.replacing(words, with: reading, maxReplacements: 1)
        schedules.insert(
          try Input.schedule(text, in: PhraseTests.context).schedule(in: PhraseTests.context))
      }
      #expect(schedules.count == 2, "\(phrase)")
    }
  }

  @Test("Workdays and holidays come from the store")
  func calendar() throws {
    let calendar = WorkCalendar(
      workdays: [.sunday, .monday, .tuesday, .wednesday, .thursday],
      holidays: [CivilDate("2026-12-31")!])
    let context = InputContext.test(CivilDateTime("2026-11-23T10:00")!, calendar)
    let every = try Input.schedule("every workday 9am", in: context).schedule(in: context)
    #expect(
      every.recurrence
        == .weekly(
          [.monday, .tuesday, .wednesday, .thursday, .sunday],
          .init(start: CivilDate("2026-11-23")!)))
    let last = try Input.schedule("last workday 9am", in: context).schedule(in: context)
    let occurrences = Occurrences(last, in: calendar)
    #expect(
      occurrences.next(after: CivilDateTime("2026-12-01T00:00")!)
        == CivilDateTime("2026-12-30T09:00"))
  }

  @Test("The dates of a phrase with a zone are those of the zone")
  func zone() throws {
    // It is Tuesday in Tokyo already.
    let zones = ZoneNames(
      load: { ["Asia/Tokyo"] },
      rules: { $0 == "Asia/Tokyo" ? TimeZoneRules(name: $0, posix: "JST-9") : nil })
    let context = InputContext(
      instant: TimeZoneRules.utc.instant(of: CivilDateTime("2026-11-23T20:00")!), zone: .utc,
      zoneNames: zones)
    let draft = try Input.schedule("tomorrow 9am tokyo time", in: context)
    #expect(draft.rule == .once(CivilDate("2026-11-25")!))
    #expect(draft.zone == "Asia/Tokyo")
  }

  static func next(_ count: Int, of schedule: Schedule) -> [CivilDateTime] {
    let occurrences = Occurrences(schedule, in: .standard)
    return Array(
      sequence(state: context.now) { civil -> CivilDateTime? in
        guard let next = occurrences.next(after: civil) else { return nil }
        civil = next
        return next
      }.prefix(count))
  }
}
