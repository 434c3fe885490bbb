/// Rows of cells, with their texts in UTF-8 one after another, so that a table of thousands of rows is made without
/// thousands of strings.
///
/// A row is appended cell by cell. The text of a cell is what was appended to `bytes` since the end of the cell before.
///
/// One column can have remarks: they are shown behind the cells of the column before, in its room, so that a long remark
/// takes no room from the columns behind.
package struct TextRows: Sendable {
  /// The texts of all cells.
  package var bytes: [UInt8] = []
  /// The width of the widest cell of each column.
  package private(set) var widths: [Int]
  /// The index of the column of remarks; nil for none.
  package let remarks: Int?
  /// The width of the widest cell with its remark.
  package private(set) var remarkedWidth = 0
  private var marks: [Mark] = []
  /// The cells with shorter texts for narrow columns, by the number of the cell.
  private var alternatives: [Int: TextColumns.Cell] = [:]

  private struct Mark {
    /// The end of the text in `bytes`.
    let end: Int
    let width: Int
    let color: Style.Color?
  }

  /// Creates no rows of a number of columns.
  ///
  /// - Parameters:
  ///   - remarks: The index of the column of remarks; nil for none.
  ///   - expected: The number of rows for which memory is reserved.
  package init(columns: Int, remarks: Int? = nil, expected: Int = 0) {
    self.remarks = remarks
    widths = [Int](repeating: 0, count: columns)
    bytes.reserveCapacity(expected * TextRows.typicalRow)
    marks.reserveCapacity(expected * columns)
  }

  /// The length of a row for which memory is reserved, in bytes.
  package static let typicalRow = 96

  /// The number of complete rows.
  package var count: Int { marks.count / widths.count }

  /// Ends a cell whose text was appended to `bytes`.
  package mutating func endCell(_ color: Style.Color? = nil) {
    let start = marks.last?.end ?? 0
    let width = start == bytes.count ? 0 : TextWidth.of(utf8: bytes[start...])
    endCell(width: width, color)
  }

  private mutating func endCell(width: Int, _ color: Style.Color?) {
    let column = marks.count % widths.count
    if column == remarks, let before = marks.last {
      let total = before.width + (width > 0 ? TextColumns.gap + width : 0)
      remarkedWidth = max(remarkedWidth, total)
    }
    marks.append(Mark(end: bytes.count, width: width, color: color))
    widths[column] = max(widths[column], width)
  }

  /// Appends a cell.
  package mutating func append(_ cell: TextColumns.Cell) {
    if !cell.shorter.isEmpty || !cell.ending.isEmpty { alternatives[marks.count] = cell }
    bytes.append(contentsOf: cell.text.utf8)
    endCell(width: cell.width, cell.color)
  }

  /// A cell of a row.
  package struct Cell {
    /// The text in UTF-8.
    package let text: ArraySlice<UInt8>
    /// The width of the text.
    package let width: Int
    /// The color; nil for the terminal's default.
    package let color: Style.Color?
  }

  /// Returns a cell of a row.
  package func cell(_ row: Int, _ column: Int) -> Cell {
    let number = row * widths.count + column
    let mark = marks[number]
    let start = number == 0 ? 0 : marks[number - 1].end
    return Cell(text: bytes[start..<mark.end], width: mark.width, color: mark.color)
  }

  /// Returns true if the remark of a row has a color that calls for attention.
  func isUrgent(_ row: Int) -> Bool {
    guard let remarks, let color = cell(row, remarks).color else { return false }
    return color != .faint
  }

  /// Returns the texts of a row's cells, one after another.
  func text(_ row: Int) -> ArraySlice<UInt8> {
    let first = row * widths.count
    return bytes[(first == 0 ? 0 : marks[first - 1].end)..<marks[first + widths.count - 1].end]
  }

  /// Returns true if a row has the same texts and colors as one of other rows.
  func isRow(_ row: Int, equalTo other: Int, of rows: TextRows) -> Bool {
    guard text(row) == rows.text(other) else { return false }
    return widths.indices.allSatisfy { column in
      let (left, right) = (cell(row, column), rows.cell(other, column))
      return left.text.count == right.text.count && left.color == right.color
    }
  }

  /// Returns the longest text of a cell that fits into a number of columns; nil for none.
  func whole(_ row: Int, _ column: Int, in columns: Int) -> String? {
    alternatives[row * widths.count + column]?.whole(in: columns)
  }

  /// Returns the longest text of a cell that fits into a number of columns, or a part of the shortest one.
  package func text(_ row: Int, _ column: Int, in columns: Int) -> String {
    let cell = cell(row, column)
    return
      (alternatives[row * widths.count + column]
      ?? TextColumns.Cell(String(decoding: cell.text, as: UTF8.self))).text(in: columns)
  }
}
