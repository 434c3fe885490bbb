import BelfryCore

/// Why a record is not one.
public struct RecordError: Error, Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// Not JSON, or not the shape or the values of a record.
    case invalid
    /// Written by a later Belfry.
    case newerFormat(Int64)
  }
  public let kind: Kind
  /// From 1, where a line is to blame.
  public let line: Int?
  public let reason: String

  public init(_ reason: String, line: Int? = nil, kind: Kind = .invalid) {
    self.kind = kind
    self.line = line
    self.reason = reason
  }
}

/// Takes an object's members one by one; what nobody took is kept as unknown.
struct RecordReader {
  /// The keys that lead here; none at the top.
  private let path: [String]
  /// The whole record, to find the line of an error.
  private let document: [UInt8]
  private var members: [String: JSON]

  /// The top of a record: an object of a format that this version knows.
  init(_ bytes: [UInt8]) throws(RecordError) {
    let json: JSON
    do {
      json = try JSON(parsing: bytes)
    } catch {
      // What a text merge could not settle.
      if bytes.starts(with: "<<<<<<< ".utf8)
        || bytes.firstRange(of: Array("\n<<<<<<< ".utf8)) != nil
      {
        throw RecordError("git has left conflict markers in it", line: error.line)
      }
      throw RecordError(error.reason, line: error.line)
    }
    guard var members = json.object else { throw RecordError("the document is not an object") }
    try RecordFormat.migrate(&members)
    members["format"] = nil
    self.init(members, path: [], document: bytes)
  }

  /// Members that come from no file: errors have no line.
  init(_ members: [String: JSON]) { self.init(members, path: [], document: []) }

  private init(_ members: [String: JSON], path: [String], document: [UInt8]) {
    self.members = members
    self.path = path
    self.document = document
  }

  /// An error with the line of a member, or of the object itself.
  func error(_ reason: String, at key: String? = nil) -> RecordError {
    let place = path + (key.map { [$0] } ?? [])
    return RecordError(
      reason,
      line: JSONLineFinder.line(of: place, in: document)
        ?? JSONLineFinder.line(of: path, in: document))
  }

  private func name(_ key: String) -> String { (path + [key]).joined(separator: ".") }

  mutating func optional<Value>(
    _ key: String, _ convert: (JSON) -> Value?, _ expected: String
  ) throws(RecordError) -> Value? {
    guard let json = members.removeValue(forKey: key) else { return nil }
    guard let value = convert(json) else {
      throw error("'\(name(key))' is not \(expected)", at: key)
    }
    return value
  }

  mutating func required<Value>(
    _ key: String, _ convert: (JSON) -> Value?, _ expected: String
  ) throws(RecordError) -> Value {
    guard let value = try optional(key, convert, expected) else {
      throw error("'\(name(key))' is missing")
    }
    return value
  }

  /// The reader of a member that is an object; nil when it is absent.
  mutating func nested(_ key: String) throws(RecordError) -> RecordReader? {
    try optional(key, \.object, "an object").map {
      RecordReader($0, path: path + [key], document: document)
    }
  }

  /// What nobody took, as canonical JSON under `path`.
  func remaining(under path: String = "") -> [String: String] {
    Dictionary(uniqueKeysWithValues: members.map { (path + $0.key, $0.value.line) })
  }

  var keys: [String] { members.keys.sorted() }

  /// A member that stays to be taken.
  func peek(_ key: String) -> JSON? { members[key] }
}

// MARK: Conversions that records share

extension JSON {
  public var identifier: Identifier? { string.flatMap { Identifier($0) } }
  public var instant: Instant? { string.flatMap { Instant(rfc3339: $0) } }
  var date: CivilDate? { string.flatMap { CivilDate($0) } }
  public var occurrence: CivilDateTime? { string.flatMap { CivilDateTime($0) } }
  var stamp: Stamp? { string.flatMap { Stamp($0) } }

  var count: Int? {
    integer.flatMap { (0...1_000_000).contains($0) ? Int($0) : nil }
  }

  var state: OccurrenceRecord.State? { string.flatMap { OccurrenceRecord.State(rawValue: $0) } }

  /// The name of a sound, as the settings' own is.
  var sound: String? { string.flatMap { Setting.sound.admits(.word($0)) ? $0 : nil } }

  /// Seconds after the stop, ascending.
  var plan: FollowUpPlan? {
    guard let list = array else { return nil }
    let seconds = list.compactMap(\.integer)
    return seconds.count == list.count ? FollowUpPlan(seconds) : nil
  }

  var warnings: WarningPlan? {
    guard let list = array else { return nil }
    let seconds = list.compactMap(\.integer)
    return seconds.count == list.count ? WarningPlan(seconds) : nil
  }

  /// The most devices that a list of them may name.
  private static let mostDevices = 64

  var devices: Set<Identifier>? {
    guard let list = array, list.count <= JSON.mostDevices else { return nil }
    let ids = list.compactMap(\.identifier)
    return ids.count == list.count ? Set(ids) : nil
  }

  public init(_ plan: WarningPlan) {
    self = .array(plan.seconds.map { .integer($0) })
  }

  public init(_ plan: FollowUpPlan) {
    self = .array(plan.seconds.map { .integer($0) })
  }

  /// The text that describes a value: an identifier, an instant, an occurrence …
  public init(_ value: some CustomStringConvertible) {
    self = .string(value.description)
  }

  /// The value that a `line` was made from, of whatever kind.
  public init?(fragment text: String) {
    guard let value = try? JSON(parsing: Array("[\(text)]".utf8)).array?.first else { return nil }
    self = value
  }

  /// Adds unknown members back by their paths (`key`, `object/key`, `object/object/key`).
  func adding(_ extras: [String: String]) -> JSON {
    guard !extras.isEmpty, var members = object else { return self }
    for (path, text) in extras {
      guard let value = JSON(fragment: text) else { continue }
      let parts = path.split(separator: "/", maxSplits: 1).map(String.init)
      if parts.count == 2 {
        members[parts[0]] = JSON.object(members[parts[0]]?.object ?? [:]).adding([parts[1]: text])
      } else {
        members[path] = value
      }
    }
    return .object(members)
  }
}

extension OccurrenceRecord.State {
  /// What a record may hold for one, in words.
  static var words: String { "one of " + allCases.map(\.rawValue).joined(separator: ", ") }
}
