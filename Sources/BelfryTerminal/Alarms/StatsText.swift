import BelfryCore
import BelfryStore

/// Statistics as text.
package enum StatsText {
  /// Returns the statistics of one alarm.
  ///
  /// - Parameter lateness: the times from an occurrence to its confirmation, in seconds, in ascending order. A time is
  ///   negative if the occurrence was confirmed early.
  package static func alarm(
    _ summary: AlarmSummary, _ statistics: Statistics, lateness: [Int64], _ output: AlarmOutput
  ) -> String {
    let style = output.style
    var text = style.paint(style.fit(Printable.text(summary.title)), .bold) + "\n"
    func row(_ name: String, _ value: String) {
      text += style.fit("  " + name + String(repeating: " ", count: 14 - name.count) + value) + "\n"
    }
    row("streak", "\(statistics.streak), longest \(statistics.longestStreak)")
    row("last done", statistics.lastDone.map { output.when($0) } ?? "never")
    row("done", "\(statistics.count(.done))")
    row("automatic", "\(statistics.count(.autoCompleted))")
    row("skipped", "\(statistics.count(.skipped))")
    row("missed", "\(statistics.count(.missed))")
    if let latest = lateness.last, let median = Statistics.median(lateness) {
      row("delay", "median \(late(median)), longest \(late(latest))")
    }
    return text
  }

  private static func late(_ seconds: Int64) -> String {
    seconds < 0 ? "\(Span.length(-seconds)) early" : Span.length(seconds)
  }

  private static let columns = [
    ("streak", 6), ("done", 5), ("missed", 6), ("skipped", 7), ("auto", 6), ("longest", 7),
  ]

  /// Returns a table with a row for each alarm.
  package static func table(
    _ all: [(summary: AlarmSummary, statistics: Statistics)], _ output: AlarmOutput
  ) -> String {
    let style = output.style
    // On a narrow terminal the last columns are left out.
    var shown = columns[...]
    func width() -> Int { shown.reduce(0) { $0 + $1.1 + 2 } }
    while let columns = style.width, shown.count > 1, width() > columns - 16 { shown.removeLast() }
    let longest = all.map { TextWidth.of(Printable.text($0.summary.shownTitle)) }.max() ?? 0
    let room = max(8, (style.width ?? 100) - width() - 1)
    let titles = min(max(longest, 5), room)
    func line(_ title: String, _ cells: [String]) -> String {
      let title = TextWidth.cut(title, to: titles)
      var text = title + String(repeating: " ", count: titles - TextWidth.of(title))
      for (cell, column) in zip(cells, shown) {
        text += "  " + String(repeating: " ", count: max(0, column.1 - cell.count)) + cell
      }
      return text
    }
    var text = style.paint(line("", columns.map(\.0)), .faint) + "\n"
    for (summary, statistics) in all {
      let numbers = [
        statistics.streak, statistics.count(.done), statistics.count(.missed),
        statistics.count(.skipped), statistics.count(.autoCompleted), statistics.longestStreak,
      ]
      text += line(Printable.text(summary.shownTitle), numbers.map(String.init)) + "\n"
    }
    return text
  }
}

/// A calendar with the outcome of each day: a column for each week, a row for each weekday.
package struct HeatMap {
  /// The worst outcome of each day.
  private var days: [CivilDate: Statistics.Outcome] = [:]

  package init(_ all: [Statistics]) {
    for (civil, outcome) in all.flatMap(\.outcomes) {
      days[civil.date] = HeatMap.worse(days[civil.date] ?? outcome, outcome)
    }
  }

  private static let order: [Statistics.Outcome] = [.missed, .autoCompleted, .skipped, .done]

  private static func worse(_ a: Statistics.Outcome, _ b: Statistics.Outcome) -> Statistics.Outcome
  {
    order.first { $0 == a || $0 == b } ?? a
  }

  /// Returns the sign and the color of an outcome.
  private static func appearance(of outcome: Statistics.Outcome) -> (
    sign: String, color: Style.Color
  ) {
    switch outcome {
    case .done: ("■", .green)
    case .autoCompleted: ("□", .cyan)
    case .skipped: ("-", .yellow)
    case .missed: ("x", .red)
    }
  }

  /// Returns the weeks up to a day: as many as fit, at most a year.
  package func text(_ times: TimeText, _ style: Style) -> String {
    let today = times.today
    let weeks = min(53, max(4, ((style.width ?? 80) - 4) / 2))
    let place = times.week.firstIndex(of: today.weekday) ?? 0
    let start = today.adding(days: -place - 7 * (weeks - 1))
    var text = header(from: start, weeks: weeks, style)
    for row in 0..<7 {
      let name = row % 2 == 0 ? TimeText.name(times.week[row]) : ""
      text += name + String(repeating: " ", count: 4 - name.count)
      for week in 0..<weeks {
        let day = start.adding(days: week * 7 + row)
        if day > today { break }
        if week > 0 { text += " " }
        if let outcome = days[day] {
          let mark = HeatMap.appearance(of: outcome)
          text += style.paint(mark.sign, mark.color)
        } else {
          text += style.paint("·", .faint)
        }
      }
      text += "\n"
    }
    return text + legend(style)
  }

  private func header(from start: CivilDate, weeks: Int, _ style: Style) -> String {
    var line = "    "
    for week in 0..<weeks {
      // The name of a month stands above the week of its first day.
      let days = (0..<7).map { start.adding(days: week * 7 + $0) }
      guard let first = days.first(where: { $0.components.day == 1 }) else { continue }
      let place = 4 + week * 2
      if line.count > place || place + 3 > 4 + weeks * 2 { continue }
      line += String(repeating: " ", count: place - line.count)
      line += CivilDate.monthNames[first.components.month - 1]
    }
    return style.paint(line, .faint) + "\n"
  }

  private func legend(_ style: Style) -> String {
    var text = "   "
    var used = 3
    for (outcome, name) in [
      (Statistics.Outcome.done, "done"), (.autoCompleted, "automatic"), (.skipped, "skipped"),
      (.missed, "missed"),
    ] {
      let mark = HeatMap.appearance(of: outcome)
      if used + name.count + 3 > style.width ?? 80 {
        text += "\n   "
        used = 3
      }
      text += " " + style.paint(mark.sign, mark.color) + " " + name
      used += name.count + 3
    }
    return text + "\n"
  }
}
