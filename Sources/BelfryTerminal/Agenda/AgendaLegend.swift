import BelfryCore

/// The lines below a calendar: the number of occurrences in each state with its mark, and the colors of the tags.
struct AgendaLegend {
  private let text: AgendaText
  private let unit: CalendarUnit

  init(_ text: AgendaText, _ unit: CalendarUnit) {
    self.text = text
    self.unit = unit
  }

  /// The order of the states.
  private static let states: [Agenda.State] = [
    .done, .autoCompleted, .skipped, .missed, .ringing, .snoozed, .pending, .paused, .upcoming,
  ]

  var lines: [String] {
    let style = text.style
    let counts = text.agenda.counts
    var items: [PaintedLine] = AgendaLegend.states.compactMap { state in
      guard let count = counts[state] else { return nil }
      let mark = AgendaMark(state)
      if state == .upcoming { return PaintedLine("\(count) upcoming", nil, style) }
      var item = PaintedLine(mark.sign, mark.color, style)
      item.append(" \(count) \(mark.name)", nil, style)
      return item
    }
    if items.isEmpty { items.append(PaintedLine("No occurrences.", nil, style)) }
    if unit == .year, counts[.upcoming] != nil {
      items += AgendaYear.legend.map { PaintedLine($0, .faint, style) }
    }
    var lines = flowed(items)
    // Without colors, a list of tags would say nothing.
    if style.isColored, unit != .year {
      let tags = Set(text.agenda.alarms.values.compactMap(\.tags.first)).sorted()
      lines += flowed(tags.map { PaintedLine("+\($0.text)", PaletteColor.of($0), style) })
    }
    return lines
  }

  /// Returns items one beside the other, in as many lines as needed.
  private func flowed(_ items: [PaintedLine]) -> [String] {
    var lines: [PaintedLine] = []
    for item in items {
      if let last = lines.last, last.width + 3 + item.width <= text.width {
        lines[lines.count - 1].pad(to: last.width + 3)
        lines[lines.count - 1].append(item)
      } else {
        lines.append(item)
      }
    }
    return lines.map(\.trimmed)
  }
}
