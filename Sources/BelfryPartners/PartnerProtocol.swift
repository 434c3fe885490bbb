import BelfryCore
import Git

/// What happened between partners, for people to hear of.
public struct PartnerNews: Hashable, Sendable {
  public enum Event: Hashable, Sendable {
    /// Both devices know each other: the people are to compare the code.
    case code(String)
    case paired
    /// The partner's alarm is set.
    case scheduled(PartnerRequest)
    /// The partner's request was not set; nil where it came too late.
    case refused(PartnerRequest, PartnerRefusal?)
    /// The partner has taken a request back.
    case recalled(PartnerRequest)
    /// What the partner's device tells of a request of ours.
    case receipt(PartnerReceipt, PartnerRequest)
    /// The partner has ended it, and so many of the alarms that they had set were deleted.
    case unpaired(cancelled: Int)
    /// Something in the mailbox was refused.
    case fault(MailFault, count: Int)
    /// Two have answered one invitation, so neither was taken.
    case usedTwice
  }
  public let partner: String
  public let event: Event

  public init(partner: String, event: Event) {
    self.partner = partner
    self.event = event
  }
}

/// One piece of mail as it came: its name, the object that it is, and what is in it.
struct IncomingMail: Sendable {
  let address: String
  let place: String
  let object: String
  let content: FetchedMail

  var name: String { "\(address)/\(place)" }
}

/// What a partnership makes of what came: opens it, checks it, and keeps account. Touches no store and no mailbox.
struct PartnerProtocol {
  var partner: Partnership
  /// Sets an alarm, or takes it back: what the store does about it.
  let desk: any PartnerRequestHandler
  let now: Instant
  private(set) var news: [PartnerNews] = []
  /// What is to be told of requests.
  private var receipts: [PartnerReceipt] = []
  /// The requests that are known, and how many of today's were taken.
  private var known: Set<Identifier>
  private var acceptedToday: Int
  /// The number of times that accepted requests ring on each day; nil until it is needed.
  private var knownRings: [CivilDate: Int]?

  init(_ partner: Partnership, desk: any PartnerRequestHandler, at now: Instant) {
    self.partner = partner
    self.desk = desk
    self.now = now
    known = Set(partner.received.map(\.request.id))
    acceptedToday = partner.received.count { $0.alarm != nil && desk.isToday($0.received) }
  }

  /// For so long a name is remembered that is gone from the mailbox, in seconds. A request that is put there again
  /// after that is judged by its time, and the alarm that it made once stays what it was.
  static let memory: Int64 = 400 * 86_400
  /// So many of them, however much a partner sends.
  private static let mostNames = 20_000
  /// So many requests, and receipts, are remembered.
  static let mostRemembered = 2000

  private mutating func tell(_ event: PartnerNews.Event) {
    news.append(PartnerNews(partner: partner.name, event: event))
  }

  private mutating func note(_ fault: MailFault, _ count: Int = 1) {
    var faults = partner.faults[fault] ?? Faults(last: now)
    faults.count += count
    faults.last = now
    partner.faults[fault] = faults
    if case .fault(fault, let before)? = news.last?.event {
      news[news.count - 1] = PartnerNews(
        partner: partner.name, event: .fault(fault, count: before + count))
    } else {
      tell(.fault(fault, count: count))
    }
  }

  /// Marks mail as looked at; what is done is taken out of the mailbox.
  private mutating func mark(_ mail: IncomingMail, isDone: Bool, isReceipt: Bool = false) {
    partner.seen[mail.name] = SeenMail(
      object: mail.object, at: now, isDone: isDone, isReceipt: isReceipt)
  }

  /// Has something taken out of the mailbox that is nobody's letter.
  private mutating func refuse(_ mail: IncomingMail, _ fault: MailFault) {
    partner.seen[mail.name] = SeenMail(
      object: mail.object, at: now, isDone: true, isRefused: true)
    note(fault)
  }

