import BelfryTerminal

/// Lines of text, with a mark where there is more.
enum PageView {
  static func draw(_ page: UIState.Page?, in area: Area, _ buffer: inout Buffer) {
    draw(page?.lines, page?.top ?? 0, in: area, &buffer) { $0.text }
    guard let page, let row = page.selected.map({ $0 - page.top }), (0..<area.rows).contains(row)
    else {
      return
    }
    buffer.select(row: area.row + row, of: area)
  }

  static func draw(_ lines: [String]?, _ top: Int, in area: Area, _ buffer: inout Buffer) {
    draw(lines, top, in: area, &buffer) { $0 }
  }

  private static func draw<Line>(
    _ lines: [Line]?, _ top: Int, in area: Area, _ buffer: inout Buffer, text: (Line) -> String
  ) {
    guard let lines else {
      buffer.put(
        "Reading …", column: area.column + 1, row: area.row, .faint,
        until: area.column + area.columns)
      return
    }
    let limit = area.column + area.columns
    let more = lines.count - top - area.rows
    let note = more > 0 ? " \(more) more " : ""
    for (offset, line) in lines.dropFirst(top).prefix(area.rows).enumerated() {
      let room = offset == area.rows - 1 ? limit - note.count : limit
      buffer.put(
        styled: text(line), column: area.column + 1, row: area.row + offset, until: room)
    }
    buffer.put(
      note, column: limit - note.count, row: area.row + area.rows - 1,
      CellStyle.faint.with(.reverse), until: limit)
  }
}
