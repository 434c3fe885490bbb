import BelfryCore

/// The state of the relation to one partner or invited person. It is stored on this device only, outside the store.
///
/// ```
/// invited ──▶ comparing ──▶ confirmed ──▶ active ──▶ ended
/// accepted ─────┘ the code     by us        by both    by either
/// ```
public struct Partnership: Hashable, Sendable {
  /// A phase of a partnership.
  public enum Phase: String, Sendable {
    /// This device has made an invitation that is not answered yet.
    case invited
    /// This device has answered an invitation and waits for the inviter's device.
    case accepted
    /// Both devices know each other, and the users can compare the code.
    case comparing
    /// This device's user has confirmed the code, the partner has not.
    case confirmed
    /// The pairing is complete.
    case active
    /// The partnership has ended. Only its log is left.
    case ended
  }

  /// The identifier, which both sides derive from the invitation.
  public let id: Identifier
  /// The current phase.
  public var phase: Phase
  /// The user's name for the partner, initially the partner's own choice.
  public var name: String
  /// The name that the partner gets for this device's user.
  public let ownName: String
  /// The URL of the mailbox.
  public let mailbox: String
  /// True if this device has made the invitation.
  public let isInviter: Bool
  /// The keys and nonces of the pairing.
  var handshake: Handshake
  /// The time at which the partnership was created on this device.
  public let created: Instant
  /// The time until which the invitation can be answered.
  public let expires: Instant
  /// The time at which the pairing was completed; nil before.
  public var paired: Instant?
  /// True if the expiry of the pairing was reported.
  var isExpiryReported = false
  /// The limits for the partner's requests.
  public var limits = PartnerLimits()
  /// The requests to the partner, oldest first.
  public var sent: [SentRequest] = []
  /// The requests of the partner, oldest first.
  public var received: [ReceivedRequest] = []
  /// The requests whose recall arrived before the request.
  var recalled: Set<Identifier> = []
  /// The partnership with the same person that continues this one; nil for none.
  public internal(set) var successor: Identifier?
  /// The state of the mail from and to the partner.
  public var mail = MailState()
  /// The state of the connection to the mailbox.
  public var connection = Connection()

  /// The validity of a pairing, in seconds: one year.
  public static let validity: Int64 = 365 * 86_400
  /// The time before the end of the validity at which the user is warned, in seconds.
  public static let endingSoon: Int64 = 30 * 86_400
  /// The time in which the users can compare the code, in seconds.
  static let comparing: Int64 = 3600

  /// True if the pairing is in progress.
  public var isPairing: Bool {
    [.invited, .accepted, .comparing, .confirmed].contains(phase)
  }

  /// Returns true if the pairing is in progress or was completed within a day.
  func isNew(at now: Instant) -> Bool {
    isPairing
      || phase == .active && paired.map { now.seconds(since: $0) < Instant.day } ?? false
  }

  /// The end of the pairing's validity; nil before the pairing is complete.
  public var validUntil: Instant? { paired?.adding(seconds: Partnership.validity) }

  /// Returns true if the pairing is complete and has not expired.
  public func isValid(at now: Instant) -> Bool { validUntil.map { now < $0 } ?? false }

  /// Adds the requests of an earlier partnership with the same person.
  mutating func inherit(_ earlier: Partnership) {
    let known = Set(sent.map(\.request.id)).union(received.map(\.request.id))
    sent = earlier.sent.filter { !known.contains($0.request.id) } + sent
    received = earlier.received.filter { !known.contains($0.request.id) } + received
    recalled.formUnion(earlier.recalled)
  }

  /// Returns true if the invitation has expired.
  public func isLate(at now: Instant) -> Bool { now >= expires }

  /// Returns true if an unfinished pairing has expired.
  func isStale(at now: Instant) -> Bool {
    switch phase {
    case .invited, .accepted: now >= expires.adding(seconds: Instant.skew)
    case .comparing, .confirmed: now >= expires.adding(seconds: Partnership.comparing)
    case .active, .ended: false
    }
  }

  /// The six-digit code that both users compare; nil before both devices know each other.
  public var code: String? {
    guard let keys = pairingKeys, let partnerNonce = handshake.partnerNonce else { return nil }
    return isInviter
      ? keys.code(inviterNonce: handshake.ownNonce, guestNonce: partnerNonce)
      : keys.code(inviterNonce: partnerNonce, guestNonce: handshake.ownNonce)
  }
}

extension Partnership {
  /// The keys and nonces of a pairing.
  struct Handshake: Hashable, Sendable {
    /// The own private key; nil once the partnership has ended.
    var privateKey: [UInt8]?
    /// The partner's compressed public key; nil until it is known.
    var partnerKey: [UInt8]?
    /// The secret of the invitation.
    var secret: [UInt8]
    /// The nonce of this device.
    var ownNonce: [UInt8]
    /// The nonce of the partner's device; nil until it is known.
    var partnerNonce: [UInt8]?
    /// The commitment to the inviter's nonce in the invitation; nil on the inviter's device.
    let commitment: [UInt8]?
    /// True if the partner has confirmed the code.
    var isConfirmedByPartner = false

    /// Deletes the keys, the secret and the nonces.
    mutating func deleteKeys() {
      privateKey = nil
      partnerKey = nil
      secret = []
      ownNonce = []
      partnerNonce = nil
    }
  }