  /// Looks at what lies there by its name alone, and returns what is to be brought here.
  ///
  /// Names are given once, and what lies under one never changes: what does, or comes again, is not looked into.
  ///
  /// - Parameter listed: the object by each place at the address.
  mutating func survey(_ listed: [String: String], at address: String) -> [String] {
    var wanted: [String] = []
    for (place, object) in listed {
      let name = "\(address)/\(place)"
      guard let known = partner.seen[name] else {
        if Identifier(place) != nil {
          wanted.append(name)
        } else {
          note(.strangeName)
          partner.seen[name] = SeenMail(object: object, at: now, isDone: true, isRefused: true)
        }
        continue
      }
      guard known.isGone || known.object != object else { continue }
      if !known.isReceipt { note(.replayed) }
      partner.seen[name] = SeenMail(
        object: object, at: now, isDone: true, isReceipt: known.isReceipt)
    }
    for (name, mail) in partner.seen where name.hasPrefix("\(address)/") {
      guard listed[String(name.dropFirst(address.count + 1))] == nil else { continue }
      partner.seen[name]?.isGone = true
      if mail.isRefused || now.seconds(since: mail.at) > PartnerProtocol.memory {
        partner.seen[name] = nil
      }
    }
    let excess = partner.seen.count - PartnerProtocol.mostNames
    if excess > 0 {
      let oldest = partner.seen.filter(\.value.isGone).sorted { $0.value.at < $1.value.at }
      for (name, _) in oldest.prefix(excess) { partner.seen[name] = nil }
    }
    return wanted.sorted()
  }

  // MARK: Answers to an invitation

