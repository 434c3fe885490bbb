import BelfryCore
import BelfryStore

/// The facts of a log entry in a document: an object with `kind` and the keys of the kind.
package struct LogPayloadDocument: Encodable {
  private let payload: LogPayload

  package init(_ payload: LogPayload) { self.payload = payload }

  package func encode(to encoder: any Encoder) throws {
    try LogPayloadDocument.encode(LogPayloadRecord.encode(payload), to: encoder)
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// A value of any type.
  private struct Value: Encodable {
    let json: JSON
    func encode(to encoder: any Encoder) throws { try LogPayloadDocument.encode(json, to: encoder) }
  }

  private static func encode(_ json: JSON, to encoder: any Encoder) throws {
    switch json {
    case .object(let members):
      var container = encoder.container(keyedBy: Key.self)
      for (name, value) in members {
        try container.encode(Value(json: value), forKey: Key(stringValue: name))
      }
    case .array(let values):
      var container = encoder.unkeyedContainer()
      for value in values { try container.encode(Value(json: value)) }
    case .string(let value): try single(value, encoder)
    case .integer(let value): try single(value, encoder)
    case .real(let value): try single(value, encoder)
    case .bool(let value): try single(value, encoder)
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
  }

  private static func single(_ value: some Encodable, _ encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}
