import Crypto

/// A short text that differs for different contents.
public enum ContentHash {
  /// Returns 32 hexadecimal digits of a hash of a text.
  public static func text(of text: String) -> String { ContentHash.text(of: Array(text.utf8)) }

  /// Returns 32 hexadecimal digits of a hash of some bytes.
  public static func text(of bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    return String(
      SHA256.hash(data: bytes).prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
