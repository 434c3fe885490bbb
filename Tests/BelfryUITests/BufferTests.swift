import Testing

@testable import BelfryTerminal

@Suite struct BufferTests {
  @Test("Text is cut at the edge, and a wide character is not cut in half")
  func edges() {
    var buffer = Buffer(Size(6, 2))
    #expect(buffer.put("abc日本", column: 1, row: 0) == 6)
    #expect(buffer.lines[0] == " abc…")
    #expect(buffer.put("日本語", column: 0, row: 1, until: 5) == 4)
    #expect(buffer.lines[1] == "日本…")
    buffer.put("x", column: 1, row: 1)
    #expect(buffer.lines[1] == " x本…")
    #expect(buffer.put("日本語", column: 0, row: 1) == 6)
    #expect(buffer.lines[1] == "日本語")
    // Blanks and sequences behind the edge are no text.
    buffer.put(styled: "\u{1B}[1mabcdef\u{1B}[0m  ", column: 0, row: 0)
    #expect(buffer.lines[0] == "abcdef")
    buffer.put(styled: "\u{1B}[1mabcdef\u{1B}[0m g", column: 0, row: 0)
    #expect(buffer.lines[0] == "abcde…")
    buffer.put("out", column: 2, row: 7)
    buffer.put("out", column: -1, row: 0)
    #expect(buffer.size == Size(6, 2))
  }

