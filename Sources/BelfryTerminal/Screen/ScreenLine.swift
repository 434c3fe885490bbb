/// A centered line of a full screen that stands alone, white on black: the firing screen and the clock.
struct ScreenLine {
  /// The importance of a line, in ascending order. Lines of the first case are left out first.
  enum Importance: CaseIterable {
    case blank, badge, note, time, more, title
  }

  let text: String
  let importance: Importance
  let color: Style.Color?
  /// The columns of the text before the cursor; nil if the cursor is elsewhere.
  let cursor: Int?

  init(
    _ text: String, _ importance: Importance, _ color: Style.Color? = nil, cursor: Int? = nil
  ) {
    self.text = text
    self.importance = importance
    self.color = color
    self.cursor = cursor
  }

  private static let style = CellStyle(.palette(15), on: .rgb(0, 0, 0))

  /// Returns a screen.
  ///
  /// If there are too few rows, the least important lines are left out.
  ///
  /// - Parameters:
  ///   - body: the lines in the upper part of the screen.
  ///   - keys: the lines at its end.
  static func screen(_ size: Size, with body: [ScreenLine], above keys: [ScreenLine]) -> Buffer {
    var (body, keys) = (body, keys)
    for importance in Importance.allCases where body.count + keys.count > size.rows {
      body.removeAll { $0.importance == importance }
      keys.removeAll { $0.importance == importance }
    }
    let free = max(0, size.rows - body.count - keys.count)
    let blanks = [ScreenLine](repeating: ScreenLine("", .blank), count: free)
    let all = blanks.prefix(free / 3) + body + blanks.dropFirst(free / 3) + keys
    var buffer = Buffer(size)
    buffer.clear(Area(column: 0, row: 0, columns: size.columns, rows: size.rows), style)
    for (row, line) in all.prefix(size.rows).enumerated() { line.draw(in: row, &buffer) }
    return buffer
  }

  private func draw(in row: Int, _ buffer: inout Buffer) {
    let text = TextWidth.cut(self.text, to: buffer.size.columns)
    let start = (buffer.size.columns - TextWidth.of(text)) / 2
    buffer.put(
      text, column: start, row: row, color.map { ScreenLine.style.with($0) } ?? ScreenLine.style)
    if let cursor {
      buffer.cursor = .init(column: min(buffer.size.columns - 1, start + cursor), row: row)
    }
  }
}
