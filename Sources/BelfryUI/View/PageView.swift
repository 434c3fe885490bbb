import BelfryTerminal

/// Lines of text.
enum PageView {
  /// Draws a page. Returns the number of lines below it.
  static func draw(_ page: UIState.Page?, in area: Area, _ buffer: inout Buffer) -> Int {
    let more = draw(page?.lines, page?.top ?? 0, in: area, &buffer) { $0.text }
    if let page, let row = page.selected.map({ $0 - page.top }), (0..<area.rows).contains(row) {
      buffer.select(row: area.row + row, of: area)
    }
    return more
  }

  /// Draws lines. Returns the number of those below them.
  @discardableResult
  static func draw(_ lines: [String]?, _ top: Int, in area: Area, _ buffer: inout Buffer) -> Int {
    draw(lines, top, in: area, &buffer) { $0 }
  }

  private static func draw<Line>(
    _ lines: [Line]?, _ top: Int, in area: Area, _ buffer: inout Buffer, text: (Line) -> String
  ) -> Int {
    guard let lines else {
      buffer.put(
        "Reading …", column: area.column + 1, row: area.row, .faint,
        until: area.column + area.columns)
      return 0
    }
    let limit = area.column + area.columns
    for (offset, line) in lines.dropFirst(top).prefix(area.rows).enumerated() {
      buffer.put(
        styled: text(line), column: area.column + 1, row: area.row + offset, until: limit)
    }
    return max(0, lines.count - top - area.rows)
  }
}
