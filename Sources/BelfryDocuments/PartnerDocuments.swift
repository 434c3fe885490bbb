import BelfryCore
import BelfryPartners
import BelfryStore
import Git

/// A partner: the document of `partner accept`, `confirm`, `limits`, `mute`, `unmute` and `rename`, and an element of
/// `partner list`.
package struct PartnerDocument: JSONDocument {
  /// The id.
  let id: String
  /// The name; empty for an invitation that nobody has answered.
  let name: String
  /// The phase of the pairing: `invited`, `accepted`, `comparing`, `confirmed`, `active` or `ended`.
  let phase: String
  /// The path or URL of the mailbox, with credentials masked.
  let mailbox: String
  /// The six digits to compare, during the pairing.
  let code: String?
  /// The time at which the invitation expires, during the pairing.
  let expires: String?
  /// The time until which the pairing is valid.
  let validUntil: String?
  /// The limits of the partner's requests.
  let limits: Limits
  /// The number of sent requests that are not in the mailbox yet.
  let waiting: Int
  /// The refused messages, by the kind of their fault.
  let faults: [String: Fault]
  /// The last failure of the mailbox, as text.
  let failure: String?

  /// The limits of a partner's requests.
  package struct Limits: Encodable {
    /// The maximum number of rings a day.
    let perDay: Int
    /// The maximum length of a message, in characters.
    let length: Int
    /// The maximum time ahead, in seconds.
    let aheadSeconds: Int64
    /// The quiet hours, such as `23:00-06:00`.
    let quiet: String?
    /// True if the partner is muted.
    let muted: Bool
  }

  /// Refused messages of one kind.
  package struct Fault: Encodable {
    /// The number of messages.
    let count: Int
    /// The time of the last one.
    let last: String
  }

  package init(_ partner: Partnership, zones: ZoneLibrary) {
    id = partner.id.text
    name = partner.name
    phase = partner.phase.rawValue
    mailbox = URLMask.masked(url: partner.mailbox)
    code = partner.isPairing ? partner.code : nil
    expires = partner.isPairing ? zones.text(partner.expires) : nil
    validUntil = partner.validUntil.map { zones.text($0) }
    limits = Limits(
      perDay: partner.limits.perDay, length: partner.limits.longest,
      aheadSeconds: partner.limits.ahead, quiet: partner.limits.quiet?.description,
      muted: partner.limits.isMuted)
    waiting = partner.sent.count { !$0.isPosted && !$0.isRecalled }
    faults = Dictionary(
      uniqueKeysWithValues: partner.mail.faults.map { fault, faults in
        (fault.rawValue, Fault(count: faults.count, last: zones.text(faults.last)))
      })
    failure = partner.connection.failure.map { URLMask.masked($0) }
  }
}

/// A request: the document of `partner send`, `recall` and `reply`, and an element of `partner log`.
package struct PartnerRequestDocument: JSONDocument {
  /// The direction: `to` for a request to the partner, `from` for one of the partner.
  let direction: String
  /// The name of the partner.
  let partner: String
  /// The id of the request.
  let id: String
  /// The message.
  let message: String
  /// The time of the first occurrence.
  let time: String
  /// The schedule of a repeating request.
  let `repeat`: ScheduleDocument?
  /// The zone of a repeating request: an IANA name.
  let zone: String?
  /// The time at which the request was sent or received.
  let at: String
  /// The receipts, oldest first.
  let receipts: [Receipt]
  /// True if the request is in the mailbox; only with `to`.
  private(set) var posted: Bool?
  /// True if the request was recalled; only with `to`.
  private(set) var recalled: Bool?
  /// The state of the latest receipt, or before the first `posted`, `waiting` or `lost`; only with `to`.
  private(set) var state: String?
  /// The id of the alarm that was set; only with `from`.
  private(set) var alarm: String?
  /// True if nothing further is reported about the request; only with `from`.
  private(set) var over: Bool?

  /// A report of a request's state.
  package struct Receipt: Encodable {
    /// The state: `scheduled`, `rung`, `stopped`, …
    let state: String
    /// The time of the state.
    let at: String
    /// More about the state, as text.
    let detail: String?
  }

  /// Creates the document of a request to a partner.
  package init(_ sent: SentRequest, to partner: Partnership, zones: ZoneLibrary) {
    self.init("to", sent.request, sent.receipts, partner, at: sent.created, zones)
    posted = sent.isPosted
    recalled = sent.isRecalled
    state = sent.state?.rawValue ?? (sent.isLost ? "lost" : sent.isPosted ? "posted" : "waiting")
  }

  /// Creates the document of a request of a partner.
  package init(_ received: ReceivedRequest, from partner: Partnership, zones: ZoneLibrary) {
    self.init("from", received.request, received.receipts, partner, at: received.received, zones)
    alarm = received.alarm?.text
    over = received.isOver
  }

  private init(
    _ direction: String, _ request: PartnerRequest, _ receipts: [PartnerReceipt],
    _ partner: Partnership, at moment: Instant, _ zones: ZoneLibrary
  ) {
    self.direction = direction
    self.partner = partner.name
    id = request.id.text
    message = request.message
    time = zones.text(request.at)
    `repeat` = request.repeats.map { ScheduleDocument($0.schedule) }
    zone = request.repeats?.zone
    at = zones.text(moment)
    self.receipts = receipts.map {
      Receipt(state: $0.state.rawValue, at: zones.text($0.at), detail: $0.detail)
    }
  }
}

/// An invitation: the document of `partner invite`.
package struct InvitationDocument: JSONDocument {
  /// The id of the future partner.
  let id: String
  /// The link of the invitation.
  let link: String
  /// The path or URL of the mailbox, with credentials masked.
  let mailbox: String
  /// The time at which the invitation expires.
  let expires: String

  package init(id: String, link: String, mailbox: String, expires: String) {
    self.id = id
    self.link = link
    self.mailbox = mailbox
    self.expires = expires
  }
}

/// A removed partner: the document of `partner remove`.
package struct PartnerRemovalDocument: JSONDocument {
  /// The name of the partner.
  let partner: String
  /// The number of their alarms that were deleted.
  let cancelled: Int

  package init(partner: String, cancelled: Int) {
    self.partner = partner
    self.cancelled = cancelled
  }
}

/// Imported keys: the document of `partner keys import`.
package struct ImportedKeysDocument: JSONDocument {
  /// The names of the partners whose keys were not on this device before.
  let partners: [String]

  package init(partners: [String]) {
    self.partners = partners
  }
}

/// The alarms that a partner has set: an element of `partner alarms`.
package struct PartnerAlarmsDocument: JSONDocument {
  /// The name of the partner.
  let partner: String
  /// True if the partnership has ended.
  let former: Bool
  /// `kept` or `deleted` after a decision.
  let decision: String?
  /// The ids of the alarms that are not finished.
  let alarms: [String]

  package init(partner: String, former: Bool, decision: String?, alarms: [String]) {
    self.partner = partner
    self.former = former
    self.decision = decision
    self.alarms = alarms
  }
}

/// News from partners: the document of `partner sync`.
package struct PartnerNewsDocument: JSONDocument {
  /// The news, as lines of text.
  let news: [String]
  /// The number of messages that wait in the mailboxes.
  let waiting: Int

  package init(news: [String], waiting: Int) {
    self.news = news
    self.waiting = waiting
  }
}
