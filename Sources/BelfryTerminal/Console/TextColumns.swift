/// The columns of a table, fitted to the width of a terminal.
package struct TextColumns: Sendable {
  /// The limits of a column.
  package struct Column: Sendable {
    /// The width up to which the column grows with its cells. A longer cell is cut on a terminal.
    package let limit: Int
    /// True if the column is left out of a narrow table before any column is reduced.
    package let isOptional: Bool

    package init(limit: Int, isOptional: Bool = false) {
      self.limit = limit
      self.isOptional = isOptional
    }
  }

  /// A reduction of a column to a width, if the table is too wide.
  package struct Reduction: Sendable {
    /// The index of the column.
    package let column: Int
    /// The width below which this step does not reduce the column.
    package let minimum: Int

    package init(_ column: Int, to minimum: Int) {
      self.column = column
      self.minimum = minimum
    }
  }

  /// A cell with its color.
  package struct Cell: Sendable {
    package let text: String
    /// The width of the text.
    package let width: Int
    package let color: Style.Color?
    /// Shorter texts for a narrow column, the longest first.
    package let shorter: [String]
    /// The end of the text that is kept if the text is cut, such as an id.
    package let ending: String

    package init(
      _ text: String = "", _ color: Style.Color? = nil, shorter: [String] = [], ending: String = ""
    ) {
      self.text = text + ending
      self.color = color
      self.shorter = shorter
      self.ending = ending
      width = TextWidth.of(self.text)
    }

    /// Returns the longest text that fits into a number of columns; nil for none.
    func whole(in columns: Int) -> String? {
      width <= columns ? text : shorter.first { TextWidth.of($0) <= columns }
    }

    /// Returns the longest text that fits into a number of columns, or a part of the shortest one.
    package func text(in columns: Int) -> String {
      if width <= columns { return text }
      if !ending.isEmpty {
        let room = columns - TextWidth.of(ending)
        if room > 1 { return TextWidth.cut(String(text.dropLast(ending.count)), to: room) + ending }
      }
      return whole(in: columns) ?? TextWidth.cut(shorter.last ?? text, to: columns)
    }
  }

  /// The space between two columns.
  static let gap = 2
  /// The indentation of a row.
  private static let indent = 2

  /// The widths of the columns; 0 for a column that is left out.
  private let widths: [Int]
  /// The last column that is not left out.
  private let last: Int?
  private let style: Style

  /// Fits columns to the terminal: leaves out optional columns, then reduces columns down to their essential texts, then
  /// takes the reductions in their order.
  ///
  /// - Parameters:
  ///   - natural: The width of the widest cell of each column, with the remark behind it; see `TextRows`.
  ///   - essential: The width of the widest essential text of each column; nil if all texts are essential.
  package init(
    _ columns: [Column], natural: [Int], essential: [Int]? = nil, _ reductions: [Reduction],
    _ style: Style
  ) {
    self.style = style
    var widths = zip(columns, natural).map { min($0.limit, $1) }
    if let room = style.width {
      func excess() -> Int {
        let shown = widths.filter { $0 > 0 }
        return TextColumns.indent + shown.reduce(0, +)
          + TextColumns.gap * max(0, shown.count - 1) - room
      }
      for index in columns.indices where columns[index].isOptional && excess() > 0 {
        widths[index] = 0
      }
      for index in columns.indices {
        guard let essential, excess() > 0 else { break }
        let least = min(widths[index], essential[index])
        widths[index] = max(least, widths[index] - excess())
      }
      for step in reductions {
        let width = widths[step.column]
        if width > step.minimum {
          widths[step.column] = max(step.minimum, width - max(0, excess()))
        }
      }
    }
    self.widths = widths
    last = widths.lastIndex { $0 > 0 }
  }

  /// Appends a row. Without a terminal no cell is cut.
  package func append(_ cells: [Cell], to text: inout String) {
    var rows = TextRows(columns: cells.count)
    for cell in cells { rows.append(cell) }
    var bytes: [UInt8] = []
    append(rows, 0, to: &bytes)
    text += String(decoding: bytes, as: UTF8.self)
  }

  /// Appends a row in UTF-8, which is faster than appending to a string if there are thousands of rows.
  ///
  /// - Parameter row: The number of the row.
  package func append(_ rows: TextRows, _ row: Int, to bytes: inout [UInt8]) {
    var column = TextColumns.indent
    var used = 0
    // True behind an urgent remark that has moved the rest of the row.
    var isMoved = false
    for (index, limit) in widths.enumerated() where limit > 0 {
      let cell = rows.cell(row, index)
      let room = style.width.map { $0 - column } ?? .max
      // The last column may use the rest of the line.
      let allowed = style.width == nil || index == last ? room : min(limit, room)
      let isCut = cell.width > allowed || room <= 1
      let cut = isCut ? (room > 1 ? rows.text(row, index, in: allowed) : "") : ""
      if isCut ? !cut.isEmpty : !cell.text.isEmpty {
        for _ in used..<column { bytes.append(UInt8(ascii: " ")) }
        let color = style.isColored ? cell.color : nil
        if let color { bytes.append(contentsOf: style.start(color).utf8) }
        if isCut { bytes.append(contentsOf: cut.utf8) } else { bytes.append(contentsOf: cell.text) }
        if color != nil { bytes.append(contentsOf: style.reset.utf8) }
        used = column + (isCut ? TextWidth.of(cut) : cell.width)
        if rows.remarks == index + 1 {
          let end = column + min(allowed, .max - column)
          used = appendRemark(
            rows, row, from: used, to: max(end, endOfUrgent(rows, row, from: used) ?? 0), &bytes)
          isMoved = used > end
        }
      }
      // A cell beyond the limit of its column moves the rest of the row.
      column = (isMoved ? used : max(column + limit, used)) + TextColumns.gap
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Returns the last column for an urgent remark. It moves the rest of its row as far as nothing of it is cut. Nil if the
  /// remark is not urgent, or has no text that is short enough.
  private func endOfUrgent(_ rows: TextRows, _ row: Int, from start: Int) -> Int? {
    guard let remarks = rows.remarks, let width = style.width, rows.isUrgent(row) else {
      return nil
    }
    let rest = widths.indices.filter { $0 > remarks && widths[$0] > 0 }
    let end = rest.reduce(width) { end, index in
      let cell = rows.cell(row, index)
      return cell.text.isEmpty ? end : end - TextColumns.gap - cell.width
    }
    let room = end - start - TextColumns.gap
    let fits =
      rows.cell(row, remarks).width <= room
      || rows.whole(row, remarks, in: room)?.isEmpty == false
    return fits ? end : nil
  }

  /// Appends the remark of a row behind its cell, as far as it fits.
  ///
  /// - Parameters:
  ///   - start: The end of the cell.
  ///   - end: The end of the column.
  /// - Returns: The end of the remark.
  private func appendRemark(
    _ rows: TextRows, _ row: Int, from start: Int, to end: Int, _ bytes: inout [UInt8]
  ) -> Int {
    guard let column = rows.remarks else { return start }
    let cell = rows.cell(row, column)
    let room = end - start - TextColumns.gap
    guard !cell.text.isEmpty, room > 0 else { return start }
    // Half a word says nothing.
    let text = cell.width <= room ? nil : rows.whole(row, column, in: room) ?? "…"
    if text?.isEmpty == true { return start }
    for _ in 0..<TextColumns.gap { bytes.append(UInt8(ascii: " ")) }
    let color = style.isColored ? cell.color : nil
    if let color { bytes.append(contentsOf: style.start(color).utf8) }
    if let text { bytes.append(text) } else { bytes.append(contentsOf: cell.text) }
    if color != nil { bytes.append(contentsOf: style.reset.utf8) }
    return start + TextColumns.gap + (text.map { TextWidth.of($0) } ?? cell.width)
  }
}
