import BelfryCore
import Crypto
import FoundationEssentials
import Git

/// A one-time invitation to pair, which is handed over outside the mailbox as a QR code or in a message.
///
/// `belfry://pair?v=1&k=KEY&c=COMMITMENT&s=SECRET&x=EXPIRES&n=NAME&m=MAILBOX`
///
/// `k`, `c` and `s` are base64url without padding, `x` is in seconds since 1970, `n` and `m` are percent-encoded.
public struct Invitation: Hashable, Sendable {
  /// The inviter's public key, compressed (33 bytes).
  let key: [UInt8]
  /// The SHA-256 of the inviter's nonce. The nonce is revealed after the guest's nonce is known, so that a person in
  /// the middle cannot choose keys with equal codes.
  let commitment: [UInt8]
  /// The secret that entitles to one answer (32 bytes).
  let secret: [UInt8]
  /// The time until which the invitation can be answered.
  public let expires: Instant
  /// The inviter's name.
  public let name: String
  /// The URL of the mailbox.
  public let mailbox: String

  /// The validity of an invitation, in seconds.
  public static let lifetime: Int64 = 600
  static let nonceSize = 32

  init(
    key: [UInt8], commitment: [UInt8], secret: [UInt8], expires: Instant, name: String,
    mailbox: String
  ) {
    self.key = key
    self.commitment = commitment
    self.secret = secret
    self.expires = expires
    self.name = name
    self.mailbox = mailbox
  }

  /// The reason why a text is not a valid invitation.
  public struct Malformed: Error, Hashable, Sendable {
    /// The reason as a clause for the user, without a final period.
    public let reason: String
    /// True if the mailbox's URL contains a password or token. In this case the invitation is not used.
    public let holdsCredentials: Bool

    init(reason: String, holdsCredentials: Bool = false) {
      self.reason = reason
      self.holdsCredentials = holdsCredentials
    }
  }

  /// Parses a link. Whitespace is ignored.
  ///
  /// - Throws: `Malformed` if the link is not a valid invitation.
  public init(_ link: String) throws(Malformed) {
    let text = link.filter { !$0.isWhitespace }
    guard text.utf8.count <= 4096 else { throw Malformed(reason: "it is too long") }
    guard text.hasPrefix("belfry://pair?") else {
      throw Malformed(reason: "it does not begin with belfry://pair?")
    }
    var fields: [String: String] = [:]
    for part in text.dropFirst(14).split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard pair.count == 2, fields.updateValue(pair[1], forKey: pair[0]) == nil else {
        throw Malformed(reason: "a field of it is empty or duplicated")
      }
    }
    guard fields["v"] == "1" else {
      throw Malformed(
        reason: fields["v"] == nil
          ? "it is truncated" : "a newer version of Belfry has created it")
    }
    guard let key = fields["k"].flatMap(Base64URL.decode), key.count == 33,
      (try? P256.KeyAgreement.PublicKey(compressedRepresentation: key)) != nil,
      let commitment = fields["c"].flatMap(Base64URL.decode), commitment.count == 32,
      let secret = fields["s"].flatMap(Base64URL.decode), secret.count == 32,
      let seconds = fields["x"].flatMap({ Int64($0) }), (0...253_402_300_799).contains(seconds),
      let name = fields["n"].flatMap(Percent.decode).flatMap(PartnerOrigin.name),
      let mailbox = fields["m"].flatMap(Percent.decode)
    else { throw Malformed(reason: "it is truncated or modified") }
    do {
      _ = try RemoteURL(mailbox)
    } catch {
      throw Malformed(reason: "its mailbox is not a git remote: \(error.reason)")
    }
    guard !URLMask.holdsCredentials(mailbox) else {
      throw Malformed(
        reason: "the URL of its mailbox contains a password or token", holdsCredentials: true)
    }
    self.init(
      key: key, commitment: commitment, secret: secret, expires: Instant(seconds: seconds),
      name: name, mailbox: mailbox)
  }

  /// The link, which `init(_:)` parses.
  public var link: String {
    "belfry://pair?v=1&k=\(Base64URL.encode(key))&c=\(Base64URL.encode(commitment))"
      + "&s=\(Base64URL.encode(secret))&x=\(expires.seconds)&n=\(Percent.encode(name))"
      + "&m=\(Percent.encode(mailbox))"
  }

  /// The identifier of the partnership, which both sides derive from the invitation.
  var identifier: Identifier {
    Derived.identifier("belfry partnership", [key, commitment, secret])
  }
}

/// Derivation of identifiers from data that both sides know.
enum Derived {
  /// Returns an identifier.
  ///
  /// - Parameters:
  ///   - label: the purpose, which separates identifiers of different kinds.
  ///   - parts: the data.
  static func identifier(_ label: String, _ parts: [[UInt8]]) -> Identifier {
    let digest = Array(SHA256.hash(data: framed(label, parts)))
    func word(_ offset: Int) -> UInt64 {
      digest[offset..<(offset + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
    return Identifier(high: word(0), low: word(8))
  }

  /// Returns the parts with their lengths, so that different lists yield different bytes.
  static func framed(_ label: String, _ parts: [[UInt8]]) -> Data {
    ([Array(label.utf8)] + parts).reduce(into: Data()) { data, part in
      withUnsafeBytes(of: UInt32(part.count).bigEndian) { data.append(contentsOf: $0) }
      data.append(contentsOf: part)
    }
  }
}

/// Base64 with the URL-safe alphabet of RFC 4648, without padding.
enum Base64URL {
  static func encode(_ bytes: [UInt8]) -> String {
    let standard = Data(bytes).base64EncodedData().lazy.filter { $0 != UInt8(ascii: "=") }
    return String(
      decoding: standard.map { byte in
        switch byte {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: byte
        }
      }, as: UTF8.self)
  }

  static func decode(_ text: String) -> [UInt8]? {
    var standard: [UInt8] = []
    standard.reserveCapacity(text.utf8.count + 3)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
      case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
      default: standard.append(byte)
      }
    }
    while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
    return Data(base64Encoded: Data(standard)).map { Array($0) }
  }
}

/// Percent-encoding as in RFC 3986. Besides the unreserved characters, `:`, `/` and `@` are not encoded.
enum Percent {
  private static let plain = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/@".utf8)

  static func encode(_ text: String) -> String {
    text.utf8.map { byte in
      if plain.contains(byte) { return String(UnicodeScalar(byte)) }
      let digits = String(byte, radix: 16, uppercase: true)
      return "%" + (digits.utf8.count == 1 ? "0" : "") + digits
    }.joined()
  }

  /// Returns the decoded text; nil if an escape is not complete or the result is not UTF-8.
  static func decode(_ text: String) -> String? {
    var bytes: [UInt8] = []
    var rest = Substring(text).utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst(), let low = rest.popFirst(), high != UInt8(ascii: "+"),
        let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(value)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
