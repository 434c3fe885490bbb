import BelfryTerminal

/// The areas of the screen.
package struct Layout: Hashable, Sendable {
  /// The line of tabs.
  package let head: Area
  /// The list, or the page.
  package let main: Area
  /// The details beside the list; nil if there is no room or no list.
  package let side: Area?
  /// The line of messages and of the prompt.
  package let message: Area
  /// The line of keys.
  package let footer: Area

  /// The smallest screen.
  package static let least = Size(40, 10)
  /// The width from which the details stand beside the list.
  static let sideBySide = 110

  init(_ state: UIState) {
    let size = state.size
    head = Area(column: 0, row: 0, columns: size.columns, rows: 1)
    footer = Area(column: 0, row: size.rows - 1, columns: size.columns, rows: 1)
    message = Area(column: 0, row: size.rows - 2, columns: size.columns, rows: 1)
    let rows = size.rows - 3
    if state.tab == .alarms, size.columns >= Layout.sideBySide, !state.showsDetails {
      let width = size.columns * 3 / 5
      main = Area(column: 0, row: 1, columns: width, rows: rows)
      side = Area(column: width + 2, row: 1, columns: size.columns - width - 3, rows: rows)
    } else {
      main = Area(column: 0, row: 1, columns: size.columns, rows: rows)
      side = nil
    }
  }

  /// The width of the lines in the list, behind the marks.
  package var listColumns: Int { main.columns - 2 }
  /// The width of the details.
  package var detailColumns: Int { (side ?? main).columns - 2 }
}
