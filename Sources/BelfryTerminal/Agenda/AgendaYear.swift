import BelfryCore

/// A year as twelve small months with a mark for each day.
///
/// ```
/// November 2026      December
///    M T W T F S S      M T W T F S S
///  1             ·    1   • • • • • •
///  2 ✓ ✓ x ✓ ✓ · ·    7 • • • : • • •
/// 23 ✓[•]• • • • •
/// ✓40 x1 •7           •62
/// ```
struct AgendaYear {
  private let text: AgendaText
  private let dates: ClosedRange<CivilDate>

  /// The width of a month: the number of a day and seven marks.
  private static let monthWidth = 18
  private static let gap = 2
  /// The numbers of upcoming occurrences from which on a day has another mark.
  private static let (several, many) = (2, 5)

  init(_ text: AgendaText, _ dates: ClosedRange<CivilDate>) {
    self.text = text
    self.dates = dates
  }

  var lines: [String] {
    let fitting = (text.width + AgendaYear.gap) / (AgendaYear.monthWidth + AgendaYear.gap)
    let columns = [6, 4, 3, 2, 1].first { $0 <= fitting } ?? 1
    let year = dates.lowerBound.year
    var lines: [String] = []
    for first in stride(from: 1, through: 12, by: columns) {
      if first > 1 { lines.append("") }
      let blocks = (first..<(first + columns)).map { month($0, year) }
      for number in 0..<(blocks.map(\.count).max() ?? 0) {
        var line = PaintedLine()
        for (column, block) in blocks.enumerated() {
          line.pad(to: column * (AgendaYear.monthWidth + AgendaYear.gap))
          if block.indices.contains(number) { line.append(block[number]) }
        }
        lines.append(line.trimmed)
      }
    }
    return lines
  }

  // MARK: Months

  private func month(_ month: Int, _ year: Int) -> [PaintedLine] {
    let style = text.style
    let start = CivilDate(year: year, month: month, day: 1)
    let end = start.adding(days: CivilDate.length(ofMonth: month, year: year) - 1)
    let week = text.times.week
    var names = PaintedLine("  ", nil, style)
    for weekday in week {
      names.append(" " + TimeText.name(weekday).prefix(1), .faint, style)
    }
    var lines = [PaintedLine(AgendaText.months[month - 1], .bold, style), names]
    var first = start.adding(days: -(week.firstIndex(of: start.weekday) ?? 0))
    while first <= end {
      lines.append(line(first, start...end))
      first = first.adding(days: 7)
    }
    // All months have six weeks, so that their counts are in one line.
    while lines.count < 8 { lines.append(PaintedLine()) }
    return lines + [counts(start...end)]
  }

  /// Returns the line of a week, which begins with the number of its first day in the month.
  private func line(_ first: CivilDate, _ month: ClosedRange<CivilDate>) -> PaintedLine {
    let style = text.style
    let number = max(first, month.lowerBound).day
    var line = PaintedLine((number < 10 ? " " : "") + "\(number)", .faint, style)
    for place in 0..<7 {
      let date = first.adding(days: place)
      let isToday = date == text.agenda.today && month.contains(date)
      let followsToday = place > 0 && date.adding(days: -1) == text.agenda.today
      let wasShown = followsToday && month.contains(date.adding(days: -1))
      line.append(isToday ? "[" : wasShown ? "]" : " ", .bold, style)
      guard month.contains(date), let day = text.agenda[date] else {
        line.append(" ", nil, style)
        continue
      }
      let mark = AgendaYear.mark(day)
      line.append(mark.sign, mark.color, style)
      if isToday, place == 6 { line.append("]", .bold, style) }
    }
    return line
  }

  /// Returns the mark of a day: that of its most urgent state.
  private static func mark(_ day: Agenda.Day) -> (sign: String, color: PaletteColor?) {
    guard let state = day.entries.map(\.state).min() else {
      return day.paused.isEmpty ? ("·", .faint) : ("=", .faint)
    }
    guard state == .upcoming else {
      let mark = AgendaMark(state)
      return (mark.sign, mark.color)
    }
    let count = day.entries.count { $0.state == .upcoming }
    return (count >= many ? "#" : count >= several ? ":" : AgendaMark.upcomingSign, nil)
  }

  // MARK: Counts

  /// Returns the numbers of occurrences of a month with their marks: `✓40 x2 •12`.
  private func counts(_ month: ClosedRange<CivilDate>) -> PaintedLine {
    let counts = text.agenda.counts(in: month)
    let open = counts.filter { $0.key.isOpen }.values.reduce(0, +)
    var line = PaintedLine()
    for (state, count) in [
      (Agenda.State.done, counts[.done, default: 0] + counts[.autoCompleted, default: 0]),
      (.skipped, counts[.skipped, default: 0]), (.missed, open),
      (.upcoming, counts[.upcoming, default: 0]),
    ] where count > 0 {
      let mark = AgendaMark(state)
      let sign = state == .upcoming ? AgendaMark.upcomingSign : mark.sign
      let gap = line.width > 0 ? " " : ""
      let part = "\(gap)\(sign)\(count)"
      if line.width + TextWidth.of(part) > AgendaYear.monthWidth { break }
      line.append(part, mark.color, text.style)
    }
    return line
  }

  /// The explanation of the marks of upcoming occurrences.
  static let legend = [
    "\(AgendaMark.upcomingSign) one", ": \(several) to \(many - 1)", "# \(many) or more",
  ]
}
