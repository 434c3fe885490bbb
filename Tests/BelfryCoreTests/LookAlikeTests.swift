import BelfryCore
import Testing

/// Names and messages that look like others.
@Suite struct LookAlikeTests {
  @Test(
    "Names that look the same are detected in every script",
    arguments: [
      ("Alex", "\u{410}l\u{435}x"), ("Alex", "AIex"), ("Alex", "A1ex"), ("Alex", "\u{391}lex"),
      ("alex", "\u{430}\u{4CF}\u{435}\u{445}"), ("Bob", "\u{412}\u{43E}b"),
      ("Tom", "\u{422}orn"), ("Zoë", "Zo\u{451}"), ("Alex", "\u{FF21}lex"),
      ("Alex", "\u{1D400}lex"), ("Alex", "Al\u{AD}ex"), ("Ann  Lee", "Ann\u{A0}Lee"),
      ("O'Hara", "O\u{2019}Hara"), ("Оля", "\u{39F}ля"),
    ])
  func lookAlikes(_ a: String, _ b: String) {
    #expect(LookAlikes.areConfusable(a, b) && LookAlikes.areConfusable(b, a))
  }

  @Test(
    "Distinguishable names differ, and a name in another case is the same",
    arguments: [
      ("Alex", "Alec"), ("Zoë", "Zoe"), ("Ольга", "Олег"), ("Mia", "Nia"), ("李", "王"),
      ("Alex", "alex"), ("Alex", "ALEX"),
    ])
  func others(_ a: String, _ b: String) {
    #expect(!LookAlikes.areConfusable(a, b))
  }

  @Test(
    "A name without visible characters is refused",
    arguments: [
      "Al\u{AD}ex", "Alex\u{3164}", "Al\u{200D}ex", "Alex\u{FE0F}", "A\u{34F}lex", "\u{2800}Alex",
      "Al\u{E0041}ex", "Al\u{200C}ex", "Al\u{200B}ex", "Alex\u{2064}",
    ])
  func invisible(_ name: String) {
    #expect(AlarmText.hasInvisible(name))
    #expect(PartnerOrigin.name(name) == nil)
  }

  @Test(
    "Joiners and selectors are kept where the text needs them",
    arguments: [
      "Alex ❤️", "👩‍💻", "👨‍👩‍👧‍👦 Home", "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", "علی‌رضا",
      "क्‍ष",
      "葛\u{E0100}城", "👍🏽", "🏳️‍🌈", "Zoë",
    ])
  func visible(_ name: String) {
    #expect(!AlarmText.hasInvisible(name))
    #expect(PartnerOrigin.name(name) == name)
  }

  @Test("A name of forty characters is valid, however many bytes it takes")
  func longNames() {
    let family = String(repeating: "👨‍👩‍👧‍👦", count: 40)
    #expect(PartnerOrigin.name(family) == family)
    #expect(PartnerOrigin.name(family + "👍") == nil)
  }

  @Test("Words with letters of several scripts are detected")
  func mixedWords() {
    #expect(LookAlikes.hasMixedWord("Pay at p\u{430}ypal now"))
    #expect(!LookAlikes.hasMixedWord("Привет, wake up!"))
    #expect(!LookAlikes.hasMixedWord("ılık çay, 5 kΩ, naïve"))
  }
}
