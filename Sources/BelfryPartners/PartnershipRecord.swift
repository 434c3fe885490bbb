import BelfryCore
import BelfryStore

/// The file format of a partnership: `.git/belfry/partners/<id>.json`, readable by its owner only.
enum PartnershipRecord {
  /// The maximum size of a file, in bytes.
  static let maxSize = 32 << 20

  // MARK: Writing

  static func encode(_ partner: Partnership) -> [UInt8] {
    let (handshake, mail) = (partner.handshake, partner.mail)
    return JSON.object(omittingNil: [
      "format": 1, "id": JSON(partner.id), "phase": .string(partner.phase.rawValue),
      "name": .string(partner.name), "ownName": .string(partner.ownName),
      "mailbox": .string(partner.mailbox), "inviter": .bool(partner.isInviter),
      "key": handshake.privateKey.map(text), "theirKey": handshake.partnerKey.map(text),
      "secret": text(handshake.secret), "nonce": text(handshake.ownNonce),
      "theirNonce": handshake.partnerNonce.map(text), "commitment": handshake.commitment.map(text),
      "created": JSON(partner.created), "expires": JSON(partner.expires),
      "paired": partner.paired.map { JSON($0) },
      "expiryReported": partner.isExpiryReported ? true : nil,
      "confirmedThere": handshake.isConfirmedByPartner ? true : nil,
      "limits": encode(partner.limits),
      "faults": .object(
        Dictionary(
          uniqueKeysWithValues: mail.faults.map { fault, faults in
            (
              fault.rawValue,
              .object(["count": .integer(Int64(faults.count)), "last": JSON(faults.last)])
            )
          })),
      "sent": .array(partner.sent.map(encode)), "received": .array(partner.received.map(encode)),
      "recalled": partner.recalled.isEmpty
        ? nil : .array(partner.recalled.sorted().map { JSON($0) }),
      "successor": partner.successor.map { JSON($0) },
      "leftovers": mail.leftovers.isEmpty
        ? nil : .array(mail.leftovers.sorted().map { .string($0) }),
      "post": .array(
        mail.outgoing.map { item in
          .object(omittingNil: [
            "name": .string(item.name), "envelope": text(item.envelope),
            "request": item.request.map { JSON($0) },
          ])
        }),
      "seen": .object(
        mail.seen.mapValues { item in
          .object(omittingNil: [
            "object": .string(item.object), "at": JSON(item.at), "done": item.isDone ? true : nil,
            "gone": item.isGone ? true : nil, "receipt": item.isReceipt ? true : nil,
            "refused": item.isRefused ? true : nil,
          ])
        }),
      "told": mail.lastReported.map {
        .object(["branch": .string($0.branch), "at": JSON($0.at)])
      },
      "reached": partner.connection.reached.map { JSON($0) },
      "failure": partner.connection.failure.map { .string($0) },
    ]).document
  }

  private static func text(_ bytes: [UInt8]) -> JSON { .string(Base64URL.encode(bytes)) }

  static func encode(_ limits: PartnerLimits) -> JSON {
    .object(omittingNil: [
      "perDay": .integer(Int64(limits.perDay)), "length": .integer(Int64(limits.longest)),
      "ahead": .integer(limits.ahead), "quiet": limits.quiet.map { JSON($0) },
      "muted": limits.isMuted ? true : nil,
    ])
  }

  private static func encode(_ sent: SentRequest) -> JSON {
    .object(omittingNil: [
      "request": .object(PartnerMessage.members(of: sent.request)), "created": JSON(sent.created),
      "posted": sent.isPosted ? true : nil,
      "resent": sent.resendCount > 0 ? .integer(Int64(sent.resendCount)) : nil,
      "lost": sent.isLost ? true : nil, "unsentReported": sent.isReportedUnsent ? true : nil,
      "recalled": sent.isRecalled ? true : nil,
      "receipts": .array(sent.receipts.map(PartnerMessage.encode)),
    ])
  }

  private static func encode(_ received: ReceivedRequest) -> JSON {
    .object(omittingNil: [
      "request": .object(PartnerMessage.members(of: received.request)),
      "received": JSON(received.received), "alarm": received.alarm.map { JSON($0) },
      "over": received.isOver ? true : nil,
      "receipts": .array(received.receipts.map(PartnerMessage.encode)),
    ])
  }

  // MARK: Reading

