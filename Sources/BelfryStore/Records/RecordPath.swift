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

  /// The kind of the record.
  var kind: any Record.Type {
    switch self {
    case .alarm: AlarmRecord.self
    case .log: LogRecord.self
    case .device: DeviceRecord.self
    case .calendar: CalendarRecord.self
    case .settings: SettingsFile.self
    case .attributes: AttributesRecord.self
    case .other: UnknownRecord.self
    }
  }

  /// The kinds of records with few files, in the order of their imports.
  static let trackedKinds: [any TrackedRecord.Type] = [SettingsFile.self, CalendarRecord.self]

  /// The folders of records, apart from those of the log.
  static let folders = ["alarms", "devices", CalendarRecord.folder]

  /// The path within the store.
  public var text: String {
    switch self {
    case .alarm(let id): AlarmRecord.path(id)
    case .log(let path), .other(let path): path
    case .device(let id): DeviceRecord.path(id)
    case .calendar(let name): CalendarRecord.path(name)
    case .settings: SettingsFile.path
    case .attributes: Store.attributesPath
    }
  }

  /// True if only one device writes the record. Such a file of another program is committed as it is, without stamps.
  var hasOneWriter: Bool {
    switch self {
    case .log, .device: true
    case .alarm, .calendar, .settings, .attributes, .other: false
    }
  }

  /// The maximum size of such a record in bytes. A larger file is rejected unread.
  var largest: Int { kind.largest }

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

extension RecordPath {
  /// Parses the bytes of a record of this kind.
  ///
  /// - Throws: `RecordError` if the record is not valid.
  func value(in bytes: [UInt8]) throws(RecordError) -> any Joinable {
    try kind.decode(bytes, at: self)
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
