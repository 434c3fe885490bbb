import BelfryCore
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryTerminal

/// The drawing of calendars.
@Suite struct AgendaTextTests {
  /// The approved drawings. `BELFRY_RECORD=1` records them again. Review the difference afterwards.
  @Test("Calendars are as in the snapshots", arguments: [40, 60, 80, 120, 200])
  func snapshot(_ width: Int) throws {
    var text = AgendaSample.periods.map { sample in
      "== \(sample.name)\n"
        + AgendaSample.lines(sample.period, width: width, isList: sample.isList)
        .map { $0 + "\n" }.joined()
    }.joined(separator: "\n")
    text += "\n== week in the United States\n"
    text += AgendaSample.lines(
      CalendarPeriod(.week(.sunday), containing: CivilDate("2026-11-23")!), width: width,
      locale: "en_US"
    ).map { $0 + "\n" }.joined()
    let file =
      URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Snapshots/calendar-\(width).txt").path
    if ProcessInfo.processInfo.environment["BELFRY_RECORD"] != nil {
      try text.write(toFile: file, atomically: true, encoding: .utf8)
    }
    let expected = try String(contentsOfFile: file, encoding: .utf8)
    let (old, new) = (expected.split(separator: "\n"), text.split(separator: "\n"))
    let first = zip(old, new).first { $0 != $1 }
    #expect(text == expected, "first: \(first.map { "\($0.0)\n\($0.1)" } ?? "the end")")
  }

  @Test("No line is wider than the terminal, and none ends with spaces")
  func widths() {
    for width in [20, 30, 42, 55, 59, 60, 61, 66, 79, 80, 97, 100, 111, 133, 160, 200, 240] {
      for sample in AgendaSample.periods {
        for locale in ["", "en_US"] {
          let lines = AgendaSample.lines(
            sample.period, width: width, isList: sample.isList, locale: locale)
          for line in lines {
            #expect(TextWidth.of(line) <= width, "\(sample.name) at \(width): \(line)")
            #expect(line.last != " ", "\(sample.name) at \(width): \(line)")
          }
        }
      }
    }
  }

  @Test("The vertical lines of a grid are below each other, whatever the titles are")
  func alignment() {
    for width in [60, 80, 100, 120, 200] {
      for name in ["month", "months", "week"] {
        let sample = AgendaSample.periods.first { $0.name == name }!
        var places: [Int]?
        for line in AgendaSample.lines(sample.period, width: width) {
          guard line.contains("│") || line.contains("┼") || line.contains("┬") else { continue }
          var (column, found) = (0, [Int]())
          for character in line {
            if "│┼┬".contains(character) { found.append(column) }
            column += TextWidth.of(character)
          }
          #expect(found == places ?? found, "\(name) at \(width): \(line)")
          places = found
        }
        #expect(places?.count == 6)
      }
    }
  }

  @Test("Color is never the only distinction")
  func color() {
    for width in [40, 80, 120] {
      for sample in AgendaSample.periods {
        let plain = AgendaSample.lines(sample.period, width: width, isList: sample.isList)
        let colored = AgendaSample.lines(
          sample.period, width: width, isColored: true, isList: sample.isList)
        #expect(colored != plain)
        let text = colored.map { $0.replacing(/\u{1B}\[[0-9;]*m/, with: "") }
        // Without colors, the tags below a calendar would say nothing.
        #expect(Array(text.prefix(plain.count)) == plain, "\(sample.name)")
        #expect(text.dropFirst(plain.count).allSatisfy { $0.hasPrefix("+") }, "\(sample.name)")
      }
    }
    let signs = Agenda.State.allCases.map { AgendaMark($0).sign }
    #expect(Set(signs).count == signs.count)
    #expect(signs.allSatisfy { TextWidth.of($0) == 1 })
  }

  @Test("A tag has the same color on every device and in every process")
  func tagColors() throws {
    let tags = try ["home", "work", "health", "family", "pills", "money", "car", "garden"]
      .map { PaletteColor.of(try AlarmTag($0)) }
    #expect(tags.prefix(3).map(\.parameters) == ["38;5;97", "38;5;130", "38;5;163"])
    #expect(Set(tags).count == tags.count)
    let all = Set(try (0..<200).map { PaletteColor.of(try AlarmTag("tag\($0)")) })
    #expect(all.count == 10)
  }

  /// Returns a calendar of November 2026 with twelve occurrences on some days, and one more on another.
  private static func busy(_ days: [Int], rare: Int? = nil) -> Agenda {
    var alarms: [Identifier: Agenda.Subject] = [:]
    let month = (1...30).map { day -> Agenda.Day in
      let date = CivilDate(year: 2026, month: 11, day: day)
      guard days.contains(day) else { return Agenda.Day(date, entries: []) }
      let entries = (0..<(day == rare ? 13 : 12)).map { number -> Agenda.Entry in
        let local = CivilDateTime(date, CivilTime(hour: 8 + number, minute: 0)!)
        let alarm = Identifier(high: UInt64(number), low: 0)
        alarms[alarm] = Agenda.Subject(title: "Alarm \(number)")
        return Agenda.Entry(
          alarm: alarm, occurrence: local, at: TimeZoneRules.utc.instant(of: local), local: local,
          state: number == 11 ? .missed : number == 10 ? .pending : .done)
      }
      return Agenda.Day(date, entries: entries)
    }
    return Agenda(month, today: CivilDate("2026-11-24")!, alarms: alarms)
  }

  /// Returns the lines of November 2026, and the texts of its entries.
  private static func drawn(_ agenda: Agenda, height: Int? = nil) -> (count: Int, entries: [String])
  {
    let times = TimeText(now: AgendaSample.now, zones: ZoneLibrary(variable: "UTC"))
    let style = Style(isColored: false, width: 160)
    let lines = AgendaText(agenda, times, style, height: height)
      .lines(CalendarPeriod(.month, containing: CivilDate("2026-11-24")!))
    let entries = lines.flatMap { $0.text.split(separator: "│") }
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { $0.contains("Alarm") || $0.contains("more") }
    return (lines.count, entries)
  }

  @Test("What needs an answer stays on a busy day")
  func busyDay() {
    #expect(
      Self.drawn(Self.busy([24])).entries == [
        "✓ 08:00 Alarm 0", "✓ 09:00 Alarm 1", "✓ 10:00 Alarm 2", "? 18:00 Alarm 10",
        "x 19:00 Alarm 11", "+7 more",
      ])
  }

  @Test("What rings on few days of the month stays on a busy day")
  func rareAlarm() {
    let entries = Self.drawn(Self.busy([3, 24], rare: 24)).entries
    #expect(
      entries.suffix(6) == [
        "✓ 08:00 Alarm 0", "✓ 09:00 Alarm 1", "? 18:00 Alarm 10", "x 19:00 Alarm 11",
        "✓ 20:00 Alarm 12", "+8 more",
      ])
  }

  @Test(
    "A month on a screen shows fewer occurrences of its days, so that its last week fits",
    arguments: [(nil, 28, 7), (28, 28, 7), (27, 26, 8), (20, 20, 11), (12, 20, 11)])
  func height(height: Int?, count: Int, more: Int) {
    let drawn = Self.drawn(Self.busy([3, 24]), height: height)
    #expect(drawn.count == count)
    #expect(drawn.entries.last == "+\(more) more")
    #expect(drawn.entries.contains("x 19:00 Alarm 11"))
  }
}
