import BelfryCore
import BelfryStore
import Crypto
import Foundation
import TestSupport
import Testing

@testable import BelfryPartners

extension PartnerNews.Event {
  fileprivate var refusal: PartnerRefusal? {
    if case .refused(_, let refusal) = self { refusal } else { nil }
  }
}

/// Attacks with access to the mailbox or with foreign keys: each is refused and counted, and arms no alarm.
@Suite struct SecurityTests {
  /// Sends a request, and removes its envelope from the mailbox before Alex receives it.
  private func captured(_ pair: Pair) async throws -> (name: String, bytes: [UInt8]) {
    try pair.chris.ask()
    try await pair.chris.round()
    let name = try #require(try pair.inbox.first)
    let bytes = try #require(pair.mailbox.all[name])
    pair.mailbox.remove(name)
    return (name, bytes)
  }

  private func expectRefusal(
    _ pair: Pair, _ fault: MailFault, count: Int = 1, alarms: Int = 0
  ) async throws {
    let report = try await pair.alex.round()
    #expect(try pair.alex.faults(fault) == count)
    #expect(
      report.news.contains {
        if case .fault(fault, _) = $0.event { true } else { false }
      })
    #expect(try pair.alex.alarms.count == alarms)
    // It is removed from the mailbox, and reported once.
    #expect(try pair.inbox.isEmpty)
    #expect(try await pair.alex.round().news.isEmpty)
  }

  @Test func aReplayIsRefused() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    try await pair.chris.round()
    let name = try #require(try pair.inbox.first)
    let bytes = try #require(pair.mailbox.all[name])
    try await pair.alex.round()
    let alarm = try #require(try pair.alex.alarms.first)
    // It was acknowledged and is over. An attacker puts it back while its time is still ahead.
    try pair.alex.store.update(alarm.id) { before in
      let after = before.deleted()
      return (
        Store.Change(
          alarms: [after], entries: try pair.alex.store.entries([Event(.deleted)], of: after),
          message: CommitMessage("Delete", device: nil)), ()
      )
    }
    try await pair.alex.round()
    try await pair.alex.round()
    #expect(try pair.inbox.isEmpty)
    pair.mailbox.put(name, bytes)
    try await expectRefusal(pair, .replayed)
  }

  @Test func aReplayUnderAnotherNameIsRefused() async throws {
    let pair = try await Pair()
    let (name, bytes) = try await captured(pair)
    let other = String(name.dropLast()) + (name.hasSuffix("a") ? "b" : "a")
    pair.mailbox.put(other, bytes)
    try await expectRefusal(pair, .forged)
  }

  @Test func anotherEnvelopeInPlaceOfARemovedOneIsRefused() async throws {
    let pair = try await Pair()
    try pair.chris.ask()
    try await pair.chris.round()
    let name = try #require(try pair.inbox.first)
    try await pair.alex.round()
    pair.mailbox.put(name, [UInt8](repeating: 1, count: 1106))
    try await expectRefusal(pair, .replayed, alarms: 1)
  }

  @Test func aForgedSenderIsRefused() async throws {
    let pair = try await Pair()
    // An attacker who knows everything except Chris's private key.
    let channel = try #require(try pair.chris.partner.channel)
    let place = try pair.chris.store.context.makeIdentifier()
    let request = PartnerRequest(
      id: place, message: "Open the door", at: pair.alex.now.adding(seconds: 3600),
      expires: pair.alex.now.adding(seconds: 7200))
    let forged = PairingCipher(
      id: channel.id,
      keys: PairingKeys(
        own: P256.KeyAgreement.PrivateKey(), theirs: channel.keys.theirs,
        secret: channel.keys.secret, isInviter: true), addresses: channel.addresses)
    let envelope = try forged.seal(
      PartnerMessage.request(request).encoded(sent: pair.alex.now), place: place.text)
    pair.mailbox.put("\(channel.addresses.outbox)/\(place)", envelope.bytes)
    try await expectRefusal(pair, .forged)
  }

  @Test("An envelope of another partner at Chris's address is refused")
  func aSwappedSender() async throws {
    let pair = try await Pair()
    let carol = try Person(pair.mailbox)
    let other = try Person(pair.mailbox)
    try await Pair.join(carol, other)
    try carol.ask("From Carol")
    try await carol.round()
    let address = try #require(try other.partner.channel).addresses.inbox
    let theirs = try #require(pair.mailbox.all.first { $0.key.hasPrefix(address) })
    let place = theirs.key.dropFirst(address.count + 1)
    let chris = try #require(try pair.alex.partner.channel).addresses.inbox
    pair.mailbox.put("\(chris)/\(place)", theirs.value)
    try await expectRefusal(pair, .forged)
  }

  @Test("Alex's own envelope is refused by Alex")
  func aWrongRecipient() async throws {
    let pair = try await Pair()
    let request = try pair.alex.ask()
    try await pair.alex.round()
    let channel = try #require(try pair.alex.partner.channel)
    let bytes = try #require(pair.mailbox.all["\(channel.addresses.outbox)/\(request.id)"])
    pair.mailbox.put("\(channel.addresses.inbox)/\(request.id)", bytes)
    try await expectRefusal(pair, .forged)
  }

  @Test(
    "A tampered envelope is refused, wherever it was changed",
    arguments: [1, 40, 66, 500, 1089, 1105])
  func aTamperedEnvelope(_ index: Int) async throws {
    let pair = try await Pair()
    var (name, bytes) = try await captured(pair)
    bytes[index] ^= 1
    pair.mailbox.put(name, bytes)
    try await expectRefusal(pair, .forged)
  }

  @Test(
    "A truncated envelope, or one of another version, is refused", arguments: [0, 1, 65, 66, 1105])
  func aCutEnvelope(_ length: Int) async throws {
    let pair = try await Pair()
    let (name, bytes) = try await captured(pair)
    pair.mailbox.put(name, Array(bytes.prefix(length)))
    try await expectRefusal(pair, .malformed)
    var later = bytes
    later[0] = 2
    let other = String(name.dropLast()) + (name.hasSuffix("a") ? "b" : "a")
    pair.mailbox.put(other, later)
    try await expectRefusal(pair, .malformed, count: 2)
  }

  @Test func aHugeEnvelopeIsRefused() async throws {
    let pair = try await Pair()
    let (name, bytes) = try await captured(pair)
    pair.mailbox.putUnfit(name)
    try await expectRefusal(pair, .malformed)
    let other = String(name.dropLast()) + (name.hasSuffix("a") ? "b" : "a")
    pair.mailbox.put(other, bytes + [UInt8](repeating: 0, count: 100_000))
    try await expectRefusal(pair, .malformed, count: 2)
  }

  // MARK: Invitations

  /// Returns an invitation of Chris's and a response to it.
  private func invited(
    _ mailbox: MemoryMailbox
  ) throws -> (chris: Person, invitation: Invitation) {
    let chris = try Person(mailbox)
    let made = Partnership.inviting(as: "Chris", mailbox: "/mailbox", at: chris.now)
    try chris.book.change { $0 = [made] }
    return (chris, try Invitation(try #require(made.invitation).link))
  }

  private func answer(
    _ invitation: Invitation, _ mailbox: MemoryMailbox, as name: String = "Mallory"
  ) async throws -> Person {
    let guest = try Person(mailbox)
    try guest.book.change {
      $0 = [try Partnership.accepting(invitation, as: name, at: guest.now)]
    }
    try await guest.round()
    return guest
  }

  @Test func anExpiredInvitationIsRefused() async throws {
    let mailbox = MemoryMailbox()
    let (chris, invitation) = try invited(mailbox)
    _ = try await answer(invitation, mailbox)
    chris.now = invitation.expires.adding(seconds: Instant.skew + 1)
    try await chris.round()
    #expect(try chris.faults(.oldInvitation) == 1)
    #expect(try chris.partner.phase == .invited)
    #expect(try chris.partner.code == nil)
  }

  @Test("An invitation that is used twice at once pairs no one")
  func anInvitationUsedTwiceAtOnce() async throws {
    let mailbox = MemoryMailbox()
    let (chris, invitation) = try invited(mailbox)
    _ = try await answer(invitation, mailbox)
    _ = try await answer(invitation, mailbox, as: "Alex")
    let report = try await chris.round()
    #expect(report.news.contains { $0.event == .usedTwice })
    #expect(try chris.faults(.usedInvitation) == 2)
    #expect(try chris.partner.phase == .ended)
  }

  @Test("An invitation cannot be used again after the first response was accepted")
  func anInvitationUsedAgain() async throws {
    let mailbox = MemoryMailbox()
    let (chris, invitation) = try invited(mailbox)
    let alex = try await answer(invitation, mailbox, as: "Alex")
    try await chris.round()
    let code = try #require(try chris.partner.code)
    let mallory = try await answer(invitation, mailbox)
    try await chris.round()
    try await alex.round()
    try await mallory.round()
    #expect(try chris.faults(.usedInvitation) == 1)
    #expect(try chris.partner.name == "Alex")
    #expect(try chris.partner.code == code)
    #expect(try alex.partner.code == code)
    // Nothing that Chris has sealed is for Mallory.
    #expect(try mallory.partner.phase == .accepted)
  }

  @Test("A man in the middle with the link and the mailbox causes different codes")
  func somebodyInTheMiddle() async throws {
    let (ours, theirs) = (MemoryMailbox(), MemoryMailbox())
    let (chris, invitation) = try invited(ours)
    // Mallory gives Alex a link of Mallory's own, and responds to Chris's.
    let mallory = try Person(theirs)
    let fake = Partnership.inviting(as: "Chris", mailbox: "/mailbox", at: mallory.now)
    try mallory.book.change { $0 = [fake] }
    let alex = try await answer(
      try Invitation(try #require(fake.invitation).link), theirs, as: "Alex")
    let malloryAsAlex = try await answer(invitation, ours, as: "Alex")
    for _ in 0..<2 {
      for person in [mallory, alex, chris, malloryAsAlex] { try await person.round() }
    }
    let codes = [try chris.partner.code, try alex.partner.code]
    #expect(codes[0] != nil && codes[1] != nil)
    #expect(codes[0] != codes[1])
  }

  @Test("A nonce that differs from its commitment is refused")
  func aWelcomeThatBreaksItsCommitment() async throws {
    let mailbox = MemoryMailbox()
    let (chris, invitation) = try invited(mailbox)
    let alex = try await answer(invitation, mailbox, as: "Alex")
    // Modified software would choose its nonce only now, to produce the wanted code.
    try chris.change { $0.handshake.ownNonce = PairingKeys.random(32) }
    try await chris.round()
    try await alex.round()
    #expect(try alex.faults(.nonsense) == 1)
    #expect(try alex.partner.phase == .accepted)
    #expect(try alex.partner.code == nil)
  }

  // MARK: Floods and names

  @Test(
    "Of a thousand requests at once, the daily limit is accepted, and the others are refused with a receipt"
  )
  func aThousandRequests() async throws {
    let pair = try await Pair()
    try pair.chris.change { partner in
      for index in 0..<1000 {
        let at = pair.alex.now.adding(seconds: Int64(3600 + index * 2))
        let request = PartnerRequest(
          id: try pair.chris.store.context.makeIdentifier(), message: "Wake up \(index)", at: at,
          expires: at)
        partner.sent.append(SentRequest(request: request, created: pair.chris.now))
        try partner.post(request, at: pair.chris.now)
      }
    }
    try await pair.chris.round()
    let report = try await pair.alex.round()
    #expect(try pair.alex.alarms.count == 20)
    #expect(
      report.news.count {
        $0.event.refusal == .tooMany(perDay: 20)
      } == 980)
    try await pair.chris.round()
    let sent = try pair.chris.partner.sent
    #expect(sent.count { $0.state == .refused } == 980)
    #expect(sent.count { $0.state == .scheduled } == 20)
    #expect(sent.first { $0.state == .refused }?.receipts.last?.detail == "more than 20 a day")
    // The limit applies again the next day.
    pair.pass(to: "2026-11-23T12:00:00Z")
    try pair.chris.ask(at: "2026-11-23T13:00:00Z")
    try await pair.chris.round()
    try await pair.alex.round()
    #expect(try pair.alex.alarms.count == 21)
  }

  @Test("Mail with a name that Belfry does not create is not fetched")
  func hostileNames() async throws {
    let pair = try await Pair()
    let address = try #require(try pair.alex.partner.channel).addresses.inbox
    let names = [
      "x", "../../heads/main", "-oProxyCommand=touch", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "a b",
      String(repeating: "a", count: 200), "\u{1B}[31m", "refs/heads/main", "aaaa/bbbb",
    ]
    for name in names { pair.mailbox.put("\(address)/\(name)", [1]) }
    pair.mailbox.put("nobody", [1])
    pair.mailbox.put("", [1])
    try await expectRefusal(pair, .strangeName, count: names.count)
    // Mail at the addresses of others is left alone.
    #expect(Set(pair.mailbox.all.keys) == ["nobody", ""])
  }

  // MARK: Restrictions of partners

  @Test("Text with terminal control sequences or invisible characters is not shown")
  func hostileText() async throws {
    let pair = try await Pair()
    for text in ["\u{1B}[2J", "a\u{202E}b", "", "   ", String(repeating: "x", count: 1001)] {
      try pair.chris.ask(text)
    }
    try await pair.chris.round()
    try await expectRefusal(pair, .nonsense, count: 5)
    for name in ["\u{1B}[31mChris", "", String(repeating: "x", count: 41), "a\nb"] {
      #expect(PartnerOrigin.name(name) == nil)
    }
  }

  @Test("A request under another request's name is refused")
  func aRequestUnderAForeignName() async throws {
    let pair = try await Pair()
    let request = PartnerRequest(
      id: try pair.chris.store.context.makeIdentifier(), message: "Twice",
      at: pair.alex.now.adding(seconds: 3600), expires: pair.alex.now.adding(seconds: 7200))
    try pair.chris.change { partner in
      try partner.seal(.request(request), at: pair.chris.now)
      try partner.seal(.request(request), at: pair.chris.now)
    }
    try await pair.chris.round()
    try await expectRefusal(pair, .nonsense, count: 2)
  }

  @Test("A request before both sides have confirmed the code is refused")
  func beforeTheCodeIsConfirmed() async throws {
    let mailbox = MemoryMailbox()
    let (chris, invitation) = try invited(mailbox)
    let alex = try await answer(invitation, mailbox, as: "Alex")
    try await chris.round()
    try await alex.round()
    try alex.ask("Now")
    try await alex.round()
    try await chris.round()
    #expect(try chris.alarms.isEmpty)
    try await alex.round()
    #expect(try alex.partner.sent[0].receipts.last?.detail == "you are not paired")
  }

  @Test("A request after the partnership's year is refused, with the reason")
  func afterTheYear() async throws {
    let pair = try await Pair()
    pair.pass(to: "2027-11-22T12:00:01Z")
    try pair.chris.ask(at: "2027-11-22T16:45:00Z")
    try await pair.chris.round()
    try await expectRefusal(pair, .outlived)
    try await pair.chris.round()
    #expect(
      try pair.chris.partner.sent[0].receipts.last?.detail
        == "the pairing has expired; pair again")
  }

  @Test("The keys are in a file that only its owner can read, and nowhere in the store")
  func keysStayHere() async throws {
    let pair = try await Pair()
    let folder = try pair.alex.book.folder
    let file = try #require(
      FileManager.default.subpaths(atPath: folder)?.first { $0.hasSuffix(".json") })
    var status = stat()
    #expect(stat("\(folder)/\(file)", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    #expect(stat(folder, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o700)
    let key = Base64URL.encode(try #require(try pair.alex.partner.handshake.privateKey))
    let grep = try await pair.alex.sandbox.git("log", "-p", "--all", in: pair.alex.store.path)
    #expect(!grep.out.contains(key))
    // After a backup restored it with wider permissions, they are restricted again.
    chmod("\(folder)/\(file)", 0o644)
    _ = try pair.alex.book.partners
    #expect(stat("\(folder)/\(file)", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
  }

  @Test("A partner cannot replace another partner")
  func aFalseSuccessor() async throws {
    let pair = try await Pair()
    let carol = try Person(pair.mailbox)
    let other = try Person(pair.mailbox)
    try await Pair.join(carol, other)
    try pair.alex.ask("for Chris")
    let theirs = try #require(PartnerStore.imported(PartnerStore.exported([try other.partner])))
    try pair.alex.book.change { $0 += theirs }
    pair.pass(to: "2026-11-25T12:00:00Z")
    try pair.chris.change { try $0.end(at: pair.chris.now, successor: theirs[0].id) }
    try await pair.chris.round()
    try await pair.alex.round()
    let heir = try #require(try pair.alex.book.partners.first { $0.id == theirs[0].id })
    #expect(heir.sent.isEmpty && heir.received.isEmpty && heir.mail.outgoing.isEmpty)
  }

  // MARK: Fuzz

  @Test("Of ten thousand randomly changed envelopes, none opens and none arms an alarm")
  func tenThousandEnvelopes() async throws {
    let pair = try await Pair()
    let (name, original) = try await captured(pair)
    let place = try #require(name.split(separator: "/").last.map(String.init))
    let channel = try #require(try pair.alex.partner.channel)
    var random = SeededGenerator(seed: 20_261_122)
    var opened = 0
    var taken = 0
    for _ in 0..<10_000 {
      let bytes = mutated(original, &random)
      if bytes == original { continue }
      guard let envelope = Envelope(bytes) else { continue }
      taken += 1
      if channel.open(envelope, place: place) != nil { opened += 1 }
    }
    #expect(opened == 0)
    // Many of them had the right size.
    #expect(taken > 3000)
    #expect(channel.open(try #require(Envelope(original)), place: place) != nil)
  }

  @Test(
    "Of ten thousand messages of a hostile partner, only messages that Belfry could have sent are accepted"
  )
  func tenThousandMessages() throws {
    var random = SeededGenerator(seed: 9180)
    let now = Instant(rfc3339: Pair.start)!
    let request = PartnerRequest(
      id: .random(using: &random), message: "Wake up ❤️", at: now,
      repeats: PartnerRequest.Repetition(
        schedule: try Schedule(
          .weekly([.monday], Recurrence.Cadence(start: CivilDate("2026-11-22")!)),
          times: [CivilTime("09:00")!]), zone: "Europe/Berlin"), sound: "bell",
      expires: now)
    let originals: [PartnerMessage] = [
      .request(request), .recall(request.id), .confirmed, .unpaired(successor: request.id),
      .receipts([PartnerReceipt(.reply, of: request.id, at: now, detail: "yes")]),
      .join(
        key: [UInt8](repeating: 2, count: 33), nonce: [UInt8](repeating: 3, count: 32), name: "A"),
    ]
    var taken = 0
    for index in 0..<10_000 {
      let original = originals[index % originals.count].encoded(sent: now)
      guard let (message, sent) = PartnerMessage.decode(mutated(original, &random)) else {
        continue
      }
      taken += 1
      #expect(PartnerMessage.decode(message.encoded(sent: sent))?.message == message)
    }
    #expect(taken > 50)
  }

  /// Returns bytes that are randomly changed, truncated, duplicated or mixed.
  private func mutated(_ original: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = original
    for _ in 0..<random.int(1...4) where !bytes.isEmpty {
      let index = random.int(0...(bytes.count - 1))
      switch random.int(0...9) {
      case 0...5: bytes[index] ^= UInt8(1 << random.int(0...7))
      case 6: bytes[index] = UInt8(random.int(0...255))
      case 7: bytes.removeSubrange(index..<min(bytes.count, index + random.int(1...64)))
      case 8: bytes.insert(contentsOf: bytes[..<min(bytes.count, random.int(1...64))], at: index)
      default: bytes.swapAt(index, random.int(0...(bytes.count - 1)))
      }
    }
    return bytes
  }
}
