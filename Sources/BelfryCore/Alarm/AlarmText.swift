/// The rules for the text of an alarm.
public enum AlarmText {
  /// The maximum length of a title, in characters (grapheme clusters).
  public static let longestTitle = 200
  /// The maximum length of a note, in characters (grapheme clusters).
  public static let longestNote = 2000

  /// Returns a title without surrounding white space.
  ///
  /// - Throws: `AlarmTextError` if the title has no visible character, has more than 200 characters, or contains a
  ///   control character.
  public static func title(_ text: String) throws(AlarmTextError) -> String {
    let trimmed = trim(text)
    if let scalar = trimmed.unicodeScalars.first(where: isControl) { throw .titleControl(scalar) }
    guard trimmed.unicodeScalars.contains(where: isVisible) else { throw .titleEmpty }
    // One character can consist of many scalars. This check also bounds the size in bytes.
    guard trimmed.count <= longestTitle, trimmed.unicodeScalars.count <= longestTitle * 8 else {
      throw .titleTooLong(trimmed.count)
    }
    return trimmed
  }

  /// Returns a note without surrounding white space; nil if nothing remains.
  ///
  /// - Throws: `AlarmTextError` if the note has more than 2,000 characters, or contains a control character other than
  ///   newline and tab.
  public static func note(_ text: String) throws(AlarmTextError) -> String? {
    let trimmed = trim(text)
    if let scalar = trimmed.unicodeScalars.first(where: {
      isControl($0) && $0 != "\n" && $0 != "\t"
    }) {
      throw .noteControl(scalar)
    }
    guard trimmed.count <= longestNote, trimmed.unicodeScalars.count <= longestNote * 8 else {
      throw .noteTooLong(trimmed.count)
    }
    return trimmed.isEmpty ? nil : trimmed
  }

  private static func trim(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }

  /// Returns true for a C0 or C1 control character or DEL, which a terminal interprets.
  public static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }

  /// Returns true if a scalar is visible on its own.
  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator,
      .spaceSeparator, .nonspacingMark, .enclosingMark:
      false
    default: !scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isWhitespace
    }
  }
}

/// The reason why a text is not a valid title or note.
public enum AlarmTextError: Error, Equatable, Sendable {
  /// The title has no visible character.
  case titleEmpty
  /// The title has the given number of characters, more than `AlarmText.longestTitle`.
  case titleTooLong(Int)
  /// The title contains the given control character.
  case titleControl(Unicode.Scalar)
  /// The note has the given number of characters, more than `AlarmText.longestNote`.
  case noteTooLong(Int)
  /// The note contains the given control character.
  case noteControl(Unicode.Scalar)
}

extension Unicode.Scalar {
  /// True if the scalar is invisible and affects a terminal or the surrounding text.
  ///
  /// These are control characters, bidirectional controls, line separators and zero-width characters. The zero-width
  /// joiner and non-joiner are not among them, because emoji and Persian text need them.
  public var isHidden: Bool {
    switch value {
    case ..<0x20, 0x7F...0x9F, 0x61C, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F,
      0xFEFF:
      true
    default: false
    }
  }
}
