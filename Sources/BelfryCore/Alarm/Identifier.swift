/// A random identifier: 128 bits in lower-case base32 (RFC 4648 without padding), 26 characters.
///
/// Each alarm, log entry and device has one. Commands accept any unique prefix.
public struct Identifier: Hashable, Comparable, Sendable {
  /// The identifier as 26 characters.
  public let text: String

  /// The number of characters in an identifier.
  public static let length = 26
  /// The number of characters of `short`.
  public static let shortLength = 8
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// Returns a random identifier.
  public static func random(using generator: inout some RandomNumberGenerator) -> Identifier {
    Identifier(
      high: UInt64.random(in: .min ... .max, using: &generator),
      low: UInt64.random(in: .min ... .max, using: &generator))
  }

  /// Creates an identifier from 128 bits.
  public init(high: UInt64, low: UInt64) {
    // 130 bits in groups of five. The first character holds only three bits, so it is `a`…`h`.
    let bits = UInt128(high) << 64 | UInt128(low)
    text = String(
      decoding: (0..<Identifier.length).map { index in
        Identifier.alphabet[Int(truncatingIfNeeded: bits >> (125 - 5 * index) & 31)]
      }, as: UTF8.self)
  }

  /// Creates an identifier from its text; nil unless `text` has 26 characters of the alphabet.
  public init?(_ text: some StringProtocol) {
    // In the plain type, because a generic loop is slower than the rest of a short command.
    let text = String(text)
    guard text.utf8.count == Identifier.length else { return nil }
    for byte in text.utf8 where !Identifier.isCharacter(byte) { return nil }
    self.text = text
  }

  /// Creates an identifier from the bytes of its text; nil unless they are 26 characters of the alphabet.
  ///
  /// It is faster than parsing a string when thousands of records are read.
  public init?(_ bytes: ArraySlice<UInt8>) {
    guard Identifier.isValid(bytes) else { return nil }
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// Creates an identifier from bytes for which `isValid` is true.
  public init(checked bytes: ArraySlice<UInt8>) {
    assert(Identifier.isValid(bytes), "the bytes were checked")
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// Returns true if bytes are the text of an identifier: 26 characters of the alphabet.
  public static func isValid(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.count == length else { return false }
    for byte in bytes where !isCharacter(byte) { return false }
    return true
  }

  /// Returns true if a byte can occur in an identifier: `a`…`z`, `2`…`7`.
  public static func isCharacter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(byte)
  }

  /// The first eight characters: unambiguous among thousands of identifiers, and short enough to type.
  public var short: String {
    String(decoding: text.utf8.prefix(Identifier.shortLength), as: UTF8.self)
  }

  /// Returns true if `a` precedes `b` alphabetically.
  public static func < (a: Identifier, b: Identifier) -> Bool { a.text < b.text }
}

extension Identifier: CustomStringConvertible {
  /// The identifier as 26 characters.
  public var description: String { text }
}
