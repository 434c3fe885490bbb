import BelfryCore
import BelfryStore

/// The statistics of all alarms at a glance: totals, a calendar of the last months, lateness, and the alarms with the longest
/// streaks.
///
/// On a wide screen, the lateness stands beside the calendar.
package struct StatsOverview {
  /// A line, and the alarm that it is about; nil for none.
  package struct Line {
    package let text: String
    package let alarm: Identifier?
  }

  private let items: [AlarmStatistics]
  private let responses: [[Statistics.Response]]
  private let summary: ResponseSummary
  private let output: AlarmOutput
  private var style: Style { output.style }
  private var columns: Int { style.width ?? 80 }

  /// The number of alarms in the table of streaks.
  private static let maxStreaks = 20
  /// The width of the lateness beside the calendar, and the width from which on it stands there.
  private static let (sideWidth, sideBySide) = (44, 104)

  /// - Parameter items: The alarms, in any order.
  package init(_ items: [AlarmStatistics], _ output: AlarmOutput) {
    self.items = items
    self.output = output
    responses = items.map(\.responses).filter { !$0.isEmpty }
    summary = ResponseSummary(Array(responses.joined()))
  }

  /// The lines of the page.
  package var lines: [Line] {
    if responses.isEmpty {
      return [
        Line(text: items.isEmpty ? "No alarms yet." : "No settled occurrences yet.", alarm: nil)
      ]
    }
    var plain = totals + [""]
    if columns >= StatsOverview.sideBySide {
      let left = calendar(columns - StatsOverview.sideWidth - 4)
      let width = left.map(StatsOverview.width(of:)).max() ?? 0
      let right = LatenessText(summary).lines(style.with(width: StatsOverview.sideWidth))
      for row in 0..<max(left.count, right.count) {
        let cell = row < left.count ? left[row] : ""
        let gap = String(repeating: " ", count: width + 4 - StatsOverview.width(of: cell))
        plain.append(row < right.count ? cell + gap + right[row] : cell)
      }
    } else {
      let lateness = LatenessText(summary).lines(style)
      plain += calendar(columns) + (lateness.isEmpty ? [] : [""] + lateness)
    }
    return plain.map { Line(text: $0, alarm: nil) } + [Line(text: "", alarm: nil)] + streaks
  }

  // MARK: Totals

  private var totals: [String] {
    let first = responses.compactMap { $0.first?.civil.date }.min()
    let since = first.map { " since \(output.times.shortDate($0))" } ?? ""
    let count = items.count == 1 ? "1 alarm" : "\(items.count) alarms"
    let pending = items.reduce(0) { $0 + $1.summary.status.pending.count }
    let pieces: [(Int, String, Style.Color?)] = [
      (summary.done, "done", .green), (summary.missed, "missed", .plainRed),
      (summary.skipped, "skipped", .yellow), (summary.autoCompleted, "automatic", .cyan),
      (pending, "pending now", .brightMagenta),
    ]
    var texts = pieces.filter { $0.0 > 0 }.map { ("\($0.0) \($0.1)", $0.2) }
    if let percent = summary.onTimePercent { texts.append(("\(percent) % on time", nil)) }
    var lines = [style.paint(style.fit(count + since), .bold)]
    var (line, used) = ("", 0)
    for (text, color) in texts {
      if used > 0, used + text.count + 2 > columns {
        lines.append(line)
        (line, used) = ("", 0)
      }
      line += "  " + (color.map { style.paint(text, $0) } ?? text)
      used += text.count + 2
    }
    return lines + [line]
  }

  // MARK: The calendar

  private func calendar(_ columns: Int) -> [String] {
    let text = HeatMap(levelsOf: responses).text(output.times, style.with(width: columns))
    return [style.paint("Done, by day", .bold)] + StyledText.lines(of: text)
  }

  /// Returns the width of a line without its escape sequences.
  private static func width(of line: String) -> Int { TextWidth.of(StyledText.plain(line)) }

  // MARK: Streaks

  /// The alarms with the longest current streaks, as `stats` shows them.
  private var streaks: [Line] {
    let ranked = items.filter { !$0.responses.isEmpty }.sorted { a, b in
      let (one, two) = (a.statistics, b.statistics)
      return (two.streak, two.longestStreak, a.summary.title, a.summary.id)
        < (one.streak, one.longestStreak, b.summary.title, b.summary.id)
    }
    let shown = Array(ranked.prefix(StatsOverview.maxStreaks))
    let heading =
      ranked.count > shown.count ? "Streaks (\(shown.count) of \(ranked.count))" : "Streaks"
    let table = StyledText.lines(of: StatsText.table(shown, output))
    return [Line(text: style.paint(heading, .bold), alarm: nil)]
      + table.enumerated().map { index, text in
        Line(
          text: text, alarm: shown.indices.contains(index - 1) ? shown[index - 1].summary.id : nil)
      }
  }
}
