import BelfryCore
import BelfryStore

/// What one partner tells the other, inside an envelope.
enum PartnerMessage: Hashable, Sendable {
  /// The guest answers an invitation.
  case join(key: [UInt8], nonce: [UInt8], name: String)
  /// The inviter opens what was committed to: the code can be seen on both sides.
  case welcome(nonce: [UInt8], name: String)
  /// This side's person has confirmed the code.
  case confirmed
  case request(PartnerRequest)
  case recall(Identifier)
  case receipts([PartnerReceipt])
  /// The partnership is over; another between the same two has taken its place, if one is named.
  case unpaired(successor: Identifier?)

  /// So many receipts go into one message.
  static let mostReceipts = 24
  /// Nobody reopens an occurrence more often.
  private static let mostRevisions: Int64 = 1_000_000

  // MARK: Writing

  /// - Parameter sent: when it was written, by the sender's clock.
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

  /// Reads a message; nil when it is none. A partner's software may be hostile, too: nothing is taken that this
  /// version would not have written.
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
      guard let list = json["receipts"]?.array, list.count <= mostReceipts else { return nil }
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
      if case .once = schedule.recurrence { return nil }
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
      guard let number = given.integer, (0...mostRevisions).contains(number) else { return nil }
      revision = Int(number)
    }
    return PartnerReceipt(state, of: id, at: at, due: due, revision: revision, detail: detail)
  }

  /// A moment of this century: what is stored and shown is never absurd.
  private static func instant(_ json: JSON?) -> Instant? {
    json?.instant.flatMap {
      $0.seconds >= 0 && $0.seconds < 4_102_444_800 ? $0 : nil
    }
  }
}
