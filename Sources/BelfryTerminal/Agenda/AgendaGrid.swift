import BelfryCore

/// Seven columns with lines between them.
struct AgendaGrid {
  /// The width of each column.
  let widths: [Int]
  private let style: Style

  init(width: Int, style: Style) {
    self.style = style
    let room = max(7, width - 6)
    widths = (0..<7).map { room / 7 + ($0 < room % 7 ? 1 : 0) }
  }

  /// Returns a horizontal line.
  ///
  /// - Parameter crossing: the sign where it meets a vertical line.
  func rule(_ crossing: String) -> String {
    let parts = widths.map { String(repeating: "─", count: $0) }
    return style.paint(parts.joined(separator: crossing), PaletteColor.faint)
  }

  /// Returns the line with the names of weekdays.
  func names(_ week: [Weekday]) -> [String] {
    row(week.map { [PaintedLine(TimeText.name($0), .bold, style)] }, separator: " ")
  }

  /// Returns the lines of a row. Cells have at most as many columns as their place.
  func row(_ cells: [[PaintedLine]], separator: String = "│") -> [String] {
    let height = max(1, cells.map(\.count).max() ?? 0)
    let separator = PaintedLine(separator, .faint, style)
    return (0..<height).map { number in
      var line = PaintedLine()
      for (column, cell) in cells.enumerated() {
        var part = cell.indices.contains(number) ? cell[number] : PaintedLine()
        assert(part.width <= widths[column], "a cell fits into its column")
        part.pad(to: widths[column])
        line.append(part)
        if column < cells.count - 1 { line.append(separator) }
      }
      return line.trimmed
    }
  }
}
