import BelfryCore
import Crypto
import FoundationEssentials

/// The keys of one side of a partnership.
struct PairingKeys: Sendable {
  let own: P256.KeyAgreement.PrivateKey
  let theirs: P256.KeyAgreement.PublicKey
  /// The invitation's secret. It binds the exchanged public keys to the invitation.
  let secret: [UInt8]
  let isInviter: Bool

  /// The addresses of both directions, which are random to everybody else, the mailbox's host included.
  struct Addresses: Hashable, Sendable {
    let inbox: String
    let outbox: String
  }

  /// Returns the addresses that both sides derive from the keys.
  ///
  /// - Throws: An error if the partner's key yields no shared secret.
  func addresses() throws -> Addresses {
    let shared = try own.sharedSecretFromKeyAgreement(with: theirs)
    func address(_ label: String) -> String {
      let key = shared.hkdfDerivedSymmetricKey(
        using: SHA256.self, salt: Data(secret), sharedInfo: Data("belfry \(label)".utf8),
        outputByteCount: 16)
      let bytes = key.withUnsafeBytes { Array($0) }
      return Derived.identifier("belfry address", [bytes]).text
    }
    let (inviter, guest) = (address("inbox of the inviter"), address("inbox of the guest"))
    return isInviter
      ? Addresses(inbox: inviter, outbox: guest) : Addresses(inbox: guest, outbox: inviter)
  }

  /// Returns the address for answers to an invitation.
  static func joinAddress(_ invitation: Identifier) -> String {
    Derived.identifier("belfry join", [Array(invitation.text.utf8)]).text
  }

  /// Returns the six-digit code that is equal on both sides only if each has the other's key: `481 209`.
  ///
  /// A person in the middle has a chance of one in a million, because the inviter commits to a nonce before the
  /// guest's nonce is known, and reveals it afterwards.
  func code(inviterNonce: [UInt8], guestNonce: [UInt8]) -> String {
    let keys = [own.publicKey, theirs].map { Array($0.compressedRepresentation) }
    let ordered = isInviter ? keys : keys.reversed()
    let digest = SHA256.hash(
      data: Derived.framed("belfry code", ordered + [inviterNonce, guestNonce, secret]))
    let number = Array(digest).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
    let digits = String(number)
    let text = String(repeating: "0", count: 6 - digits.count) + digits
    return "\(text.prefix(3)) \(text.suffix(3))"
  }

  /// Returns the commitment to a nonce: its SHA-256 digest.
  static func commitment(to nonce: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: Data(nonce))) }

  /// Returns random bytes from a cryptographically secure source.
  static func random(_ count: Int) -> [UInt8] {
    SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
  }
}
