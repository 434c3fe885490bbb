import BelfryCore

/// The reason that a file is not a valid record.
public struct RecordError: Error, Hashable, Sendable {
  /// The kind of an error.
  public enum Kind: Hashable, Sendable {
    /// The file is not JSON, or violates the schema of its record.
    case invalid
    /// The file has a newer format, which is the value.
    case newerFormat(Int64)
  }
  /// The kind.
  public let kind: Kind
  /// The line of the error, starting at 1; nil if no line applies.
  public let line: Int?
  /// The reason as a clause, without a period.
  public let reason: String

  /// Creates an error from its parts.
  public init(_ reason: String, line: Int? = nil, kind: Kind = .invalid) {
    self.kind = kind
    self.line = line
    self.reason = reason
  }

  /// Returns the error of a format that only a newer version of Belfry can read.
  static func newer(_ format: Int64, than latest: Int64) -> RecordError {
    RecordError(
      "its format is \(format), but this version of Belfry reads up to \(latest)",
      kind: .newerFormat(format))
  }
}

/// A reader that takes an object's members one by one. Members that are left over are preserved as unknown.
struct RecordReader {
  /// The keys from the root to this object.
  private let path: [String]
  /// The bytes of the whole record, by which the line of an error is found.
  private let document: [UInt8]
  private var members: [String: JSON]

  /// Creates a reader of a record's root object, migrated to the current format.
  init(_ bytes: [UInt8]) throws(RecordError) {
    let json: JSON
    do {
      json = try JSON(parsing: bytes)
    } catch {
      // A text merge of git may have failed.
      if bytes.starts(with: "<<<<<<< ".utf8)
        || bytes.firstRange(of: Array("\n<<<<<<< ".utf8)) != nil
      {
        throw RecordError("it contains git conflict markers", line: error.line)
      }
      throw RecordError(error.reason, line: error.line)
    }
    guard var members = json.object else { throw RecordError("the document is not an object") }
    try RecordFormat.migrate(&members)
    members["format"] = nil
    self.init(members, path: [], document: bytes)
  }

  /// Creates a reader of members without a file. Errors have no line.
  init(_ members: [String: JSON]) { self.init(members, path: [], document: []) }

  private init(_ members: [String: JSON], path: [String], document: [UInt8]) {
    self.members = members
    self.path = path
    self.document = document
  }

  /// Returns an error with the line of a member, or of the object itself.
  func error(_ reason: String, at key: String? = nil) -> RecordError {
    let location = path + (key.map { [$0] } ?? [])
    return RecordError(
      reason,
      line: JSONLineFinder.line(of: location, in: document)
        ?? JSONLineFinder.line(of: path, in: document))
  }

  private func name(_ key: String) -> String { (path + [key]).joined(separator: ".") }

  /// Takes an optional member. Returns nil if it is missing.
  ///
  /// - Parameters:
  ///   - key: The member's key.
  ///   - convert: A function that returns the member's value, or nil if it is not valid.
  ///   - expected: The valid values, for the error `'key' is not EXPECTED`.
  mutating func optional<Value>(
    _ key: String, _ convert: (JSON) -> Value?, _ expected: String
  ) throws(RecordError) -> Value? {
    guard let json = members.removeValue(forKey: key) else { return nil }
    guard let value = convert(json) else {
      throw error("'\(name(key))' is not \(expected)", at: key)
    }
    return value
  }

  /// Takes a required member.
  mutating func required<Value>(
    _ key: String, _ convert: (JSON) -> Value?, _ expected: String
  ) throws(RecordError) -> Value {
    guard let value = try optional(key, convert, expected) else {
      throw error("'\(name(key))' is missing")
    }
    return value
  }

  /// Takes an object member and returns its reader, or nil if it is missing.
  mutating func nested(_ key: String) throws(RecordError) -> RecordReader? {
    try optional(key, \.object, "an object").map {
      RecordReader($0, path: path + [key], document: document)
    }
  }

  /// Returns the members that are left over, as canonical JSON by their path. A key in a path is escaped.
  func remaining(under path: String = "") -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: members.map { (path + JSON.escaped(key: $0.key), $0.value.line) })
  }

  /// The keys of the members that are left over, sorted.
  var keys: [String] { members.keys.sorted() }

  /// Returns a member without taking it.
  func peek(_ key: String) -> JSON? { members[key] }
}

