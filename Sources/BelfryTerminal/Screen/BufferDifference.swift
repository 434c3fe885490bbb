/// The bytes that change what a terminal shows into another screen.
///
/// Only cells that differ are sent. The terminal shows the change at once if it knows synchronized output.
package struct BufferDifference {
  private let colors: TerminalColors
  /// True if the terminal was cleared.
  private var isBlank = false
  private var bytes: [UInt8] = []
  private var style: CellStyle?
  /// The links of the new screen, and the one of the cells that are sent.
  private var links = [""]
  private var link: UInt16 = 0
  /// The place of the terminal's cursor; nil if it is not known.
  private var place: (column: Int, row: Int)?

  /// Cells between two changes that are sent again rather than skipped: a move of the cursor has about this length.
  private static let gap = 4
  /// Blanks that are sent rather than erased: at the end of a row, and before other cells, where the cursor moves as well.
  private static let blanks = (atEnd: 4, between: 9)

  private init(_ colors: TerminalColors) { self.colors = colors }

  /// Returns the bytes; none if nothing differs.
  ///
  /// - Parameters:
  ///   - old: The screen that the terminal shows; nil if it is not known, so that everything is sent.
  ///   - clears: False if the terminal shows cells of the same screen, so that it needs not be cleared before all are sent.
  package static func bytes(
    from old: Buffer?, to new: Buffer, _ colors: TerminalColors, clears: Bool = true
  ) -> [UInt8] {
    if old == new { return [] }
    let known = old?.size == new.size ? old : nil
    let plain = bytes(from: known, to: new, BufferDifference(colors), clears: clears)
    guard let known, let scroll = BufferScroll(from: known, to: new) else { return plain }
    var start = BufferDifference(colors)
    start.append(scroll.sequence)
    let scrolled = bytes(from: scroll.applied(to: known), to: new, start, clears: false)
    return scrolled.count < plain.count ? scrolled : plain
  }

  private static func bytes(
    from known: Buffer?, to new: Buffer, _ start: BufferDifference, clears: Bool
  ) -> [UInt8] {
    var difference = start
    difference.links = new.links
    difference.isBlank = known == nil && clears
    if difference.isBlank { difference.append("\u{1B}[0m\u{1B}[2J") }
    for row in 0..<new.size.rows { difference.appendRow(row, from: known, to: new) }
    difference.open(0)
    if difference.style != nil, difference.style != .plain { difference.append("\u{1B}[0m") }
    if let cursor = new.cursor {
      difference.move(cursor.column, cursor.row)
      if known?.cursor == nil { difference.append("\u{1B}[?25h") }
    } else if known?.cursor != nil || known == nil {
      difference.append("\u{1B}[?25l")
    }
    return Array("\u{1B}[?2026h".utf8) + difference.bytes + Array("\u{1B}[?2026l".utf8)
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func appendRow(_ row: Int, from old: Buffer?, to new: Buffer) {
    let start = row * new.size.columns
    let hasSameLinks = old?.links == new.links
    let cells = new.cells[start..<start + new.size.columns]
    let end = cells.lastIndex { $0 != .blank }.map { $0 - start + 1 } ?? 0
    var column = 0
    while column < new.size.columns {
      if column == end, let old {
        let rest = old.cells[start + end..<start + new.size.columns]
        if rest.count(where: { $0 != .blank }) > BufferDifference.blanks.atEnd {
          return erase(from: end, row)
        }
      }
      let cell = new.cells[start + column]
      let shown = old?.cells[start + column] ?? (isBlank ? .blank : nil)
      guard cell != shown || cell.link != 0 && !hasSameLinks, cell.character != nil || column == 0
      else {
        column += 1
        continue
      }
      let blanks =
        old == nil ? 0 : cells[(start + column)...].prefix(while: { $0 == .blank }).count
      if blanks > BufferDifference.blanks.between {
        erase(blanks, from: column, row)
        column += blanks
        continue
      }
      // A change of the second half alone sends the whole character.
      if let place, place.row == row, column - place.column <= BufferDifference.gap,
        place.column <= column,
        (place.column..<column).allSatisfy({ new.cells[start + $0].character?.isASCII == true })
      {
        for between in place.column..<column { send(new.cells[start + between]) }
      } else {
        move(column, row)
      }
      send(cell)
      column += 1
    }
  }

  private mutating func move(_ column: Int, _ row: Int) {
    if let place, place.row == row, place.column <= column {
      let steps = column - place.column
      if steps > 0 { append("\u{1B}[\(steps)C") }
    } else {
      append("\u{1B}[\(row + 1);\(column + 1)H")
    }
    place = (column, row)
  }

  /// Makes cells of a row blank.
  ///
  /// - Parameter count: The number of cells; nil for the rest of the row.
  private mutating func erase(_ count: Int? = nil, from column: Int, _ row: Int) {
    move(column, row)
    // Terminals erase with the present background, and some with the present link.
    open(0)
    if style != .plain {
      append("\u{1B}[0m")
      style = .plain
    }
    append(count.map { "\u{1B}[\($0)X" } ?? "\u{1B}[K")
  }

  private mutating func send(_ cell: Cell) {
    guard let character = cell.character else { return }
    let wanted = colors.reduced(cell.style)
    if style != wanted {
      append("\u{1B}[\(wanted.parameters)m")
      style = wanted
    }
    if colors.hasLinks { open(cell.link) }
    bytes.append(contentsOf: String(character).utf8)
    // Terminals disagree about the width of other characters, so that the next one gets an absolute place.
    place =
      character.isASCII || BufferDifference.isCertain(character)
      ? place.map { ($0.column + 1, $0.row) } : nil
  }

  /// Begins a link, and ends the one before; 0 for none.
  private mutating func open(_ number: UInt16) {
    if number != link { append(Hyperlinks.sequence(links[Int(number)])) }
    link = number
  }

  /// Returns true for a character that takes one column in every terminal.
  private static func isCertain(_ character: Character) -> Bool {
    let scalars = character.unicodeScalars
    guard scalars.count == 1, let value = scalars.first?.value else { return false }
    return (0xA1...0x2FF).contains(value) && value != 0xAD || (0x2500...0x259F).contains(value)
  }
}
