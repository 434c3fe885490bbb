import BelfryCore

/// All that this device knows of one partner, or of somebody who may become one. Kept here alone, never in the store.
///
/// ```
/// invited ──▶ comparing ──▶ confirmed ──▶ active ──▶ ended
/// accepted ─────┘ the codes    by us        by both    by either
/// ```
public struct Partnership: Hashable, Sendable {
  public enum Phase: String, Sendable {
    /// We have made an invitation, and nobody has answered it.
    case invited
    /// We have answered one, and wait for the inviter's device.
    case accepted
    /// Both devices know each other: the people are to compare the code.
    case comparing
    /// Our person has confirmed it, the other not yet.
    case confirmed
    case active
    /// The partner has taken it back: nothing is left of it but its log.
    case ended
  }

  public let id: Identifier
  public var phase: Phase
  /// What we call the partner: by their own name, unless somebody has chosen another.
  public var name: String
  /// What we call ourselves towards them.
  public var ownName: String
  public var mailbox: String
  public let isInviter: Bool
  /// Our private key; nil once the partnership has ended.
  var key: [UInt8]?
  /// The partner's public key, compressed.
  var theirKey: [UInt8]?
  var secret: [UInt8]
  var ownNonce: [UInt8]
  var theirNonce: [UInt8]?
  /// Of the inviter's nonce, as the invitation has it; nil with the inviter.
  var commitment: [UInt8]?
  public let created: Instant
  /// Until when an invitation may be answered.
  public var expires: Instant
  /// When both had confirmed.
  public var paired: Instant?
  /// Whether the partner's person has confirmed, too.
  var isConfirmedThere = false
  public var limits = PartnerLimits()
  public var faults: [MailFault: Faults] = [:]
  /// What was asked of the partner, oldest first.
  public var sent: [SentRequest] = []
  /// What the partner has asked, oldest first.
  public var received: [ReceivedRequest] = []
  /// Requests that were taken back before they came.
  var recalled: Set<Identifier> = []
  /// What is to be left in the mailbox.
  var post: [Post] = []
  /// The partnership that has taken the place of this one, with the same person; nil for none.
  var successor: Identifier?
  /// What is to be taken out of the mailbox when the keys are gone: names.
  var leftovers: Set<String> = []
  /// What was found in the inbox, by its name there.
  var seen: [String: SeenMail] = [:]
  /// Where the store's branch stood when the partner was last told what has become of the alarms, and when that was.
  var told: Told?
  /// When the mailbox was last reached, and why it could not be since then.
  public var reached: Instant?
  public var failure: String?

  /// How long a partnership holds, in seconds: a year.
  public static let validity: Int64 = 365 * 86_400
  /// For so long before its end word of it is given, in seconds.
  public static let endingSoon: Int64 = 30 * 86_400
  /// How long people may take to compare the code, in seconds.
  static let comparing: Int64 = 3600

  /// Whether the pairing has not come to its end, and no person is to do anything about it any more.
  public var isPairing: Bool {
    [.invited, .accepted, .comparing, .confirmed].contains(phase)
  }

  /// Whether it is being made, or was lately.
  func isNew(at now: Instant) -> Bool {
    isPairing
      || phase == .active && paired.map { now.seconds(since: $0) < Instant.tolerance } ?? false
  }

  /// When it is past its validity; nil before it was paired.
  public var validUntil: Instant? { paired?.adding(seconds: Partnership.validity) }

  public func isValid(at now: Instant) -> Bool { validUntil.map { now < $0 } ?? false }

  /// Takes over what went to and fro with the same person under earlier keys.
  mutating func inherit(_ earlier: Partnership) {
    let known = Set(sent.map(\.request.id)).union(received.map(\.request.id))
    sent = earlier.sent.filter { !known.contains($0.request.id) } + sent
    received = earlier.received.filter { !known.contains($0.request.id) } + received
    recalled.formUnion(earlier.recalled)
  }

  /// Whether an invitation is not to be answered any more.
  public func isLate(at now: Instant) -> Bool { now >= expires }

  /// Whether an attempt to pair has come to nothing by now.
  func isStale(at now: Instant) -> Bool {
    switch phase {
    case .invited, .accepted: now >= expires.adding(seconds: Instant.skew)
    case .comparing, .confirmed: now >= expires.adding(seconds: Partnership.comparing)
    case .active, .ended: false
    }
  }

  /// The six digits that both people see; nil before both devices know each other.
  public var code: String? {
    guard let keys = pairingKeys, let theirNonce else { return nil }
    return isInviter
      ? keys.code(inviterNonce: ownNonce, guestNonce: theirNonce)
      : keys.code(inviterNonce: theirNonce, guestNonce: ownNonce)
  }
}