  @Test("Colors in a text become styles, and nothing else of it reaches the screen")
  func styled() {
    var buffer = Buffer(Size(40, 1))
    buffer.put(
      styled: "\u{1B}[1;31mred\u{1B}[0m plain\u{1B}[2J\u{1B}]0;title\u{7}\u{1B}[38;5;208mo",
      column: 0, row: 0)
    #expect(buffer.row(0)[0].style == CellStyle(.palette(1), on: .standard, .bold))
    #expect(buffer.row(0)[4].style == .plain)
    #expect(
      buffer.cells.allSatisfy {
        $0.character?.unicodeScalars.allSatisfy { $0.value >= 0x20 } ?? true
      })
    #expect(buffer.row(0).contains { $0.style.foreground == .palette(208) })
    var other = Buffer(Size(20, 1))
    other.put("a\u{202E}b\u{7}c\u{9B}31m", column: 0, row: 0)
    #expect(other.lines[0] == "a\u{FFFD}b\u{FFFD}c\u{FFFD}31m")
  }

  @Test("The difference of two screens turns one into the other, on every terminal")
  func difference() {
    var random = SystemRandomNumberGenerator()
    let words = ["Rent", "日本語", "👩‍👩‍👧", "✓ done", "e\u{301}t", "───", "🇩🇪", "a\u{FE0F}", " "]
    let styles = [
      CellStyle.plain, .bold, .faint, CellStyle(.palette(3), on: .palette(200), .reverse),
      CellStyle(.rgb(1, 2, 3), on: .standard, .underline),
    ]
    for round in 0..<200 {
      let size = Size(
        Int.random(in: 1...50, using: &random), Int.random(in: 1...12, using: &random))
      func drawn(on old: Buffer?) -> Buffer {
        var buffer = old ?? Buffer(size)
        for _ in 0..<Int.random(in: 0...12, using: &random) {
          buffer.put(
            words.randomElement(using: &random) ?? "",
            column: Int.random(in: 0..<size.columns, using: &random),
            row: Int.random(in: 0..<size.rows, using: &random),
            styles.randomElement(using: &random) ?? .plain)
        }
        buffer.cursor = round % 3 == 0 ? .init(column: 0, row: size.rows - 1) : nil
        return buffer
      }
      var model = ScreenModel(size)
      // A terminal may give disputed characters another width.
      model.wideWidth = round % 2 == 0 ? nil : 1
      var shown: Buffer?
      for _ in 0..<5 {
        let next = drawn(on: Bool.random(using: &random) ? shown : nil)
        model.write(BufferDifference.bytes(from: shown, to: next, .rgb))
        shown = next
        #expect(model.unknown.isEmpty, "\(model.unknown)")
        let isSame = model.cells == next.cells
        #expect(isSame, "\(next.lines)")
        #expect((model.cursor == nil) == (next.cursor == nil))
      }
    }
  }

  @Test("Blanks are erased rather than sent, without the colors beside them")
  func blanks() {
    let size = Size(120, 2)
    var old = Buffer(size)
    old.put(String(repeating: "a", count: 120), column: 0, row: 0, .bold)
    old.put(String(repeating: "b", count: 120), column: 0, row: 1)
    var new = Buffer(size)
    new.put("left", column: 0, row: 0, .bold.with(.reverse))
    new.put("right", column: 100, row: 0)
    let bytes = BufferDifference.bytes(from: old, to: new, .rgb)
    #expect(bytes.count < 100, "\(bytes.count)")
    var model = ScreenModel(size)
    model.write(BufferDifference.bytes(from: nil, to: old, .rgb))
    model.write(bytes)
    #expect(model.unknown.isEmpty, "\(model.unknown)")
    #expect(model.cells == new.cells)
  }

  @Test("Without changes nothing is sent, and a terminal without colors gets none")
  func colors() {
    var buffer = Buffer(Size(10, 1))
    buffer.put("red", column: 0, row: 0, CellStyle(.rgb(255, 0, 0), on: .palette(4), .bold))
    #expect(BufferDifference.bytes(from: buffer, to: buffer, .rgb).isEmpty)
    func text(_ colors: TerminalColors) -> String {
      String(decoding: BufferDifference.bytes(from: nil, to: buffer, colors), as: UTF8.self)
    }
    #expect(text(.none).contains("\u{1B}[0;1mred"))
    #expect(text(.palette16).contains("\u{1B}[0;1;91;44mred"))
    #expect(text(.palette256).contains("\u{1B}[0;1;38;5;196;44mred"))
    #expect(text(.rgb).contains("\u{1B}[0;1;38;2;255;0;0;44mred"))
  }

  @Test("With 16 colors, text on the background of the terminal is neither gray nor bright")
  func readableColors() {
    let colors = TerminalColors.palette16
    func reduced(_ color: CellColor, on background: CellColor = .standard) -> CellColor {
      colors.reduced(CellStyle(color, on: background)).foreground
    }
    for number in UInt8(16)...255 {
      guard case .palette(let nearest) = reduced(.palette(number)) else { continue }
      #expect((1...6).contains(nearest), "\(number)")
    }
    #expect(reduced(.rgb(255, 255, 255)) == .standard && reduced(.rgb(200, 190, 190)) == .standard)
    #expect(reduced(.rgb(0, 255, 255)) == .palette(6))
    // What was chosen by its number stays, and so does what has a background of its own.
    #expect(reduced(.palette(15)) == .palette(15))
    #expect(reduced(.rgb(255, 255, 255), on: .palette(4)) == .palette(15))
  }

  @Test("A list that scrolls is moved by the terminal, and a repaint needs no clearing")
  func scrolling() {
    func list(_ first: Int, selected: Int) -> Buffer {
      var buffer = Buffer(Size(100, 40))
      buffer.put("head", column: 0, row: 0)
      for row in 1..<39 {
        let text = "alarm \(first + row) " + String(repeating: "abc ", count: 18) + "日本"
        buffer.put(text, column: 2, row: row, first + row == selected ? .bold : .plain)
      }
      buffer.put("foot", column: 0, row: 39)
      return buffer
    }
    for (from, to) in [(0, 1), (5, 2), (0, 10), (9, 0), (3, 3)] {
      let (old, new) = (list(from, selected: from + 38), list(to, selected: to + 20))
      let bytes = BufferDifference.bytes(from: old, to: new, .rgb)
      #expect(bytes.count < 2_000, "\(from) to \(to): \(bytes.count)")
      if abs(to - from) == 1 { #expect(bytes.count < 600, "\(bytes.count)") }
      var model = ScreenModel(old.size)
      model.write(BufferDifference.bytes(from: nil, to: old, .rgb))
      model.write(bytes)
      #expect(model.unknown.isEmpty, "\(model.unknown)")
      #expect(model.cells == new.cells)
      let repaint = BufferDifference.bytes(from: nil, to: new, .rgb, clears: false)
      #expect(!String(decoding: repaint, as: UTF8.self).contains("\u{1B}[2J"))
      model.cells = Array(repeating: Cell(character: "?", style: .bold), count: model.cells.count)
      model.write(repaint)
      #expect(model.cells == new.cells)
    }
  }

  @Test("Rows as text carry their styles, and the address of a link is no text")
  func text() {
    var buffer = Buffer(Size(12, 1))
    buffer.put(
      styled: "\u{1B}[1ma\u{1B}[0m \u{1B}]8;;https://example.org\u{1B}\\link\u{1B}]8;;\u{7}.",
      column: 0, row: 0)
    #expect(buffer.lines == ["a link."])
    #expect(buffer.rows(.rgb) == ["\u{1B}[0;1ma\u{1B}[0m link.     "])
  }

  @Test("An address that its line cuts is a whole link, and what is not safe is none")
  func links() {
    let text = "See https://example.org/a-long/address?with=words, (http://b.example). https:// no"
    let lines = TextWidth.wrapped(text, to: 20)
    var buffer = Buffer(Size(24, lines.count))
    for (row, line) in Hyperlinks.marked(lines, of: text).enumerated() {
      buffer.put(styled: line, column: 0, row: row)
    }
    #expect(buffer.lines.map(\.count) == [3, 24, 19, 11])
    var model = ScreenModel(buffer.size)
    model.write(BufferDifference.bytes(from: nil, to: buffer, .rgb))
    #expect(
      model.linked == [
        "https://example.org/a-long/address?with=words":
          "https://example.org/a-l…",
        "http://b.example": "http://b.example",
      ])
    var other = Buffer(buffer.size)
    other.put(styled: "\u{1B}]8;;https://c.example\u{7}See https\u{1B}]8;;\u{7}", column: 0, row: 0)
    model.linked = [:]
    model.write(BufferDifference.bytes(from: buffer, to: other, .rgb))
    #expect(model.unknown.isEmpty && model.linked == ["https://c.example": "See https"])
    other.put(styled: "\u{1B}]8;;file:///\u{202E}\u{7}x", column: 0, row: 1)
    #expect(other.links == ["", "https://c.example"])
    for colors in [TerminalColors.none, .palette16] {
      let bytes = BufferDifference.bytes(from: nil, to: buffer, colors)
      #expect(!String(decoding: bytes, as: UTF8.self).contains("]8;"))
    }
  }
}
