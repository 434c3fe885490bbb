import BelfryStore

/// The keys of a document: `title`, `schedule.kind`.
///
/// They are those that the type itself decodes, so that no list has to be kept. Elements of arrays have the keys of their
/// type: `missed`, `cascade.targets.phone`.
package struct DocumentKeys: Sendable {
  /// The keys with dots, in the order of their declaration, each object before its members.
  package let paths: [String]
  /// The keys of objects whose members depend on their content.
  private let openPaths: Set<String>

  /// Returns the keys of a type.
  package init(_ type: (some Decodable).Type) {
    let record = KeyRecord()
    // The decoder has no values. An error, such as that of a text that has to be a date, comes after the keys.
    _ = try? type.init(from: KeyDecoder(record, path: []))
    paths = record.paths
    openPaths = record.openPaths
  }

  /// Returns the keys of an object, whose members that are objects themselves can have any keys.
  package init(of sample: JSON) {
    let members = sample.object ?? [:]
    paths = members.keys.sorted()
    openPaths = Set(members.filter { $0.value.object != nil }.keys)
  }

  /// Returns true for a key, and for the elements of arrays by their position: `missed.0`.
  package func contains(_ path: [String]) -> Bool {
    let named = path.filter { Int($0) == nil }
    guard !named.isEmpty else { return false }
    if paths.contains(named.joined(separator: ".")) { return true }
    return named.indices.dropFirst().contains {
      openPaths.contains(named[..<$0].joined(separator: "."))
    }
  }
}

private final class KeyRecord {
  var paths: [String] = []
  var openPaths: Set<String> = []

  func add(_ path: [String]) {
    let path = path.joined(separator: ".")
    if !paths.contains(path) { paths.append(path) }
  }
}

// MARK: The decoder

/// A decoder without values, which records the keys that a type asks for.
private struct KeyDecoder: Decoder {
  let record: KeyRecord
  let path: [String]
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ record: KeyRecord, path: [String]) {
    self.record = record
    self.path = path
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(KeyReader(decoder: self))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { ElementReader(decoder: self) }
  func singleValueContainer() -> any SingleValueDecodingContainer { ValueReader(decoder: self) }

  /// Returns a value of a basic type, or decodes one of another type.
  func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let basic: [Any] = [false, "", 0, Int64(0), 0.0, Int32(0), UInt64(0)]
    if let value = basic.lazy.compactMap({ $0 as? Value }).first { return value }
    return try Value(from: self)
  }
}

private struct KeyReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: KeyDecoder
  var codingPath: [any CodingKey] { [] }

  /// Only a type whose keys depend on the content asks for them.
  var allKeys: [Key] {
    decoder.record.openPaths.insert(decoder.path.joined(separator: "."))
    return []
  }

  func contains(_ key: Key) -> Bool { true }

  private func decoder(for key: Key) -> KeyDecoder {
    let path = decoder.path + [key.stringValue]
    decoder.record.add(path)
    return KeyDecoder(decoder.record, path: path)
  }

  func decodeNil(forKey key: Key) -> Bool { false }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder(for: key).value(type)
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) -> Value? {
    try? decoder(for: key).value(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedDecodingContainer<Nested> {
    decoder(for: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
    decoder(for: key).unkeyedContainer()
  }

  func superDecoder() -> any Decoder { decoder }
  func superDecoder(forKey key: Key) -> any Decoder { decoder(for: key) }
}

/// An array of one element.
private struct ElementReader: UnkeyedDecodingContainer {
  let decoder: KeyDecoder
  private(set) var currentIndex = 0
  var codingPath: [any CodingKey] { [] }
  var count: Int? { 1 }
  var isAtEnd: Bool { currentIndex > 0 }

  init(decoder: KeyDecoder) { self.decoder = decoder }

  mutating func decodeNil() -> Bool { false }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    currentIndex += 1
    return try decoder.value(type)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedDecodingContainer<Nested> {
    currentIndex += 1
    return decoder.container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
    currentIndex += 1
    return decoder.unkeyedContainer()
  }

  mutating func superDecoder() -> any Decoder { decoder }
}

private struct ValueReader: SingleValueDecodingContainer {
  let decoder: KeyDecoder
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { false }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.value(type) }
}
