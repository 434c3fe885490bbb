import BelfryCore
import BelfryStore
import Testing

@testable import BelfryTerminal

/// The statistics page: the levels of days, and the histogram of lateness.
@Suite struct StatsOverviewTests {
  private func response(
    _ date: String, _ outcome: Statistics.Outcome, delay: Int64? = nil
  ) throws -> Statistics.Response {
    Statistics.Response(
      civil: try #require(CivilDateTime("\(date)T09:00")), outcome: outcome, delay: delay)
  }

  private let style = Style(isColored: false, width: 60)

  @Test("A day has the level of the part that was done; skipped occurrences do not count")
  func levels() throws {
    #expect((0...4).map { HeatMap.level($0, of: 4) } == [0, 1, 2, 2, 3])
    let responses = try [
      response("2026-11-16", .done), response("2026-11-17", .missed),
      response("2026-11-18", .done), response("2026-11-18", .missed),
      response("2026-11-19", .skipped),
      response("2026-11-20", .done), response("2026-11-20", .missed),
      response("2026-11-20", .autoCompleted),
    ]
    // Mon 23 Nov 2026.
    let times = TimeText(
      now: Instant(seconds: 1_795_426_200), zones: ZoneLibrary(variable: "UTC"))
    let rows = HeatMap(levelsOf: [responses]).text(times, style)
      .split(separator: "\n").dropFirst().prefix(7)
    // The last complete week is the last column but one, which only Monday has a day after.
    let week = rows.enumerated().map {
      $0.offset == 0 ? $0.element.dropLast(2).last : $0.element.last
    }
    #expect(String(week.compactMap { $0 }) == "█░▓·▒··")
  }

  @Test("The histogram counts early, punctual and late completions, and shows each number")
  func lateness() throws {
    let delays: [Int64] = [-60, 0, 300, 301, 1800, 1801, 7200, 86_400, 86_401]
    let summary = ResponseSummary(
      try delays.map { try response("2026-11-16", .done, delay: $0) })
    let text = LatenessText(summary)
    #expect(text.counts == [1, 2, 1, 1, 2, 1, 1])
    let lines = text.lines(style)
    #expect(lines[0] == "Lateness")
    #expect(lines[1].hasPrefix("  median 30 min"))
    #expect(lines.count == 9)
    #expect(
      lines.dropFirst(2).allSatisfy {
        TextWidth.of($0) <= 60 && $0.hasSuffix("1") || $0.hasSuffix("2")
      })
    #expect(LatenessText(ResponseSummary([])).lines(style).isEmpty)
  }
}
