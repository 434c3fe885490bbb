import BelfryTerminal

/// The list of alarms.
enum ListView {
  /// Draws the list. Returns the number of lines below it.
  static func draw(_ state: UIState, in area: Area, _ buffer: inout Buffer) -> Int {
    let list = state.list
    if list.content.rows.isEmpty {
      let lines = list.content.placeholder
        .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      return PageView.draw(list.isLoaded ? lines : nil, 0, in: area, &buffer)
    }
    for offset in 0..<min(area.rows, max(0, list.content.rows.count - list.top)) {
      let row = area.row + offset
      let limit = area.column + area.columns
      switch list.content.rows[list.top + offset] {
      case .heading(let text):
        buffer.put(styled: text, column: area.column + 1, row: row, .bold, until: limit)
      case .alarm(let alarm):
        let mark =
          list.marked.contains(alarm.id) ? "*" : list.changed.contains(alarm.id) ? "+" : " "
        buffer.put(mark, column: area.column, row: row, mark == " " ? .plain : .bold)
        // The lines of the list begin with two spaces.
        buffer.put(styled: alarm.line.text, column: area.column + 1, row: row, until: limit)
        guard alarm.id == list.selected else { continue }
        buffer.select(row: row, of: area)
      }
    }
    return max(0, list.content.rows.count - list.top - area.rows)
  }
}
