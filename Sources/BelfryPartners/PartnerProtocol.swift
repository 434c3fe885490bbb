import BelfryCore

/// An event of a partnership to show to the user.
public struct PartnerNews: Hashable, Sendable {
  /// The kind of event.
  public enum Event: Hashable, Sendable {
    /// Both devices know each other, and the users can compare this code.
    case code(String)
    /// The pairing is complete.
    case paired
    /// The pairing has expired.
    case outlived
    /// An alarm was set for the partner's request.
    case scheduled(PartnerRequest)
    /// The partner's request was refused; the reason is nil if it arrived too late.
    case refused(PartnerRequest, PartnerRefusal?)
    /// The partner has recalled a request.
    case recalled(PartnerRequest)
    /// The partner's device has reported about one of the user's requests.
    case receipt(PartnerReceipt, PartnerRequest)
    /// One of the user's requests had disappeared from the mailbox, and was sent again.
    case resent(PartnerRequest)
    /// One of the user's requests has disappeared from the mailbox, and cannot be sent again.
    case lost(PartnerRequest)
    /// One of the user's requests could not be sent in time, because the mailbox could not be reached.
    case unsent(PartnerRequest)
    /// The partner has ended the partnership. The number is that of the partner's alarms, which still ring: the user
    /// decides whether to keep them.
    case unpaired(remaining: Int)
    /// Mail was rejected.
    case fault(MailFault, count: Int)
    /// Two devices have answered an invitation, so both answers were rejected.
    case usedTwice
  }
  /// The partner's name; empty before the invitation is answered.
  public let partner: String
  /// The event.
  public let event: Event

  /// Creates an event.
  public init(partner: String, event: Event) {
    self.partner = partner
    self.event = event
  }
}

/// A fetched message with its name and its git object.
struct IncomingMail: Sendable {
  let address: String
  let place: String
  let object: String
  let content: FetchedMail

  var name: String { "\(address)/\(place)" }
}

/// The state machine of one partnership. It processes mail and reports alarms, and accesses neither store nor mailbox.
struct PartnerProtocol {
  var partner: Partnership
  /// The store's side: sets and deletes alarms.
  let handler: any PartnerRequestHandler
  let now: Instant
  private(set) var news: [PartnerNews] = []
  /// The receipts to send.
  var receipts: [PartnerReceipt] = []
  /// The identifiers of all received requests.
  var known: Set<Identifier>
  /// The number of requests that were accepted today.
  var acceptedToday: Int
  /// The number of times that accepted requests ring on each day; nil until it is computed.
  var knownRings: [CivilDate: Int]?

  init(_ partner: Partnership, handler: any PartnerRequestHandler, at now: Instant) {
    self.partner = partner
    self.handler = handler
    self.now = now
    known = Set(partner.received.map(\.request.id))
    acceptedToday = partner.received.count { $0.alarm != nil && handler.isToday($0.received) }
  }

  /// The time for which the name of deleted mail is kept, in seconds.
  ///
  /// If a request reappears after that, its time decides, and the alarm that it once created is unchanged.
  static let nameLifetime: Int64 = 400 * 86_400
  /// The time for which receipts stay in the mailbox for another device of this user, in seconds.
  private static let receiptLifetime: Int64 = 30 * 86_400
  /// The maximum number of names that are kept.
  private static let maxNameCount = 20_000
  /// The maximum number of received requests, and of receipts for one request, that are kept.
  static let maxRememberedCount = 2000

  mutating func addNews(_ event: PartnerNews.Event) {
    news.append(PartnerNews(partner: partner.name, event: event))
  }

  mutating func recordFault(_ fault: MailFault, _ count: Int = 1) {
    var faults = partner.mail.faults[fault] ?? Faults(last: now)
    faults.count += count
    faults.last = now
    partner.mail.faults[fault] = faults
    if case .fault(fault, let before)? = news.last?.event {
      news[news.count - 1] = PartnerNews(
        partner: partner.name, event: .fault(fault, count: before + count))
    } else {
      addNews(.fault(fault, count: count))
    }
  }

  /// Marks mail as processed. If `isDone`, it will be deleted from the mailbox.
  mutating func markSeen(_ mail: IncomingMail, isDone: Bool, isReceipt: Bool = false) {
    partner.mail.seen[mail.name] = SeenMail(
      object: mail.object, at: now, isDone: isDone, isReceipt: isReceipt)
  }