  /// Returns the partnership of a record; nil if the record is not valid. Only records of this device are read.
  static func decode(_ bytes: [UInt8]) -> Partnership? {
    guard let json = try? JSON(parsing: bytes), json["format"]?.integer == 1,
      let id = json["id"]?.identifier,
      let phase = json["phase"]?.string.flatMap({ Partnership.Phase(rawValue: $0) }),
      let name = json["name"]?.string, let ownName = json["ownName"]?.string,
      let mailbox = json["mailbox"]?.string, let isInviter = json["inviter"]?.bool,
      let secret = self.bytes(json["secret"]), let nonce = self.bytes(json["nonce"]),
      let created = json["created"]?.instant, let expires = json["expires"]?.instant
    else { return nil }
    let handshake = Partnership.Handshake(
      privateKey: self.bytes(json["key"]), partnerKey: self.bytes(json["theirKey"]),
      secret: secret, ownNonce: nonce, partnerNonce: self.bytes(json["theirNonce"]),
      commitment: self.bytes(json["commitment"]),
      isConfirmedByPartner: json["confirmedThere"]?.bool ?? false)
    var partner = Partnership(
      id: id, phase: phase, name: name, ownName: ownName, mailbox: mailbox, isInviter: isInviter,
      handshake: handshake, created: created, expires: expires, paired: json["paired"]?.instant)
    partner.isExpiryReported = json["expiryReported"]?.bool ?? false
    partner.limits = limits(json["limits"])
    for (key, item) in json["faults"]?.object ?? [:] {
      guard let fault = MailFault(rawValue: key), let count = item["count"]?.integer,
        let last = item["last"]?.instant
      else { continue }
      partner.mail.faults[fault] = Faults(count: Int(count), last: last)
    }
    partner.sent = (json["sent"]?.array ?? []).compactMap(sent)
    partner.received = (json["received"]?.array ?? []).compactMap(received)
    partner.recalled = Set(
      (json["recalled"]?.array ?? []).compactMap(\.identifier))
    partner.successor = json["successor"]?.identifier
    partner.mail.leftovers = Set((json["leftovers"]?.array ?? []).compactMap(\.string))
    partner.mail.outgoing = (json["post"]?.array ?? []).compactMap { item in
      guard let name = item["name"]?.string, let envelope = self.bytes(item["envelope"]) else {
        return nil
      }
      return OutgoingMail(name: name, envelope: envelope, request: item["request"]?.identifier)
    }
    partner.mail.seen = (json["seen"]?.object ?? [:]).compactMapValues { item in
      guard let object = item["object"]?.string, let at = item["at"]?.instant else { return nil }
      return SeenMail(
        object: object, at: at, isDone: item["done"]?.bool ?? false,
        isGone: item["gone"]?.bool ?? false, isReceipt: item["receipt"]?.bool ?? false,
        isRefused: item["refused"]?.bool ?? false)
    }
    if let mark = json["told"], let branch = mark["branch"]?.string, let at = mark["at"]?.instant {
      partner.mail.lastReported = ReportMark(branch: branch, at: at)
    }
    partner.connection.reached = json["reached"]?.instant
    partner.connection.failure = json["failure"]?.string
    return partner
  }

  private static func bytes(_ json: JSON?) -> [UInt8]? {
    json?.string.flatMap(Base64URL.decode)
  }

  static func limits(_ json: JSON?) -> PartnerLimits {
    var limits = PartnerLimits()
    guard let json else { return limits }
    func number<Number: BinaryInteger>(_ key: String, _ range: ClosedRange<Number>) -> Number? {
      json[key]?.integer.flatMap { Number(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
    }
    limits.perDay = number("perDay", PartnerLimits.perDays) ?? limits.perDay
    limits.longest = number("length", PartnerLimits.lengths) ?? limits.longest
    limits.ahead = number("ahead", PartnerLimits.reaches) ?? limits.ahead
    limits.quiet = json["quiet"]?.string.flatMap { QuietHours($0) }
    limits.isMuted = json["muted"]?.bool ?? false
    return limits
  }

  private static func receipts(_ json: JSON) -> [PartnerReceipt] {
    (json["receipts"]?.array ?? []).compactMap(PartnerMessage.receipt)
  }

  private static func sent(_ json: JSON) -> SentRequest? {
    guard let request = json["request"].flatMap(PartnerMessage.request),
      let created = json["created"]?.instant
    else { return nil }
    var sent = SentRequest(
      request: request, created: created, isPosted: json["posted"]?.bool ?? false,
      isRecalled: json["recalled"]?.bool ?? false, receipts: receipts(json))
    sent.resendCount = Int(json["resent"]?.integer ?? 0)
    sent.isLost = json["lost"]?.bool ?? false
    sent.isReportedUnsent = json["unsentReported"]?.bool ?? false
    return sent
  }

  private static func received(_ json: JSON) -> ReceivedRequest? {
    guard let request = json["request"].flatMap(PartnerMessage.request),
      let moment = json["received"]?.instant
    else { return nil }
    return ReceivedRequest(
      request: request, received: moment,
      alarm: json["alarm"]?.identifier, receipts: receipts(json),
      isOver: json["over"]?.bool ?? false)
  }
}
