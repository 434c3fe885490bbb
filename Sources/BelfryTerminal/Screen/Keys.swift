/// A parser of the bytes that a terminal sends: keys and replies to queries.
package struct KeyReader {
  package enum Event: Equatable {
    case key(Character, Phase)
    case escape
    /// The reply of a terminal with the Kitty keyboard protocol: its flags.
    case keyboardFlags(Int)
    /// The reply to the device attributes query, which every terminal sends.
    case attributes
  }

  package enum Phase: Int {
    case press = 1
    case repeated, release
  }

  private var pending: [UInt8] = []

  package init() {}

  /// Returns the events in the bytes. An unfinished sequence is kept for the next call.
  package mutating func read(_ bytes: [UInt8]) -> [Event] {
    pending += bytes
    var events: [Event] = []
    while let first = pending.first {
      if first != 0x1B {
        let length = KeyReader.length(of: first)
        guard pending.count >= length else { return events }
        let text = String(decoding: pending.prefix(length), as: UTF8.self)
        pending.removeFirst(length)
        if let character = text.first { events.append(.key(character, .press)) }
        continue
      }
      guard pending.count > 1 else {
        // A lone escape is the key, as terminals send sequences in one piece.
        pending = []
        events.append(.escape)
        return events
      }
      guard pending[1] == UInt8(ascii: "[") else {
        pending.removeFirst(pending[1] == UInt8(ascii: "O") ? min(3, pending.count) : 2)
        continue
      }
      guard let end = pending.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
        // Garbage, as no sequence is that long.
        if pending.count > 64 { pending = [] }
        return events
      }
      let parameters = String(decoding: pending[2..<end], as: UTF8.self)
      let final = pending[end]
      pending.removeFirst(end + 1)
      if let event = KeyReader.event(parameters, final) { events.append(event) }
    }
    return events
  }

  private static func length(of first: UInt8) -> Int {
    switch first {
    case 0xC0...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF7: 4
    default: 1
    }
  }

  /// Returns the event of a control sequence `CSI parameters final`, or nil if it has none.
  private static func event(_ parameters: String, _ final: UInt8) -> Event? {
    switch final {
    case UInt8(ascii: "c") where parameters.hasPrefix("?"): return .attributes
    case UInt8(ascii: "u") where parameters.hasPrefix("?"):
      return Int(parameters.dropFirst()).map { .keyboardFlags($0) }
    case UInt8(ascii: "u"):
      // `code:alternates;modifiers:phase`
      let fields = parameters.split(separator: ";", omittingEmptySubsequences: false)
      guard let code = fields.first?.split(separator: ":").first.flatMap({ UInt32($0) }),
        let scalar = Unicode.Scalar(code)
      else { return nil }
      let modifiers = fields.count > 1 ? fields[1].split(separator: ":") : []
      let phase = modifiers.count > 1 ? Int(modifiers[1]).flatMap(Phase.init(rawValue:)) : .press
      if code == 27 { return phase == .release ? nil : .escape }
      // Control-C arrives as the control character that terminals without the protocol send.
      let held = modifiers.first.flatMap { Int($0) }.map { $0 - 1 } ?? 0
      if held & 4 != 0, scalar == "c" { return .key("\u{3}", phase ?? .press) }
      return .key(Character(scalar), phase ?? .press)
    default: return nil
    }
  }
}
