/// A comparison of texts by their appearance: `Alex` with a Cyrillic А, `AIex` with a capital I.
///
/// The method is the skeleton of Unicode Technical Standard #39, "Unicode Security Mechanisms", section 4: each scalar
/// is replaced by a prototype that stands for all similar ones. Two texts are confusable if their skeletons are equal.
///
/// The table is a manual selection from the standard's `confusables.txt`: letters of Greek, Cyrillic, Armenian, Coptic,
/// Cherokee, Lisu and the phonetic alphabet that look like an ASCII letter. The table also maps κ, к, η, т and τ to
/// similar ASCII letters. Mathematical, circled and full-width letters are computed, because they are in alphabetical
/// order. To extend the table, add code points of `confusables.txt`
/// (https://www.unicode.org/Public/security/latest/) to their letter.
public enum LookAlikes {
  /// Returns true if two texts differ, ignoring case, but look alike.
  public static func areConfusable(_ a: String, _ b: String) -> Bool {
    a.lowercased() != b.lowercased() && skeleton(a) == skeleton(b)
  }

  /// Returns a text that is equal for texts that look alike.
  static func skeleton(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace {
        if result.last != " ", !result.isEmpty { result += " " }
      } else if !scalar.properties.isDefaultIgnorableCodePoint {
        result += prototype(scalar)
      }
    }
    if result.last == " " { result.removeLast() }
    return result.lowercased()
  }

  /// Returns true if a word mixes ASCII letters with letters of another script that look like ASCII letters.
  public static func hasMixedWord(_ text: String) -> Bool {
    text.split { !$0.isLetter && !$0.isNumber }.contains { word in
      word.unicodeScalars.contains { $0.isASCII && $0.properties.isAlphabetic }
        && word.unicodeScalars.contains { isOtherScript($0) && isLetter(prototype($0)) }
    }
  }

  private static func isLetter(_ text: String) -> Bool {
    text.unicodeScalars.first.map { $0.isASCII && $0.properties.isAlphabetic } ?? false
  }

  /// Returns true if a scalar is outside the Latin blocks.
  private static func isOtherScript(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case ..<0x0370, 0x1D00...0x1DBF, 0x1E00...0x1EFF: false
    default: true
    }
  }

  private static func prototype(_ scalar: Unicode.Scalar) -> String {
    let plain = plainLetter(scalar) ?? scalar
    return table[plain.value] ?? String(plain)
  }

  /// Returns the ASCII letter or digit that a scalar is a variant of; nil for any other scalar.
  private static func plainLetter(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    func letter(_ index: UInt32) -> UInt32 { index < 26 ? 0x41 + index : 0x61 + index - 26 }
    let value: UInt32
    switch scalar.value {
    case 0xFF01...0xFF5E: value = scalar.value - 0xFEE0
    case 0x24B6...0x24E9: value = letter(scalar.value - 0x24B6)
    case 0x1D400...0x1D6A3: value = letter((scalar.value - 0x1D400) % 52)
    case 0x1D7CE...0x1D7FF: value = 0x30 + (scalar.value - 0x1D7CE) % 10
    default: return nil
    }
    return Unicode.Scalar(value)
  }

  private static let table: [UInt32: String] = {
    var table: [UInt32: String] = [:]
    for (prototype, scalars) in prototypes {
      for scalar in scalars { table[scalar] = prototype }
    }
    return table
  }()

  private static let prototypes: [(prototype: String, scalars: [UInt32])] = [
    // Letters of ASCII that look like others of them.
    ("l", [0x31, 0x49, 0x7C]), ("O", [0x30]), ("rn", [0x6D]),
    // Small letters.
    ("a", [0x0251, 0x03B1, 0x0430, 0x237A]),
    ("b", [0x0184, 0x042C, 0x13CF]),
    ("c", [0x03F2, 0x0441, 0x1D04, 0x217D, 0x2CA5]),
    ("d", [0x0501, 0x13E7, 0x217E]),
    ("e", [0x0435, 0x04BD, 0x212E, 0xAB32]),
    ("f", [0x017F, 0x03DD, 0x0584, 0x1E9D, 0xA799]),
    ("g", [0x018D, 0x0261, 0x0581, 0x1D83]),
    ("h", [0x04BB, 0x0570, 0x13C2]),
    ("i", [0x0131, 0x0269, 0x026A, 0x037A, 0x03B9, 0x0456, 0x13A5, 0x2170]),
    ("j", [0x03F3, 0x0458]),
    ("k", [0x0138, 0x03BA, 0x043A]),
    (
      "l", [0x01C0, 0x0399, 0x0406, 0x04C0, 0x04CF, 0x2160, 0x217C, 0x2223, 0x2C92, 0x2D4F, 0xA4F2]
    ),
    ("rn", [0x217F]),
    ("n", [0x03B7, 0x0578, 0x057C]),
    ("o", [0x03BF, 0x03C3, 0x043E, 0x0585, 0x05E1, 0x10FF, 0x1D0F, 0x1D11, 0x2134, 0x2C9F]),
    ("p", [0x03C1, 0x03F1, 0x0440, 0x2374, 0x2CA3]),
    ("q", [0x051B, 0x0563, 0x0566]),
    ("r", [0x0433, 0x1D26, 0x2C85, 0xAB47]),
    ("s", [0x01BD, 0x0455, 0xA731]),
    ("t", [0x03C4, 0x0442, 0x1D1B]),
    ("u", [0x028B, 0x03C5, 0x057D, 0x1D1C, 0xA79F]),
    ("v", [0x03BD, 0x0475, 0x05D8, 0x1D20, 0x2174, 0x2228]),
    ("w", [0x026F, 0x0461, 0x051D, 0x0561, 0x1D21]),
    ("x", [0x00D7, 0x0445, 0x1541, 0x157D, 0x2179, 0x2A2F]),
    ("y", [0x0263, 0x028F, 0x03B3, 0x0443, 0x04AF, 0x10E7, 0x1D8C, 0x1EFF]),
    ("z", [0x1D22]),
    // Capital letters.
    ("A", [0x0391, 0x0410, 0x13AA, 0x15C5, 0xA4EE]),
    ("B", [0x0392, 0x0412, 0x13F4, 0x15F7, 0x212C, 0x2C82, 0xA4D0]),
    ("C", [0x03F9, 0x0421, 0x13DF, 0x216D, 0x2CA4, 0xA4DA]),
    ("D", [0x13A0, 0x15DE, 0x15EA, 0x216E, 0xA4D3]),
    ("E", [0x0395, 0x0415, 0x13AC, 0x22FF, 0x2D39, 0xA4F0]),
    ("F", [0x03DC, 0x15B4, 0xA4DD, 0xA798]),
    ("G", [0x050C, 0x13C0, 0x13F3, 0xA4D6]),
    ("H", [0x0397, 0x041D, 0x13BB, 0x157C, 0x2C8E, 0xA4E7]),
    ("J", [0x037F, 0x0408, 0x13AB, 0x148D, 0xA4D9, 0xA7B2]),
    ("K", [0x039A, 0x041A, 0x13E6, 0x16D5, 0x212A, 0x2C94, 0xA4D7]),
    ("L", [0x13DE, 0x14AA, 0x216C, 0x2CD0, 0xA4E1]),
    ("M", [0x039C, 0x03FA, 0x041C, 0x13B7, 0x15F0, 0x16D6, 0x216F, 0x2C98, 0xA4DF]),
    ("N", [0x039D, 0x2C9A, 0xA4E0]),
    ("O", [0x039F, 0x041E, 0x0555, 0x07C0, 0x09E6, 0x0B20, 0x12D0, 0x2C9E, 0x2D54, 0xA4F3]),
    ("P", [0x03A1, 0x0420, 0x13E2, 0x146D, 0x2CA2, 0xA4D1]),
    ("Q", [0x051A, 0x211A, 0x2D55]),
    ("R", [0x01A6, 0x13A1, 0x13D2, 0x1587, 0xA4E3]),
    ("S", [0x0405, 0x054F, 0x13D5, 0x13DA, 0xA4E2]),
    ("T", [0x03A4, 0x0422, 0x13A2, 0x22A4, 0x27D9, 0x2CA6, 0xA4D4]),
    ("U", [0x054D, 0x1200, 0x144C, 0x222A, 0x22C3, 0xA4F4]),
    ("V", [0x0474, 0x0667, 0x06F7, 0x13D9, 0x142F, 0x2164, 0x2D38, 0xA4E6]),
    ("W", [0x051C, 0x13B3, 0x13D4, 0xA4EA]),
    ("X", [0x03A7, 0x0425, 0x166D, 0x16B7, 0x2169, 0x2573, 0x2CAC, 0x2D5D, 0xA4EB]),
    ("Y", [0x03A5, 0x03D2, 0x0423, 0x04AE, 0x13A9, 0x13BD, 0x2CA8, 0xA4EC]),
    ("Z", [0x0396, 0x13C3, 0x2124, 0xA4DC]),
    // Letters with marks, as one scalar.
    ("e\u{300}", [0x0450]), ("e\u{308}", [0x0451]), ("E\u{308}", [0x0401]),
    ("i\u{308}", [0x0457, 0x03CA]), ("l\u{308}", [0x0407, 0x03AA]), ("k\u{301}", [0x045C]),
    ("y\u{306}", [0x045E]), ("a\u{301}", [0x03AC]), ("A\u{301}", [0x0386]),
    ("n\u{301}", [0x03AE]), ("i\u{301}", [0x03AF]), ("o\u{301}", [0x03CC]),
    ("O\u{301}", [0x038C]), ("u\u{301}", [0x03CD]),
    // Ligatures, apostrophes and hyphens.
    ("fi", [0xFB01]), ("fl", [0xFB02]),
    ("'", [0x60, 0xB4, 0x02B9, 0x02BC, 0x2018, 0x2019, 0x2032]),
    ("-", [0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212]),
  ]
}
