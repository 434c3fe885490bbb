/// The rules for what a person may write into an alarm.
public enum AlarmText {
  /// The longest title, in characters as people count them.
  public static let longestTitle = 200
  /// The longest note, in characters as people count them.
  public static let longestNote = 2000

  /// A title without the white space around it.
  ///
  /// Throws when it shows nothing, is longer than 200 characters or holds a control character.
  public static func title(_ text: String) throws(AlarmTextError) -> String {
    let trimmed = trim(text)
    if let scalar = trimmed.unicodeScalars.first(where: isControl) { throw .titleControl(scalar) }
    guard trimmed.unicodeScalars.contains(where: isVisible) else { throw .titleEmpty }
    // A character may be many scalars long; this bounds the bytes as well.
    guard trimmed.count <= longestTitle, trimmed.unicodeScalars.count <= longestTitle * 8 else {
      throw .titleTooLong(trimmed.count)
    }
    return trimmed
  }

  /// A note without the white space around it; nil when nothing is left.
  ///
  /// Throws when it is longer than 2,000 characters or holds a control character other than newline
  /// and tab.
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

  /// C0 and C1 controls and DEL: what a terminal would obey.
  public static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }

  /// Whether a scalar puts ink on the screen by itself.
  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator,
      .spaceSeparator, .nonspacingMark, .enclosingMark:
      false
    default: !scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isWhitespace
    }
  }
}

/// Why a text may not stand in an alarm.
public enum AlarmTextError: Error, Equatable, Sendable {
  case titleEmpty
  case titleTooLong(Int)
  case titleControl(Unicode.Scalar)
  case noteTooLong(Int)
  case noteControl(Unicode.Scalar)
}

extension Unicode.Scalar {
  /// Whether it does something to a terminal, or to the text around it, instead of being seen: a control, a mark
  /// that turns the direction of text, a separator of lines, what shows nothing at all.
  ///
  /// The joiners of emoji and of Persian are none of these.
  public var isHidden: Bool {
    switch value {
    case ..<0x20, 0x7F...0x9F, 0x61C, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F,
      0xFEFF:
      true
    default: false
    }
  }
}
