import BelfryCore
import BelfryStore

/// Statistics as text.
package enum StatsText {
  /// Returns the statistics of one alarm. Values that are zero are left out.
  ///
  /// - Parameter dates: the dates of the occurrences; nil for all.
  package static func alarm(
    _ item: AlarmStatistics, on dates: ClosedRange<CivilDate>? = nil, _ output: AlarmOutput
  ) -> String {
    let statistics = item.statistics
    var rows: [(String, String)] = []
    if let streak = streak(statistics) { rows.append(("streak", streak)) }
    if let lastDone = statistics.lastDone { rows.append(("last done", output.when(lastDone))) }
    return heading(Printable.text(item.summary.title), dates, output)
      + list(
        rows + counts(ResponseSummary(item.responses)) + pending([item], on: dates), output.style)
  }

  /// Returns the current streak and the longest one: `12, longest 40`; nil if there was none.
  package static func streak(_ statistics: Statistics) -> String? {
    guard statistics.longestStreak > 0 else { return nil }
    let current = statistics.streak > 0 ? "\(statistics.streak)" : "none now"
    return "\(current), longest \(statistics.longestStreak)"
  }

  /// Returns the row with the number of occurrences that were stopped, and wait for a confirmation; none for zero.
  private static func pending(
    _ items: [AlarmStatistics], on dates: ClosedRange<CivilDate>?
  ) -> [(name: String, value: String)] {
    let count = items.flatMap(\.summary.status.pending)
      .count { dates?.contains($0.occurrence.date) ?? true }
    return count == 0 ? [] : [("pending", "\(count)")]
  }

  /// Returns the statistics of several alarms together.
  ///
  /// - Parameters:
  ///   - items: the alarms.
  ///   - responses: their settled occurrences.
  ///   - dates: the dates of the occurrences; nil for all.
  package static func total(
    of items: [AlarmStatistics], _ responses: [Statistics.Response],
    on dates: ClosedRange<CivilDate>? = nil, _ output: AlarmOutput
  ) -> String {
    heading(items.count == 1 ? "1 alarm" : "\(items.count) alarms", dates, output)
      + list(counts(ResponseSummary(responses)) + pending(items, on: dates), output.style)
  }

  /// Returns the text for alarms without settled occurrences.
  ///
  /// - Parameters:
  ///   - title: the title of the only alarm; nil for several.
  ///   - dates: the dates of the occurrences; nil for all.
  package static func nothing(
    _ title: String?, on dates: ClosedRange<CivilDate>?, _ times: TimeText
  ) -> String {
    let subject = title.map { "\(Printable.text($0)) has no" } ?? "No"
    return "\(subject) settled occurrences\(dates.map { " (\(times.range($0)))" } ?? " yet").\n"
  }

  private static func heading(
    _ title: String, _ dates: ClosedRange<CivilDate>?, _ output: AlarmOutput
  ) -> String {
    let dates = dates.map { ", \(output.times.range($0))" } ?? ""
    return output.style.paint(output.style.fit(title + dates), .bold) + "\n"
  }

  private static func list(_ rows: [(name: String, value: String)], _ style: Style) -> String {
    rows.map { name, value in
      style.fit("  " + name + String(repeating: " ", count: 14 - name.count) + value) + "\n"
    }.joined()
  }

  private static func counts(_ summary: ResponseSummary) -> [(name: String, value: String)] {
    let counts = [
      ("done", summary.done), ("automatic", summary.autoCompleted), ("skipped", summary.skipped),
      ("missed", summary.missed),
    ]
    var rows = counts.filter { $0.1 > 0 }.map { (name: $0.0, value: "\($0.1)") }
    if let percent = summary.onTimePercent {
      rows.append(("on time", "\(percent) % (\(summary.onTime) of \(summary.expected))"))
    }
    if let median = summary.median, let longest = summary.delays.last {
      let spread = spread(summary).map { ", half of them \($0), longest \(delay(longest))" }
      rows.append(("delay", spread.map { "median \(delay(median))\($0)" } ?? delay(median)))
    }
    return rows
  }

  /// Returns a delay: `2 min`, `10 min early`.
  package static func delay(_ seconds: Int64) -> String {
    seconds < 0 ? "\(Span.length(-seconds)) early" : Span.length(seconds)
  }

  /// Returns the range of the middle half of the delays, `1 min to 4 min`; nil if there are fewer than two.
  static func spread(_ summary: ResponseSummary) -> String? {
    guard summary.delays.count > 1, let quartiles = summary.quartiles else { return nil }
    let (lower, upper) = (delay(quartiles.lower), delay(quartiles.upper))
    return lower == upper ? lower : "\(lower) to \(upper)"
  }

  // MARK: Table

  /// Returns a table with a row for each alarm, and columns with a value.
  ///
  /// - Parameter dates: the dates of the occurrences; nil for all.
  package static func table(
    _ items: [AlarmStatistics], on dates: ClosedRange<CivilDate>? = nil, _ output: AlarmOutput
  ) -> String {
    let first = items.compactMap { $0.responses.first?.civil.date }.min()
    let trend = Sparkline(
      dates.map { max($0.lowerBound, min(first ?? $0.lowerBound, $0.upperBound))...$0.upperBound },
      times: output.times)
    let rows = items.map { item -> [String] in
      let (statistics, summary) = (item.statistics, ResponseSummary(item.responses))
      let numbers = [
        statistics.streak, summary.done, summary.missed, summary.skipped, summary.autoCompleted,
      ]
      return numbers.map { $0 == 0 ? "" : "\($0)" } + [
        summary.onTimePercent.map { "\($0) %" } ?? "", summary.median.map(delay) ?? "",
        trend.text(item.responses),
        statistics.longestStreak == 0 ? "" : "\(statistics.longestStreak)",
      ]
    }
    let names = [
      "streak", "done", "missed", "skipped", "auto", "on time", "delay", "trend", "longest",
    ]
    return StatsTable(
      names: names, rows: zip(items, rows).map { (Printable.text($0.summary.shownTitle), $1) }
    ).text(output.style) + output.style.paint(output.style.fit(trend.legend(output.times)), .faint)
      + "\n"
  }

  /// Returns the responses by weekday and by time of day, for those that occur.
  package static func groups(
    _ responses: [Statistics.Response], _ output: AlarmOutput
  ) -> String {
    func row(_ name: String, _ summary: ResponseSummary) -> (String, [String]) {
      let numbers = [summary.done, summary.missed].map { $0 == 0 ? "" : "\($0)" }
      return (
        name,
        numbers + [
          summary.onTimePercent.map { "\($0) %" } ?? "", summary.median.map(delay) ?? "",
          spread(summary) ?? "",
        ]
      )
    }
    let days = ResponseSummary.byWeekday(responses)
    var rows = output.times.week.map { row(TimeText.name($0), days[$0.rawValue]) }
    let times = Dictionary(grouping: responses, by: \.civil.time)
    let hours = ResponseSummary.byHour(responses)
    if times.count <= maxHours {
      rows += times.sorted { $0.key < $1.key }
        .map { row(output.times.time($0.key), ResponseSummary($0.value)) }
    } else if hours.count(where: { $0.count > 0 }) <= maxHours {
      rows += hours.enumerated().map { hour, summary in
        row(CivilTime(hour: hour, minute: 0).map { output.times.time($0) } ?? "\(hour)", summary)
      }
    } else {
      let parts = ResponseSummary.grouped(responses, into: 4) { $0.civil.time.hour / 6 }
      rows += zip(partsOfDay, parts).map { row($0, $1) }
    }
    rows.removeAll { $0.1.allSatisfy(\.isEmpty) }
    return StatsTable(names: ["done", "missed", "on time", "delay", "middle half"], rows: rows)
      .text(output.style)
  }

  /// Returns the occurrences that were missed, the latest ones of each alarm; empty if there are none, or those of too many
  /// alarms.
  package static func missed(_ items: [AlarmStatistics], _ output: AlarmOutput) -> String {
    let missed = items.map { item in
      (
        title: Printable.text(item.summary.shownTitle),
        civils: item.responses.filter { $0.outcome == .missed }.map(\.civil)
      )
    }.filter { !$0.civils.isEmpty }
    guard (1...maxMissedAlarms).contains(missed.count) else { return "" }
    var text = output.style.paint("missed", .bold) + "\n"
    for (title, civils) in missed {
      let shown = civils.sorted().suffix(maxMissed)
      let more = civils.count - shown.count
      let list = shown.map { output.times.short($0) }.joined(separator: ", ")
      let line = "\(title): \(more > 0 ? "\(more) earlier, " : "")\(list)"
      for (index, part) in TextWidth.wrapped(line, to: max(20, (output.style.width ?? 100) - 4))
        .enumerated()
      {
        text += (index == 0 ? "  " : "    ") + part + "\n"
      }
    }
    return text
  }

  /// The maximum number of alarms whose missed occurrences are listed.
  private static let maxMissedAlarms = 5
  /// The maximum number of missed occurrences of an alarm that are listed.
  private static let maxMissed = 10
  /// The maximum number of hours that are listed. More are grouped by the part of the day.
  private static let maxHours = 6
  private static let partsOfDay = ["night", "morning", "afternoon", "evening"]
}