  /// Takes what lies at the address for answers.
  mutating func take(answers: [IncomingMail]) throws {
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
      mark(mail, isDone: true)
      joins.append((key, nonce, name))
    }
    if joins.isEmpty { return }
    guard partner.phase == .invited else { return note(.usedInvitation, joins.count) }
    guard now <= partner.expires.adding(seconds: Instant.skew) else {
      return note(.oldInvitation, joins.count)
    }
    guard joins.count == 1 else {
      // Who is the right one cannot be told.
      note(.usedInvitation, joins.count)
      tell(.usedTwice)
      partner.forgetKeys()
      return
    }
    (partner.theirKey, partner.theirNonce) = (joins[0].key, joins[0].nonce)
    guard partner.keysAreWhole, joins[0].key != partner.invitation?.key else {
      (partner.theirKey, partner.theirNonce) = (nil, nil)
      return note(.nonsense)
    }
    partner.name = joins[0].name
    try partner.seal(.welcome(nonce: partner.ownNonce, name: partner.ownName), at: now)
    partner.phase = .comparing
    if let code = partner.code { tell(.code(code)) }
  }

  // MARK: What the partner sends

  /// Takes what lies in the inbox and was not looked at.
  ///
  /// Throws what the store throws that could not be asked.
  mutating func take(inbox: [IncomingMail], _ channel: Channel) throws {
    var opened: [(mail: IncomingMail, message: PartnerMessage, sent: Instant)] = []
    for mail in inbox {
      // Another process was faster.
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
      // This clock may be wrong, as after a start without the network: it waits until that is right.
      if sent > now.adding(seconds: Instant.tolerance) { continue }
      opened.append((mail, message, sent))
    }
    // In the order in which they were written.
    opened.sort { ($0.sent, $0.mail.place) < ($1.sent, $1.mail.place) }
    for item in opened {
      let isDone = try take(item.message, item.mail)
      if partner.phase == .ended {
        partner.leftovers.formUnion(opened.map(\.mail.name))
        break
      }
      var isReceipt = false
      if case .receipts = item.message { isReceipt = true }
      mark(item.mail, isDone: isDone, isReceipt: isReceipt)
    }
    try sealReceipts()
  }

  /// Returns whether it is of no use any more in the mailbox.
  private mutating func take(_ message: PartnerMessage, _ mail: IncomingMail) throws -> Bool {
    switch message {
    case .join:
      note(.nonsense)
      return true
    case .welcome(let nonce, let name):
      guard partner.phase == .accepted, let commitment = partner.commitment,
        PairingKeys.commitment(to: nonce) == commitment
      else {
        note(.nonsense)
        return true
      }
      partner.theirNonce = nonce
      partner.name = name
      partner.phase = .comparing
      if let code = partner.code { tell(.code(code)) }
      return true
    case .confirmed:
      let before = partner.phase
      try partner.confirmThere(at: now)
      if partner.phase == .active, before != .active { tell(.paired) }
      return true
    case .request(let request):
      // The name is the request's own, so that one that comes twice lies in one place.
      guard request.id.text == mail.place else {
        note(.nonsense)
        return true
      }
      return try take(request)
    case .recall(let id):
      try recall(id)
      return true
    case .receipts(let receipts): return take(receipts)
    case .unpaired(let successor?):
      // The two have paired anew: all goes on under other keys.
      partner.successor = successor
      partner.forgetKeys()
      return true
    case .unpaired:
      tell(.unpaired(cancelled: try cancelPending()))
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
      partner.forgetKeys()
      return true
    }
  }

  /// Deletes what the partner has set and is not over: the partner can't take it back any more. Returns how many
  /// alarms that were.
  private mutating func cancelPending() throws -> Int {
    let pending = partner.received.filter { !$0.isOver && !$0.isSettled }.compactMap(\.alarm)
    for index in partner.received.indices { partner.received[index].isOver = true }
    return try desk.revoke(pending, by: partner.name)
  }

  // MARK: Requests

  /// Returns whether nothing is to become of it.
  private mutating func take(_ request: PartnerRequest) throws -> Bool {
    guard known.insert(request.id).inserted else {
      note(.replayed)
      return true
    }
    if partner.recalled.contains(request.id) {
      // It was overtaken by what takes it back.
      remember(ReceivedRequest(request: request, received: now, isOver: true))
      return true
    }
    var verdict = PartnerVerdict.refused(.notPaired)
    if partner.phase == .active {
      if partner.isValid(at: now) {
        verdict = desk.judge(
          request, partner.limits, accepted: acceptedToday, rings: ringsByDay())
      } else {
        note(.outlived)
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
      if let refusal = try desk.set(request, as: alarm, from: origin) {
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
      receipt = PartnerReceipt(.scheduled, of: request.id, at: now, detail: desk.ways)
      tell(.scheduled(request))
    case .expired:
      receipt = PartnerReceipt(.expired, of: request.id, at: now)
      tell(.refused(request, nil))
    case .refused(let refusal):
      receipt = PartnerReceipt(.refused, of: request.id, at: now, detail: refusal.words)
      tell(.refused(request, refusal))
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
    let standing = partner.received.filter { $0.alarm != nil && !$0.isOver }
    let rings = desk.ringsByDay(standing.map(\.request))
    knownRings = rings
    return rings
  }

  private mutating func remember(_ entry: ReceivedRequest) {
    partner.received.append(entry)
    // What is over goes first.
    while partner.received.count > PartnerProtocol.mostRemembered,
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
      try desk.cancel(alarm, why: "taken back by \(partner.name)")
    }
    let receipt = PartnerReceipt(.recalled, of: id, at: now)
    partner.received[index].receipts.append(receipt)
    partner.received[index].isOver = true
    receipts.append(receipt)
    tell(.recalled(partner.received[index].request))
  }

  // MARK: Receipts

  /// Returns whether they were for this device: another of the same person's may have asked.
  private mutating func take(_ receipts: [PartnerReceipt]) -> Bool {
    var isOurs = false
    for given in receipts {
      guard let index = partner.sent.firstIndex(where: { $0.request.id == given.request })
      else { continue }
      isOurs = true
      // Somebody who is muted is not heard: what became of a request counts, their words do not.
      if partner.limits.isMuted, given.state == .reply { continue }
      let receipt = partner.limits.isMuted ? given.withoutDetail : given
      guard !partner.sent[index].receipts.contains(receipt),
        partner.sent[index].receipts.count < PartnerProtocol.mostRemembered
      else { continue }
      partner.sent[index].receipts.append(receipt)
      partner.sent[index].isPosted = true
      // A device that reports late has nothing new to say of what was answered on another.
      guard receipt.state == .reply || partner.sent[index].standing == receipt else { continue }
      tell(.receipt(receipt, partner.sent[index].request))
    }
    return isOurs
  }

  /// Tells the partner what has become of the alarms since.
  ///
  /// - Parameter story: what the store's log has of each alarm that a partner set.
  mutating func report(_ story: [Identifier: [AlarmEvent]]) throws {
    for index in partner.received.indices where !partner.received[index].isOver {
      let entry = partner.received[index]
      guard let alarm = entry.alarm, let events = story[alarm] else { continue }
      let told = Set(entry.receipts.map { "\($0.state) \($0.at)" })
      let fresh = events.filter { !told.contains("\($0.state) \($0.at)") }
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
    try reportStanding()
    let inbox = partner.channel?.addresses.inbox
    for index in partner.received.indices {
      let entry = partner.received[index]
      let isPast = now.seconds(since: entry.request.at) > Instant.tolerance
      if entry.request.repeats == nil, !entry.isOver {
        // What was answered may be taken back for a while.
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
      // Other devices of this person's have had their time to find it.
      if let inbox, partner.received[index].isOver || isPast || isAnswered {
        partner.seen["\(inbox)/\(entry.request.id)"]?.isDone = true
      }
    }
    try sealReceipts()
  }

  /// Tells the partner when an alarm is gone, and when it is back.
  private mutating func reportStanding() throws {
    for index in partner.received.indices where !partner.received[index].isOver {
      let entry = partner.received[index]
      guard let alarm = entry.alarm, let standing = try desk.standing(alarm) else { continue }
      let wasThere = entry.receipts.last { $0.state == .scheduled || $0.state == .withdrawn }?.state
      let receipt: PartnerReceipt
      switch standing {
      case .stands where wasThere == .withdrawn:
        receipt = PartnerReceipt(
          .scheduled, of: entry.request.id, at: now, detail: "it is back there")
      case .off where wasThere != .withdrawn:
        receipt = PartnerReceipt(
          .withdrawn, of: entry.request.id, at: now, detail: "switched off there")
      case .deleted where wasThere != .withdrawn:
        receipt = PartnerReceipt(.withdrawn, of: entry.request.id, at: now, detail: "deleted there")
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
      let part = Array(receipts.prefix(PartnerMessage.mostReceipts))
      receipts.removeFirst(part.count)
      // The same on each device of this person's: what another has told is not told again.
      let place = Derived.identifier(
        "belfry receipts",
        [Array(partner.id.text.utf8)]
          + part.map { Array("\($0.request) \($0.state) \($0.at) \($0.detail ?? "")".utf8) })
      try partner.seal(.receipts(part), at: now, place: place)
    }
  }
}

/// The state of a partner's alarm at a moment, as it is reported to the sender.
struct AlarmEvent: Hashable, Sendable {
  let state: PartnerReceipt.State
  let at: Instant
  /// The time of the occurrence, and which reopening of it; nil and 0 for what is about the alarm.
  var due: Instant?
  var revision = 0
  var detail: String?
}

extension ReceivedRequest {
  /// True if it does not ring any more, as far as was reported.
  fileprivate var isSettled: Bool {
    switch standing?.state {
    case .acknowledged, .skipped, .missed: request.repeats == nil
    default: false
    }
  }

  /// Returns true when the receipt says that an occurrence rings of which the partner knows that: which of a person's
  /// devices ring, one after the other, is nobody else's business.
  fileprivate func isKnown(toRing receipt: PartnerReceipt) -> Bool {
    guard receipt.state == .rung else { return false }
    let same = receipts.filter { $0.due == receipt.due && $0.at <= receipt.at }
    let snoozed = same.filter { $0.state == .snoozed }.map(\.at).max()
    return same.contains { earlier in
      earlier.state == .rung && snoozed.map { earlier.at > $0 } ?? true
        // That it reached somebody after all is news.
        && (earlier.detail == nil || receipt.detail != nil)
    }
  }
}

/// Whether a partner's alarm is to ring.
enum AlarmStanding: Hashable, Sendable {
  case stands, off, deleted
}

/// What the store does about a partner's requests.
protocol PartnerRequestHandler: AnyObject {
  func judge(
    _ request: PartnerRequest, _ limits: PartnerLimits, accepted: Int,
    rings: @autoclosure () -> [CivilDate: Int]
  ) -> PartnerVerdict
  /// Returns the number of times that requests ring together on each day.
  func ringsByDay(_ requests: [PartnerRequest]) -> [CivilDate: Int]
  func isToday(_ moment: Instant) -> Bool
  /// Sees to it that the alarm is set, if it is not there; returns why it cannot be.
  func set(
    _ request: PartnerRequest, as alarm: Identifier, from origin: PartnerOrigin
  ) throws -> PartnerRefusal?
  /// Deletes the alarm, if it is there.
  func cancel(_ alarm: Identifier, why: String) throws
  /// Deletes the alarms of a partner who is none any more, together, so that 'belfry undo' restores them. Returns how
  /// many there were.
  func revoke(_ alarms: [Identifier], by name: String) throws -> Int
  /// Whether an alarm stands; nil when that is not known.
  func standing(_ alarm: Identifier) throws -> AlarmStanding?
  /// How an alarm can be heard here, in words for the partner; nil when that is not known.
  var ways: String? { get }
}
