import BelfryCore
import Git

/// An event of a partnership to show to the user.
public struct PartnerNews: Hashable, Sendable {
  /// The kind of event.
  public enum Event: Hashable, Sendable {
    /// Both devices know each other, and the users can compare this code.
    case code(String)
    /// The pairing is complete.
    case paired
    /// An alarm was set for the partner's request.
    case scheduled(PartnerRequest)
    /// The partner's request was refused; the reason is nil if it arrived too late.
    case refused(PartnerRequest, PartnerRefusal?)
    /// The partner has recalled a request.
    case recalled(PartnerRequest)
    /// The partner's device has reported about one of the user's requests.
    case receipt(PartnerReceipt, PartnerRequest)
    /// The partner has ended the partnership. The number is that of the partner's deleted alarms.
    case unpaired(cancelled: Int)
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
  private var receipts: [PartnerReceipt] = []
  /// The identifiers of all received requests.
  private var known: Set<Identifier>
  /// The number of requests that were accepted today.
  private var acceptedToday: Int
  /// The number of times that accepted requests ring on each day; nil until it is computed.
  private var knownRings: [CivilDate: Int]?

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
  /// The maximum number of names that are kept.
  private static let maxNameCount = 20_000
  /// The maximum number of received requests, and of receipts for one request, that are kept.
  static let maxRememberedCount = 2000

  private mutating func addNews(_ event: PartnerNews.Event) {
    news.append(PartnerNews(partner: partner.name, event: event))
  }

  private mutating func recordFault(_ fault: MailFault, _ count: Int = 1) {
    var faults = partner.faults[fault] ?? Faults(last: now)
    faults.count += count
    faults.last = now
    partner.faults[fault] = faults
    if case .fault(fault, let before)? = news.last?.event {
      news[news.count - 1] = PartnerNews(
        partner: partner.name, event: .fault(fault, count: before + count))
    } else {
      addNews(.fault(fault, count: count))
    }
  }

  /// Marks mail as processed. If `isDone`, it will be deleted from the mailbox.
  private mutating func markSeen(_ mail: IncomingMail, isDone: Bool, isReceipt: Bool = false) {
    partner.seen[mail.name] = SeenMail(
      object: mail.object, at: now, isDone: isDone, isReceipt: isReceipt)
  }

  /// Marks mail for deletion that a partner's Belfry cannot have sent.
  private mutating func refuse(_ mail: IncomingMail, _ fault: MailFault) {
    partner.seen[mail.name] = SeenMail(
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
      guard let known = partner.seen[name] else {
        if Identifier(place) != nil {
          wanted.append(name)
        } else {
          recordFault(.strangeName)
          partner.seen[name] = SeenMail(object: object, at: now, isDone: true, isRefused: true)
        }
        continue
      }
      guard known.isGone || known.object != object else { continue }
      if !known.isReceipt { recordFault(.replayed) }
      partner.seen[name] = SeenMail(
        object: object, at: now, isDone: true, isReceipt: known.isReceipt)
    }
    for (name, mail) in partner.seen where name.hasPrefix("\(address)/") {
      guard listed[String(name.dropFirst(address.count + 1))] == nil else { continue }
      partner.seen[name]?.isGone = true
      if mail.isRefused || now.seconds(since: mail.at) > PartnerProtocol.nameLifetime {
        partner.seen[name] = nil
      }
    }
    let excess = partner.seen.count - PartnerProtocol.maxNameCount
    if excess > 0 {
      let oldest = partner.seen.filter(\.value.isGone).sorted { $0.value.at < $1.value.at }
      for (name, _) in oldest.prefix(excess) { partner.seen[name] = nil }
    }
    return wanted.sorted()
  }

  // MARK: Answers to an invitation

