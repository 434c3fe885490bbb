import BelfryCore

extension LocalFile.Format where Value == DeviceHeartbeats {
  /// A JSON object. Invalid members are left out, and an unreadable file counts as empty.
  static var heartbeats: Self {
    Self(
      empty: DeviceHeartbeats(), maxSize: 1 << 20,
      decode: { bytes in (try? JSON(parsing: bytes)).map(decode) },
      encode: { encode($0).document })
  }

  private static func decode(_ json: JSON) -> DeviceHeartbeats {
    func members<Member>(_ name: String, _ value: (JSON) -> Member?) -> [Identifier: Member] {
      (json[name]?.object ?? [:]).reduce(into: [:]) { result, item in
        if let id = Identifier(item.key) { result[id] = value(item.value) }
      }
    }
    return DeviceHeartbeats(
      fetched: json["asked"]?.instant, unreachableSince: json["silent"]?.instant,
      seen: members("seen") { $0.instant }, reportedHeads: members("has") { $0.string },
      sent: json["told"]?.instant, sentHead: json["toldHead"]?.string,
      intervals: members("every") { value in
        value.integer.flatMap { DeviceHeartbeats.promises.contains($0) ? $0 : nil }
      }, exchanges: (json["exchanges"]?.array ?? []).compactMap(\.instant).sorted())
  }

  private static func encode(_ heartbeats: DeviceHeartbeats) -> JSON {
    func members<Member>(_ values: [Identifier: Member], _ json: (Member) -> JSON) -> JSON {
      .object(Dictionary(values.map { ($0.key.text, json($0.value)) }) { one, _ in one })
    }
    return .object(omittingNil: [
      "asked": heartbeats.fetched.map { JSON($0) },
      "silent": heartbeats.unreachableSince.map { JSON($0) },
      "told": heartbeats.sent.map { JSON($0) },
      "toldHead": heartbeats.sentHead.map { .string($0) },
      "has": members(heartbeats.reportedHeads) { .string($0) },
      "every": members(heartbeats.intervals) { .integer($0) },
      "exchanges": .array(heartbeats.exchanges.map { JSON($0) }),
      "seen": members(heartbeats.seen) { JSON($0) },
    ])
  }
}