/// A table of values, without the columns that have none. On a narrow terminal, the last columns are left out.
private struct StatsTable {
  let names: [String]
  let rows: [(title: String, cells: [String])]

  func text(_ style: Style) -> String {
    var shown = names.indices.filter { column in rows.contains { !$0.cells[column].isEmpty } }
    let widths = names.indices.map { column in
      rows.reduce(names[column].count) { max($0, $1.cells[column].count) }
    }
    func width() -> Int { shown.reduce(0) { $0 + widths[$1] + 2 } }
    while let columns = style.width, shown.count > 1, width() > columns - 16 { shown.removeLast() }
    let longest = rows.map { TextWidth.of($0.title) }.max() ?? 0
    let room = max(8, (style.width ?? 100) - width() - 1)
    let titles = min(max(longest, 5), room)
    func line(_ title: String, _ cells: [String]) -> String {
      let title = TextWidth.cut(title, to: titles)
      var text = title + String(repeating: " ", count: titles - TextWidth.of(title))
      for column in shown {
        let padding = String(repeating: " ", count: max(0, widths[column] - cells[column].count))
        // The parts of a trend are in the order of time.
        text +=
          "  " + (names[column] == "trend" ? cells[column] + padding : padding + cells[column])
      }
      while text.last == " " { text.removeLast() }
      return text
    }
    var text = style.paint(line("", names), .faint) + "\n"
    for row in rows { text += line(row.title, row.cells) + "\n" }
    return text
  }
}