  /// Processes answers to the invitation.
  mutating func receive(answers: [IncomingMail]) throws {
    var joins: [(key: [UInt8], nonce: [UInt8], name: String)] = []
    for mail in answers where partner.seen[mail.name] == nil {
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
    (partner.theirKey, partner.theirNonce) = (joins[0].key, joins[0].nonce)
    guard partner.hasKeys, joins[0].key != partner.invitation?.key else {
      (partner.theirKey, partner.theirNonce) = (nil, nil)
      return recordFault(.nonsense)
    }
    partner.name = joins[0].name
    try partner.seal(.welcome(nonce: partner.ownNonce, name: partner.ownName), at: now)
    partner.phase = .comparing
    if let code = partner.code { addNews(.code(code)) }
  }

  // MARK: Mail from the partner

  /// Processes mail from the inbox that is not marked as seen.
  ///
  /// - Throws: The errors of the store.
  mutating func receive(inbox: [IncomingMail], _ channel: Channel) throws {
    var opened: [(mail: IncomingMail, message: PartnerMessage, sent: Instant)] = []
    for mail in inbox {
      // Another process has processed the mail.
      if partner.seen[mail.name] != nil { continue }
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
      if sent > now.adding(seconds: Instant.tolerance) { continue }
      opened.append((mail, message, sent))
    }
    // Process the messages in the order of writing.
    opened.sort { ($0.sent, $0.mail.place) < ($1.sent, $1.mail.place) }
    for item in opened {
      let isDone = try process(item.message, item.mail)
      if partner.phase == .ended {
        partner.leftovers.formUnion(opened.map(\.mail.name))
        break
      }
      var isReceipt = false
      if case .receipts = item.message { isReceipt = true }
      markSeen(item.mail, isDone: isDone, isReceipt: isReceipt)
    }
    try sealReceipts()
  }

  /// Processes a message. Returns true if it can be deleted from the mailbox.
  private mutating func process(_ message: PartnerMessage, _ mail: IncomingMail) throws -> Bool {
    switch message {
    case .join:
      recordFault(.nonsense)
      return true
    case .welcome(let nonce, let name):
      guard partner.phase == .accepted, let commitment = partner.commitment,
        PairingKeys.commitment(to: nonce) == commitment
      else {
        recordFault(.nonsense)
        return true
      }
      partner.theirNonce = nonce
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
      addNews(.unpaired(cancelled: try cancelPending()))
      for index in partner.sent.indices {
        let sent = partner.sent[index]
        if sent.state == nil {
          partner.sent[index].receipts.append(
            PartnerReceipt(
              .refused, of: sent.request.id, at: now, detail: PartnerRefusal.notPaired.words))
        } else if !sent.isOver, sent.request.repeats != nil || sent.isAhead {
          partner.sent[index].receipts.append(
            PartnerReceipt(.withdrawn, of: sent.request.id, at: now))
        }
      }
      partner.deleteKeys()
      return true
    }
  }

  /// Deletes the partner's alarms that are not over, since the partner can no longer recall them.
  ///
  /// - Returns: The number of deleted alarms.
  private mutating func cancelPending() throws -> Int {
    let pending = partner.received.filter { !$0.isOver && !$0.isSettled }.compactMap(\.alarm)
    for index in partner.received.indices { partner.received[index].isOver = true }
    return try handler.revoke(pending, by: partner.name)
  }

  // MARK: Requests

  /// Processes a request. Returns true if it can be deleted from the mailbox.
  private mutating func process(_ request: PartnerRequest) throws -> Bool {
    guard known.insert(request.id).inserted else {
      recordFault(.replayed)
      return true
    }
    if partner.recalled.contains(request.id) {
      // The recall arrived before the request.
      remember(ReceivedRequest(request: request, received: now, isOver: true))
      return true
    }
    var verdict = PartnerVerdict.refused(.notPaired)
    if partner.phase == .active {
      if partner.isValid(at: now) {
        verdict = handler.verdict(
          request, partner.limits, accepted: acceptedToday, rings: ringsByDay())
      } else {
        recordFault(.outlived)
        verdict = .refused(.outlived)
      }
    }
    var entry = ReceivedRequest(request: request, received: now)
    if verdict == .accepted {
      let alarm = Derived.identifier(
        "belfry partner alarm",
        [Array(partner.id.text.utf8), Array(request.id.text.utf8)])
      let origin = PartnerOrigin(
        name: partner.name, partnership: partner.id, request: request.id,
        quiet: partner.limits.quiet)
      if let refusal = try handler.set(request, as: alarm, from: origin) {
        verdict = .refused(refusal)
      } else {
        entry.alarm = alarm
        acceptedToday += 1
        knownRings = nil
      }
    }
    let receipt: PartnerReceipt
    switch verdict {
    case .accepted:
      receipt = PartnerReceipt(.scheduled, of: request.id, at: now, detail: handler.channelSummary)
      addNews(.scheduled(request))
    case .expired:
      receipt = PartnerReceipt(.expired, of: request.id, at: now)
      addNews(.refused(request, nil))
    case .refused(let refusal):
      receipt = PartnerReceipt(.refused, of: request.id, at: now, detail: refusal.words)
      addNews(.refused(request, refusal))
    }
    entry.isOver = entry.alarm == nil
    entry.receipts.append(receipt)
    receipts.append(receipt)
    remember(entry)
    return entry.isOver
  }

  /// The number of times that accepted requests ring on each day.
  private mutating func ringsByDay() -> [CivilDate: Int] {
    if let knownRings { return knownRings }
    let active = partner.received.filter { $0.alarm != nil && !$0.isOver }
    let rings = handler.ringsByDay(active.map(\.request))
    knownRings = rings
    return rings
  }

  private mutating func remember(_ entry: ReceivedRequest) {
    partner.received.append(entry)
    // Completed requests are dropped first.
    while partner.received.count > PartnerProtocol.maxRememberedCount,
      let index = partner.received.firstIndex(where: \.isOver)
    {
      partner.received.remove(at: index)
    }
  }

  private mutating func recall(_ id: Identifier) throws {
    knownRings = nil
    guard let index = partner.received.firstIndex(where: { $0.request.id == id }) else {
      partner.recalled.insert(id)
      let receipt = PartnerReceipt(.recalled, of: id, at: now)
      receipts.append(receipt)
      return
    }
    guard !partner.received[index].isOver else { return }
    if let alarm = partner.received[index].alarm {
      try handler.cancel(alarm, recalledBy: partner.name)
    }
    let receipt = PartnerReceipt(.recalled, of: id, at: now)
    partner.received[index].receipts.append(receipt)
    partner.received[index].isOver = true
    receipts.append(receipt)
    addNews(.recalled(partner.received[index].request))
  }

  // MARK: Receipts

  /// Processes receipts. Returns false if they belong to requests of another device of this user.
  private mutating func process(_ receipts: [PartnerReceipt]) -> Bool {
    var isOurs = false
    for given in receipts {
      guard let index = partner.sent.firstIndex(where: { $0.request.id == given.request })
      else { continue }
      isOurs = true
      // Of a muted partner, states count, but replies and details are dropped.
      if partner.limits.isMuted, given.state == .reply { continue }
      let receipt = partner.limits.isMuted ? given.withoutDetail : given
      guard !partner.sent[index].receipts.contains(receipt),
        partner.sent[index].receipts.count < PartnerProtocol.maxRememberedCount
      else { continue }
      partner.sent[index].receipts.append(receipt)
      partner.sent[index].isPosted = true
      // A late receipt that does not change the state of the request is no news.
      guard receipt.state == .reply || partner.sent[index].standing == receipt else { continue }
      addNews(.receipt(receipt, partner.sent[index].request))
    }
    return isOurs
  }

  /// Adds receipts for the events of alarms since the last report.
  ///
  /// - Parameter eventsByAlarm: the reportable log events by alarm.
  mutating func report(_ eventsByAlarm: [Identifier: [AlarmEvent]]) throws {
    for index in partner.received.indices where !partner.received[index].isOver {
      let entry = partner.received[index]
      guard let alarm = entry.alarm, let events = eventsByAlarm[alarm] else { continue }
      let reported = Set(entry.receipts.map { "\($0.state) \($0.at)" })
      let fresh = events.filter { !reported.contains("\($0.state) \($0.at)") }
        .sorted { ($0.at, $0.state) < ($1.at, $1.state) }
      for event in fresh {
        let receipt = PartnerReceipt(
          event.state, of: entry.request.id, at: event.at, due: event.due,
          revision: event.revision, detail: event.detail)
        if partner.received[index].isKnown(toRing: receipt) { continue }
        partner.received[index].receipts.append(receipt)
        receipts.append(receipt)
      }
    }
    try reportAlarmStates()
    let inbox = partner.channel?.addresses.inbox
    for index in partner.received.indices {
      let entry = partner.received[index]
      let isPast = now.seconds(since: entry.request.at) > Instant.tolerance
      if entry.request.repeats == nil, !entry.isOver {
        // A response can be undone for a while.
        let isAnswered = entry.standing?.state == .acknowledged
        let days: Int64 = isAnswered ? 2 : 7
        if now.seconds(since: entry.request.at) > days * Instant.tolerance {
          partner.received[index].isOver = true
        }
      }
      let isAnswered =
        entry.request.repeats == nil
        && entry.receipts.contains {
          [.acknowledged, .skipped, .withdrawn].contains($0.state)
        }
      // The user's other devices have had time to receive the request.
      if let inbox, partner.received[index].isOver || isPast || isAnswered {
        partner.seen["\(inbox)/\(entry.request.id)"]?.isDone = true
      }
    }
    try sealReceipts()
  }

  /// Adds receipts for alarms that were deleted, disabled or restored.
  private mutating func reportAlarmStates() throws {
    for index in partner.received.indices where !partner.received[index].isOver {
      let entry = partner.received[index]
      guard let alarm = entry.alarm, let state = try handler.state(of: alarm) else { continue }
      let previous = entry.receipts.last { $0.state == .scheduled || $0.state == .withdrawn }?.state
      let receipt: PartnerReceipt
      switch state {
      case .enabled where previous == .withdrawn:
        receipt = PartnerReceipt(
          .scheduled, of: entry.request.id, at: now, detail: "restored on their device")
      case .disabled where previous != .withdrawn:
        receipt = PartnerReceipt(
          .withdrawn, of: entry.request.id, at: now, detail: "disabled on their device")
      case .deleted where previous != .withdrawn:
        receipt = PartnerReceipt(
          .withdrawn, of: entry.request.id, at: now, detail: "deleted on their device")
      default: continue
      }
      partner.received[index].receipts.append(receipt)
      receipts.append(receipt)
    }
  }

  private mutating func sealReceipts() throws {
    guard partner.phase != .ended else {
      receipts = []
      return
    }
    while !receipts.isEmpty {
      let part = Array(receipts.prefix(PartnerMessage.maxReceiptCount))
      receipts.removeFirst(part.count)
      // All devices of this user derive the same name, so that equal receipts are sent once.
      let place = Derived.identifier(
        "belfry receipts",
        [Array(partner.id.text.utf8)]
          + part.map { Array("\($0.request) \($0.state) \($0.at) \($0.detail ?? "")".utf8) })
      try partner.seal(.receipts(part), at: now, place: place)
    }
  }
}

/// A reportable event of a partner's alarm.
struct AlarmEvent: Hashable, Sendable {
  let state: PartnerReceipt.State
  let at: Instant
  /// The due time of the occurrence; nil for an event of the alarm.
  var due: Instant?
  /// The revision of the occurrence; 0 for an event of the alarm.
  var revision = 0
  var detail: String?
}

extension ReceivedRequest {
  /// True if the reported state means that the alarm does not ring again.
  fileprivate var isSettled: Bool {
    switch standing?.state {
    case .acknowledged, .skipped, .missed: request.repeats == nil
    default: false
    }
  }

