import BelfryCore
import BelfryStore
import Crypto
import FoundationEssentials

/// How two people become partners, and what is sealed between them from then on.
///
/// ```
/// inviter                                    guest
///    │  invitation: key, commitment, secret    │   outside of the mailbox
///    │────────────────────────────────────────▶│
///    │  join: key, nonce, name                 │   sealed to the inviter's key, with the secret
///    │◀────────────────────────────────────────│
///    │  welcome: nonce, name                   │   sealed by the inviter's key to the guest's
///    │────────────────────────────────────────▶│
///    │        both people compare six digits   │
///    │◀──────────── confirmed ────────────────▶│
/// ```
extension Partnership {
  /// Begins a partnership with whoever answers an invitation.
  public static func inviting(as name: String, mailbox: String, at now: Instant) -> Partnership {
    let key = P256.KeyAgreement.PrivateKey()
    let secret = PairingKeys.random(32)
    let nonce = PairingKeys.random(Invitation.nonceSize)
    let expires = Instant(seconds: now.adding(seconds: Invitation.lifetime).seconds)
    let invitation = Invitation(
      key: Array(key.publicKey.compressedRepresentation),
      commitment: PairingKeys.commitment(to: nonce), secret: secret, expires: expires, name: name,
      mailbox: mailbox)
    return Partnership(
      id: invitation.identifier, phase: .invited, name: "", ownName: name, mailbox: mailbox,
      isInviter: true, key: Array(key.rawRepresentation), secret: secret, ownNonce: nonce,
      created: now, expires: expires)
  }

  /// The invitation that was made; nil where it was another's, or the key is gone.
  public var invitation: Invitation? {
    guard isInviter, let own = ownKey else { return nil }
    return Invitation(
      key: Array(own.publicKey.compressedRepresentation),
      commitment: PairingKeys.commitment(to: ownNonce), secret: secret, expires: expires,
      name: ownName, mailbox: mailbox)
  }

  /// Answers an invitation.
  public static func accepting(
    _ invitation: Invitation, as name: String, at now: Instant
  ) throws -> Partnership {
    let key = P256.KeyAgreement.PrivateKey()
    var partner = Partnership(
      id: invitation.identifier, phase: .accepted, name: invitation.name, ownName: name,
      mailbox: invitation.mailbox, isInviter: false, key: Array(key.rawRepresentation),
      theirKey: invitation.key, secret: invitation.secret,
      ownNonce: PairingKeys.random(Invitation.nonceSize), commitment: invitation.commitment,
      created: now, expires: invitation.expires)
    let message = PartnerMessage.join(
      key: Array(key.publicKey.compressedRepresentation), nonce: partner.ownNonce, name: name)
    let place = Derived.identifier("belfry answer", [PairingKeys.random(16)]).text
    let envelope = try Envelope(
      sealing: message.encoded(sent: now),
      for: P256.KeyAgreement.PublicKey(compressedRepresentation: invitation.key),
      .invited(SymmetricKey(data: invitation.secret)), context: partner.joinContext, place: place)
    partner.post.append(
      Post(
        name: "\(PairingKeys.joinAddress(partner.id))/\(place)", envelope: envelope.bytes,
        request: nil))
    return partner
  }

  /// This side's person has seen that the code is the same on both.
  public mutating func confirm(at now: Instant) throws {
    guard phase == .comparing else { return }
    try seal(.confirmed, at: now)
    phase = .confirmed
    try finishPairing(at: now)
  }

  /// Takes note that the partner's person has confirmed it.
  mutating func confirmThere(at now: Instant) throws {
    isConfirmedThere = true
    try finishPairing(at: now)
  }

  private mutating func finishPairing(at now: Instant) throws {
    guard phase == .confirmed, isConfirmedThere else { return }
    phase = .active
    paired = now
    try repost(at: now)
  }

  /// Ends it: the partner is told, and the keys are gone.
  ///
  /// - Parameter successor: the partnership with the same person that takes its place.
  public mutating func end(at now: Instant, successor: Identifier? = nil) throws {
    if keysAreWhole, phase != .ended { try seal(.unpaired(successor: successor), at: now) }
    self.successor = successor
    forgetKeys()
  }

  /// Has what was asked under earlier keys, and was never answered, left in the mailbox under these.
  private mutating func repost(at now: Instant) throws {
    for index in sent.indices where sent[index].state == nil && !sent[index].isRecalled {
      let request = sent[index].request
      if request.expires <= now || post.contains(where: { $0.request == request.id }) { continue }
      sent[index].isPosted = false
      try post(request, at: now)
    }
  }

