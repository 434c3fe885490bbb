import BelfryCore
import Crypto
import FoundationEssentials

/// A sealed message: HPKE (RFC 9180) with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM.
///
/// ```
/// version (1 byte)   encapsulated key (65)   padded message, encrypted (1,024 to 40,960)   tag (16)
/// ```
///
/// Each envelope has an ephemeral key and is the only message under the key derived from it. There is no counter that
/// a restored backup could reset, so a nonce is never reused.
public struct Envelope: Hashable, Sendable {
  /// The complete envelope.
  public let bytes: [UInt8]

  static let suite = HPKE.Ciphersuite.P256_SHA256_AES_GCM_256
  /// The version of envelopes, which is the first byte of each. Others are ignored.
  public static let version: UInt8 = 1
  private static let keySize = 65
  private static let tagSize = 16
  /// The sizes to which messages are padded, so that their size does not reveal their kind. The largest one fits 1,000
  /// characters of any script.
  static let sizes = [1024, 2048, 4096, 8192, 40_960]
  /// The maximum size of an envelope, in bytes.
  public static let largest = 1 + keySize + (sizes.last ?? 0) + tagSize

  /// Creates an envelope from received bytes; nil if the version or size is not that of an envelope.
  public init?(_ bytes: [UInt8]) {
    let sizes = Envelope.sizes.map { 1 + Envelope.keySize + $0 + Envelope.tagSize }
    guard sizes.contains(bytes.count), bytes.first == Envelope.version else { return nil }
    self.bytes = bytes
  }

  /// The authentication of the sender, with the sender's key.
  public enum Sealing: Sendable {
    /// The holder of this private key: HPKE's mode `auth`.
    case authenticated(P256.KeyAgreement.PrivateKey)
    /// Anybody who knows the secret of an invitation: HPKE's mode `psk`.
    case invited(SymmetricKey)
  }

  /// The authentication of the sender, with the recipient's knowledge.
  public enum Opening: Sendable {
    /// The holder of the private key for this public key.
    case authenticated(P256.KeyAgreement.PublicKey)
    /// Anybody who knows the secret of an invitation.
    case invited(SymmetricKey)
  }

  /// An error: the message does not fit into an envelope.
  public struct TooLong: Error, Sendable {}

  /// Seals a message for one recipient.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - recipient: the recipient's public key.
  ///   - sealing: the authentication of the sender.
  ///   - context: text that both sides know and that differs for other partnerships and for the other direction.
  ///   - place: the identifier in the mailbox. The envelope cannot be opened under another one.
  /// - Throws: `TooLong` if the message is too long; the errors of the encryption.
  public init(
    sealing message: [UInt8], for recipient: P256.KeyAgreement.PublicKey, _ sealing: Sealing,
    context: String, place: String
  ) throws {
    // The byte 0x80 marks the end of the message.
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

  /// Returns the message; nil if the envelope was sealed for another recipient, sender, context or identifier, or was
  /// modified.
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
      // The caller needs no reason: every failure means that the envelope is not authentic.
      return nil
    }
  }

  private static let invitation = Data("belfry invitation".utf8)
}