  /// Returns true if a receipt reports ringing that the partner already knows about.
  ///
  /// The partner must not learn which of the user's devices ring one after the other.
  fileprivate func isKnown(toRing receipt: PartnerReceipt) -> Bool {
    guard receipt.state == .rung else { return false }
    let same = receipts.filter { $0.due == receipt.due && $0.at <= receipt.at }
    let snoozed = same.filter { $0.state == .snoozed }.map(\.at).max()
    return same.contains { earlier in
      earlier.state == .rung && snoozed.map { earlier.at > $0 } ?? true
        // A ring that was delivered after a failed delivery is reported.
        && (earlier.detail == nil || receipt.detail != nil)
    }
  }
}

/// The state of the alarm that a request has created.
enum PartnerAlarmState: Hashable, Sendable {
  case enabled, disabled, deleted
}

/// The store's side of a partnership.
protocol PartnerRequestHandler: AnyObject {
  /// Returns the decision about a request.
  ///
  /// - Parameters:
  ///   - accepted: the number of the partner's requests that were accepted today.
  ///   - rings: the number of times that the partner's alarms ring on each day.
  func verdict(
    _ request: PartnerRequest, _ limits: PartnerLimits, accepted: Int,
    rings: @autoclosure () -> [CivilDate: Int]
  ) -> PartnerVerdict
  /// Returns the number of times that requests ring together on each day.
  func ringsByDay(_ requests: [PartnerRequest]) -> [CivilDate: Int]
  /// Returns true if a moment is on the current day.
  func isToday(_ moment: Instant) -> Bool
  /// Sets an alarm if it does not exist. Returns the reason if that is not possible.
  func set(
    _ request: PartnerRequest, as alarm: Identifier, from origin: PartnerOrigin
  ) throws -> PartnerRefusal?
  /// Deletes an alarm if it exists.
  func cancel(_ alarm: Identifier, recalledBy partner: String) throws
  /// Deletes the alarms of a former partner in one commit, so that `belfry undo` restores them together.
  ///
  /// - Returns: The number of deleted alarms.
  func revoke(_ alarms: [Identifier], by name: String) throws -> Int
  /// Returns the state of an alarm; nil if it is unknown.
  func state(of alarm: Identifier) throws -> PartnerAlarmState?
  /// A description of this device's channels for the partner; nil if unknown.
  var channelSummary: String? { get }
}
