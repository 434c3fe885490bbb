import BelfryTerminal

/// The line of tabs, with the clock and the next alarm.
enum HeadView {
  static func draw(_ state: UIState, in area: Area, _ buffer: inout Buffer) {
    var column = area.column
    for (tab, range) in ranges(state) {
      let isShown = tab == state.tab
      let label = label(tab, state)
      column = range.upperBound
      buffer.put(
        label, column: range.lowerBound, row: area.row,
        isShown ? CellStyle.bold.with(.reverse) : .faint)
    }
    let clock = state.list.content.clock
    let room = area.columns - column - 2
    let texts = [state.list.content.next, ""].map { $0.isEmpty ? clock : "\($0)  \(clock)" }
    guard let text = texts.first(where: { TextWidth.of($0) <= room }) else { return }
    buffer.put(text, column: area.columns - TextWidth.of(text) - 1, row: area.row)
  }

  /// Returns the tab in a column; nil if there is none.
  static func tab(at column: Int, _ state: UIState) -> Tab? {
    ranges(state).first { $0.1.contains(column) }?.0
  }

  /// Returns the columns of each tab. Without room, only the shown one has a title.
  private static func ranges(_ state: UIState) -> [(Tab, Range<Int>)] {
    var column = 0
    return Tab.allCases.map { tab in
      let start = column
      column += TextWidth.of(label(tab, state))
      return (tab, start..<column)
    }
  }

  private static func label(_ tab: Tab, _ state: UIState) -> String {
    let number = tab.rawValue + 1
    let needed = Tab.allCases.reduce(0) { $0 + $1.title.count + 4 }
    return state.size.columns >= needed + 6 || tab == state.tab
      ? " \(number) \(tab.title) " : " \(number) "
  }
}
