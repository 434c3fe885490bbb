/// A time in large digits of five lines.
package enum BigDigits {
  private static let shapes: [Character: [String]] = [
    "0": ["███", "█ █", "█ █", "█ █", "███"], "1": [" █ ", "██ ", " █ ", " █ ", "███"],
    "2": ["███", "  █", "███", "█  ", "███"], "3": ["███", "  █", "███", "  █", "███"],
    "4": ["█ █", "█ █", "███", "  █", "  █"], "5": ["███", "█  ", "███", "  █", "███"],
    "6": ["███", "█  ", "███", "█ █", "███"], "7": ["███", "  █", "  █", "  █", "  █"],
    "8": ["███", "█ █", "███", "█ █", "███"], "9": ["███", "█ █", "███", "  █", "███"],
    ":": [" ", "█", " ", "█", " "], " ": [" ", " ", " ", " ", " "],
    "A": ["███", "█ █", "███", "█ █", "█ █"], "P": ["███", "█ █", "███", "█  ", "█  "],
    "M": ["█   █", "██ ██", "█ █ █", "█   █", "█   █"],
  ]

  /// Returns the five lines of a time, such as `09:00` or `9:00 AM`.
  package static func lines(_ text: String) -> [String] {
    (0..<5).map { row in
      text.compactMap { shapes[$0]?[row] }
        .map { shape in shape.map { "\($0)\($0)" }.joined() }.joined(separator: "  ")
    }
  }

  /// Returns the width of the lines in columns.
  package static func width(of text: String) -> Int {
    TextWidth.of(lines(text).first ?? "")
  }
}
