extension AlarmText {
  /// Returns the indices of the scalars that are invisible in their context. Texts that look equal may differ in them.
  ///
  /// Invisible scalars are the default-ignorable code points of Unicode and the blank Braille pattern. Scalars that
  /// affect the display are excluded: variation selectors after emoji and ideographs, joiners between emoji and within
  /// scripts with joined letters, and the tags of a flag.
  public static func invisible(in scalars: [Unicode.Scalar]) -> [Int] {
    var isFlag = false
    return scalars.indices.filter { index in
      let scalar = scalars[index]
      let isTag = (0xE0020...0xE007F).contains(scalar.value)
      if !isTag { isFlag = scalar.value == 0x1F3F4 }
      guard scalar.properties.isDefaultIgnorableCodePoint || scalar.value == 0x2800 else {
        return false
      }
      let before = index > 0 ? scalars[index - 1] : nil
      let after = index + 1 < scalars.count ? scalars[index + 1] : nil
      switch scalar.value {
      case 0xFE0E, 0xFE0F:
        // After a digit, the selector is visible only in a keycap.
        return
          !(isEmojiPart(before) || before?.properties.isEmoji == true && after?.value == 0x20E3)
      case 0xE0100...0xE01EF: return !(before?.properties.isIdeographic ?? false)
      case 0x200C: return !(isJoining(before) && isJoining(after))
      case 0x200D: return !(isJoining(before) || isEmojiPart(before) && isEmojiPart(after))
      default: return !(isTag && isFlag)
      }
    }
  }

  /// Returns true if a text contains invisible characters.
  public static func hasInvisible(_ text: String) -> Bool {
    // Most text is ASCII, which has none.
    !text.utf8.allSatisfy { $0 < 0x80 } && !invisible(in: Array(text.unicodeScalars)).isEmpty
  }

  /// Returns true for letters and marks of the scripts in which joiners select a form: Arabic and its neighbors, the
  /// scripts of India, Myanmar, Khmer and Mongolian.
  private static func isJoining(_ scalar: Unicode.Scalar?) -> Bool {
    switch scalar?.value {
    case .some(0x0600...0x0DFF), .some(0x1000...0x109F), .some(0x1780...0x18AF): true
    default: false
    }
  }

  private static func isEmojiPart(_ scalar: Unicode.Scalar?) -> Bool {
    guard let scalar, scalar.value >= 0x80 else { return false }
    return scalar.properties.isEmoji || scalar.value == 0xFE0F
  }
}
