import BelfryCore
import Git
import Glibc
import Synchronization

/// The system's time zones, read from its tzdata once each.
public final class ZoneLibrary: Sendable {
  /// Where the system keeps them.
  public static let systemFolder = "/usr/share/zoneinfo"

  private let folder: String
  /// The zone of wherever this device is, and the name under which its data are, if any.
  public let local: TimeZoneRules
  private let loaded = Mutex<[String: TimeZoneRules]>([:])

  /// - Parameters:
  ///   - variable: the value of `TZ`, if it is set: a name, `:name`, an absolute path, or empty for UTC.
  ///     Without it the zone is that of `localTime`.
  ///   - folder: the zoneinfo folder.
  ///   - localTime: the system's own zone, a link into such a folder or a copy out of it.
  public init(
    variable: String?, folder: String = systemFolder, localTime: String = "/etc/localtime"
  ) {
    self.folder = folder
    local = ZoneLibrary.localZone(variable, folder: folder, localTime: localTime)
  }

  private static func localZone(
    _ variable: String?, folder: String, localTime: String
  ) -> TimeZoneRules {
    guard var name = variable else {
      // The name is in the link: `/usr/share/zoneinfo/Europe/Berlin`.
      var name = "local"
      if let resolved = realpath(localTime, nil) {
        defer { free(resolved) }
        let path = String(cString: resolved)
        if let range = path.ranges(of: "/zoneinfo/").last {
          name = String(path[range.upperBound...])
        }
      }
      return read(localTime, name: name, following: true) ?? .utc
    }
    if name.hasPrefix(":") { name.removeFirst() }
    if name.isEmpty || name == "UTC" { return .utc }
    if name.hasPrefix("/") { return read(name, name: name, following: true) ?? .utc }
    if isName(name), let zone = read("\(folder)/\(name)", name: name, following: true) {
      return zone
    }
    // As glibc does with `TZ=CET-1CEST,…`, and with nonsense, which is UTC.
    return TimeZoneRules(name: name, posix: name) ?? .utc
  }

  private static func read(_ path: String, name: String, following: Bool) -> TimeZoneRules? {
    var path = path
    if following, let resolved = realpath(path, nil) {
      path = String(cString: resolved)
      free(resolved)
    }
    // The largest zone has a few kilobytes.
    guard let file = try? DurableFile.read(path, limit: 1 << 20) else { return nil }
    return TimeZoneRules(name: name, tzif: file.bytes)
  }

  /// Whether a text has the form of a zone's name: no way out of the folder, nothing strange.
  public static func isName(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return text.utf8.count <= 64 && (1...3).contains(parts.count)
      && parts.allSatisfy { part in
        guard let first = part.first, first | 0x20 >= UInt8(ascii: "a"),
          first | 0x20 <= UInt8(ascii: "z")
        else { return false }
        return part.allSatisfy { byte in
          (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "_+-".utf8.contains(byte)
        }
      }
  }

  /// A zone by its IANA name; nil when this system has none of that name.
  public func zone(named name: String) -> TimeZoneRules? {
    if let known = loaded.withLock({ $0[name] }) { return known }
    guard ZoneLibrary.isName(name) else { return nil }
    let zone =
      name == "UTC"
      ? TimeZoneRules.utc : ZoneLibrary.read("\(folder)/\(name)", name: name, following: true)
    if let zone { loaded.withLock { $0[name] = zone } }
    return zone
  }

  /// The zone in which an alarm's civil times are meant. One that this system does not know counts as
  /// the local one: better at a wrong hour than never.
  public func zone(of alarm: Alarm) -> TimeZoneRules {
    switch alarm.zone {
    case .floating: local
    case .named(let name): zone(named: name) ?? local
    }
  }

  /// The local zone's name as records hold it, which other devices can look up: its IANA name, or its offset at a
  /// moment where it has none (`TZ=CET-1CEST`, a copied `/etc/localtime`).
  public func recordedName(at now: Instant) -> String {
    zone(named: local.name) == nil ? local.offsetName(at: now) : local.name
  }

  /// A zone as a record names it; nil when this system does not know it.
  public func zone(recorded name: String) -> TimeZoneRules? {
    TimeZoneRules(offsetName: name) ?? zone(named: name)
  }

  /// A zone's name in a record; nil when it has not the form of one.
  static func nameInRecord(_ json: JSON) -> String? {
    guard let name = json.string, isName(name) || TimeZoneRules(offsetName: name) != nil else {
      return nil
    }
    return name
  }

  /// The name of the zone of an alarm that keeps the time of another place than this device's; nil for the others.
  public func foreignName(of alarm: Alarm) -> String? {
    guard case .named(let name) = alarm.zone, name != local.name else { return nil }
    return name
  }

  /// An instant as this device's wall clock shows it: RFC 3339 with its offset.
  public func text(_ instant: Instant) -> String {
    instant.rfc3339(offset: local.offset(at: instant))
  }

  /// Whether named zones can be had at all: a known one with a known offset.
  public var works: Bool {
    let winter = Instant(seconds: 1_767_225_600)  // 2026-01-01T00:00:00Z
    return zone(named: "America/New_York")?.offset(at: winter) == -5 * 3600
  }

  /// Changes when the local zone or the system's zone data do.
  public var fingerprint: String {
    var status = stat()
    let data = stat("\(folder)/tzdata.zi", &status) == 0 ? FileSignature(status) : nil
    let time = Instant(seconds: 1_767_225_600)
    return "\(local.name) \(local.offset(at: time)) \(data?.modified ?? 0) \(data?.size ?? 0)"
  }
}
