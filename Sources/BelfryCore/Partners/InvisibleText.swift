extension AlarmText {
  /// The places of scalars that show nothing where they stand, so that two texts that look the same may differ.
  ///
  /// These are the default-ignorable code points of Unicode, and the blank of Braille. Those that change what is seen are
  /// none of them: variation selectors behind emoji and ideographs, joiners between emoji and within the scripts that
  /// join letters, the tags of a flag.
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
        // Behind a digit only where it makes a key of it.
        return
          !(isEmojiPart(before) || before?.properties.isEmoji == true && after?.value == 0x20E3)
      case 0xE0100...0xE01EF: return !(before?.properties.isIdeographic ?? false)
      case 0x200C: return !(isJoining(before) && isJoining(after))
      case 0x200D: return !(isJoining(before) || isEmojiPart(before) && isEmojiPart(after))
      default: return !(isTag && isFlag)
      }
    }
  }

  /// Returns true when a text has characters that nobody sees.
  public static func hasInvisible(_ text: String) -> Bool {
    // Most text is ASCII, which has none.
    !text.utf8.allSatisfy { $0 < 0x80 } && !invisible(in: Array(text.unicodeScalars)).isEmpty
  }

  /// Letters and marks of the scripts in which joiners choose between forms: Arabic and its neighbors, those of India,
  /// Myanmar, Khmer and Mongolian.
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
