import Testing

@testable import BelfryCommands
@testable import BelfryTerminal

/// The number of terminal columns of characters.
@Suite struct TextWidthTests {
  @Test(arguments: [
    ("", 0), ("Tea", 3), ("Grüße", 5), ("e\u{301}", 1), ("…·–“”", 5), ("█▀▄", 3), ("Ωмега", 5),
    // East Asian characters, also half-width ones and composed syllables.
    ("薬を飲む", 8), ("ＡＢ", 4), ("ｱｲ", 2), ("한국", 4), ("\u{1112}\u{1161}\u{11AB}", 2),
    // Emoji: a plain one, text presentation, emoji presentation, a skin tone, a family, a flag, a keycap.
    ("💊", 2), ("❤", 1), ("❤️", 2), ("☕️", 2), ("⏰", 2), ("👍🏽", 2), ("👨‍👩‍👧", 2), ("🇩🇪", 2),
    ("1️⃣", 2), ("🫨", 2),
    // Marks and joiners have no width.
    ("a\u{200D}b", 2), ("ก็", 1), ("न\u{93C}", 1),
  ])
  func columns(_ text: String, _ width: Int) {
    #expect(TextWidth.of(text) == width)
  }

  @Test func aTruncatedTextAlsoFitsAfterAWideCharacter() {
    #expect(TextWidth.cut("薬を飲む", to: 8) == "薬を飲む")
    #expect(TextWidth.cut("薬を飲む", to: 7) == "薬を飲…")
    #expect(TextWidth.cut("薬を飲む", to: 6) == "薬を…")
  }
}
