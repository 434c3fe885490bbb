import BelfryCore

/// The days of a period one below the other, each occurrence with the name of its state: for narrow terminals, screen
/// readers and filters of text.
struct AgendaList {
  private let text: AgendaText
  private let dates: ClosedRange<CivilDate>

  init(_ text: AgendaText, _ dates: ClosedRange<CivilDate>) {
    self.text = text
    self.dates = dates
  }

  var lines: [AgendaLine] {
    let days = text.agenda.days.filter { day in
      dates.contains(day.date)
        && (!day.entries.isEmpty || !text.remarks(day).isEmpty || day.date == text.agenda.today)
    }
    if days.isEmpty { return [AgendaLine("  nothing")] }
    let groups = days.map { AgendaGroup.groups(of: $0) }
    let states = groups.joined().map { name($0.state).count }.max() ?? 0
    let times =
      groups.joined().filter { $0.times.count == 1 }
      .map { TextWidth.of(text.times.time($0.times[0])) }.max() ?? 0
    return zip(days, groups).flatMap { day, groups in
      let entries = groups.flatMap { lines($0, stateWidth: states, timeWidth: times) }
      return [AgendaLine(heading(day), date: day.date)] + entries.map { AgendaLine($0) }
    }
  }

  private func name(_ state: Agenda.State) -> String {
    state == .upcoming ? "" : AgendaMark(state).name
  }

  private func heading(_ day: Agenda.Day) -> String {
    let remarks =
      (day.date == text.agenda.today ? ["today"] : []) + text.remarks(day)
    let heading = ([text.times.date(day.date)] + remarks).joined(separator: ", ")
    return text.style.paint(TextWidth.cut(heading, to: text.width), PaletteColor.bold)
  }

  private func lines(
    _ group: AgendaGroup, stateWidth: Int, timeWidth: Int
  ) -> [String] {
    let style = text.style
    let mark = AgendaMark(group.state)
    var first = PaintedLine("  \(mark.sign) ", mark.color, style)
    first.append(name(group.state), mark.color, style)
    let title = text.title(group.alarm).split(separator: " ").map {
      PaintedLine.Word(text: String($0), color: text.color(group.alarm))
    }
    let times = group.times(text.times, in: text.width - AgendaList.indent)
      .map { PaintedLine.Word(text: $0, color: nil) }
    let column = AgendaList.indent + stateWidth + (stateWidth > 0 ? 2 : 0)
    if text.width < column + timeWidth + 2 + AgendaList.minTitle {
      // The times and the title are below the state.
      let words = PaintedLine.wrapped(times + title, to: text.width - AgendaList.indent, style)
      let state = group.state == .upcoming ? [] : [first.trimmed]
      return state + words.map { indented($0, after: PaintedLine(), AgendaList.indent) }
    }
    first.pad(to: column)
    guard group.times.count == 1 else {
      return hanging(first, times + title)
    }
    let time = text.times.time(group.times[0])
    first.append(time, nil, style)
    first.pad(to: column + timeWidth + 2)
    return hanging(first, title)
  }

  /// Returns words behind a text, and below each other on the lines that follow.
  private func hanging(_ first: PaintedLine, _ words: [PaintedLine.Word]) -> [String] {
    let start = first.width
    return PaintedLine.wrapped(words, to: text.width - start, text.style).enumerated().map {
      indented($1, after: $0 == 0 ? first : PaintedLine(), start)
    }
  }

  private func indented(_ part: PaintedLine, after first: PaintedLine, _ column: Int) -> String {
    var line = first
    line.pad(to: column)
    line.append(part)
    return line.trimmed
  }

  /// The column of what follows a mark.
  private static let indent = 4
  /// The number of columns of a title beside the time.
  private static let minTitle = 12
}
