import BelfryCore

/// The places that a store has records at.
public enum RecordPath: Hashable, Sendable {
  case alarm(Identifier)
  /// With its path, which tells its time and identifier.
  case log(String)
  case device(Identifier)
  case settings
  case attributes

  /// No record of its kind is near it, in bytes; a larger file is not read at all.
  var largest: Int {
    switch self {
    case .alarm: AlarmRecord.largest
    case .log: LogRecord.largest
    case .device: DeviceRecord.largest
    case .settings, .attributes: SettingsFile.largest
    }
  }

  /// Nil for every path but those.
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

/// What a record's bytes say.
enum RecordValue {
  case alarm(Alarm)
  case log(LogEntry)
  case device(Device)
  case settings(SettingsRecord)
  case attributes
}

extension RecordPath {
  /// A record written by hand may lack progress; in a merge it then starts here, on every device alike.
  static let start = Instant(seconds: 0)

  /// Reads the bytes of a record of this kind.
  func value(in bytes: [UInt8]) throws(RecordError) -> RecordValue {
    switch self {
    case .alarm(let id):
      return .alarm(try AlarmRecord.decode(bytes, id: id, now: RecordPath.start))
    case .log(let path):
      let entry = try LogRecord.decode(bytes)
      guard LogRecord.path(entry) == path else {
        throw RecordError("'id' and 'at' are not those of the file's name")
      }
      return .log(entry)
    case .device(let id):
      let device = try DeviceRecord.decode(bytes)
      guard device.id == id else { throw RecordError("'id' is not the file's name") }
      return .device(device)
    case .settings: return .settings(try SettingsFile.decode(bytes))
    case .attributes:
      guard bytes == Store.attributes else { throw RecordError("it is not Belfry's own") }
      return .attributes
    }
  }

  /// Why bytes are not a record of this kind; nil when they are.
  public func error(in bytes: [UInt8]) -> RecordError? {
    do throws(RecordError) {
      _ = try value(in: bytes)
      return nil
    } catch {
      return error
    }
  }
}
