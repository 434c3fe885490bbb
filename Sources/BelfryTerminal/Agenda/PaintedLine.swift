/// A line or a part of one, with its width on the terminal.
struct PaintedLine {
  private(set) var text = ""
  private(set) var width = 0

  init() {}

  init(_ text: String, _ color: PaletteColor? = nil, _ style: Style) {
    append(text, color, style)
  }

  /// Appends text in a color.
  mutating func append(_ text: String, _ color: PaletteColor? = nil, _ style: Style) {
    self.text += style.paint(text, color)
    width += TextWidth.of(text)
  }

  /// Appends another line.
  mutating func append(_ other: PaintedLine) {
    text += other.text
    width += other.width
  }

  /// Appends spaces up to a column.
  mutating func pad(to column: Int) {
    guard width < column else { return }
    text += String(repeating: " ", count: column - width)
    width = column
  }

  /// The text without spaces at its end.
  var trimmed: String {
    var result = text[...]
    while result.last == " " { result.removeLast() }
    return String(result)
  }

  /// A word of a text that is wrapped.
  struct Word {
    let text: String
    let color: PaletteColor?
  }

  /// Returns words as lines of at most some columns. A longer word is split between characters.
  static func wrapped(_ words: [Word], to columns: Int, _ style: Style) -> [PaintedLine] {
    var lines: [PaintedLine] = []
    var line = PaintedLine()
    func finish() {
      lines.append(line)
      line = PaintedLine()
    }
    for word in words {
      let gap = line.width > 0 ? 1 : 0
      if line.width + gap + TextWidth.of(word.text) <= columns {
        line.append((gap > 0 ? " " : ""), nil, style)
        line.append(word.text, word.color, style)
        continue
      }
      if line.width > 0 { finish() }
      var rest = word.text[...]
      while !rest.isEmpty {
        let piece = prefix(of: rest, to: columns)
        rest = rest.dropFirst(piece.count)
        line.append(String(piece), word.color, style)
        if !rest.isEmpty { finish() }
      }
    }
    if line.width > 0 { finish() }
    return lines
  }

  /// Returns the first characters that fit into some columns, at least one.
  private static func prefix(of text: Substring, to columns: Int) -> Substring {
    var used = 0
    var count = 0
    for character in text {
      used += TextWidth.of(character)
      if used > columns, count > 0 { break }
      count += 1
    }
    return text.prefix(count)
  }
}
