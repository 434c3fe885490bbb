import Testing

@testable import BelfryTerminal

@Suite struct InputDecoderTests {
  private func read(_ text: String) -> [InputEvent] {
    var decoder = InputDecoder()
    return decoder.read(Array(text.utf8)) + decoder.finish()
  }

  @Test(
    "Keys of all kinds of terminals have names",
    arguments: [
      ("d", "d"), ("S", "S"), (" ", "space"), ("\r", "enter"), ("\t", "tab"),
      ("\u{7F}", "backspace"),
      ("\u{12}", "ctrl-r"), ("\u{1B}", "esc"), ("\u{1B}[A", "up"), ("\u{1B}OB", "down"),
      ("\u{1B}[5~", "pageup"), ("\u{1B}[Z", "shift-tab"), ("\u{1B}[1;5C", "ctrl-right"),
      ("\u{1B}x", "alt-x"), ("\u{1B}OP", "f1"), ("\u{1B}[15~", "f5"), ("\u{1B}[24~", "f12"),
      ("\u{1B}[3~", "delete"), ("\u{1B}[114;5u", "ctrl-r"), ("\u{1B}[27u", "esc"), ("é", "é"),
      ("日", "日"), ("👍", "👍"),
    ])
  func keys(bytes: String, name: String) {
    #expect(read(bytes).map { if case .key(let key) = $0 { key.name } else { "?" } } == [name])
  }

  @Test("The name of a key reads as the same key")
  func names() {
    for name in ["d", "S", "space", "ctrl-r", "alt-x", "shift-tab", "f12", "?", "-", "ctrl-left"] {
      #expect(Key(named: name)?.name == name)
    }
    for name in ["", "ctrl-", "dd", "f13", "hyper-x"] { #expect(Key(named: name) == nil) }
  }

  @Test("A sequence that arrives in pieces is one key, at whatever byte it is cut")
  func pieces() {
    let bytes = Array(
      "é\u{1B}[1;5Cx\u{1B}[200~a\r\nb\u{1B}[201~\u{1B}[<0;10;5M\u{1B}]11;rgb:0/0/0\u{7}y".utf8)
    var whole = InputDecoder()
    let expected = whole.read(bytes)
    #expect(expected.count == 6)
    #expect(expected[3] == .paste("a\r\nb"))
    #expect(expected[4] == .click(column: 9, row: 4))
    #expect(expected[5] == .key(Key("y")))
    for cut in bytes.indices {
      var decoder = InputDecoder()
      #expect(decoder.read(Array(bytes[..<cut])) + decoder.read(Array(bytes[cut...])) == expected)
    }
  }

  @Test("Escape closes a screen, also if the end of input follows at once")
  func closing() {
    for bytes in ["q", "\u{1B}", "\u{3}", "\u{4}", "\u{1B}\u{4}"] {
      let keys = read(bytes).map { if case .key(let key) = $0 { key.closes } else { false } }
      #expect(keys == [true], "\(Array(bytes.utf8))")
    }
    #expect(read("d").allSatisfy { if case .key(let key) = $0 { !key.closes } else { false } })
  }

  @Test("What is not known counts as no key")
  func unknown() {
    #expect(read("\u{1B}[>62;4c\u{1B}[99x\u{1B}P1$r\u{1B}\\\u{1B}[<35;1;1M").isEmpty)
    // A paste without an end is kept back, and its keys are no commands.
    #expect(read("\u{1B}[200~dddq").isEmpty)
    var decoder = InputDecoder()
    #expect(decoder.read(Array(repeating: 0x1B, count: 3)).count == 2)
    #expect(decoder.read([0xFF, 0xC0, 0x80]).count <= 1)
  }

  @Test("A terminal with the Kitty protocol reports repeats, releases and its flags")
  func phases() {
    let space = Key(" ")
    #expect(
      read("\u{1B}[32u\u{1B}[32;1:2u\u{1B}[32;1:3u") == [
        .key(space), .repeated(space), .released(space),
      ])
    #expect(read("\u{1B}[100;1:1u\u{1B}[27;1:3u") == [.key(Key("d")), .released(Key(.escape))])
    #expect(read("\u{1B}[99;5u") == [.key(Key("c", control: true))])
    #expect(read("\u{1B}[?11u\u{1B}[?62;22c") == [.keyboardFlags(11), .attributes])
  }
}
