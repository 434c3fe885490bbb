import BelfryCore

/// A week as a grid with all occurrences and their whole titles.
struct AgendaWeek {
  private let text: AgendaText
  private let dates: ClosedRange<CivilDate>
  private let grid: AgendaGrid

  init(_ text: AgendaText, _ dates: ClosedRange<CivilDate>) {
    self.text = text
    self.dates = dates
    grid = AgendaGrid(width: text.width, style: text.style)
  }

  var lines: [String] {
    let days = text.agenda.days.filter { dates.contains($0.date) }
    let heads = zip(days, grid.widths).map { [head($0.date, $1)] }
    let cells = zip(days, grid.widths).map { cell($0, $1) }
    return grid.row(heads, separator: " ") + [grid.rule("┬")] + grid.row(cells) + [grid.rule("┴")]
  }

  /// Returns the weekday and the date, in as many words as fit.
  private func head(_ date: CivilDate, _ width: Int) -> PaintedLine {
    let name = TimeText.name(date.weekday)
    let long = TimeText.text { text.times.append(day: date.day, ofMonth: date.month, to: &$0) }
    let isToday = date == text.agenda.today
    let forms = ["\(name) \(long)", "\(name) \(date.day)", "\(date.day)"].map {
      isToday ? "[\($0)]" : $0
    }
    return PaintedLine(forms.first { TextWidth.of($0) <= width } ?? "", .bold, text.style)
  }

  private func cell(_ day: Agenda.Day, _ width: Int) -> [PaintedLine] {
    let remarks = text.remarks(day).flatMap { remark in
      PaintedLine.wrapped(
        remark.split(separator: " ").map { .init(text: String($0), color: .teal) }, to: width,
        text.style)
    }
    return remarks + AgendaGroup.groups(of: day).flatMap { lines($0, width) }
  }

  private func lines(_ group: AgendaGroup, _ width: Int) -> [PaintedLine] {
    let mark = AgendaMark(group.state)
    let indent = width < 9 ? 1 : 2
    let color = group.state == .missed ? mark.color : text.color(group.alarm)
    let title = text.title(group.alarm).split(separator: " ")
    let times = group.times(text.times, in: width - indent)
    let words =
      times.map { PaintedLine.Word(text: $0, color: nil) }
      + title.map { PaintedLine.Word(text: String($0), color: color) }
    return PaintedLine.wrapped(words, to: width - indent, text.style).enumerated().map {
      number, rest in
      var line = number == 0 ? PaintedLine(mark.sign, mark.color, text.style) : PaintedLine()
      line.pad(to: indent)
      line.append(rest)
      return line
    }
  }
}
