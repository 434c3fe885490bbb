import BelfryCore

/// A kind of record: the format of its files, and its part in what the store does alike for all kinds, such as joins,
/// restorations and examinations. `RecordPath.kind` is the kind of a path.
protocol Record {
  /// The content of a record.
  associatedtype Value: Joinable
  /// The maximum size of a record in bytes. A larger file is rejected unread.
  static var largest: Int { get }

  /// Parses a record.
  ///
  /// - Parameters:
  ///   - bytes: The content of the file.
  ///   - path: The path of the file, which is one of this kind.
  ///   - now: The start of an alarm without progress, as in a handwritten record.
  /// - Throws: `RecordError` if the record is not valid, or not that of the path.
  static func decode(
    _ bytes: [UInt8], at path: RecordPath, now: Instant
  ) throws(RecordError) -> Value

  /// Returns the canonical document of a value.
  static func encode(_ value: Value) -> [UInt8]

  /// Returns the conflicting edits of two versions, by default none.
  ///
  /// - Parameters:
  ///   - a: The first version.
  ///   - b: The second version.
  ///   - joined: The joined version.
  ///   - base: The common version; nil if there is none.
  static func decisions(_ a: Value, _ b: Value, joined: Value, base: Value?) -> [MergeDecision]
}

extension Record {
  static func decisions(_ a: Value, _ b: Value, joined: Value, base: Value?) -> [MergeDecision] {
    []
  }

  /// Parses a record for a merge, in which all devices must get the same value.
  static func decode(_ bytes: [UInt8], at path: RecordPath) throws(RecordError) -> Value {
    try decode(bytes, at: path, now: Instant(seconds: 0))
  }
}

/// A kind of record that people edit by hand: see `HandEdits`.
///
/// Devices and log entries are none: only their device writes them.
protocol EditableRecord: Record where Value: Stamped {
  /// True if a missing file is restored, because only a command deletes a record.
  static var isRestored: Bool { get }
}

extension EditableRecord {
  static var isRestored: Bool { true }
}

/// The file `.gitattributes`, which makes git call Belfry's merge driver for records.
enum AttributesRecord: Record {
  static let largest = SettingsFile.largest

  /// The content of a file. Of two versions, the greater one wins.
  struct Value: Joinable {
    let bytes: [UInt8]

    static func join(_ a: Value, _ b: Value) -> Value {
      a.bytes.lexicographicallyPrecedes(b.bytes) ? b : a
    }
  }

  static func decode(
    _ bytes: [UInt8], at path: RecordPath, now: Instant
  ) throws(RecordError) -> Value {
    if let format = Store.formatOfAttributes(bytes), format > RecordFormat.current {
      throw .newer(format, than: RecordFormat.current)
    }
    guard bytes == Store.attributes || bytes == Store.earlierAttributes else {
      throw RecordError("it differs from Belfry's own")
    }
    return Value(bytes: bytes)
  }

  static func encode(_ value: Value) -> [UInt8] { value.bytes }
}

/// A kind of record that a newer version of Belfry may have. Its format tells if it is one.
enum UnknownRecord: Record {
  static let largest = AlarmRecord.largest

  static func decode(
    _ bytes: [UInt8], at path: RecordPath, now: Instant
  ) throws(RecordError) -> AttributesRecord.Value {
    _ = try RecordReader(bytes)
    throw .wrongPath
  }

  static func encode(_ value: AttributesRecord.Value) -> [UInt8] { value.bytes }
}

extension RecordError {
  /// The error of a path of another kind.
  static var wrongPath: RecordError { RecordError("it is not the path of a record") }
}
