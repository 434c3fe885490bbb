import BelfryCore
import Crypto
import FoundationEssentials
import Git

/// A one-time invitation to become partners, as it is handed over outside of the mailbox: read off a screen, or sent by
/// a messenger.
///
/// `belfry://pair?v=1&k=KEY&c=COMMITMENT&s=SECRET&x=EXPIRES&n=NAME&m=MAILBOX`
///
/// `k`, `c` and `s` are base64url without padding, `x` is in seconds since 1970, `n` and `m` are percent-encoded.
public struct Invitation: Hashable, Sendable {
  /// The inviter's public key, compressed (33 bytes).
  let key: [UInt8]
  /// The SHA-256 of the inviter's nonce, which is told once the guest's is known: so nobody in the middle can choose
  /// keys whose codes are equal.
  let commitment: [UInt8]
  /// Whoever knows it may answer, once (32 bytes).
  let secret: [UInt8]
  public let expires: Instant
  /// What the inviter calls themselves.
  public let name: String
  public let mailbox: String

  /// How long one holds, in seconds.
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

  /// Why a text is no invitation.
  public struct Malformed: Error, Hashable, Sendable {
    public let reason: String
    /// True if the mailbox's URL holds a password or a token. The rest was not read then.
    public let holdsCredentials: Bool

    init(reason: String, holdsCredentials: Bool = false) {
      self.reason = reason
      self.holdsCredentials = holdsCredentials
    }
  }

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
        throw Malformed(reason: "a part of it is missing, or there twice")
      }
    }
    guard fields["v"] == "1" else {
      throw Malformed(reason: fields["v"] == nil ? "it is cut off" : "a later Belfry has made it")
    }
    guard let key = fields["k"].flatMap(Base64URL.decode), key.count == 33,
      (try? P256.KeyAgreement.PublicKey(compressedRepresentation: key)) != nil,
      let commitment = fields["c"].flatMap(Base64URL.decode), commitment.count == 32,
      let secret = fields["s"].flatMap(Base64URL.decode), secret.count == 32,
      let seconds = fields["x"].flatMap({ Int64($0) }), (0...253_402_300_799).contains(seconds),
      let name = fields["n"].flatMap(Percent.decode).flatMap(PartnerOrigin.name),
      let mailbox = fields["m"].flatMap(Percent.decode)
    else { throw Malformed(reason: "it is cut off, or was changed") }
    do {
      _ = try RemoteURL(mailbox)
    } catch {
      throw Malformed(reason: "the mailbox that it names is no git remote: \(error.reason)")
    }
    guard !URLMask.holdsCredentials(mailbox) else {
      throw Malformed(
        reason: "the mailbox's URL holds a password or a token", holdsCredentials: true)
    }
    self.init(
      key: key, commitment: commitment, secret: secret, expires: Instant(seconds: seconds),
      name: name, mailbox: mailbox)
  }

  public var link: String {
    "belfry://pair?v=1&k=\(Base64URL.encode(key))&c=\(Base64URL.encode(commitment))"
      + "&s=\(Base64URL.encode(secret))&x=\(expires.seconds)&n=\(Percent.encode(name))"
      + "&m=\(Percent.encode(mailbox))"
  }

  /// The same invitation has the same one, on both sides: that of the partnership.
  var identifier: Identifier {
    Derived.identifier("belfry partnership", [key, commitment, secret])
  }
}

/// Identifiers that come of what both sides know.
enum Derived {
  /// - Parameter label: what it is for, so that two for different ends never are the same.
  static func identifier(_ label: String, _ parts: [[UInt8]]) -> Identifier {
    let digest = Array(SHA256.hash(data: framed(label, parts)))
    func word(_ offset: Int) -> UInt64 {
      digest[offset..<(offset + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
    return Identifier(high: word(0), low: word(8))
  }

  /// Parts one after the other, each with its length: no two lists give the same bytes.
  static func framed(_ label: String, _ parts: [[UInt8]]) -> Data {
    ([Array(label.utf8)] + parts).reduce(into: Data()) { data, part in
      withUnsafeBytes(of: UInt32(part.count).bigEndian) { data.append(contentsOf: $0) }
      data.append(contentsOf: part)
    }
  }
}

/// RFC 4648's alphabet for URLs, without padding.
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

/// RFC 3986's percent-encoding: what is not unreserved, but for what remotes are made of, is encoded.
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

  /// Nil when it is not valid UTF-8, or a code is cut off.
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
