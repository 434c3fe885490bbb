import BelfryCore

/// `log/<yyyy>/<mm>/<dd>/<HHMMSSmmm>-<id>.json`: one fact, never rewritten.
public enum LogRecord {
  public static let largest = 64 << 10

  /// The file of an entry, by the UTC day and time of it, so that names sort as they happened.
  public static func path(_ entry: LogEntry) -> String {
    let text = entry.at.rfc3339Milliseconds
    let day = text.prefix(10).split(separator: "-").joined(separator: "/")
    let time = text.dropFirst(11).filter { $0.isASCII && $0.isNumber }
    return "log/\(day)/\(time)-\(entry.id).json"
  }

  /// The identifier in an entry's file name; nil when the name is not one of an entry.
  public static func identifier(fileName name: some StringProtocol) -> Identifier? {
    let bytes = Array(name.utf8)
    guard bytes.count == 10 + Identifier.length + 5, bytes[9] == UInt8(ascii: "-"),
      bytes[..<9].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      name.hasSuffix(".json")
    else { return nil }
    return Identifier(String(decoding: bytes[10..<(10 + Identifier.length)], as: UTF8.self))
  }

  public static func decode(_ bytes: [UInt8]) throws(RecordError) -> LogEntry {
    var reader = try RecordReader(bytes)
    return LogEntry(
      id: try reader.required("id", \.identifier, "an identifier"),
      alarm: try reader.required("alarm", \.identifier, "an identifier"),
      title: try reader.required("title", plainText, "a text without control characters"),
      occurrence: try reader.optional("occurrence", \.occurrence, "a date and time"),
      action: try reader.required(
        "action", { $0.string.flatMap { LogEntry.Action(rawValue: $0) } }, "a known action"),
      at: try reader.required("at", \.instant, "an instant"),
      device: try reader.required("device", \.identifier, "an identifier"),
      auto: try reader.optional("auto", \.bool, "true or false") ?? false,
      detail: try reader.optional("detail", plainText, "a text without control characters"),
      extras: reader.remaining())
  }

  public static func encode(_ entry: LogEntry) -> [UInt8] {
    JSON.object(omittingNil: [
      "format": .integer(RecordReader.format), "id": JSON(entry.id), "alarm": JSON(entry.alarm),
      "title": .string(entry.title), "occurrence": entry.occurrence.map { JSON($0) },
      "action": .string(entry.action.rawValue), "at": JSON(entry.at), "device": JSON(entry.device),
      "auto": entry.auto ? true : nil, "detail": entry.detail.map { .string($0) },
    ]).adding(entry.extras).document
  }
}

/// `devices/<id>.json`: one clone, written by that device alone.
public enum DeviceRecord {
  public static let largest = 64 << 10
  /// The longest name of a device, in characters.
  public static let longestName = 64

  public static func path(_ id: Identifier) -> String { "devices/\(id).json" }

  public static func decode(_ bytes: [UInt8]) throws(RecordError) -> Device {
    var reader = try RecordReader(bytes)
    return Device(
      id: try reader.required("id", \.identifier, "an identifier"),
      name: try reader.required("name", plainText, "a text without control characters"),
      created: try reader.required("created", \.instant, "an instant"), extras: reader.remaining())
  }

  public static func encode(_ device: Device) -> [UInt8] {
    JSON.object(omittingNil: [
      "format": .integer(RecordReader.format), "id": JSON(device.id), "name": .string(device.name),
      "created": JSON(device.created),
    ]).adding(device.extras).document
  }
}

/// `settings.json`: the settings that all devices share; absent where all are the defaults.
///
/// `tier`; `snooze`, `grace` and `ringTimeout` in seconds.
public enum SettingsFile {
  public static let path = "settings.json"
  public static let largest = 64 << 10

  public static func decode(_ bytes: [UInt8]) throws(RecordError) -> SettingsRecord {
    var reader = try RecordReader(bytes)
    var record = SettingsRecord()
    if var stamps = try reader.nested("stamps") {
      for key in stamps.keys {
        record.stamps[key] = try stamps.required(key, \.stamp, "a stamp")
      }
    }
    record.values = reader.remaining()
    _ = try settings(record)
    return record
  }

  public static func encode(_ record: SettingsRecord) -> [UInt8] {
    JSON.object(omittingNil: [
      "format": .integer(RecordReader.format),
      "stamps": record.stamps.isEmpty
        ? nil
        : .object(
          Dictionary(uniqueKeysWithValues: record.stamps.map { ($0.key, JSON($0.value)) })),
    ]).adding(record.values).document
  }

  /// The settings that a record makes. Throws when a known key holds what it may not.
  public static func settings(_ record: SettingsRecord) throws(RecordError) -> Settings {
    var settings = Settings()
    func value(_ key: String) -> JSON? {
      record.values[key].flatMap { try? JSON(parsing: Array("[\($0)]".utf8)).array?.first }
    }
    if let json = value("tier") {
      guard let tier = json.string.flatMap({ Settings.Tier(rawValue: $0) }) else {
        throw RecordError("'tier' is not free, plus or premium")
      }
      settings.tier = tier
    }
    for (key, path) in [
      ("snooze", \Settings.snooze), ("grace", \.grace), ("ringTimeout", \.ringTimeout),
    ] {
      guard let json = value(key) else { continue }
      guard let seconds = json.integer, (1...31_536_000).contains(seconds) else {
        throw RecordError("'\(key)' is not a number of seconds up to a year")
      }
      settings[keyPath: path] = seconds
    }
    return settings
  }
}

/// A text that a terminal can show as it is; nil for anything else.
private func plainText(_ json: JSON) -> String? {
  guard let text = json.string, !text.unicodeScalars.contains(where: AlarmText.isControl) else {
    return nil
  }
  return text
}
