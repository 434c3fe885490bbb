/// 128 random bits in lower-case base32 (RFC 4648 without padding): 26 characters.
///
/// Alarms, log entries and devices have one each. People use any unique prefix.
public struct Identifier: Hashable, Comparable, Sendable {
  public let text: String

  public static let length = 26
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  public static func random(using generator: inout some RandomNumberGenerator) -> Identifier {
    Identifier(
      high: UInt64.random(in: .min ... .max, using: &generator),
      low: UInt64.random(in: .min ... .max, using: &generator))
  }

  /// The identifier of 128 given bits.
  public init(high: UInt64, low: UInt64) {
    // 130 bits in groups of five: the first character carries three, so it is `a`…`h`.
    let bits = UInt128(high) << 64 | UInt128(low)
    text = String(
      decoding: (0..<Identifier.length).map { index in
        Identifier.alphabet[Int(truncatingIfNeeded: bits >> (125 - 5 * index) & 31)]
      }, as: UTF8.self)
  }

  /// Nil unless `text` is 26 characters of the alphabet.
  public init?(_ text: some StringProtocol) {
    guard text.utf8.count == Identifier.length, text.utf8.allSatisfy(Identifier.isCharacter) else {
      return nil
    }
    self.text = String(text)
  }

  /// The same of bytes: for reading thousands.
  public init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == Identifier.length else { return nil }
    for byte in bytes where !Identifier.isCharacter(byte) { return nil }
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// Whether a byte may stand in an identifier: `a`…`z`, `2`…`7`.
  public static func isCharacter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "2")...UInt8(ascii: "7")).contains(byte)
  }

  /// The first eight characters: enough to tell thousands apart, short enough to type.
  public var short: String { String(text.prefix(8)) }

  public static func < (a: Identifier, b: Identifier) -> Bool { a.text < b.text }
}

extension Identifier: CustomStringConvertible {
  public var description: String { text }
}
