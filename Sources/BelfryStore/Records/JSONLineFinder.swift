/// A scanner that finds the line of a member in a JSON document, for error messages. jansson records no positions.
struct JSONLineFinder {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1

  /// Returns the line, starting at 1, of the member at a path of keys, or nil if there is none.
  ///
  /// - Parameters:
  ///   - path: The keys from the root.
  ///   - bytes: A valid document.
  static func line(of path: [String], in bytes: [UInt8]) -> Int? {
    var finder = JSONLineFinder(bytes: bytes)
    return finder.find(path[...])
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Searches the object that starts here.
  private mutating func find(_ path: ArraySlice<String>) -> Int? {
    guard let wanted = path.first else { return nil }
    skipSpace()
    guard peek == UInt8(ascii: "{") else { return nil }
    advance()
    while position < bytes.count {
      skipSpace()
      guard peek == UInt8(ascii: "\"") else { return nil }
      let start = line
      let key = string()
      skipSpace()
      advance()  // The colon.
      skipSpace()
      if key.elementsEqual(wanted.utf8) {
        return path.count == 1 ? start : find(path.dropFirst()) ?? start
      }
      skipValue()
      skipSpace()
      guard peek == UInt8(ascii: ",") else { return nil }
      advance()
    }
    return nil
  }

  private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func advance() {
    if peek == UInt8(ascii: "\n") { line += 1 }
    position += 1
  }

  private mutating func skipSpace() {
    while let byte = peek, byte <= 0x20 { advance() }
  }

  /// Returns the bytes of the string that starts here, without the quotes.
  private mutating func string() -> ArraySlice<UInt8> {
    advance()
    let start = position
    while let byte = peek, byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\") { advance() }
      advance()
    }
    let end = min(position, bytes.count)
    advance()
    return bytes[min(start, end)..<end]
  }

  private mutating func skipValue() {
    var depth = 0
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        _ = string()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        advance()
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return }
        depth -= 1
        advance()
      case UInt8(ascii: ",") where depth == 0: return
      default: advance()
      }
    }
  }
}
