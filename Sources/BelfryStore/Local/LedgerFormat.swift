import BelfryCore

extension LocalFile.Format where Value == DeliveryLedger {
  /// A JSON array of deliveries. Items without a key or a time are left out.
  ///
  /// An unreadable file counts as empty, because ringing twice is better than not at all.
  static var ledger: Self {
    Self(
      empty: DeliveryLedger(), maxSize: 64 << 20,
      decode: { bytes in
        guard let list = (try? JSON(parsing: bytes))?.array else { return nil }
        var ledger = DeliveryLedger()
        for item in list {
          if let (key, firing) = decode(item) { ledger[key] = firing }
        }
        return ledger
      },
      encode: { ledger in
        JSON.array(ledger.ledger.sorted { $0.key < $1.key }.map { encode($0.key, $0.value) })
          .document
      })
  }

  private static func decode(
    _ item: JSON
  ) -> (DeliveryLedger.Key, DeliveryLedger.Firing)? {
    guard let alarm = item["alarm"]?.identifier, let occurrence = item["occurrence"]?.occurrence,
      let due = item["due"]?.instant, let at = item["at"]?.instant
    else { return nil }
    return (
      DeliveryLedger.Key(alarm: alarm, occurrence: occurrence),
      DeliveryLedger.Firing(
        kind(item), due: due, at: at, attempts: Int(item["attempts"]?.integer ?? 1),
        state: item["state"]?.string.flatMap {
          DeliveryLedger.Firing.DeliveryState(rawValue: $0)
        } ?? .delivered,
        leaseOwner: item["owner"]?.string, isLogged: item["logged"]?.bool ?? true)
    )
  }

  private static func kind(_ item: JSON) -> DeliveryLedger.Firing.Kind {
    if item["warning"]?.bool == true { return .warning }
    if item["rehearsal"]?.bool == true { return .rehearsal }
    return item["followUp"]?.integer.map { .followUp(Int($0)) } ?? .ringing
  }

  private static func encode(
    _ key: DeliveryLedger.Key, _ firing: DeliveryLedger.Firing
  ) -> JSON {
    .object(
      omittingNil: [
        "alarm": JSON(key.alarm), "occurrence": JSON(key.occurrence), "due": JSON(firing.due),
        "at": JSON(firing.at), "state": .string(firing.state.rawValue),
        "attempts": firing.attempts == 1 ? nil : .integer(Int64(firing.attempts)),
        "owner": firing.leaseOwner.map { .string($0) }, "logged": firing.isLogged ? nil : false,
      ].merging(members(firing.kind)) { $1 })
  }

  private static func members(_ kind: DeliveryLedger.Firing.Kind) -> [String: JSON?] {
    switch kind {
    case .ringing: [:]
    case .followUp(let number): ["followUp": .integer(Int64(number))]
    case .warning: ["warning": true]
    case .rehearsal: ["rehearsal": true]
    }
  }
}
