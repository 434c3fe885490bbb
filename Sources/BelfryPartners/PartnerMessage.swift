import BelfryCore
import BelfryStore

/// A message from one partner to the other, which is sealed in an envelope.
enum PartnerMessage: Hashable, Sendable {
  /// The guest's answer to an invitation.
  case join(key: [UInt8], nonce: [UInt8], name: String)
  /// The inviter's nonce, which opens the commitment. Both sides can then show the code.
  case welcome(nonce: [UInt8], name: String)
  /// The sender's user has confirmed the code.
  case confirmed
  case request(PartnerRequest)
  case recall(Identifier)
  case receipts([PartnerReceipt])
  /// The partnership has ended. The successor continues it; nil for none.
  case unpaired(successor: Identifier?)

  /// The maximum number of receipts in a message.
  static let maxReceiptCount = 24
  /// The maximum revision of an occurrence that is accepted.
  private static let maxRevision: Int64 = 1_000_000

  // MARK: Writing

  /// Returns the message as JSON.
  ///
  /// - Parameter sent: the time of writing, by the sender's clock.
  func encoded(sent: Instant) -> [UInt8] {
    var members: [String: JSON] = ["v": 1, "sent": JSON(sent)]
    switch self {
    case .join(let key, let nonce, let name):
      members["type"] = "join"
      members["key"] = .string(Base64URL.encode(key))
      members["nonce"] = .string(Base64URL.encode(nonce))
      members["name"] = .string(name)
    case .welcome(let nonce, let name):
      members["type"] = "welcome"
      members["nonce"] = .string(Base64URL.encode(nonce))
      members["name"] = .string(name)
    case .confirmed: members["type"] = "confirmed"
    case .request(let request):
      members["type"] = "alarm_request"
      members.merge(PartnerMessage.members(of: request)) { $1 }
    case .recall(let id):
      members["type"] = "recall"
      members["id"] = JSON(id)
    case .receipts(let receipts):
      members["type"] = "receipts"
      members["receipts"] = .array(receipts.map(PartnerMessage.encode))
    case .unpaired(let successor):
      members["type"] = "unpaired"
      members["successor"] = successor.map { JSON($0) }
    }
    return Array(JSON.object(members).line.utf8)
  }

  static func members(of request: PartnerRequest) -> [String: JSON] {
    var members: [String: JSON] = [
      "id": JSON(request.id), "message": .string(request.message), "time": JSON(request.at),
      "expires": JSON(request.expires),
    ]
    members["sound"] = request.sound.map { .string($0) }
    members["persistent"] = request.persistent ? true : nil
    if let repeats = request.repeats {
      members["repeat"] = ScheduleRecord.encode(repeats.schedule)
      members["zone"] = .string(repeats.zone)
    }
    return members
  }

  static func encode(_ receipt: PartnerReceipt) -> JSON {
    .object(omittingNil: [
      "id": JSON(receipt.request), "state": .string(receipt.state.rawValue),
      "at": JSON(receipt.at), "due": receipt.due.map { JSON($0) },
      "revision": receipt.revision == 0 ? nil : .integer(Int64(receipt.revision)),
      "detail": receipt.detail.map { .string($0) },
    ])
  }

  // MARK: Reading

  /// Returns a message and the time of writing; nil if the bytes are not a valid message.
  ///
  /// The partner's software may be hostile, so nothing is accepted that this version would not write.
  static func decode(_ bytes: [UInt8]) -> (message: PartnerMessage, sent: Instant)? {
    guard let json = try? JSON(parsing: bytes), json["v"]?.integer == 1,
      let sent = instant(json["sent"]), let message = message(json)
    else { return nil }
    return (message, sent)
  }

  private static func message(_ json: JSON) -> PartnerMessage? {
    func bytes(_ key: String, _ count: Int) -> [UInt8]? {
      json[key]?.string.flatMap(Base64URL.decode).flatMap { $0.count == count ? $0 : nil }
    }
    let name = json["name"]?.string.flatMap(PartnerOrigin.name)
    switch json["type"]?.string {
    case "join":
      guard let key = bytes("key", 33), let nonce = bytes("nonce", Invitation.nonceSize), let name
      else { return nil }
      return .join(key: key, nonce: nonce, name: name)
    case "welcome":
      guard let nonce = bytes("nonce", Invitation.nonceSize), let name else { return nil }
      return .welcome(nonce: nonce, name: name)
    case "confirmed": return .confirmed
    case "alarm_request": return request(json).map { .request($0) }
    case "recall": return json["id"]?.identifier.map { .recall($0) }
    case "receipts":
      guard let list = json["receipts"]?.array, list.count <= maxReceiptCount else { return nil }
      let receipts = list.compactMap(receipt)
      return receipts.count == list.count ? .receipts(receipts) : nil
    case "unpaired":
      guard let given = json["successor"] else { return .unpaired(successor: nil) }
      return given.identifier.map { .unpaired(successor: $0) }
    default: return nil
    }
  }

  static func request(_ json: JSON) -> PartnerRequest? {
    guard let id = json["id"]?.identifier,
      let text = json["message"]?.string, text.count <= PartnerRequest.longestMessage,
      text.unicodeScalars.count
        <= PartnerRequest.longestMessage * PartnerRequest.scalarsPerCharacter,
      let message = ((try? AlarmText.note(text)) ?? nil),
      !message.unicodeScalars.contains(where: { $0.isHidden && $0 != "\n" && $0 != "\t" }),
      let at = instant(json["time"]), let expires = instant(json["expires"])
    else { return nil }
    var sound: String?
    if let given = json["sound"] {
      guard let word = given.string, Setting.sound.admits(.word(word)) else { return nil }
      sound = word
    }
    var repeats: PartnerRequest.Repetition?
    if let given = json["repeat"] {
      guard let schedule = try? ScheduleRecord.decode(given), let zone = json["zone"]?.string,
        ZoneLibrary.isName(zone)
      else { return nil }
      guard PartnerRequest.Repetition.allows(schedule) else { return nil }
      repeats = PartnerRequest.Repetition(schedule: schedule, zone: zone)
    }
    return PartnerRequest(
      id: id, message: message, at: at, repeats: repeats, sound: sound,
      persistent: json["persistent"]?.bool ?? false, expires: expires)
  }

  static func receipt(_ json: JSON) -> PartnerReceipt? {
    guard let id = json["id"]?.identifier,
      let state = json["state"]?.string.flatMap({ PartnerReceipt.State(rawValue: $0) }),
      let at = instant(json["at"])
    else { return nil }
    var detail: String?
    if let given = json["detail"] {
      guard let text = given.string, text.count <= PartnerReceipt.longestDetail,
        text.unicodeScalars.count
          <= PartnerReceipt.longestDetail * PartnerRequest.scalarsPerCharacter,
        !text.unicodeScalars.contains(where: \.isHidden)
      else { return nil }
      detail = text
    }
    var due: Instant?
    if let given = json["due"] {
      guard let moment = instant(given) else { return nil }
      due = moment
    }
    var revision = 0
    if let given = json["revision"] {
      guard let number = given.integer, (0...maxRevision).contains(number) else { return nil }
      revision = Int(number)
    }
    return PartnerReceipt(state, of: id, at: at, due: due, revision: revision, detail: detail)
  }

  /// Returns a time in this century; nil for any other value. The limit keeps absurd times out of records and output.
  private static func instant(_ json: JSON?) -> Instant? {
    json?.instant.flatMap {
      $0.seconds >= 0 && $0.seconds < 4_102_444_800 ? $0 : nil
    }
  }
}
