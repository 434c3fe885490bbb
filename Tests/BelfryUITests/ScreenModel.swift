@testable import BelfryTerminal

/// A terminal that knows the sequences of `BufferDifference`, to compare what it shows with the screen.
struct ScreenModel {
  let size: Size
  var cells: [Cell]
  var cursor: (column: Int, row: Int)?
  private var place = (column: 0, row: 0)
  private var style = CellStyle.plain
  private var margins: Range<Int>
  /// The address of the link that the next characters belong to.
  private var link = ""
  /// The characters of each link.
  var linked: [String: String] = [:]
  /// Sequences that are not known.
  var unknown: [String] = []
  /// Widths that this terminal gives to wide characters: terminals disagree.
  var wideWidth: Int?

  init(_ size: Size) {
    self.size = size
    margins = 0..<size.rows
    cells = Array(repeating: .blank, count: size.columns * size.rows)
  }

  mutating func write(_ bytes: [UInt8]) {
    var rest = String(decoding: bytes, as: UTF8.self)[...]
    while let character = rest.popFirst() {
      if character == "\n" || character == "\u{1B}" && rest.first == "M" {
        if character != "\n" { rest.removeFirst() }
        move(down: character == "\n")
        continue
      }
      guard character == "\u{1B}" else {
        put(character)
        continue
      }
      if rest.hasPrefix("]8;;"), let end = rest.firstIndex(of: "\u{1B}") {
        link = String(rest[..<end].dropFirst(4))
        rest = rest[end...].dropFirst(2)
        continue
      }
      guard rest.popFirst() == "[", let end = rest.firstIndex(where: { $0.isLetter }) else {
        unknown.append(String(rest.prefix(4)))
        continue
      }
      let parameters = rest[..<end]
      handle(parameters, rest[end])
      rest = rest[rest.index(after: end)...]
    }
  }

  private mutating func handle(_ parameters: Substring, _ final: Character) {
    let numbers = parameters.split(separator: ";").compactMap { Int($0) }
    switch (final, parameters) {
    case ("H", _): place = (numbers[1] - 1, numbers[0] - 1)
    case ("C", _): place.column += numbers.first ?? 1
    case ("K", ""): erase(size.columns - place.column)
    case ("X", _): erase(numbers.first ?? 1)
    case ("r", ""):
      margins = 0..<size.rows
      place = (0, 0)
    case ("r", _):
      margins = numbers[0] - 1..<numbers[1]
      place = (0, 0)
    case ("m", _): style.apply(numbers)
    case ("J", "2"): cells = Array(repeating: .blank, count: cells.count)
    case ("h", "?25"): cursor = place
    case ("l", "?25"): cursor = nil
    case ("h", "?2026"), ("l", "?2026"): break
    default: unknown.append("\(parameters)\(final)")
    }
    if cursor != nil { cursor = place }
  }

  /// Erases cells from the cursor on. Terminals disagree about the attributes of erased cells.
  private mutating func erase(_ count: Int) {
    let start = place.row * size.columns + place.column
    if place.column + count > size.columns { unknown.append("erased beyond the row") }
    cells.replaceSubrange(
      start..<start + count, with: Array(repeating: .blank, count: count))
    if style != .plain || !link.isEmpty { unknown.append("erased with a style") }
  }

  /// Moves the cursor by a row. At a margin, the rows between the margins scroll.
  private mutating func move(down: Bool) {
    if place.row != (down ? margins.upperBound - 1 : margins.lowerBound) {
      place.row += down ? 1 : -1
      return
    }
    var rows = margins.map { Array(cells[$0 * size.columns..<($0 + 1) * size.columns]) }
    let blank = Array(repeating: Cell.blank, count: size.columns)
    if down {
      rows.removeFirst()
      rows.append(blank)
    } else {
      rows.removeLast()
      rows.insert(blank, at: 0)
    }
    let range = margins.lowerBound * size.columns..<margins.upperBound * size.columns
    cells.replaceSubrange(range, with: rows.flatMap { $0 })
  }

  private mutating func put(_ character: Character) {
    let width = max(1, TextWidth.of(character))
    let index = place.row * size.columns + place.column
    guard place.column + width <= size.columns, cells.indices.contains(index) else {
      unknown.append("outside \(character)")
      return
    }
    if !link.isEmpty { linked[link, default: ""].append(character) }
    cells[index] = Cell(character: character, style: style)
    for extra in 1..<max(2, width) where width > 1 {
      cells[index + extra] = Cell(character: nil, style: style)
    }
    place.column += character.isASCII ? width : wideWidth ?? width
    if cursor != nil { cursor = place }
  }
}
