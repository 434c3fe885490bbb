import BelfryCore

/// The places that a store has records at.
public enum RecordPath: Hashable, Sendable {
  case alarm(Identifier)
  case log
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
        self = .log
      } else {
        return nil
      }
    }
  }
}

extension RecordPath {
  /// Why bytes are not a record of this kind; nil when they are.
  func error(in bytes: [UInt8]) -> RecordError? {
    do throws(RecordError) {
      switch self {
      case .alarm(let id): _ = try AlarmRecord.decode(bytes, id: id, now: Instant(seconds: 0))
      case .log: _ = try LogRecord.decode(bytes)
      case .device(let id):
        guard try DeviceRecord.decode(bytes).id == id else {
          throw RecordError("'id' is not the file's name")
        }
      case .settings: _ = try SettingsFile.decode(bytes)
      case .attributes:
        guard bytes == Store.attributes else { throw RecordError("it is not Belfry's own") }
      }
      return nil
    } catch {
      return error
    }
  }
}
