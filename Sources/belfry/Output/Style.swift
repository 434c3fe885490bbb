import Glibc

/// The capabilities of the terminal on standard output: colors and width.
struct Style: Sendable {
  let isColored: Bool
  /// The width in columns; nil if standard output is not a terminal.
  let width: Int?

  /// Detects the capabilities. `NO_COLOR` and `TERM=dumb` disable colors.
  init(_ environment: [String: String]) {
    let isTerminal = isatty(STDOUT_FILENO) == 1
    let isPlain =
      !(environment["NO_COLOR"] ?? "").isEmpty || ["", "dumb"].contains(environment["TERM"] ?? "")
    isColored = isTerminal && !isPlain
    width = Style.width(STDOUT_FILENO)
  }

  /// Returns the width of a terminal in columns, or nil if the descriptor is not a terminal.
  static func width(_ descriptor: Int32) -> Int? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return isKnown ? Int(size.ws_col) : 80
  }

  init(isColored: Bool, width: Int?) {
    self.isColored = isColored
    self.width = width
  }

  enum Color: String {
    case plain = "0"
    case bold = "1"
    case faint = "2"
    case red = "1;31"
    case plainRed = "31"
    case orange = "38;5;208"
    case green = "32"
    case yellow = "33"
    case blue = "34"
    case magenta = "35"
    case brightMagenta = "1;95"
    case cyan = "36"
  }

  /// Returns text in a color, if the terminal has colors.
  func paint(_ text: String, _ color: Color) -> String {
    isColored ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// The sequence that sets a black background and a white foreground.
  static let black = "\u{1B}[0m\u{1B}[40m\u{1B}[48;2;0;0;0m\u{1B}[97m"

  /// The sequence that restores the terminal's default colors.
  var reset: String { isColored ? "\u{1B}[0m" : "" }

  /// Returns text in a color, followed by the sequence that restores the black screen.
  func paintOnBlack(_ text: String, _ color: Color) -> String {
    isColored ? "\u{1B}[\(color.rawValue)m\(text)\(Style.black)" : text
  }

  /// Returns a line cut to the width of the terminal. Returns it unchanged if there is no terminal.
  func fit(_ text: String, indent: Int = 0) -> String {
    guard let width else { return text }
    return TextWidth.cut(text, to: max(8, width - indent))
  }

  /// True if standard input and standard error are terminals, so that the user can be asked.
  static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }
}

/// The width of text on a terminal, in columns.
enum TextWidth {
  /// Returns the width of a character: the width of its widest scalar, as terminals combine the scalars.
  static func of(_ character: Character) -> Int {
    if character.isASCII { return 1 }
    let scalars = character.unicodeScalars
    // The variation selector that requests emoji presentation.
    if scalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
    return scalars.map(of).max() ?? 0
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    let properties = scalar.properties
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if properties.isEmojiPresentation { return 2 }
    // The blocks that Unicode's EastAsianWidth.txt marks wide or fullwidth.
    let wide: [ClosedRange<UInt32>] = [
      0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
      0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  /// Returns the width of a text.
  static func of(_ text: String) -> Int {
    text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + of($1) }
  }

  /// Returns a text, cut and followed by an ellipsis if it is wider than `columns`.
  static func cut(_ text: String, to columns: Int) -> String {
    guard of(text) > columns else { return text }
    var result = ""
    var used = 0
    for character in text {
      let width = of(character)
      if used + width > columns - 1 { break }
      result.append(character)
      used += width
    }
    return result + "…"
  }

  /// Returns a text wrapped between words. A line is wider than `columns` only if a single word is.
  static func wrapped(_ text: String, to columns: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, TextWidth.of(line) + 1 + TextWidth.of(String(word)) > columns {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return line.isEmpty ? lines : lines + [line]
  }
}
