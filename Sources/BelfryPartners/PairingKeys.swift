import BelfryCore
import Crypto
import FoundationEssentials

/// One end of a partnership: this person's own key, the partner's, and what comes of both.
struct PairingKeys: Sendable {
  let own: P256.KeyAgreement.PrivateKey
  let theirs: P256.KeyAgreement.PublicKey
  /// The invitation's secret: keys that were exchanged in the open are bound to it.
  let secret: [UInt8]
  let isInviter: Bool

  /// Where the two find what is for them: random to everybody else, the mailbox's host included.
  struct Addresses: Hashable, Sendable {
    let inbox: String
    let outbox: String
  }

  /// Throws when no secret comes of the two keys, as of one that is no point of the curve.
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

  /// Where the answer to an invitation is left.
  static func joinAddress(_ invitation: Identifier) -> String {
    Derived.identifier("belfry join", [Array(invitation.text.utf8)]).text
  }

  /// Six digits that both people see, equal only where each has the other's very key: `481 209`.
  ///
  /// Whoever stands in the middle has one guess of a million, as the inviter's nonce is bound before the guest's is
  /// known, and told after it.
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

  static func commitment(to nonce: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: Data(nonce))) }

  /// Bytes that nobody can guess.
  static func random(_ count: Int) -> [UInt8] {
    SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
  }
}
