import CLinux

/// The width of text on a terminal, in columns.
package enum TextWidth {
  /// Returns the width of a character: the width of its widest scalar, as terminals combine the scalars.
  package static func of(_ character: Character) -> Int {
    if character.isASCII { return 1 }
    let scalars = character.unicodeScalars
    // The variation selector that requests emoji presentation.
    if scalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
    return scalars.map(of).max() ?? 0
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    if isNarrow(scalar) { return 1 }
    // Swift's tables are newer than those of most C libraries, and cover flags.
    if scalar.properties.isEmojiPresentation { return 2 }
    guard let locale else { return 1 }
    let width = Int(belfry_character_width(locale, scalar.value))
    // The C library knows no width of control characters and of unassigned ones.
    return width < 0 ? 1 : width
  }

  /// Returns true for the Latin letters and the punctuation of Belfry's own texts, which need no locale.
  private static func isNarrow(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20...0x7E, 0xA0...0xAC, 0xAE...0x2FF, 0x2010...0x2027, 0x2500...0x259F: true
    default: false
    }
  }

  /// The locale whose character table the C library uses; nil if the system lacks it.
  // Sound: the locale is created once and never changed or freed, and `uselocale` and `wcwidth` only read it.
  nonisolated(unsafe) private static let locale = belfry_utf8_locale()

  private static func isASCII(_ text: String) -> Bool {
    let isASCII = text.utf8.withContiguousStorageIfAvailable { bytes in
      // Faster than a search for the first other byte, as most texts have none.
      bytes.reduce(0) { $0 | $1 } < 0x80
    }
    return isASCII ?? text.utf8.allSatisfy { $0 < 0x80 }
  }

  /// Returns the width of a text in UTF-8.
  package static func of(utf8 text: ArraySlice<UInt8>) -> Int {
    text.reduce(0) { $0 | $1 } < 0x80 ? text.count : of(String(decoding: text, as: UTF8.self))
  }

  /// Returns the width of a text.
  package static func of(_ text: String) -> Int {
    isASCII(text) ? text.utf8.count : text.reduce(0) { $0 + of($1) }
  }

  /// Returns a text, cut and followed by an ellipsis if it is wider than `columns`.
  package static func cut(_ text: String, to columns: Int) -> String {
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

  /// Returns a text with spaces behind it, up to a width.
  package static func padded(_ text: String, to columns: Int) -> String {
    text + String(repeating: " ", count: max(0, columns - of(text)))
  }

  /// Returns a text wrapped between words. A line is wider than `columns` only if a single word is.
  package static func wrapped(_ text: String, to columns: Int) -> [String] {
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
