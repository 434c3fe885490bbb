import CJansson

/// A JSON document. Parsed and written by jansson, which tells duplicate keys, bad UTF-8 and the line of
/// an error, none of which Foundation's decoder does.
public enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  public var string: String? { if case .string(let value) = self { value } else { nil } }
  public var object: [String: JSON]? { if case .object(let value) = self { value } else { nil } }
  public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  public subscript(key: String) -> JSON? { object?[key] }
}

/// Why bytes are not a JSON document.
public struct JSONError: Error, Hashable, Sendable {
  /// From 1; nil when no line is to blame.
  public let line: Int?
  public let reason: String
}

extension JSON {
  /// Parses a document. Throws for anything RFC 8259 forbids, and for two equal keys in one object.
  public init(parsing bytes: [UInt8]) throws(JSONError) {
    var error = json_error_t()
    let root = bytes.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) {
        json_loadb($0.baseAddress, $0.count, Int(JSON_REJECT_DUPLICATES), &error)
      }
    }
    guard let root else {
      let reason = withUnsafeBytes(of: error.text) { raw in
        String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw JSONError(
        line: error.line > 0 ? Int(error.line) : nil,
        reason: bytes.isEmpty ? "the file is empty" : reason)
    }
    defer { json_decref(root) }
    self.init(root)
  }

  private init(_ json: UnsafeMutablePointer<json_t>) {
    switch json.pointee.type {
    case JSON_OBJECT:
      var members: [String: JSON] = [:]
      var iterator = json_object_iter(json)
      while let current = iterator {
        if let key = json_object_iter_key(current), let value = json_object_iter_value(current) {
          members[String(cString: key)] = JSON(value)
        }
        iterator = json_object_iter_next(json, current)
      }
      self = .object(members)
    case JSON_ARRAY:
      self = .array(
        (0..<json_array_size(json)).compactMap { json_array_get(json, $0).map { JSON($0) } })
    case JSON_STRING:
      let bytes = UnsafeRawBufferPointer(
        start: json_string_value(json), count: json_string_length(json))
      self = .string(String(decoding: bytes, as: UTF8.self))
    case JSON_INTEGER: self = .integer(Int64(json_integer_value(json)))
    case JSON_REAL: self = .real(json_real_value(json))
    case JSON_TRUE: self = .bool(true)
    case JSON_FALSE: self = .bool(false)
    default: self = .null
    }
  }

  /// The canonical document: sorted keys, two spaces, one newline at the end.
  public var document: [UInt8] {
    Array(text(flags: 2 | Int(JSON_SORT_KEYS)).utf8) + [UInt8(ascii: "\n")]
  }

  /// The canonical text on one line.
  public var line: String { text(flags: Int(JSON_SORT_KEYS) | Int(JSON_COMPACT)) }

  private func text(flags: Int) -> String {
    let root = build()
    defer { json_decref(root) }
    guard let text = json_dumps(root, flags | Int(JSON_ENCODE_ANY)) else { return "null" }
    defer { free(text) }
    return JSON.escaped(String(cString: text))
  }

  /// A document without anything in its texts that a terminal would obey: as an escape of four digits it means the same.
  private static func escaped(_ document: String) -> String {
    // Between the texts there are line ends, and nothing else of the kind.
    func isRaw(_ scalar: Unicode.Scalar) -> Bool { scalar.isHidden && scalar != "\n" }
    guard document.utf8.contains(where: { $0 >= 0x7F }),
      document.unicodeScalars.contains(where: isRaw)
    else { return document }
    var result = ""
    for scalar in document.unicodeScalars {
      if isRaw(scalar) {
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// A new jansson value, owned by the caller.
  private func build() -> UnsafeMutablePointer<json_t>? {
    switch self {
    case .null: return json_null()
    case .bool(let value): return value ? json_true() : json_false()
    case .integer(let value): return json_integer(json_int_t(value))
    case .real(let value): return json_real(value)
    case .string(let value):
      return value.withCString { json_stringn($0, value.utf8.count) }
    case .array(let values):
      let array = json_array()
      for value in values { json_array_append_new(array, value.build()) }
      return array
    case .object(let members):
      let object = json_object()
      for (key, value) in members { json_object_set_new(object, key, value.build()) }
      return object
    }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// An object without the members that are nil: absent rather than null.
  public static func object(omittingNil members: [String: JSON?]) -> JSON {
    .object(members.compactMapValues { $0 })
  }
}
