import BelfryCore
import Crypto
import FoundationEssentials

/// A sealed message: HPKE (RFC 9180) with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM.
///
/// ```
/// version (1 byte)   encapsulated key (65)   padded message, encrypted (1,024 to 40,960)   tag (16)
/// ```
///
/// Each has an ephemeral key of its own, and is the only message under the key that comes of it. No counter is kept, so
/// none can be set back by a restored backup: no nonce is ever used twice.
public struct Envelope: Hashable, Sendable {
  public let bytes: [UInt8]

  static let suite = HPKE.Ciphersuite.P256_SHA256_AES_GCM_256
  private static let version: UInt8 = 1
  private static let keySize = 65
  private static let tagSize = 16
  /// The sizes to which messages are padded, so that their size does not reveal their kind. The largest is for 1,000
  /// characters of the most intricate writing.
  static let sizes = [1024, 2048, 4096, 8192, 40_960]
  /// Nothing larger is looked at.
  public static let largest = 1 + keySize + (sizes.last ?? 0) + tagSize

  /// Takes what lies in a mailbox; nil when no envelope looks like that.
  public init?(_ bytes: [UInt8]) {
    let sizes = Envelope.sizes.map { 1 + Envelope.keySize + $0 + Envelope.tagSize }
    guard sizes.contains(bytes.count), bytes.first == Envelope.version else { return nil }
    self.bytes = bytes
  }

  /// Who has sealed it, as far as the recipient can be sure of it.
  public enum Sealing: Sendable {
    /// The holder of this key: HPKE's mode `auth`.
    case authenticated(P256.KeyAgreement.PrivateKey)
    /// Anybody who knows the secret of an invitation: HPKE's mode `psk`.
    case invited(SymmetricKey)
  }

  /// The same, as its recipient expects it.
  public enum Opening: Sendable {
    case authenticated(P256.KeyAgreement.PublicKey)
    case invited(SymmetricKey)
  }

  /// Why an envelope cannot be sealed.
  public struct TooLong: Error, Sendable {}

  /// Seals a message for one recipient.
  ///
  /// - Parameters:
  ///   - context: what both know, and an envelope for another pair, or direction, does not have.
  ///   - place: the name that it lies under in the mailbox: under another it does not open.
  public init(
    sealing message: [UInt8], for recipient: P256.KeyAgreement.PublicKey, _ sealing: Sealing,
    context: String, place: String
  ) throws {
    // A byte marks where the message ends.
    guard let size = Envelope.sizes.first(where: { $0 > message.count }) else { throw TooLong() }
    let padded =
      message + [0x80] + [UInt8](repeating: 0, count: size - message.count - 1)
    let info = Data(context.utf8)
    var sender =
      switch sealing {
      case .authenticated(let key):
        try HPKE.Sender(
          recipientKey: recipient, ciphersuite: Envelope.suite, info: info, authenticatedBy: key)
      case .invited(let secret):
        try HPKE.Sender(
          recipientKey: recipient, ciphersuite: Envelope.suite, info: info, presharedKey: secret,
          presharedKeyIdentifier: Envelope.invitation)
      }
    let sealed = try sender.seal(padded, authenticating: Array(place.utf8))
    bytes = [Envelope.version] + Array(sender.encapsulatedKey) + Array(sealed)
  }

  /// The message; nil when it was not sealed for this recipient, by that sender, in this context, under this name, or
  /// was changed since.
  public func opened(
    by key: P256.KeyAgreement.PrivateKey, _ opening: Opening, context: String, place: String
  ) -> [UInt8]? {
    let encapsulated = Data(bytes[1..<(1 + Envelope.keySize)])
    let info = Data(context.utf8)
    do {
      var recipient =
        switch opening {
        case .authenticated(let sender):
          try HPKE.Recipient(
            privateKey: key, ciphersuite: Envelope.suite, info: info,
            encapsulatedKey: encapsulated, authenticatedBy: sender)
        case .invited(let secret):
          try HPKE.Recipient(
            privateKey: key, ciphersuite: Envelope.suite, info: info,
            encapsulatedKey: encapsulated, presharedKey: secret,
            presharedKeyIdentifier: Envelope.invitation)
        }
      let padded = try recipient.open(
        Data(bytes[(1 + Envelope.keySize)...]), authenticating: Array(place.utf8))
      guard let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == 0x80 else { return nil }
      return Array(padded[..<end])
    } catch {
      // Whatever the reason: it is not to be opened.
      return nil
    }
  }

  private static let invitation = Data("belfry invitation".utf8)
}
