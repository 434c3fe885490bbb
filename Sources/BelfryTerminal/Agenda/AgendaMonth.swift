import BelfryCore

/// A month as a grid with a row for each week.
///
/// ```
/// Mon              │Tue              │Wed
/// ─────────────────┼─────────────────┼───────────────
/// 23               │[24]             │25 Christmas Day
/// ✓ 08:00 Pills ×2 │! 08:00 Pills    │  08:00 Pills ×2
/// x 09:00 Rent rem…│  21:00 Pills    │
/// ```
struct AgendaMonth {
  private let text: AgendaText
  private let dates: ClosedRange<CivilDate>
  private let grid: AgendaGrid
  /// The maximum number of lines below the number of a day.
  private let maxLines: Int
  /// The number of days of each alarm in the month.
  private let daysOfAlarms: [Identifier: Int]

  /// The numbers of lines below the number of a day, of which the first fits a screen.
  static let heights = (2...6).reversed()
  /// The number of columns of a title beside a time.
  private static let minTitle = 7

  init(_ text: AgendaText, _ dates: ClosedRange<CivilDate>, maxLines: Int) {
    self.text = text
    self.dates = dates
    self.maxLines = maxLines
    let alarms = text.agenda.days.filter { dates.contains($0.date) }
      .flatMap { Set($0.entries.map(\.alarm)) }
    daysOfAlarms = Dictionary(alarms.map { ($0, 1) }, uniquingKeysWith: +)
    grid = AgendaGrid(width: text.width, style: text.style)
  }

  var lines: [AgendaLine] {
    var result = grid.names(text.times.week).map { AgendaLine($0) }
    let form = form
    let first = dates.lowerBound
    let offset = text.times.week.firstIndex(of: first.weekday) ?? 0
    var start = first.adding(days: -offset)
    while start <= dates.upperBound {
      result.append(AgendaLine(grid.rule(start <= first ? "┬" : "┼")))
      for (number, line) in grid.row(cells(weekFrom: start, form)).enumerated() {
        result.append(AgendaLine(line, date: number == 0 ? max(start, first) : nil))
      }
      start = start.adding(days: 7)
    }
    return result + [AgendaLine(grid.rule("┴"))]
  }

  // MARK: Cells

  /// The form of the entries.
  private enum Form {
    /// `✓ 08:00 Pills`
    case oneLine
    /// The time, and the title below it.
    case twoLines
    /// `✓ Pills`
    case title
  }

  private func cells(weekFrom start: CivilDate, _ form: Form) -> [[PaintedLine]] {
    (0..<7).map { number in
      let date = start.adding(days: number)
      guard dates.contains(date), let day = text.agenda[date] else { return [] }
      let width = grid.widths[number]
      return [head(day, width)] + lines(AgendaGroup.groups(of: day), form, width)
    }
  }

  /// The richest form with which no day of the month exceeds the maximum height.
  private var form: Form {
    let narrowest = grid.widths.min() ?? 0
    let time = TextWidth.of(text.times.time(.noon))
    if narrowest >= AgendaMonth.indent(narrowest) + time + 1 + AgendaMonth.minTitle {
      return .oneLine
    }
    let isBusy = text.agenda.days.contains { day in
      dates.contains(day.date) && AgendaGroup.groups(of: day).count * 2 > maxLines
    }
    return isBusy ? .title : .twoLines
  }

  /// Returns the number of a day with its remarks.
  private func head(_ day: Agenda.Day, _ width: Int) -> PaintedLine {
    let isToday = day.date == text.agenda.today
    var line = PaintedLine(
      isToday ? "[\(day.date.day)]" : "\(day.date.day)", isToday ? .bold : nil, text.style)
    let remarks = text.remarks(day).joined(separator: ", ")
    let room = width - line.width - 1
    if !remarks.isEmpty, room > 2 {
      line.append(" " + TextWidth.cut(remarks, to: room), .teal, text.style)
    }
    return line
  }

  private func lines(_ groups: [AgendaGroup], _ form: Form, _ width: Int) -> [PaintedLine] {
    if groups.count <= maxLines {
      return groups.flatMap { lines($0, form, width) }
    }
    let shown = AgendaGroup.mostUrgent(groups, maxLines - 1, days: daysOfAlarms)
    let more = "+\(groups.count - shown.count) more"
    return shown.flatMap { lines($0, form, width) }
      + [PaintedLine(TextWidth.cut(more, to: width), .faint, text.style)]
  }

  /// Returns the number of columns of a mark with its space.
  private static func indent(_ width: Int) -> Int { width < 9 ? 1 : 2 }

  private func lines(_ group: AgendaGroup, _ form: Form, _ width: Int) -> [PaintedLine] {
    let style = text.style
    let mark = AgendaMark(group.state)
    let indent = AgendaMonth.indent(width)
    var line = PaintedLine(mark.sign, mark.color, style)
    line.pad(to: indent)
    let time = text.times.compact(group.times[0], in: width - indent)
    switch form {
    case .oneLine:
      line.append("\(text.times.time(group.times[0])) ", nil, style)
      append(group, to: &line, width)
      return [line]
    case .title:
      append(group, to: &line, width)
      return [line]
    case .twoLines:
      line.append(time, nil, style)
      var second = PaintedLine()
      second.pad(to: indent)
      append(group, to: &second, width)
      return [line, second]
    }
  }

  /// Appends the title of a group, and the number of its occurrences if there are several.
  private func append(_ group: AgendaGroup, to line: inout PaintedLine, _ width: Int) {
    let count = group.times.count > 1 ? "×\(group.times.count)" : ""
    let gap = count.isEmpty ? 0 : width < 9 ? 0 : 1
    let room = max(1, width - line.width - TextWidth.of(count) - gap)
    let color = group.state == .missed ? AgendaMark(.missed).color : text.color(group.alarm)
    line.append(TextWidth.cut(text.title(group.alarm), to: room), color, text.style)
    if !count.isEmpty {
      line.append(String(repeating: " ", count: gap) + count, .faint, text.style)
    }
  }
}

extension TimeText {
  /// Returns a time of day in at most some columns, if possible: `11:30 PM` or `11:30p`.
  func compact(_ time: CivilTime, in columns: Int) -> String {
    let text = self.time(time)
    if TextWidth.of(text) <= columns { return text }
    return text.replacing(" AM", with: "a").replacing(" PM", with: "p")
  }
}
