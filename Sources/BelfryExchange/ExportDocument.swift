import BelfryCore
import BelfryStore

/// Export and import of a complete store as one JSON document.
///
/// ```
/// {"belfry": "export", "format": 1,
///  "alarms": [record …], "devices": [record …], "log": [record …], "calendars": [record …], "settings": record}
/// ```
///
/// Each record has the content of its file, unknown keys included, and is on a line of its own. The records are in the
/// order of their paths. Equal stores therefore have equal documents, and an export after an import equals the
/// imported document.
public enum ExportDocument {
  /// The maximum size of a document, in bytes.
  public static let largest = 1 << 30

  // MARK: Writing

  /// Writes the document of a store in parts.
  ///
  /// - Parameters:
  ///   - store: the store.
  ///   - output: receives the parts in order.
  /// - Returns: The records that are not valid. The last good version of an alarm is written in its place.
  /// - Throws: The errors of the store and of `output`.
  public static func write(
    _ store: Store, to output: ([UInt8]) throws -> Void
  ) throws -> [RecordProblem] {
    let (alarms, problems) = try store.allAlarms()
    var allProblems = problems
    var parts: [(name: String, records: [[UInt8]])] = [
      ("alarms", alarms.sorted { $0.id < $1.id }.map(AlarmRecord.encode))
    ]
    let (devices, badDevices) = store.devices.all()
    parts.append(("devices", devices.sorted { $0.id < $1.id }.map(DeviceRecord.encode)))
    allProblems += badDevices
    var log: [(path: String, bytes: [UInt8])] = []
    var badEntries: [RecordProblem] = []
    for entry in store.history.log(report: { path, error in
      badEntries.append(RecordProblem(path: path, kind: .invalid(error, lastGood: false)))
    }) {
      log.append((LogRecord.path(entry), LogRecord.encode(entry)))
    }
    allProblems += badEntries
    parts.append(("log", log.sorted { $0.path < $1.path }.map(\.bytes)))

    let (calendars, badCalendars) = store.calendars.all()
    if !calendars.isEmpty { parts.append(("calendars", calendars.map(CalendarRecord.encode))) }
    allProblems += badCalendars

    try output(Array("{\n\"belfry\": \"export\",\n\"format\": \(RecordFormat.current)".utf8))
    for part in parts {
      try output(Array(",\n\"\(part.name)\": [".utf8))
      for (index, record) in part.records.enumerated() {
        try output(Array((index == 0 ? "\n" : ",\n").utf8) + line(record))
      }
      try output(Array("\n]".utf8))
    }
    if let settings = try store.settingsRecordIfAny() {
      try output(Array(",\n\"settings\": ".utf8) + line(SettingsFile.encode(settings)))
    }
    try output(Array("\n}\n".utf8))
    return allProblems
  }

  /// Returns a record's document on one line.
  private static func line(_ document: [UInt8]) -> [UInt8] {
    Array(((try? JSON(parsing: document))?.line ?? "{}").utf8)
  }

  // MARK: Reading

  /// Returns true if a document looks like an export of Belfry.
  public static func matches(_ json: JSON) -> Bool { json["belfry"]?.string == "export" }

  /// Returns the records of a document as files by path.
  ///
  /// - Throws: `ExchangeError` if any part of the document is not valid.
  public static func records(_ json: JSON) throws(ExchangeError) -> [String: [UInt8]] {
    guard let format = json["format"]?.integer else {
      throw ExchangeError("'format' is missing")
    }
    guard format <= RecordFormat.current else {
      throw ExchangeError(
        "its format is \(format), but this version of Belfry reads up to \(RecordFormat.current)",
        .newerFormat
      )
    }
    var files: [String: [UInt8]] = [:]
    for name in ["alarms", "devices", "log"] {
      guard let list = json[name]?.array else { throw ExchangeError("'\(name)' is not a list") }
      for (index, record) in list.enumerated() {
        let location = "'\(name)', number \(index + 1)"
        guard let id = record["id"]?.identifier else {
          throw ExchangeError("\(location): 'id' is not an identifier")
        }
        let (path, bytes) = try read(location) { () throws(RecordError) in
          let bytes = record.document
          switch name {
          case "alarms":
            let alarm = try AlarmRecord.decode(bytes, id: id, now: Instant(seconds: 0))
            return (AlarmRecord.path(id), AlarmRecord.encode(alarm))
          case "devices":
            return (DeviceRecord.path(id), DeviceRecord.encode(try DeviceRecord.decode(bytes)))
          default:
            let entry = try LogRecord.decode(bytes)
            return (LogRecord.path(entry), LogRecord.encode(entry))
          }
        }
        guard files.updateValue(bytes, forKey: path) == nil else {
          throw ExchangeError("\(location): \(id) occurs twice")
        }
      }
    }
    for record in json["calendars"]?.array ?? [] {
      guard let name = record["name"]?.string, HolidayCalendar.isName(name) else {
        throw ExchangeError("'calendars': 'name' is not the name of a calendar")
      }
      files[CalendarRecord.path(name)] = try read("'calendars', \(name)") {
        () throws(RecordError) in
        ((), CalendarRecord.encode(try CalendarRecord.decode(record.document, name: name)))
      }.1
    }
    if let settings = json["settings"] {
      files[SettingsFile.path] = try read("'settings'") { () throws(RecordError) in
        (SettingsFile.path, SettingsFile.encode(try SettingsFile.decode(settings.document)))
      }.1
    }
    return files
  }

  private static func read<Key>(
    _ location: String, _ body: () throws(RecordError) -> (Key, [UInt8])
  ) throws(ExchangeError) -> (Key, [UInt8]) {
    do throws(RecordError) {
      return try body()
    } catch {
      if case .newerFormat = error.kind {
        throw ExchangeError("\(location): \(error.reason)", .newerFormat)
      }
      throw ExchangeError("\(location): \(error.reason)")
    }
  }
}
