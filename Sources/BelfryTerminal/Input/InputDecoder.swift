/// A decoder of the bytes that a terminal sends: keys, the mouse, pasted text, and replies to queries.
///
/// Sequences that it does not know are left out as a whole, so that no part of them counts as keys.
package struct InputDecoder: Sendable {
  private var pending: [UInt8] = []
  /// The text that is being pasted; nil outside of a paste.
  private var pasted: [UInt8]?

  /// The greatest length of a sequence. Longer ones are garbage.
  private static let maxSequence = 128
  /// The greatest length of pasted text, in bytes. The rest is left out.
  private static let maxPaste = 1 << 16
  private static let pasteEnd = Array("\u{1B}[201~".utf8)

  package init() {}

  /// True if bytes wait that may be the beginning of a sequence. After a moment without more, `finish()` ends it.
  package var isWaiting: Bool { !pending.isEmpty }

  /// Returns the events in the bytes. An unfinished sequence is kept for the next call.
  package mutating func read(_ bytes: [UInt8]) -> [InputEvent] {
    pending += bytes
    var events: [InputEvent] = []
    while !pending.isEmpty {
      let before = pending.count
      if let event = next() { events.append(event) }
      if pending.count == before { break }
    }
    return events
  }

  /// Returns the event of an unfinished sequence: a lone escape is the key.
  package mutating func finish() -> [InputEvent] {
    defer { pending = [] }
    return pending.first == 0x1B && pasted == nil ? [.key(Key(.escape))] : []
  }

  private mutating func next() -> InputEvent? {
    if pasted != nil { return paste() }
    guard pending[0] == 0x1B else { return character() }
    guard pending.count > 1 else { return nil }
    switch pending[1] {
    case UInt8(ascii: "["): return sequence()
    case UInt8(ascii: "O"):
      guard pending.count > 2 else { return nil }
      let final = pending[2]
      pending.removeFirst(3)
      return InputDecoder.arrow(final).map { .key(Key($0)) }
    case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"):
      return skipString()
    case 0x1B:
      pending.removeFirst()
      return .key(Key(.escape))
    default:
      pending.removeFirst()
      guard case .key(var key)? = character() else { return nil }
      key.isAlt = true
      return .key(key)
    }
  }

  /// Leaves out a string of the terminal, such as a reply about a color, up to its end.
  private mutating func skipString() -> InputEvent? {
    for index in pending.indices.dropFirst(2) {
      let ends = pending[index] == 0x07
      let isTerminator = pending[index] == UInt8(ascii: "\\") && pending[index - 1] == 0x1B
      guard ends || isTerminator else { continue }
      pending.removeFirst(index + 1)
      return nil
    }
    if pending.count > InputDecoder.maxSequence * 8 { pending = [] }
    return nil
  }

  private mutating func character() -> InputEvent? {
    let first = pending[0]
    let length =
      switch first {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    guard pending.count >= length else { return nil }
    let bytes = pending.prefix(length)
    pending.removeFirst(length)
    switch first {
    case 0x0D, 0x0A: return .key(Key(.enter))
    case 0x09: return .key(Key(.tab))
    case 0x7F, 0x08: return .key(Key(.backspace))
    case 0x00: return .key(Key(.character(" "), control: true))
    case 0x01...0x1A:
      return .key(Key(.character(Character(Unicode.Scalar(first + 0x60))), control: true))
    case 0x1C...0x1F: return nil
    default:
      guard let text = String(validating: bytes, as: UTF8.self), let character = text.first else {
        return nil
      }
      return .key(Key(character))
    }
  }

  // MARK: Sequences

  private mutating func sequence() -> InputEvent? {
    guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
      if pending.count > InputDecoder.maxSequence { pending = [] }
      return nil
    }
    let parameters = String(decoding: pending[2..<end], as: UTF8.self)
    let final = pending[end]
    pending.removeFirst(end + 1)
    if parameters.hasPrefix("<") { return InputDecoder.mouse(parameters.dropFirst(), final) }
    if parameters.hasPrefix("?") { return InputDecoder.reply(parameters.dropFirst(), final) }
    if parameters.first.map({ ">=".contains($0) }) == true { return nil }
    let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false)
      .map { Int($0.split(separator: ":").first ?? "") }
    let held = max(0, ((numbers.count > 1 ? numbers[1] : nil) ?? 1) - 1)
    let (alt, control) = (held & 2 != 0, held & 4 != 0)
    // `code;modifiers:phase`, with 2 for a repeat and 3 for a release.
    let phase = parameters.split(separator: ";").dropFirst().first?.split(separator: ":")
      .dropFirst().first
    func key(_ code: Key.Code?) -> InputEvent? {
      guard let code else { return nil }
      let key = Key(code, control: control, alt: alt)
      return phase == "3" ? .released(key) : phase == "2" ? .repeated(key) : .key(key)
    }
    switch final {
    case UInt8(ascii: "Z"): return key(.backTab)
    case UInt8(ascii: "~"):
      if numbers.first == 200 {
        pasted = []
        return nil
      }
      return key(InputDecoder.tilde(numbers.first ?? nil))
    case UInt8(ascii: "u"):
      guard let code = numbers.first ?? nil, let scalar = Unicode.Scalar(UInt32(code)) else {
        return nil
      }
      switch code {
      case 13: return key(.enter)
      case 27: return key(.escape)
      case 9: return key(held & 1 != 0 ? .backTab : .tab)
      case 127, 8: return key(.backspace)
      default:
        let character = Character(scalar)
        return key(.character(held & 1 != 0 ? Character(character.uppercased()) : character))
      }
    default: return key(InputDecoder.arrow(final))
    }
  }

  /// Returns the event of a reply to a query, without its question mark.
  private static func reply(_ parameters: Substring, _ final: UInt8) -> InputEvent? {
    switch final {
    case UInt8(ascii: "c"): .attributes
    case UInt8(ascii: "u"): Int(parameters).map { .keyboardFlags($0) }
    default: nil
    }
  }

  private static func arrow(_ final: UInt8) -> Key.Code? {
    switch final {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "F"): .end
    case UInt8(ascii: "P"): .function(1)
    case UInt8(ascii: "Q"): .function(2)
    case UInt8(ascii: "R"): .function(3)
    case UInt8(ascii: "S"): .function(4)
    default: nil
    }
  }

  private static func tilde(_ number: Int?) -> Key.Code? {
    switch number {
    case 1, 7: .home
    case 2: .insert
    case 3: .delete
    case 4, 8: .end
    case 5: .pageUp
    case 6: .pageDown
    case .some(let number) where (11...15).contains(number): .function(number - 10)
    case .some(let number) where (17...21).contains(number): .function(number - 11)
    case .some(let number) where (23...24).contains(number): .function(number - 12)
    default: nil
    }
  }

  /// Returns the event of a report of the mouse (SGR, 1006).
  private static func mouse(_ parameters: Substring, _ final: UInt8) -> InputEvent? {
    let numbers = parameters.split(separator: ";").compactMap { Int($0) }
    guard numbers.count == 3, final == UInt8(ascii: "M") else { return nil }
    let (button, column, row) = (numbers[0], numbers[1] - 1, numbers[2] - 1)
    switch button {
    case 0: return .click(column: column, row: row)
    case 64: return .wheel(-1, column: column, row: row)
    case 65: return .wheel(1, column: column, row: row)
    default: return nil
    }
  }

  // MARK: Paste

  private mutating func paste() -> InputEvent? {
    guard var text = pasted else { return nil }
    let mark = InputDecoder.pasteEnd
    for start in pending.indices {
      guard pending[start] == mark[0] else { continue }
      let part = pending[start...].prefix(mark.count)
      guard mark.starts(with: part) else { continue }
      // The rest of the mark may follow.
      guard part.count == mark.count else {
        keep(pending[..<start], in: &text)
        pending.removeFirst(start)
        pasted = text
        return nil
      }
      keep(pending[..<start], in: &text)
      pending.removeFirst(start + mark.count)
      pasted = nil
      return .paste(String(decoding: text, as: UTF8.self))
    }
    keep(pending[...], in: &text)
    pending = []
    pasted = text
    return nil
  }

  private func keep(_ bytes: ArraySlice<UInt8>, in text: inout [UInt8]) {
    text += bytes.prefix(max(0, InputDecoder.maxPaste - text.count))
  }
}
