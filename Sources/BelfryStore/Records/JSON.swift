import CJansson

/// A JSON value.
///
/// jansson parses and writes it, because Foundation's decoder doesn't report duplicate keys, invalid UTF-8 or the
/// line of an error.
public enum JSON: Hashable, Sendable {
  /// The null value.
  case null
  /// A Boolean.
  case bool(Bool)
  /// A number without a fraction or an exponent.
  case integer(Int64)
  /// Any other number.
  case real(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([JSON])
  /// An object.
  case object([String: JSON])

  /// The string; nil if the value is of another type.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The members; nil if the value is of another type.
  public var object: [String: JSON]? { if case .object(let value) = self { value } else { nil } }
  /// The elements; nil if the value is of another type.
  public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }
  /// The integer; nil if the value is of another type.
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// The Boolean; nil if the value is of another type.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The member of an object; nil if it is missing or the value is not an object.
  public subscript(key: String) -> JSON? { object?[key] }
}

/// The reason that bytes are not a JSON document.
public struct JSONError: Error, Hashable, Sendable {
  /// The line of the error, starting at 1; nil if no line applies.
  public let line: Int?
  /// The reason, mostly jansson's message.
  public let reason: String
}

extension JSON {
  /// Parses a document.
  ///
  /// - Throws: `JSONError` if the document violates RFC 8259 or repeats a key in an object.
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

  /// The canonical document: sorted keys, an indent of two spaces, a trailing newline.
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

  /// Returns a document with all hidden characters as `\u` escapes, so that a terminal doesn't interpret them.
  private static func escaped(_ document: String) -> String {
    // Outside strings, a canonical document contains no control characters but newlines.
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

  /// Returns a new jansson value. The caller owns it.
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
  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates a Boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Creates an integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// Returns an object without the members that are nil.
  public static func object(omittingNil members: [String: JSON?]) -> JSON {
    .object(members.compactMapValues { $0 })
  }
}
