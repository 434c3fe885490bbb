import BelfryCore
import CLinux

/// The record `log/<yyyy>/<mm>/<dd>/<HHMMSSmmm>-<id>.json`: one log entry, never rewritten.
///
/// | key | content |
/// |---|---|
/// | `id`, `alarm`, `title`, `at`, `device` | the id, the alarm and its title, the time, the device |
/// | `via` | the place outside Belfry where the person acted: `phone` |
/// | `action` | the action; a name of a newer version is preserved |
/// | `occurrence`, `revision` | the occurrence and the revision of its record |
/// | `auto` | true if no user took the action |
/// | `payload` | the facts beyond the action: see `LogPayloadRecord` |
/// | `effective` | of `done`: the time of completion that the user gave |
/// | `undoes`, `state` | of `undone`: the undone entry and the restored state |
public enum LogRecord: Record {
  /// The maximum size of a record in bytes. A larger file is rejected unread.
  public static let largest = 64 << 10

  /// The length of the time and the hyphen before the id in the name of a log entry's file.
  static let timeLength = 10

  /// Returns the path of a log entry's record. It starts with the entry's UTC time, so paths sort by time.
  public static func path(_ entry: LogEntry) -> String {
    let text = entry.at.rfc3339Milliseconds
    let day = text.prefix(10).split(separator: "-").joined(separator: "/")
    let time = text.dropFirst(11).filter { $0.isASCII && $0.isNumber }
    return "log/\(day)/\(time)-\(entry.id).json"
  }

  /// Returns the id in the name of a log entry's file, or nil for any other name.
  public static func identifier(fileName name: some StringProtocol) -> Identifier? {
    let bytes = Array(name.utf8)
    guard bytes.count == timeLength + Identifier.length + 5,
      bytes[timeLength - 1] == UInt8(ascii: "-"),
      bytes[..<(timeLength - 1)].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      ),
      name.hasSuffix(".json")
    else { return nil }
    return Identifier(bytes[timeLength..<(timeLength + Identifier.length)])
  }

  /// Parses a record.
  ///
  /// - Throws: `RecordError` if the record is not valid.
  public static func decode(_ bytes: [UInt8]) throws(RecordError) -> LogEntry {
    var reader = try RecordReader(bytes)
    var extras: [String: String] = [:]
    let payload = try LogPayloadRecord.decode(&reader, &extras)
    return LogEntry(
      id: try reader.required("id", \.identifier, "an identifier"),
      alarm: try reader.required("alarm", \.identifier, "an identifier"),
      title: try reader.required("title", plainText, "a string without control characters"),
      occurrence: try reader.optional("occurrence", \.occurrence, "a date and time"),
      action: try reader.required("action", \.action, expectedAction),
      at: try reader.required("at", \.instant, "an instant"),
      device: try reader.required("device", \.identifier, "an identifier"),
      auto: try reader.optional("auto", \.bool, "true or false") ?? false,
      payload: payload,
      effective: try reader.optional("effective", \.instant, "an instant"),
      undoes: try reader.optional("undoes", \.identifier, "an identifier"),
      revision: try reader.optional("revision", \.count, "a count") ?? 0,
      state: try reader.optional("state", \.state, OccurrenceRecord.State.choices),
      via: try reader.optional("via", plainText, "a string without control characters"),
      extras: extras.merging(reader.remaining()) { $1 })
  }

  static func decode(
    _ bytes: [UInt8], at path: RecordPath, now: Instant
  ) throws(RecordError) -> LogEntry {
    let entry = try decode(bytes)
    guard LogRecord.path(entry) == path.text else {
      throw RecordError("'id' and 'at' don't match the file's name")
    }
    return entry
  }

  static let expectedAction = "the name of an action"

  /// Returns true if a record's bytes contain an id. Other records need not be parsed.
  static func mentions(_ id: Identifier, _ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { file in
      id.text.utf8.withContiguousStorageIfAvailable { word in
        memmem(file.baseAddress, file.count, word.baseAddress, word.count) != nil
      } ?? true
    }
  }

  /// Returns the canonical document of a log entry.
  public static func encode(_ entry: LogEntry) -> [UInt8] {
    JSON.object(omittingNil: [
      "format": .integer(RecordFormat.current), "id": JSON(entry.id), "alarm": JSON(entry.alarm),
      "title": .string(entry.title), "occurrence": entry.occurrence.map { JSON($0) },
      "action": .string(entry.action.rawValue), "at": JSON(entry.at), "device": JSON(entry.device),
      "auto": entry.auto ? true : nil, "payload": entry.payload.map { LogPayloadRecord.encode($0) },
      "effective": entry.effective.map { JSON($0) }, "undoes": entry.undoes.map { JSON($0) },
      "revision": entry.revision == 0 ? nil : .integer(Int64(entry.revision)),
      "state": entry.state.map { .string($0.rawValue) }, "via": entry.via.map { .string($0) },
    ]).adding(entry.extras).document
  }
}