/// Up to where a partner was told what has become of the alarms.
struct Told: Hashable, Sendable {
  let branch: String
  let at: Instant
}

/// How often something was refused, and when last.
public struct Faults: Hashable, Sendable {
  public var count = 0
  public var last: Instant
}

/// What is wrong with something in a mailbox that no partner's Belfry would have left there.
public enum MailFault: String, CaseIterable, Sendable {
  /// It does not open: not from this partner, not for us, not under this name, or changed on the way.
  case forged
  /// No envelope: cut off, too large, of another version.
  case malformed
  /// It opens, and what it says is nothing that a Belfry says now.
  case nonsense
  /// It was here before.
  case replayed
  /// Somebody answered an invitation that is too old.
  case oldInvitation
  /// Somebody answered an invitation that was answered already.
  case usedInvitation
  /// Its name is none that a Belfry gives.
  case strangeName
  /// The pairing is past its validity.
  case outlived

  public var words: String {
    switch self {
    case .forged: "forged, or changed on the way"
    case .malformed: "cut off, or no envelope"
    case .nonsense: "nothing that Belfry says"
    case .replayed: "put there again"
    case .oldInvitation: "answers to an old invitation"
    case .usedInvitation: "more answers to one invitation"
    case .strangeName: "strange names"
    case .outlived: "after the pairing's year"
    }
  }
}

/// A request that was made here.
public struct SentRequest: Hashable, Sendable {
  public let request: PartnerRequest
  public let created: Instant
  /// Whether it has reached the mailbox.
  public var isPosted: Bool
  /// Whether it was taken back.
  public var isRecalled: Bool
  /// What the partner's devices told of it, oldest first.
  public var receipts: [PartnerReceipt]

  public init(
    request: PartnerRequest, created: Instant, isPosted: Bool = false, isRecalled: Bool = false,
    receipts: [PartnerReceipt] = []
  ) {
    self.request = request
    self.created = created
    self.isPosted = isPosted
    self.isRecalled = isRecalled
    self.receipts = receipts
  }

  /// The receipt that tells how it stands; nil before the first.
  public var standing: PartnerReceipt? {
    PartnerReceipt.current(in: receipts, repeats: request.repeats != nil)
  }

  public var state: PartnerReceipt.State? { standing?.state }

  /// True if its alarm is set and has not been answered.
  var isAhead: Bool { state == .scheduled || state == .snoozed }

  /// Whether nothing more is to be heard of it.
  public var isOver: Bool {
    switch state {
    case .expired, .refused, .recalled: true
    case .acknowledged, .skipped, .missed: request.repeats == nil
    default: false
    }
  }
}

/// A request that came here.
public struct ReceivedRequest: Hashable, Sendable {
  public let request: PartnerRequest
  public let received: Instant
  /// The alarm that it made; nil where it made none.
  public var alarm: Identifier?
  /// What the partner was told of it, oldest first.
  public var receipts: [PartnerReceipt]
  /// Whether nothing more is to become of it.
  public var isOver: Bool

  /// The receipt that tells how it stands; nil before the first.
  public var standing: PartnerReceipt? {
    PartnerReceipt.current(in: receipts, repeats: request.repeats != nil)
  }

  public init(
    request: PartnerRequest, received: Instant, alarm: Identifier? = nil,
    receipts: [PartnerReceipt] = [], isOver: Bool = false
  ) {
    self.request = request
    self.received = received
    self.alarm = alarm
    self.receipts = receipts
    self.isOver = isOver
  }
}

/// Something that is to be left in the mailbox, sealed already: it can be left there also when the keys are gone.
struct Post: Hashable, Sendable {
  /// `<address>/<identifier>`
  let name: String
  let envelope: [UInt8]
  /// The request that it is; nil for anything else.
  let request: Identifier?
}

/// Something that was found in the inbox.
struct SeenMail: Hashable, Sendable {
  /// The git object that it was.
  let object: String
  let at: Instant
  /// Whether it is to be taken out of the mailbox.
  var isDone: Bool
  /// Whether it was taken out: it is not to be there again.
  var isGone = false
  /// Whether it told of requests of ours: another device of the partner's may leave the same once more.
  var isReceipt = false
  /// Whether it was nobody's letter: it is forgotten when it is gone, as anybody could have others remembered.
  var isRefused = false
}

extension Instant {
  /// How far two people's clocks may be apart, in seconds.
  static let skew: Int64 = 120
}