  /// Marks mail for deletion that a partner's Belfry cannot have sent.
  mutating func refuse(_ mail: IncomingMail, _ fault: MailFault) {
    partner.mail.seen[mail.name] = SeenMail(
      object: mail.object, at: now, isDone: true, isRefused: true)
    recordFault(fault)
  }

  /// Returns the names of the mail to fetch, judged by name and object only.
  ///
  /// A name is used once, and the object under a name never changes. Mail that violates this is not fetched.
  ///
  /// - Parameters:
  ///   - listed: the objects at the address, by identifier.
  ///   - address: the address.
  mutating func selectMail(_ listed: [String: String], at address: String) -> [String] {
    var wanted: [String] = []
    for (place, object) in listed {
      let name = "\(address)/\(place)"
      guard let known = partner.mail.seen[name] else {
        if Identifier(place) != nil {
          wanted.append(name)
        } else {
          recordFault(.strangeName)
          partner.mail.seen[name] = SeenMail(object: object, at: now, isDone: true, isRefused: true)
        }
        continue
      }
      guard known.isGone || known.object != object else { continue }
      if !known.isReceipt {
        recordFault(.replayed)
        // If the mailbox was lost with the receipts, the sender sends the request again.
        receipts += partner.received.first { $0.request.id.text == place }?.receipts ?? []
      }
      partner.mail.seen[name] = SeenMail(
        object: object, at: now, isDone: true, isReceipt: known.isReceipt)
    }
    for (name, mail) in partner.mail.seen where name.hasPrefix("\(address)/") {
      let place = String(name.dropFirst(address.count + 1))
      guard listed[place] == nil else {
        if mail.isReceipt, now.seconds(since: mail.at) > PartnerProtocol.receiptLifetime {
          partner.mail.seen[name]?.isDone = true
        }
        continue
      }
      if !mail.isGone, !mail.isDone, !mail.isReceipt {
        // The mailbox was lost, perhaps with receipts that the partner had not read.
        receipts += partner.received.first { $0.request.id.text == place }?.receipts ?? []
      }
      partner.mail.seen[name]?.isGone = true
      if mail.isRefused || now.seconds(since: mail.at) > PartnerProtocol.nameLifetime {
        partner.mail.seen[name] = nil
      }
    }
    let excess = partner.mail.seen.count - PartnerProtocol.maxNameCount
    if excess > 0 {
      let oldest = partner.mail.seen.filter(\.value.isGone).sorted { $0.value.at < $1.value.at }
      for (name, _) in oldest.prefix(excess) { partner.mail.seen[name] = nil }
    }
    return wanted.sorted()
  }

  /// Reports once that the pairing has expired.
  mutating func reportExpiry() {
    guard partner.phase == .active, !partner.isValid(at: now), !partner.isExpiryReported else {
      return
    }
    partner.isExpiryReported = true
    addNews(.outlived)
  }

  // MARK: Answers to an invitation

  /// Processes answers to the invitation.
  mutating func receive(answers: [IncomingMail]) throws {
    var joins: [(key: [UInt8], nonce: [UInt8], name: String)] = []
    for mail in answers where partner.mail.seen[mail.name] == nil {
      guard case .bytes(let bytes) = mail.content, let envelope = Envelope(bytes) else {
        refuse(mail, .malformed)
        continue
      }
      guard let opened = partner.openAnswer(envelope, place: mail.place) else {
        refuse(mail, .forged)
        continue
      }
      guard case .join(let key, let nonce, let name)? = PartnerMessage.decode(opened)?.message
      else {
        refuse(mail, .nonsense)
        continue
      }
      markSeen(mail, isDone: true)
      joins.append((key, nonce, name))
    }
    if joins.isEmpty { return }
    guard partner.phase == .invited else { return recordFault(.usedInvitation, joins.count) }
    guard now <= partner.expires.adding(seconds: Instant.skew) else {
      return recordFault(.oldInvitation, joins.count)
    }
    guard joins.count == 1 else {
      // It is unknown which answer comes from the invited person.
      recordFault(.usedInvitation, joins.count)
      addNews(.usedTwice)
      partner.deleteKeys()
      return
    }
    (partner.handshake.partnerKey, partner.handshake.partnerNonce) = (joins[0].key, joins[0].nonce)
    guard partner.hasKeys, joins[0].key != partner.invitation?.key else {
      (partner.handshake.partnerKey, partner.handshake.partnerNonce) = (nil, nil)
      return recordFault(.nonsense)
    }
    partner.name = joins[0].name
    try partner.seal(.welcome(nonce: partner.handshake.ownNonce, name: partner.ownName), at: now)
    partner.phase = .comparing
    if let code = partner.code { addNews(.code(code)) }
  }