/// The record `devices/<id>.json`: one device, written by that device alone.
///
/// | key | content |
/// |---|---|
/// | `id`, `name`, `created`, `stamp` | the id, the name, the time of the clone, the last edit by the device |
/// | `kind`, `owner`, `calls` | the kind of device, its owner, true if it places calls |
/// | `phone` | the name of the collection of tasks that it publishes for a phone |
/// | `zone` | the device's time zone: an IANA name, or `UTC-08:00` for a zone without a name |
/// | `copyOf` | the device whose folder this clone was copied from |
/// | `replaced` | the devices that it has replaced, each with the time |
///
/// Each tick updates `zone`. Other devices don't settle an occurrence of a floating alarm before its time in that
/// zone.
public enum DeviceRecord: Record {
  /// The maximum size of a record in bytes. A larger file is rejected unread.
  public static let largest = 64 << 10
  /// The maximum length of the names of a device and of a collection of tasks, in characters.
  public static let longestName = 64

  /// Returns the path of a device's record within the store.
  public static func path(_ id: Identifier) -> String { "devices/\(id).json" }

  /// Parses a record.
  ///
  /// - Throws: `RecordError` if the record is not valid.
  public static func decode(_ bytes: [UInt8]) throws(RecordError) -> Device {
    var reader = try RecordReader(bytes)
    return Device(
      id: try reader.required("id", \.identifier, "an identifier"),
      name: try reader.required("name", plainText, "a string without control characters"),
      created: try reader.required("created", \.instant, "an instant"),
      stamp: try reader.optional("stamp", \.stamp, "a stamp"),
      kind: try reader.optional(
        "kind", { $0.string.flatMap { Device.Kind(rawValue: $0) } },
        "one of \(Device.Kind.allCases.map(\.rawValue).joined(separator: ", "))"),
      owner: try reader.optional("owner", plainText, "a string without control characters"),
      calls: try reader.optional("calls", \.bool, "true or false") ?? false,
      phone: try reader.optional(
        "phone", phoneCollection, "1 to \(longestName) characters without control characters"),
      zone: try reader.optional("zone", ZoneLibrary.nameInRecord, "a time zone"),
      copyOf: try reader.optional("copyOf", \.identifier, "an identifier"),
      replaced: try reader.optional("replaced", replaced, "devices, each with an instant") ?? [:],
      extras: reader.remaining())
  }

  static func decode(
    _ bytes: [UInt8], at path: RecordPath, now: Instant
  ) throws(RecordError) -> Device {
    let device = try decode(bytes)
    guard path == .device(device.id) else { throw RecordError("'id' is not the file's name") }
    return device
  }

  private static func phoneCollection(_ json: JSON) -> String? {
    plainText(json).flatMap { (1...longestName).contains($0.count) ? $0 : nil }
  }

  /// The maximum number of replaced devices.
  private static let maxReplaced = 256

  private static func replaced(_ json: JSON) -> [Identifier: Instant]? {
    guard let members = json.object, members.count <= maxReplaced else { return nil }
    var result: [Identifier: Instant] = [:]
    for (key, value) in members {
      guard let id = Identifier(key), let at = value.instant else { return nil }
      result[id] = at
    }
    return result
  }

  /// Returns the canonical document of a device.
  public static func encode(_ device: Device) -> [UInt8] {
    JSON.object(omittingNil: [
      "format": .integer(RecordFormat.current), "id": JSON(device.id), "name": .string(device.name),
      "created": JSON(device.created), "stamp": device.stamp.map { JSON($0) },
      "kind": device.kind.map { .string($0.rawValue) }, "owner": device.owner.map { .string($0) },
      "calls": device.calls ? true : nil, "phone": device.phone.map { .string($0) },
      "zone": device.zone.map { .string($0) },
      "copyOf": device.copyOf.map { JSON($0) },
      "replaced": device.replaced.isEmpty
        ? nil
        : .object(
          Dictionary(
            uniqueKeysWithValues: device.replaced.map { ($0.key.text, JSON($0.value)) })),
    ]).adding(device.extras).document
  }
}

/// Returns a string that is safe to show in a terminal, or nil for any other value.
func plainText(_ json: JSON) -> String? {
  guard let text = json.string, !text.unicodeScalars.contains(where: AlarmText.isControl) else {
    return nil
  }
  return text
}
