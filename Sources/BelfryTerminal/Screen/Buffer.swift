/// The size of a screen, in columns and rows.
package struct Size: Hashable, Sendable {
  package var columns: Int
  package var rows: Int

  package init(_ columns: Int, _ rows: Int) {
    self.columns = max(1, columns)
    self.rows = max(1, rows)
  }
}

/// A rectangle of cells.
package struct Area: Hashable, Sendable {
  package var column: Int
  package var row: Int
  package var columns: Int
  package var rows: Int

  package init(column: Int, row: Int, columns: Int, rows: Int) {
    self.column = column
    self.row = row
    self.columns = max(0, columns)
    self.rows = max(0, rows)
  }

  /// Returns true if a cell is in the area.
  package func contains(column: Int, row: Int) -> Bool {
    (self.column..<self.column + columns).contains(column)
      && (self.row..<self.row + rows).contains(row)
  }
}

/// The cells of a screen, as they should be shown. It is drawn from the state each time, without a terminal.
///
/// Text is made safe before it is drawn: control characters never reach a cell. What does not fit is cut, with `…` in its last
/// column, also in the middle of a wide character.
package struct Buffer: Hashable, Sendable {
  package let size: Size
  /// The cells, row by row.
  package private(set) var cells: [Cell]
  /// The addresses of the links. The first one is empty.
  package private(set) var links = [""]
  /// The place of the cursor; nil if it is hidden.
  package var cursor: Cursor?

  /// A place on the screen.
  package struct Cursor: Hashable, Sendable {
    package let column: Int
    package let row: Int

    package init(column: Int, row: Int) {
      self.column = column
      self.row = row
    }
  }

  /// Creates an empty screen.
  package init(_ size: Size) {
    self.size = size
    cells = Array(repeating: .blank, count: size.columns * size.rows)
  }

  /// The cells of a row.
  package func row(_ row: Int) -> ArraySlice<Cell> {
    cells[row * size.columns..<(row + 1) * size.columns]
  }

  /// Replaces a row; nil for an empty one.
  mutating func setRow(_ row: Int, _ new: [Cell]?) {
    let range = row * size.columns..<(row + 1) * size.columns
    cells.replaceSubrange(range, with: new ?? Array(repeating: .blank, count: size.columns))
  }

  // MARK: Drawing

  /// Draws text in one row. Returns the column behind it.
  ///
  /// - Parameter limit: The first column that the text must not reach; nil for the width of the screen.
  @discardableResult
  package mutating func put(
    _ text: String, column: Int, row: Int, _ style: CellStyle = .plain, until limit: Int? = nil
  ) -> Int {
    var place = column
    var rest = text[...]
    while let character = rest.popFirst() {
      guard put(character, &place, row, style, 0, limit) else {
        markCut(String(character) + rest, from: column, row, style, 0, limit)
        break
      }
    }
    return place
  }

  /// Draws a line with escape sequences for colors, as the texts of commands have them. Other sequences are left out.
  /// Returns the column behind it.
  @discardableResult
  package mutating func put(
    styled line: String, column: Int, row: Int, _ base: CellStyle = .plain, until limit: Int? = nil
  ) -> Int {
    var place = column
    var style = base
    var link: UInt16 = 0
    var rest = line[...]
    while let character = rest.popFirst() {
      guard character == "\u{1B}" else {
        guard put(character, &place, row, style, link, limit) else {
          markCut(String(character) + rest, from: column, row, style, link, limit)
          break
        }
        continue
      }
      if rest.first == "]" {
        let string = Buffer.takeString(&rest)
        if string.hasPrefix("]8;") { link = number(ofLink: string.dropFirst(3)) }
        continue
      }
      guard rest.first == "[", let end = rest.dropFirst().firstIndex(where: { $0.isLetter }) else {
        continue
      }
      if rest[end] == "m" {
        var applied = style
        applied.apply(
          rest[rest.index(after: rest.startIndex)..<end].split(separator: ";").map { Int($0) ?? 0 })
        style = applied == .plain ? base : applied
        style.attributes.formUnion(base.attributes.intersection(.reverse))
        if style.background == .standard { style.background = base.background }
      }
      rest = rest[rest.index(after: end)...]
    }
    return place
  }

  /// Takes a string of the terminal, such as the address of a link, from the beginning of a text. Returns it without its end.
  /// Without an end, nothing is taken.
  private static func takeString(_ text: inout Substring) -> Substring {
    guard let end = text.firstIndex(where: { $0 == "\u{7}" || $0 == "\u{1B}" }) else { return "" }
    let string = text[..<end]
    let isEscape = text[end] == "\u{1B}"
    text = text[text.index(after: end)...]
    if isEscape, text.first == "\\" { text.removeFirst() }
    return string
  }

  /// Returns the number of a link of the sequence `8;parameters;address`; 0 for one that ends a link, or is not safe.
  private mutating func number(ofLink fields: Substring) -> UInt16 {
    let address = fields.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false).last
    guard let address, !address.isEmpty, links.count < UInt16.max,
      address.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return 0 }
    if let known = links.firstIndex(of: String(address)) { return UInt16(known) }
    links.append(String(address))
    return UInt16(links.count - 1)
  }

  /// Gives the cells of an area a style, and keeps their characters.
  package mutating func restyle(_ area: Area, _ change: (inout CellStyle) -> Void) {
    for row in max(0, area.row)..<min(size.rows, max(0, area.row + area.rows)) {
      for column in max(0, area.column)..<min(size.columns, max(0, area.column + area.columns)) {
        change(&cells[row * size.columns + column].style)
      }
    }
  }

  /// Empties an area.
  package mutating func clear(_ area: Area, _ style: CellStyle = .plain) {
    for row in max(0, area.row)..<min(size.rows, max(0, area.row + area.rows)) {
      for column in max(0, area.column)..<min(size.columns, max(0, area.column + area.columns)) {
        cells[row * size.columns + column] = Cell(character: " ", style: style)
      }
    }
  }

  /// Draws one character, and moves the place behind it. Returns false if it does not fit.
  private mutating func put(
    _ character: Character, _ column: inout Int, _ row: Int, _ style: CellStyle, _ link: UInt16,
    _ limit: Int?
  ) -> Bool {
    guard (0..<size.rows).contains(row) else { return false }
    let end = min(limit ?? size.columns, size.columns)
    let isSafe = character.unicodeScalars.allSatisfy { !Buffer.isControl($0) }
    let character = isSafe ? character : "\u{FFFD}"
    let width = max(1, TextWidth.of(character))
    guard column + width <= end, column >= 0 else {
      if column >= 0, column < end { replace(column, row, [Cell(character: " ", style: style)]) }
      return false
    }
    let halves = Array(
      repeating: Cell(character: nil, style: style, link: link), count: width - 1)
    replace(column, row, [Cell(character: character, style: style, link: link)] + halves)
    column += width
    return true
  }

  /// Marks the end of a line of which some text does not fit.
  private mutating func markCut(
    _ text: String, from start: Int, _ row: Int, _ style: CellStyle, _ link: UInt16, _ limit: Int?
  ) {
    let last = min(limit ?? size.columns, size.columns) - 1
    guard (0..<size.rows).contains(row), last > max(0, start),
      StyledText.plain(text).contains(where: { !$0.isWhitespace })
    else { return }
    let isWide = cells[row * size.columns + last].character == nil
    let sign = Cell(character: "…", style: style, link: link)
    replace(isWide ? last - 1 : last, row, isWide ? [sign, .blank] : [sign])
  }

  /// Replaces cells. A wide character of which only one half is left becomes spaces.
  private mutating func replace(_ column: Int, _ row: Int, _ new: [Cell]) {
    let start = row * size.columns
    if column > 0, cells[start + column].character == nil {
      cells[start + column - 1].character = " "
    }
    var end = column + new.count
    while end < size.columns, cells[start + end].character == nil {
      cells[start + end].character = " "
      end += 1
    }
    for (offset, cell) in new.enumerated() { cells[start + column + offset] = cell }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
      true
    default: false
    }
  }

  // MARK: Text

  /// Returns the rows as text of their whole width.
  ///
  /// - Parameter colors: The colors of the sequences for styles; nil for no sequences.
  package func rows(_ colors: TerminalColors?) -> [String] {
    (0..<size.rows).map { row in
      var line = ""
      var style = CellStyle.plain
      for cell in self.row(row) {
        guard let character = cell.character else { continue }
        let wanted = colors?.reduced(cell.style) ?? .plain
        if wanted != style { line += "\u{1B}[\(wanted.parameters)m" }
        style = wanted
        line.append(character)
      }
      return style == .plain ? line : line + "\u{1B}[0m"
    }
  }

  /// The rows as text without styles, for tests.
  package var lines: [String] {
    (0..<size.rows).map { row in
      var line = String(self.row(row).compactMap(\.character))
      while line.hasSuffix(" ") { line.removeLast() }
      return line
    }
  }
}