// MARK: Conversions

extension JSON {
  /// The id; nil if the value is not one.
  public var identifier: Identifier? { string.flatMap { Identifier($0) } }
  /// The instant of an RFC 3339 string; nil for any other value.
  public var instant: Instant? { string.flatMap { Instant(rfc3339: $0) } }
  /// The civil date of `2026-12-01`; nil for any other value.
  var date: CivilDate? { string.flatMap { CivilDate($0) } }
  /// The civil time of `2026-12-01T09:00`; nil for any other value.
  public var occurrence: CivilDateTime? { string.flatMap { CivilDateTime($0) } }
  /// The stamp; nil if the value is not one.
  var stamp: Stamp? { string.flatMap { Stamp($0) } }

  /// The integer from 0 to 1,000,000; nil for any other value.
  var count: Int? {
    integer.flatMap { (0...1_000_000).contains($0) ? Int($0) : nil }
  }

  /// The state of an occurrence; nil if the value is not one.
  var state: OccurrenceRecord.State? { string.flatMap { OccurrenceRecord.State(rawValue: $0) } }

  /// The name of a sound, valid by the same rules as the `sound` setting; nil for any other value.
  var sound: String? { string.flatMap { Setting.sound.admits(.word($0)) ? $0 : nil } }

  /// The name of an action; nil for any other value.
  var actionName: ActionName? { string.flatMap { ActionName($0) } }

  /// The follow-ups in ascending seconds after the stop; nil for any other value.
  var plan: FollowUpPlan? {
    guard let list = array else { return nil }
    let seconds = list.compactMap(\.integer)
    return seconds.count == list.count ? FollowUpPlan(seconds) : nil
  }

  /// The advance warnings in descending seconds; nil for any other value.
  var warnings: WarningPlan? {
    guard let list = array else { return nil }
    let seconds = list.compactMap(\.integer)
    return seconds.count == list.count ? WarningPlan(seconds) : nil
  }

  /// The maximum length of a list of devices.
  private static let maxDevices = 64

  /// The ids of a list of devices; nil for any other value.
  var devices: Set<Identifier>? {
    guard let list = array, list.count <= JSON.maxDevices else { return nil }
    let ids = list.compactMap(\.identifier)
    return ids.count == list.count ? Set(ids) : nil
  }

  /// Creates a list of the warnings' seconds.
  public init(_ plan: WarningPlan) {
    self = .array(plan.seconds.map { .integer($0) })
  }

  /// Creates a list of the follow-ups' seconds.
  public init(_ plan: FollowUpPlan) {
    self = .array(plan.seconds.map { .integer($0) })
  }

  /// Creates a string from a value's description, such as an id, an instant or an occurrence.
  public init(_ value: some CustomStringConvertible) {
    self = .string(value.description)
  }

  /// Parses a value of any type from the text of `line`. Returns nil if the text is not valid JSON.
  public init?(fragment text: String) {
    guard let value = try? JSON(parsing: Array("[\(text)]".utf8)).array?.first else { return nil }
    self = value
  }

  /// Returns a key as a part of a path: `/` separates the parts, as in a JSON pointer (RFC 6901).
  static func escaped(key: String) -> String {
    key.replacing("~", with: "~0").replacing("/", with: "~1")
  }

  /// Returns the key of a part of a path.
  static func key(escaped: String) -> String {
    escaped.replacing("~1", with: "/").replacing("~0", with: "~")
  }

  /// Returns the object with unknown members added at their paths (`key`, `object/key`, `object/object/key`).
  func adding(_ extras: [String: String]) -> JSON {
    guard !extras.isEmpty, var members = object else { return self }
    for (path, text) in extras {
      guard let value = JSON(fragment: text) else { continue }
      let parts = path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        .map(String.init)
      let key = JSON.key(escaped: parts[0])
      if parts.count == 2 {
        members[key] = JSON.object(members[key]?.object ?? [:]).adding([parts[1]: text])
      } else {
        members[key] = value
      }
    }
    return .object(members)
  }
}

extension OccurrenceRecord.State {
  /// The valid values, for an error message.
  static var choices: String { "one of " + allCases.map(\.rawValue).joined(separator: ", ") }
}
