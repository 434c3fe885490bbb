import BelfryTerminal

/// The bytes that change what a terminal shows into another screen.
///
/// Only cells that differ are sent. The terminal shows the change at once if it knows synchronized output.
package struct BufferDifference {
  /// The colors that a terminal can show.
  package enum Colors: Sendable {
    case none, palette16, palette256, rgb
  }

  private let colors: Colors
  private var bytes: [UInt8] = []
  private var style: CellStyle?
  /// The place of the terminal's cursor; nil if it is not known.
  private var place: (column: Int, row: Int)?

  /// Cells between two changes that are sent again rather than skipped: a move of the cursor has about this length.
  private static let gap = 4

  private init(_ colors: Colors) { self.colors = colors }

  /// Returns the bytes; none if nothing differs.
  ///
  /// - Parameter old: The screen that the terminal shows; nil if it is not known, so that everything is sent.
  package static func bytes(from old: Buffer?, to new: Buffer, _ colors: Colors) -> [UInt8] {
    if old == new { return [] }
    var difference = BufferDifference(colors)
    let known = old?.size == new.size ? old : nil
    if known == nil { difference.append("\u{1B}[0m\u{1B}[2J") }
    for row in 0..<new.size.rows { difference.appendRow(row, from: known, to: new) }
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
    var column = 0
    while column < new.size.columns {
      let cell = new.cells[start + column]
      let shown = old.map { $0.cells[start + column] } ?? .blank
      guard cell != shown, cell.character != nil || column == 0 else {
        column += 1
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
    if let place, place.column == column, place.row == row { return }
    append("\u{1B}[\(row + 1);\(column + 1)H")
    place = (column, row)
  }

  private mutating func send(_ cell: Cell) {
    guard let character = cell.character else { return }
    let wanted = reduced(cell.style)
    if style != wanted {
      append("\u{1B}[\(wanted.parameters)m")
      style = wanted
    }
    bytes.append(contentsOf: String(character).utf8)
    // Terminals disagree about the width of other characters, so that the next one gets an absolute place.
    place =
      character.isASCII || BufferDifference.isCertain(character)
      ? place.map { ($0.column + 1, $0.row) } : nil
  }

  /// Returns true for a character that takes one column in every terminal.
  private static func isCertain(_ character: Character) -> Bool {
    let scalars = character.unicodeScalars
    guard scalars.count == 1, let value = scalars.first?.value else { return false }
    return (0xA1...0x2FF).contains(value) && value != 0xAD || (0x2500...0x259F).contains(value)
  }

  /// Returns a style with the nearest colors that the terminal has.
  private func reduced(_ style: CellStyle) -> CellStyle {
    var style = style
    style.foreground = reduced(style.foreground)
    style.background = reduced(style.background)
    return style
  }

  private func reduced(_ color: CellColor) -> CellColor {
    switch (colors, color) {
    case (.none, _): return .standard
    case (.rgb, _), (_, .standard): return color
    case (.palette256, .rgb(let red, let green, let blue)):
      func level(_ value: UInt8) -> UInt8 { UInt8((Int(value) * 5 + 127) / 255) }
      return .palette(16 + 36 * level(red) + 6 * level(green) + level(blue))
    case (.palette256, .palette): return color
    case (.palette16, .palette(let number)):
      return number < 16 ? color : BufferDifference.basic(number)
    case (.palette16, .rgb(let red, let green, let blue)):
      return BufferDifference.basic(Int(red), Int(green), Int(blue))
    }
  }

  /// Returns the nearest of the 16 colors for one of the color cube or of the gray ramp.
  private static func basic(_ number: UInt8) -> CellColor {
    if number >= 232 {
      let gray = 8 + 10 * (Int(number) - 232)
      return basic(gray, gray, gray)
    }
    let index = Int(number) - 16
    func value(_ level: Int) -> Int { level == 0 ? 0 : 55 + 40 * level }
    return basic(value(index / 36), value(index / 6 % 6), value(index % 6))
  }

  private static func basic(_ red: Int, _ green: Int, _ blue: Int) -> CellColor {
    let most = max(red, green, blue)
    if most < 48 { return .palette(0) }
    var number = 0
    for (bit, value) in [red, green, blue].enumerated() where value * 2 > most {
      number |= 1 << bit
    }
    return .palette(UInt8(number + (most > 200 ? 8 : 0)))
  }
}
