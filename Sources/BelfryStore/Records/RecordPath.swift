import BelfryCore

/// The path of a record in a store.
public enum RecordPath: Hashable, Sendable {
  /// `alarms/<id>.json`
  case alarm(Identifier)
  /// The full path of a log entry's record, which contains its time and id.
  case log(String)
  /// `devices/<id>.json`
  case device(Identifier)
  /// `calendars/<name>.json`
  case calendar(String)
  /// `settings.json`
  case settings
  /// `.gitattributes`
  case attributes
  /// Another path, which a newer version of Belfry may use: see `init(carried:)`.
  case other(String)

  /// The maximum size of such a record in bytes. A larger file is rejected unread.
  var largest: Int {
    switch self {
    case .alarm: AlarmRecord.largest
    case .log: LogRecord.largest
    case .device: DeviceRecord.largest
    case .calendar: CalendarRecord.largest
    case .settings, .attributes: SettingsFile.largest
    case .other: AlarmRecord.largest
    }
  }

  /// Parses a path. Returns nil for a path without a record.
  public init?(_ path: String) {
    switch path {
    case SettingsFile.path: self = .settings
    case Store.attributesPath: self = .attributes
    default:
      let parts = path.split(separator: "/", omittingEmptySubsequences: false)
      if parts.count == 2, parts[1].hasSuffix(".json"), let id = Identifier(parts[1].dropLast(5)) {
        switch parts[0] {
        case "alarms": self = .alarm(id)
        case "devices": self = .device(id)
        default: return nil
        }
      } else if parts.count == 2, parts[0] == CalendarRecord.folder, parts[1].hasSuffix(".json"),
        HolidayCalendar.isName(parts[1].dropLast(5))
      {
        self = .calendar(String(parts[1].dropLast(5)))
      } else if parts.count == 5, parts[0] == "log",
        CivilDate(parts[1...3].joined(separator: "-")) != nil,
        LogRecord.identifier(fileName: parts[4]) != nil
      {
        self = .log(path)
      } else {
        return nil
      }
    }
  }

  /// The maximum number of folders and files in the path of a record of a newer version.
  private static let maxDepth = 6

  /// Parses a path in a commit. Besides the records that this version knows, it can be that of a record which a newer
  /// version has introduced: a JSON file in folders with simple names. Its content tells if it is one.
  ///
  /// Returns nil for any other path.
  init?(carried path: String) {
    if let known = RecordPath(path) {
      self = known
    } else if path.hasSuffix(".json"), RecordPath.isSimple(path) {
      self = .other(path)
    } else {
      return nil
    }
  }

  /// Returns true if a path has few parts, of which each consists of ASCII letters, digits, `.`, `_` and `-`, and does not
  /// start with a period.
  static func isSimple(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    return parts.count <= maxDepth
      && parts.allSatisfy { part in
        !part.isEmpty && !part.hasPrefix(".")
          && part.utf8.allSatisfy { byte in
            UnicodeScalar(byte).properties.isAlphabetic && byte < 128
              || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "._-".utf8.contains(byte)
          }
      }
  }
}

/// The decoded content of a record.
enum RecordValue {
  case alarm(Alarm)
  case log(LogEntry)
  case device(Device)
  case calendar(HolidayCalendar)
  case settings(SettingsRecord)
  case attributes
}

extension RecordPath {
  /// The start of an alarm without progress, as in a handwritten record, when records merge. All devices must use the
  /// same.
  static let start = Instant(seconds: 0)

  /// Parses the bytes of a record of this kind.
  ///
  /// - Throws: `RecordError` if the record is not valid.
  func value(in bytes: [UInt8]) throws(RecordError) -> RecordValue {
    switch self {
    case .alarm(let id):
      return .alarm(try AlarmRecord.decode(bytes, id: id, now: RecordPath.start))
    case .log(let path):
      let entry = try LogRecord.decode(bytes)
      guard LogRecord.path(entry) == path else {
        throw RecordError("'id' and 'at' don't match the file's name")
      }
      return .log(entry)
    case .device(let id):
      let device = try DeviceRecord.decode(bytes)
      guard device.id == id else { throw RecordError("'id' is not the file's name") }
      return .device(device)
    case .calendar(let name): return .calendar(try CalendarRecord.decode(bytes, name: name))
    case .settings: return .settings(try SettingsFile.decode(bytes))
    case .other:
      _ = try RecordReader(bytes)
      throw RecordError("it is not the path of a record")
    case .attributes:
      if let format = Store.formatOfAttributes(bytes), format > RecordFormat.current {
        throw .newer(format, than: RecordFormat.current)
      }
      guard bytes == Store.attributes || bytes == Store.earlierAttributes else {
        throw RecordError("it differs from Belfry's own")
      }
      return .attributes
    }
  }

  /// Returns the reason that bytes are not a record of this kind, or nil if they are.
  public func error(in bytes: [UInt8]) -> RecordError? {
    do throws(RecordError) {
      _ = try value(in: bytes)
      return nil
    } catch {
      return error
    }
  }

  /// Returns the format of bytes that only a newer version of Belfry can read; nil for others.
  func newerFormat(of bytes: [UInt8]) -> Int64? {
    if case .newerFormat(let format)? = error(in: bytes)?.kind { format } else { nil }
  }
}
