import BelfryCore

/// A calendar with a mark for each day: a column for each week, a row for each weekday.
///
/// ```
///     Sep     Oct       Nov
/// Mon █ █ ▓ █ █ █ █ ░ █ █ █
///     █ █ █ █ ▒ █ █ █ █ █ █
/// ```
package struct HeatMap {
  /// The mark of a day, which is distinct without its color, too.
  private struct Mark {
    let sign: String
    let color: Style.Color
  }

  private var days: [CivilDate: Mark] = [:]
  private let legend: [(mark: Mark, name: String)]

  // MARK: Outcomes

  /// Creates the calendar with the worst outcome of each day.
  package init(_ all: [[Statistics.Response]]) {
    var worst: [CivilDate: Statistics.Outcome] = [:]
    for response in all.joined() {
      let (date, outcome) = (response.plotDate, response.outcome)
      worst[date] = HeatMap.worse(worst[date] ?? outcome, outcome)
    }
    days = worst.mapValues(HeatMap.mark(of:))
    legend = [
      (Statistics.Outcome.done, "done"), (.autoCompleted, "automatic"), (.skipped, "skipped"),
      (.missed, "missed"),
    ].map { (HeatMap.mark(of: $0.0), $0.1) }
  }

  private static let order: [Statistics.Outcome] = [.missed, .autoCompleted, .skipped, .done]

  private static func worse(_ a: Statistics.Outcome, _ b: Statistics.Outcome) -> Statistics.Outcome
  {
    order.first { $0 == a || $0 == b } ?? a
  }

  private static func mark(of outcome: Statistics.Outcome) -> Mark {
    switch outcome {
    case .done: Mark(sign: "■", color: .green)
    case .autoCompleted: Mark(sign: "□", color: .cyan)
    case .skipped: Mark(sign: "-", color: .yellow)
    case .missed: Mark(sign: "x", color: .red)
    }
  }

  // MARK: Levels

  /// Creates the calendar with the part of each day's expected occurrences that was done, in four levels.
  package init(levelsOf all: [[Statistics.Response]]) {
    var counts: [CivilDate: (expected: Int, done: Int)] = [:]
    for response in all.joined() where response.outcome != .skipped {
      counts[response.plotDate, default: (0, 0)].expected += 1
      if response.outcome == .done { counts[response.plotDate, default: (0, 0)].done += 1 }
    }
    days = counts.mapValues { HeatMap.levels[HeatMap.level($0.done, of: $0.expected)].mark }
    legend = [(Mark(sign: "·", color: .faint), "nothing due")] + HeatMap.levels
  }

  /// Returns the level of a day: 0 if nothing was done, 3 if everything was.
  package static func level(_ done: Int, of expected: Int) -> Int {
    done == 0 ? 0 : done >= expected ? 3 : done * 2 < expected ? 1 : 2
  }

  private static let levels = [
    (mark: Mark(sign: "░", color: .plainRed), name: "none done"),
    (mark: Mark(sign: "▒", color: .yellow), name: "less than half"),
    (mark: Mark(sign: "▓", color: .cyan), name: "half or more"),
    (mark: Mark(sign: "█", color: .green), name: "all"),
  ]

  // MARK: Text

  /// The maximum number of weeks.
  private static let maxWeeks = 53

  /// Returns the weeks up to today, or to the end of a period: as many as fit, at most a year. They begin with the month
  /// of the first day with a mark.
  package func text(
    _ times: TimeText, _ style: Style, on dates: ClosedRange<CivilDate>? = nil
  ) -> String {
    let today = min(times.today, dates?.upperBound ?? times.today)
    let place = times.week.firstIndex(of: today.weekday) ?? 0
    let monday = today.adding(days: -place)
    let first = days.keys.min().map { min($0, today) } ?? today
    let needed = (monday.dayNumber - first.adding(days: 1 - first.day).dayNumber + 6) / 7 + 1
    let weeks = min(HeatMap.maxWeeks, needed, max(4, ((style.width ?? 80) - 4) / 2))
    let start = monday.adding(days: -7 * (weeks - 1))
    var text = header(from: start, weeks: weeks, style)
    for row in 0..<7 {
      let name = row % 2 == 0 ? TimeText.name(times.week[row]) : ""
      text += name + String(repeating: " ", count: 4 - name.count)
      for week in 0..<weeks {
        let day = start.adding(days: week * 7 + row)
        if day > today { break }
        if week > 0 { text += " " }
        text += days[day].map { style.paint($0.sign, $0.color) } ?? style.paint("·", .faint)
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
    for (mark, name) in legend {
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
