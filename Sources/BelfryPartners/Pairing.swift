import BelfryCore
import BelfryStore
import Crypto
import FoundationEssentials

/// Pairing, and the sealing and opening of messages.
///
/// ```
/// inviter                                    guest
///    │  invitation: key, commitment, secret    │   outside the mailbox
///    │────────────────────────────────────────▶│
///    │  join: key, nonce, name                 │   sealed to the inviter's key with the secret
///    │◀────────────────────────────────────────│
///    │  welcome: nonce, name                   │   sealed by the inviter's key to the guest's key
///    │────────────────────────────────────────▶│
///    │        both users compare six digits    │
///    │◀──────────── confirmed ────────────────▶│
/// ```
extension Partnership {
  /// Returns a new partnership with an invitation that one person can answer.
  ///
  /// - Parameters:
  ///   - name: the user's name for the partner to see.
  ///   - mailbox: the URL of the mailbox.
  ///   - now: the current time, at which the invitation becomes valid.
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
      isInviter: true,
      handshake: Handshake(
        privateKey: Array(key.rawRepresentation), secret: secret, ownNonce: nonce,
        commitment: nil),
      created: now, expires: expires)
  }

  /// The invitation that this device has made; nil if it accepted another one, or if the key was deleted.
  public var invitation: Invitation? {
    guard isInviter, let own = ownKey else { return nil }
    return Invitation(
      key: Array(own.publicKey.compressedRepresentation),
      commitment: PairingKeys.commitment(to: handshake.ownNonce), secret: handshake.secret,
      expires: expires, name: ownName, mailbox: mailbox)
  }

  /// Returns a new partnership with an outgoing answer to an invitation.
  ///
  /// - Parameters:
  ///   - invitation: the invitation.
  ///   - name: the user's name for the partner to see.
  ///   - now: the current time.
  /// - Throws: The errors of the encryption.
  public static func accepting(
    _ invitation: Invitation, as name: String, at now: Instant
  ) throws -> Partnership {
    let key = P256.KeyAgreement.PrivateKey()
    var partner = Partnership(
      id: invitation.identifier, phase: .accepted, name: invitation.name, ownName: name,
      mailbox: invitation.mailbox, isInviter: false,
      handshake: Handshake(
        privateKey: Array(key.rawRepresentation), partnerKey: invitation.key,
        secret: invitation.secret, ownNonce: PairingKeys.random(Invitation.nonceSize),
        commitment: invitation.commitment),
      created: now, expires: invitation.expires)
    let message = PartnerMessage.join(
      key: Array(key.publicKey.compressedRepresentation), nonce: partner.handshake.ownNonce,
      name: name)
    let place = Derived.identifier("belfry answer", [PairingKeys.random(16)]).text
    let envelope = try Envelope(
      sealing: message.encoded(sent: now),
      for: P256.KeyAgreement.PublicKey(compressedRepresentation: invitation.key),
      .invited(SymmetricKey(data: invitation.secret)), context: partner.joinContext, place: place)
    partner.mail.outgoing.append(
      OutgoingMail(
        name: "\(PairingKeys.joinAddress(partner.id))/\(place)", envelope: envelope.bytes,
        request: nil))
    return partner
  }

  /// Confirms that the partner sees the same code, and queues a message about it.
  ///
  /// - Throws: `NoKeys` if the keys are missing.
  public mutating func confirm(at now: Instant) throws {
    guard phase == .comparing else { return }
    try seal(.confirmed, at: now)
    phase = .confirmed
    try finishPairing(at: now)
  }

  /// Records that the partner has confirmed the code.
  mutating func confirmByPartner(at now: Instant) throws {
    handshake.isConfirmedByPartner = true
    try finishPairing(at: now)
  }

  private mutating func finishPairing(at now: Instant) throws {
    guard phase == .confirmed, handshake.isConfirmedByPartner else { return }
    phase = .active
    paired = now
    try repost(at: now)
  }

  /// Ends the partnership, queues a message about it and deletes the keys.
  ///
  /// - Parameters:
  ///   - now: the current time.
  ///   - successor: the partnership with the same person that continues this one; nil for none.
  /// - Throws: The errors of the encryption.
  public mutating func end(at now: Instant, successor: Identifier? = nil) throws {
    if hasKeys, phase != .ended { try seal(.unpaired(successor: successor), at: now) }
    self.successor = successor
    deleteKeys()
  }

  /// Queues the requests without a receipt, which were sent under earlier keys, again.
  private mutating func repost(at now: Instant) throws {
    for index in sent.indices where sent[index].state == nil && !sent[index].isRecalled {
      let request = sent[index].request
      if request.expires <= now { continue }
      if mail.outgoing.contains(where: { $0.request == request.id }) { continue }
      sent[index].isPosted = false
      try post(request, at: now)
    }
  }

  /// Deletes the keys and marks the remaining mail for deletion.
  mutating func deleteKeys() {
    mail.leftovers.formUnion(mail.seen.filter { !$0.value.isGone }.keys)
    if let outbox = channel?.addresses.outbox {
      for request in sent where request.isPosted {
        mail.leftovers.insert("\(outbox)/\(request.request.id)")
      }
    }
    mail.outgoing.removeAll { $0.request != nil }
    phase = .ended
    handshake.deleteKeys()
    mail.seen = [:]
  }

  // MARK: Keys

  private var ownKey: P256.KeyAgreement.PrivateKey? {
    handshake.privateKey.flatMap { try? P256.KeyAgreement.PrivateKey(rawRepresentation: $0) }
  }

  var pairingKeys: PairingKeys? {
    guard let own = ownKey,
      let theirs = handshake.partnerKey.flatMap({
        try? P256.KeyAgreement.PublicKey(compressedRepresentation: $0)
      })
    else { return nil }
    return PairingKeys(
      own: own, theirs: theirs, secret: handshake.secret, isInviter: isInviter)
  }

  /// True if messages can be sealed and opened.
  var hasKeys: Bool { channel != nil }

  /// The keys and addresses; nil before both devices know each other and after the keys were deleted.
  var channel: PairingCipher? {
    guard let keys = pairingKeys, let addresses = try? keys.addresses() else { return nil }
    return PairingCipher(id: id, keys: keys, addresses: addresses)
  }

  // MARK: Sealing

  private var joinContext: String { "belfry partner 1 join \(id)" }

  /// Seals a message and queues it. A message with the same name is queued only once.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - now: the current time.
  ///   - place: the identifier in the mailbox; nil for a random one.
  ///   - request: the request that the message contains; nil for any other message.
  /// - Throws: `NoKeys` if the keys are missing.
  mutating func seal(
    _ message: PartnerMessage, at now: Instant, place: Identifier? = nil,
    request: Identifier? = nil
  ) throws {
    guard let channel else { throw NoKeys() }
    let place = place ?? Derived.identifier("belfry mail", [PairingKeys.random(16)])
    let name = "\(channel.addresses.outbox)/\(place)"
    if mail.outgoing.contains(where: { $0.name == name }) { return }
    let envelope = try channel.seal(message.encoded(sent: now), place: place.text)
    mail.outgoing.append(OutgoingMail(name: name, envelope: envelope.bytes, request: request))
  }

  // MARK: Requests

  /// Queues a request under its own identifier.
  ///
  /// - Throws: `NoKeys` if the keys are missing.
  public mutating func post(_ request: PartnerRequest, at now: Instant) throws {
    try seal(.request(request), at: now, place: request.id, request: request.id)
  }

  /// Recalls a request. If it was not sent yet, it is dropped.
  ///
  /// - Throws: `NoKeys` if the keys are missing.
  public mutating func recall(_ request: Identifier, at now: Instant) throws {
    guard let index = sent.firstIndex(where: { $0.request.id == request }) else { return }
    sent[index].isRecalled = true
    mail.outgoing.removeAll { $0.request == request }
    // The recall is sent in any case, because an interrupted push may have sent the request.
    try seal(.recall(request), at: now)
  }

  /// Queues a reply to a partner's request.
  ///
  /// - Throws: `NoKeys` if the keys are missing.
  public mutating func reply(_ words: String, to request: Identifier, at now: Instant) throws {
    guard let index = received.firstIndex(where: { $0.request.id == request }) else { return }
    let receipt = PartnerReceipt(.reply, of: request, at: now, detail: words)
    received[index].receipts.append(receipt)
    try seal(.receipts([receipt]), at: now)
  }

  /// An error: the keys are missing or damaged.
  public struct NoKeys: Error, Sendable {}

  // MARK: Opening

  /// The purpose of an address that this device reads.
  enum Inbox {
    /// Mail from the partner.
    case partner
    /// Answers to the invitation.
    case join
  }

  /// Returns the addresses that this device reads.
  func inboxes(at now: Instant) -> [String: Inbox] {
    var result: [String: Inbox] = [:]
    if phase != .ended, let channel { result[channel.addresses.inbox] = .partner }
    // Further answers to an invitation are detected for a day.
    if isInviter, phase != .ended, now.seconds(since: created) < Instant.day {
      result[PairingKeys.joinAddress(id)] = .join
    }
    return result
  }

  /// Returns the content of an answer to the invitation; nil if it cannot be opened.
  func openAnswer(_ envelope: Envelope, place: String) -> [UInt8]? {
    ownKey.flatMap {
      envelope.opened(
        by: $0, .invited(SymmetricKey(data: handshake.secret)), context: joinContext, place: place)
    }
  }
}

/// The keys and addresses for messages in both directions.
struct PairingCipher: Sendable {
  let id: Identifier
  let keys: PairingKeys
  let addresses: PairingKeys.Addresses

  private func context(to address: String) -> String { "belfry partner 1 \(id) to \(address)" }

  /// Returns a sealed message for the partner.
  func seal(_ message: [UInt8], place: String) throws -> Envelope {
    try Envelope(
      sealing: message, for: keys.theirs, .authenticated(keys.own),
      context: context(to: addresses.outbox), place: place)
  }

  /// Returns the content of a message from the partner; nil if it cannot be opened.
  func open(_ envelope: Envelope, place: String) -> [UInt8]? {
    envelope.opened(
      by: keys.own, .authenticated(keys.theirs), context: context(to: addresses.inbox),
      place: place)
  }
}