  /// The state of the mail from and to a partner.
  public struct MailState: Hashable, Sendable {
    /// The mail to push.
    var outgoing: [OutgoingMail] = []
    /// The processed mail of the inbox, by name.
    var seen: [String: SeenMail] = [:]
    /// The names of the mail to delete after the keys were deleted.
    var leftovers: Set<String> = []
    /// The state of the store at the last report to the partner; nil before the first.
    var lastReported: ReportMark?
    /// The rejected mail by fault.
    public var faults: [MailFault: Faults] = [:]
  }

  /// The state of the connection to a mailbox.
  public struct Connection: Hashable, Sendable {
    /// The approximate time at which the mailbox was last reached; nil if never.
    public var reached: Instant?
    /// The reason why the mailbox cannot be reached now; nil if it can.
    public var failure: String?
  }
}

/// The position up to which a partner has received reports about alarms.
struct ReportMark: Hashable, Sendable {
  let branch: String
  let at: Instant
}

/// The number of rejected messages with the same fault.
public struct Faults: Hashable, Sendable {
  /// The number.
  public var count = 0
  /// The time of the last one.
  public var last: Instant
}

/// The reason why mail is rejected that a partner's Belfry cannot have sent.
public enum MailFault: String, CaseIterable, Sendable {
  /// The envelope cannot be opened: it has another sender, recipient or name, or it was modified.
  case forged
  /// The content is not an envelope: it is truncated, too large or of another version.
  case malformed
  /// The message is not valid in the current phase.
  case nonsense
  /// The name or the request was used before.
  case replayed
  /// The answer is to an expired invitation.
  case oldInvitation
  /// The answer is to an invitation that was already answered.
  case usedInvitation
  /// The name is not one that Belfry creates.
  case strangeName
  /// The pairing has expired.
  case outlived

  /// The fault as text for the user.
  public var text: String {
    switch self {
    case .forged: "forged or modified"
    case .malformed: "truncated, or not an envelope"
    case .nonsense: "not a valid message"
    case .replayed: "replayed"
    case .oldInvitation: "answers to an expired invitation"
    case .usedInvitation: "further answers to a used invitation"
    case .strangeName: "invalid names"
    case .outlived: "received after the pairing expired"
    }
  }
}

/// A request that this user has made.
public struct SentRequest: Hashable, Sendable {
  /// The request.
  public let request: PartnerRequest
  /// The time at which it was made.
  public let created: Instant
  /// True if the request has reached the mailbox.
  public var isPosted: Bool
  /// The number of times that the request was sent again, because it had disappeared from the mailbox.
  var resendCount = 0
  /// True if the request has disappeared from the mailbox without a receipt, and is not sent again.
  public internal(set) var isLost = false
  /// True if it was reported that the request could not be sent in time.
  var isReportedUnsent = false
  /// True if the user has recalled the request.
  public var isRecalled: Bool
  /// The receipts of the partner's devices, in the order of arrival.
  public var receipts: [PartnerReceipt]

  /// Creates a request.
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

  /// The receipt that determines the state of the request; nil before the first.
  public var standing: PartnerReceipt? {
    PartnerReceipt.current(in: receipts, repeats: request.repeats != nil)
  }

  /// The current state; nil before the first receipt.
  public var state: PartnerReceipt.State? { standing?.state }

  /// True if the alarm is set and has no response yet.
  var isAhead: Bool { state == .scheduled || state == .snoozed }

  /// Returns true if the request was not sent before the time after which the receiver does not set the alarm.
  public func isUnsent(at now: Instant) -> Bool {
    state == nil && !isPosted && !isRecalled && !isLost && request.latestUse <= now
  }

  /// True if no further receipt is expected.
  public var isOver: Bool {
    switch state {
    case .expired, .refused, .recalled: true
    case .acknowledged, .skipped, .missed: request.repeats == nil
    default: false
    }
  }
}

/// A request of the partner.
public struct ReceivedRequest: Hashable, Sendable {
  /// The request.
  public let request: PartnerRequest
  /// The time at which it was received.
  public let received: Instant
  /// The alarm that was set; nil if the request was refused.
  public var alarm: Identifier?
  /// The receipts that were sent, oldest first.
  public var receipts: [PartnerReceipt]
  /// True if nothing further is reported about the request.
  public var isOver: Bool

  /// The receipt that determines the state of the request; nil before the first.
  public var standing: PartnerReceipt? {
    PartnerReceipt.current(in: receipts, repeats: request.repeats != nil)
  }

  /// Creates a received request.
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

/// Sealed mail to push. Because it is sealed already, it can be pushed after the keys were deleted.
struct OutgoingMail: Hashable, Sendable {
  /// The name in the mailbox: `<address>/<identifier>`.
  let name: String
  let envelope: [UInt8]
  /// The identifier of the request in the envelope; nil for another message.
  let request: Identifier?
}

/// Processed mail of the inbox.
struct SeenMail: Hashable, Sendable {
  /// The git object.
  let object: String
  /// The time of processing.
  let at: Instant
  /// True if the mail can be deleted from the mailbox.
  var isDone: Bool
  /// True if the mail was deleted from the mailbox and must not reappear.
  var isGone = false
  /// True if the mail contained receipts. Another device of the partner may send the same ones again.
  var isReceipt = false
  /// True if the mail was rejected. Such names are forgotten after deletion, because anybody can create them.
  var isRefused = false
}

extension Instant {
  /// The tolerated difference between the clocks of two partners, in seconds.
  static let skew: Int64 = 120
}
