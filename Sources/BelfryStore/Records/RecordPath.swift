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

  /// The maximum size of such a record in bytes. A larger file is rejected unread.
  var largest: Int {
    switch self {
    case .alarm: AlarmRecord.largest
    case .log: LogRecord.largest
    case .device: DeviceRecord.largest
    case .calendar: CalendarRecord.largest
    case .settings, .attributes: SettingsFile.largest
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
    case .attributes:
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
}
