import BelfryCore

/// The delivery ledger as JSON: a list of `{kind, alarm, occurrence?, number?, requested?, due, at, state, attempts?,
/// owner?, logged?}`. Absent members have these values: one attempt, no owner, logged.
extension DeliveryLedger {
  /// Creates a ledger from JSON. Items that are not valid are left out: ringing twice is better than not at all.
  init(json items: [JSON]) {
    self.init()
    for item in items {
      guard let key = DeliveryKey(json: item), let due = item["due"]?.instant,
        let at = item["at"]?.instant
      else { continue }
      self[key] = Entry(
        due: due, at: at, attempts: Int(item["attempts"]?.integer ?? 1),
        state: item["state"]?.string.flatMap(DeliveryState.init) ?? .delivered,
        owner: item["owner"]?.string, isLogged: item["logged"]?.bool ?? true)
    }
  }

  /// The ledger as JSON, in an order that depends on its entries alone.
  var json: [JSON] {
    let items = entries.compactMap { key, entry -> (sortKey: String, json: JSON)? in
      guard let members = key.json else { return nil }
      let json = JSON.object(
        omittingNil: [
          "due": JSON(entry.due), "at": JSON(entry.at), "state": .string(entry.state.rawValue),
          "attempts": entry.attempts == 1 ? nil : .integer(Int64(entry.attempts)),
          "owner": entry.owner.map { .string($0) }, "logged": entry.isLogged ? nil : false,
        ].merging(members) { $1 })
      let sortKey = ["alarm", "occurrence", "requested", "kind"].map { members[$0]??.string ?? "" }
        .joined(separator: " ")
      return (sortKey, json)
    }
    return items.sorted { $0.sortKey < $1.sortKey }.map(\.json)
  }
}

extension DeliveryKey {
  /// Creates a key from a ledger's item; nil if it is not valid.
  fileprivate init?(json: JSON) {
    guard let alarm = json["alarm"]?.identifier else { return nil }
    if json["kind"]?.string == "rehearsal" {
      guard let requested = json["requested"]?.instant else { return nil }
      self = .rehearsal(alarm: alarm, requested: requested)
      return
    }
    guard let occurrence = json["occurrence"]?.occurrence else { return nil }
    let id = OccurrenceID(alarm: alarm, occurrence: occurrence)
    switch json["kind"]?.string {
    case "firing": self = .occurrence(id, .firing)
    case "advanceWarning": self = .occurrence(id, .advanceWarning)
    case "followUp":
      guard let number = json["number"]?.integer else { return nil }
      self = .occurrence(id, .followUp(Int(number)))
    default: return nil
    }
  }

  /// The members of a ledger's item; nil for deliveries that the ledger does not keep.
  fileprivate var json: [String: JSON?]? {
    switch self {
    case .occurrence(let id, let kind):
      var members: [String: JSON?] = [
        "alarm": JSON(id.alarm), "occurrence": JSON(id.occurrence),
      ]
      switch kind {
      case .firing: members["kind"] = "firing"
      case .advanceWarning: members["kind"] = "advanceWarning"
      case .followUp(let number):
        members["kind"] = "followUp"
        members["number"] = .integer(Int64(number))
      }
      return members
    case .rehearsal(let alarm, let requested):
      return ["kind": "rehearsal", "alarm": JSON(alarm), "requested": JSON(requested)]
    case .battery, .missedSummary, .message: return nil
    }
  }
}
