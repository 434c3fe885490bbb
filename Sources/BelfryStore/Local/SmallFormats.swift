import BelfryCore
import Git

extension LocalFile.Format where Value == BatteryWarningHistory {
  /// A JSON array of warnings. An unreadable file counts as empty, because a repeated warning is better than none.
  static var batteryWarnings: Self {
    Self(
      empty: BatteryWarningHistory(), maxSize: 1 << 20,
      decode: { bytes in
        guard let list = (try? JSON(parsing: bytes))?.array else { return nil }
        var sent: [OccurrenceID: BatteryWarningHistory.SentWarning] = [:]
        for item in list {
          guard let alarm = item["alarm"]?.identifier,
            let occurrence = item["occurrence"]?.occurrence,
            let risk = item["risk"]?.string.flatMap({ BatteryPrediction.Risk(rawValue: $0) }),
            let at = item["at"]?.instant
          else { continue }
          sent[OccurrenceID(alarm: alarm, occurrence: occurrence)] =
            BatteryWarningHistory.SentWarning(
              risk: risk, at: at, isOver: item["over"]?.bool ?? false)
        }
        return BatteryWarningHistory(sent)
      },
      encode: { history in
        JSON.array(
          history.sent.map { key, warning in
            JSON.object([
              "alarm": JSON(key.alarm), "occurrence": JSON(key.occurrence),
              "risk": .string(warning.risk.rawValue), "at": JSON(warning.at),
              "over": .bool(warning.isOver),
            ])
          }
        ).document
      })
  }
}

extension LocalFile.Format where Value == [String: Store.CallNote] {
  /// A JSON object with a member for each call. An unreadable file counts as empty.
  static var calls: Self {
    Self(
      empty: [:], maxSize: 1 << 20,
      decode: { bytes in
        (try? JSON(parsing: bytes))?.object?.compactMapValues { item in
          item["at"]?.instant.map { at in
            Store.CallNote(
              tried: Int(item["tried"]?.integer ?? 0), isOver: item["over"]?.bool ?? false, at: at)
          }
        }
      },
      encode: { notes in
        JSON.object(
          notes.mapValues { note in
            JSON.object([
              "tried": .integer(Int64(note.tried)), "over": .bool(note.isOver), "at": JSON(note.at),
            ])
          }
        ).document
      })
  }
}

extension LocalFile.Format where Value == [UInt8] {
  /// Lines of text as bytes.
  static func lines(maxSize: Int) -> Self {
    Self(empty: [], maxSize: maxSize, decode: { $0 }, encode: { $0 })
  }
}

extension LocalFile.Format where Value == String? {
  /// A short text.
  static var text: Self {
    Self(
      empty: nil, maxSize: 4096, decode: { .some(String(decoding: $0, as: UTF8.self)) },
      encode: { Array(($0 ?? "").utf8) })
  }
}

extension LocalFile.Format where Value == ObjectID? {
  /// The id of a commit in hexadecimal.
  static var commit: Self {
    Self(
      empty: nil, maxSize: 4096,
      decode: { ObjectID(hexadecimal: String(decoding: $0, as: UTF8.self)) },
      encode: { Array(($0?.description ?? "").utf8) })
  }
}

extension LocalFile.Format where Value == Instant? {
  /// An instant in RFC 3339 format.
  static var instant: Self {
    Self(
      empty: nil, maxSize: 4096,
      decode: { Instant(rfc3339: String(decoding: $0, as: UTF8.self)) },
      encode: { Array(($0?.description ?? "").utf8) })
  }
}