  /// What lies in the mailbox then is nobody's any more.
  mutating func forgetKeys() {
    leftovers.formUnion(seen.filter { !$0.value.isGone }.keys)
    if let outbox = channel?.addresses.outbox {
      for request in sent where request.isPosted {
        leftovers.insert("\(outbox)/\(request.request.id)")
      }
    }
    post.removeAll { $0.request != nil }
    phase = .ended
    key = nil
    theirKey = nil
    secret = []
    ownNonce = []
    theirNonce = nil
    seen = [:]
  }

  // MARK: Keys

  private var ownKey: P256.KeyAgreement.PrivateKey? {
    key.flatMap { try? P256.KeyAgreement.PrivateKey(rawRepresentation: $0) }
  }

  var pairingKeys: PairingKeys? {
    guard let own = ownKey,
      let theirs = theirKey.flatMap({
        try? P256.KeyAgreement.PublicKey(compressedRepresentation: $0)
      })
    else { return nil }
    return PairingKeys(own: own, theirs: theirs, secret: secret, isInviter: isInviter)
  }

  /// Whether all is there that a partner's device needs.
  var keysAreWhole: Bool { channel != nil }

  /// The way to and from the partner; nil before both devices know each other, and once the keys are gone.
  var channel: Channel? {
    guard let keys = pairingKeys, let addresses = try? keys.addresses() else { return nil }
    return Channel(id: id, keys: keys, addresses: addresses)
  }

  // MARK: Sealing

  private var joinContext: String { "belfry partner 1 join \(id)" }

  /// Seals a message for the partner, to be left in the mailbox.
  ///
  /// - Parameter place: the name for it; nil for one of its own.
  mutating func seal(
    _ message: PartnerMessage, at now: Instant, place: Identifier? = nil,
    request: Identifier? = nil
  ) throws {
    guard let channel else { throw NoKeys() }
    let place = place ?? Derived.identifier("belfry mail", [PairingKeys.random(16)])
    let name = "\(channel.addresses.outbox)/\(place)"
    if post.contains(where: { $0.name == name }) { return }
    let envelope = try channel.seal(message.encoded(sent: now), place: place.text)
    post.append(Post(name: name, envelope: envelope.bytes, request: request))
  }

  // MARK: Asking

  /// Has a request left in the mailbox, under its own identifier.
  public mutating func post(_ request: PartnerRequest, at now: Instant) throws {
    try seal(.request(request), at: now, place: request.id, request: request.id)
  }

  /// Takes a request back: one that was not sent yet never is.
  public mutating func recall(_ request: Identifier, at now: Instant) throws {
    guard let index = sent.firstIndex(where: { $0.request.id == request }) else { return }
    sent[index].isRecalled = true
    post.removeAll { $0.request == request }
    // All the same: a push that was cut off may have left it there.
    try seal(.recall(request), at: now)
  }

  /// Says something of a partner's request in words.
  public mutating func reply(_ words: String, to request: Identifier, at now: Instant) throws {
    guard let index = received.firstIndex(where: { $0.request.id == request }) else { return }
    let receipt = PartnerReceipt(.reply, of: request, at: now, detail: words)
    received[index].receipts.append(receipt)
    try seal(.receipts([receipt]), at: now)
  }

  /// The keys are gone, or damaged.
  public struct NoKeys: Error, Sendable {}

  // MARK: Opening

  /// Where something may lie for us, and what of it.
  enum Inbox {
    /// What the partner sends.
    case partner
    /// Answers to the invitation.
    case join
  }

  /// The addresses at which to look.
  func inboxes(at now: Instant) -> [String: Inbox] {
    var result: [String: Inbox] = [:]
    if phase != .ended, let channel { result[channel.addresses.inbox] = .partner }
    // For a day second answers are told of, too.
    if isInviter, phase != .ended, now.seconds(since: created) < Instant.tolerance {
      result[PairingKeys.joinAddress(id)] = .join
    }
    return result
  }

  /// What an answer to the invitation says; nil when it does not open.
  func openAnswer(_ envelope: Envelope, place: String) -> [UInt8]? {
    ownKey.flatMap {
      envelope.opened(
        by: $0, .invited(SymmetricKey(data: secret)), context: joinContext, place: place)
    }
  }
}

/// The way between two partners, in both directions.
struct Channel: Sendable {
  let id: Identifier
  let keys: PairingKeys
  let addresses: PairingKeys.Addresses

  private func context(to address: String) -> String { "belfry partner 1 \(id) to \(address)" }

  func seal(_ message: [UInt8], place: String) throws -> Envelope {
    try Envelope(
      sealing: message, for: keys.theirs, .authenticated(keys.own),
      context: context(to: addresses.outbox), place: place)
  }

  /// What the partner says; nil when it does not open.
  func open(_ envelope: Envelope, place: String) -> [UInt8]? {
    envelope.opened(
      by: keys.own, .authenticated(keys.theirs), context: context(to: addresses.inbox),
      place: place)
  }
}
