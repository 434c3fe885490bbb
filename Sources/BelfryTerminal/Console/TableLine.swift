/// A row of a table, formatted when it is read: a screen shows few rows of thousands.
///
/// Lines are equal if their cells are, in columns of any width.
package struct TableLine: Equatable, Sendable {
  /// Rows with the columns that all rows of a table have.
  private final class Table: Sendable {
    let rows: TextRows
    let columns: TextColumns

    init(_ rows: TextRows, _ columns: TextColumns) { (self.rows, self.columns) = (rows, columns) }
  }

  private enum Source: Sendable {
    case row(Table, Int)
    case text(String)
  }

  private let source: Source

  private init(_ source: Source) { self.source = source }

  /// Creates a line of a text, with escape sequences for colors.
  package init(_ text: String) { self.init(.text(text)) }

  /// Returns a line for each row.
  static func lines(_ rows: TextRows, _ columns: TextColumns) -> [TableLine] {
    let table = Table(rows, columns)
    return (0..<rows.count).map { TableLine(.row(table, $0)) }
  }

  /// The line without its end, with escape sequences for colors.
  package var text: String {
    switch source {
    case .text(let text): return text
    case .row(let table, let row):
      var bytes: [UInt8] = []
      table.columns.append(table.rows, row, to: &bytes)
      return String(decoding: bytes.dropLast(), as: UTF8.self)
    }
  }

  package static func == (left: TableLine, right: TableLine) -> Bool {
    switch (left.source, right.source) {
    case (.row(let first, let row), .row(let second, let other)):
      first.rows.isRow(row, equalTo: other, of: second.rows)
    default: left.text == right.text
    }
  }
}