  // MARK: Mail from the partner

  /// Processes mail from the inbox that is not marked as seen.
  ///
  /// - Throws: The errors of the store.
  mutating func receive(inbox: [IncomingMail], _ channel: PairingCipher) throws {
    var opened: [(mail: IncomingMail, message: PartnerMessage, sent: Instant)] = []
    for mail in inbox {
      // Another process has processed the mail.
      if partner.mail.seen[mail.name] != nil { continue }
      guard case .bytes(let bytes) = mail.content, let envelope = Envelope(bytes) else {
        refuse(mail, .malformed)
        continue
      }
      guard let text = channel.open(envelope, place: mail.place) else {
        refuse(mail, .forged)
        continue
      }
      guard let (message, sent) = PartnerMessage.decode(text) else {
        refuse(mail, .nonsense)
        continue
      }
      // This device's clock may be wrong, for example after a start without a network. The mail waits until it is
      // right.
      if sent > now.adding(seconds: Instant.day) { continue }
      opened.append((mail, message, sent))
    }
    // Process the messages in the order of writing.
    opened.sort { ($0.sent, $0.mail.place) < ($1.sent, $1.mail.place) }
    for item in opened {
      let isDone = try process(item.message, item.mail)
      if partner.phase == .ended {
        partner.mail.leftovers.formUnion(opened.map(\.mail.name))
        break
      }
      var isReceipt = false
      if case .receipts = item.message { isReceipt = true }
      markSeen(item.mail, isDone: isDone, isReceipt: isReceipt)
    }
    try sealReceipts()
  }

  /// Processes a message. Returns true if it can be deleted from the mailbox.
  mutating func process(_ message: PartnerMessage, _ mail: IncomingMail) throws -> Bool {
    switch message {
    case .join:
      recordFault(.nonsense)
      return true
    case .welcome(let nonce, let name):
      guard partner.phase == .accepted, let commitment = partner.handshake.commitment,
        PairingKeys.commitment(to: nonce) == commitment
      else {
        recordFault(.nonsense)
        return true
      }
      partner.handshake.partnerNonce = nonce
      partner.name = name
      partner.phase = .comparing
      if let code = partner.code { addNews(.code(code)) }
      return true
    case .confirmed:
      let before = partner.phase
      try partner.confirmByPartner(at: now)
      if partner.phase == .active, before != .active { addNews(.paired) }
      return true
    case .request(let request):
      // A request is stored under its own identifier, so that a repeated delivery has the same name.
      guard request.id.text == mail.place else {
        recordFault(.nonsense)
        return true
      }
      return try process(request)
    case .recall(let id):
      try recall(id)
      return true
    case .receipts(let receipts): return process(receipts)
    case .unpaired(let successor?):
      // The two users have paired again. The successor continues with new keys.
      partner.successor = successor
      partner.deleteKeys()
      return true
    case .unpaired:
      addNews(.unpaired(remaining: try release()))
      for index in partner.sent.indices {
        let sent = partner.sent[index]
        if sent.state == nil {
          partner.sent[index].receipts.append(
            PartnerReceipt(
              .refused, of: sent.request.id, at: now, detail: PartnerRefusal.notPaired.textForSender
            ))
        } else if !sent.isOver, sent.request.repeats != nil || sent.isAhead {
          partner.sent[index].receipts.append(
            PartnerReceipt(.withdrawn, of: sent.request.id, at: now))
        }
      }
      partner.deleteKeys()
      return true
    }
  }

  /// Ends the reports about the partner's alarms. The alarms stay: the user may rely on them, and decides.
  ///
  /// - Returns: The number of alarms that are not over.
  private mutating func release() throws -> Int {
    let remaining = try partner.received.filter { !$0.isOver && !$0.hasFinalState }
      .compactMap(\.alarm).count { try handler.state(of: $0) != .deleted }
    for index in partner.received.indices { partner.received[index].isOver = true }
    return remaining
  }
}
