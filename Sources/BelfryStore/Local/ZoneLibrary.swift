import BelfryCore
import Files
import Git
import Glibc
import Synchronization

/// The system's time zones, each read from tzdata once.
public final class ZoneLibrary: Sendable {
  /// The system's folder of time zones.
  public static let systemFolder = "/usr/share/zoneinfo"

  /// The name of the file in that folder that changes with every version of the time zones.
  public static let dataFile = "tzdata.zi"

  /// The rules of a zone, and where they come from.
  private struct Source {
    /// The rules; nil if the system doesn't have the zone.
    var rules: TimeZoneRules?
    /// A text that changes with the rules.
    var digest: String
    /// The paths of the file with the rules: as it was named, and without links.
    var files: Set<String> = []
  }

  private let folder: String
  private let localSource: Source
  /// The zone of this device. Its name is not an IANA name if the system doesn't have one for it.
  public let local: TimeZoneRules
  private let loaded = Mutex<[String: Source]>([:])

  /// Creates a library.
  ///
  /// - Parameters:
  ///   - variable: The value of `TZ`: a name, `:name`, an absolute path, or empty for UTC. If it is nil, `localTime`
  ///     determines the local zone.
  ///   - folder: The zoneinfo folder.
  ///   - localTime: The system's local zone, a link into a zoneinfo folder or a copy of a file from it.
  public init(
    variable: String?, folder: String = systemFolder, localTime: String = "/etc/localtime"
  ) {
    self.folder = folder
    localSource = ZoneLibrary.localZone(variable, folder: folder, localTime: localTime)
    local = localSource.rules ?? .utc
  }

  private static func localZone(
    _ variable: String?, folder: String, localTime: String
  ) -> Source {
    guard var name = variable else {
      // The link's target contains the name: `/usr/share/zoneinfo/Europe/Berlin`.
      var name = "local"
      if let resolved = realpath(localTime, nil) {
        defer { free(resolved) }
        let path = String(cString: resolved)
        if let range = path.ranges(of: "/zoneinfo/").last {
          name = String(path[range.upperBound...])
        }
      }
      return read(localTime, name: name)
    }
    if name.hasPrefix(":") { name.removeFirst() }
    if name.isEmpty || name == "UTC" { return Source(rules: .utc, digest: "UTC") }
    if name.hasPrefix("/") { return read(name, name: name) }
    if isName(name), case let zone = read("\(folder)/\(name)", name: name), zone.rules != nil {
      return zone
    }
    // Like glibc: `TZ=CET-1CEST,…` is a POSIX rule, and anything else is UTC.
    return Source(rules: TimeZoneRules(name: name, posix: name), digest: name)
  }

  /// Reads the rules of a zone from a file, which may be a link.
  private static func read(_ path: String, name: String) -> Source {
    var target = path
    if let resolved = realpath(path, nil) {
      target = String(cString: resolved)
      free(resolved)
    }
    // The largest zone has a few kilobytes.
    guard let file = (try? DurableFile.read(target, limit: 1 << 20)) ?? nil else {
      return Source(digest: "-", files: [path, target])
    }
    return Source(
      rules: TimeZoneRules(name: name, tzif: file.bytes),
      digest: Repository.blobID(file.bytes).description, files: [path, target])
  }

  /// Returns true if a text has the form of a zone's name, which cannot lead out of the folder.
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

  /// Returns the zone of an IANA name, or nil if the system doesn't have it.
  public func zone(named name: String) -> TimeZoneRules? { source(named: name).rules }

  private func source(named name: String) -> Source {
    if let known = loaded.withLock({ $0[name] }) { return known }
    guard ZoneLibrary.isName(name) else { return Source(digest: "-") }
    let source =
      name == "UTC"
      ? Source(rules: .utc, digest: "UTC") : ZoneLibrary.read("\(folder)/\(name)", name: name)
    loaded.withLock { $0[name] = source }
    return source
  }

  /// The names of the system's zones: those of `zone1970.tab` first, one for each history of clocks, then those of
  /// `zone.tab`, then the aliases of `tzdata.zi`.
  public var names: [String] {
    var names: [String] = []
    var known: Set<String> = []
    func add(_ name: Substring) {
      if known.insert(String(name)).inserted { names.append(String(name)) }
    }
    for (file, column) in [("zone1970.tab", 2), ("zone.tab", 2)] {
      for line in lines(of: file) where !line.hasPrefix("#") {
        let fields = line.split(separator: "\t")
        if fields.count > column { add(fields[column]) }
      }
    }
    for line in lines(of: "tzdata.zi") {
      let fields = line.split(separator: " ")
      if fields.count >= 3, fields[0] == "L" { add(fields[2]) }
      if fields.count >= 2, fields[0] == "Z" { add(fields[1]) }
    }
    add("UTC")
    return names
  }

  private func lines(of file: String) -> [Substring] {
    guard let content = try? DurableFile.read("\(folder)/\(file)", limit: 1 << 20) else {
      return []
    }
    return String(decoding: content.bytes, as: UTF8.self).split(separator: "\n")
  }

  /// Returns the zone of an alarm's civil times. If the system doesn't know it, returns the local zone, because
  /// ringing at a wrong time is better than not at all.
  public func zone(of alarm: Alarm) -> TimeZoneRules {
    switch alarm.zone {
    case .floating: local
    case .named(let name): zone(named: name) ?? local
    }
  }

  /// Returns the local zone's name for a record, which other devices can look up.
  ///
  /// The name is the IANA name, or the offset at `now` if there is none (`TZ=CET-1CEST`, a copied `/etc/localtime`).
  public func recordedName(at now: Instant) -> String {
    zone(named: local.name) == nil ? local.offsetName(at: now) : local.name
  }

  /// Returns true if the system knows an alarm's zone.
  func isKnown(_ zone: Alarm.Zone) -> Bool {
    guard case .named(let name) = zone else { return true }
    return self.zone(named: name) != nil
  }

  /// Returns the zone of a name in a record, or nil if the system doesn't know it.
  public func zone(recorded name: String) -> TimeZoneRules? {
    TimeZoneRules(offsetName: name) ?? zone(named: name)
  }

  /// Returns the zone's name in a record, or nil if it is malformed.
  static func nameInRecord(_ json: JSON) -> String? {
    guard let name = json.string, isName(name) || TimeZoneRules(offsetName: name) != nil else {
      return nil
    }
    return name
  }

  /// Returns the name of an alarm's zone if it differs from this device's, otherwise nil.
  public func foreignName(of alarm: Alarm) -> String? {
    guard case .named(let name) = alarm.zone, name != local.name else { return nil }
    return name
  }

  /// Returns an instant in this device's local time, in RFC 3339 format with the offset.
  public func text(_ instant: Instant) -> String {
    instant.rfc3339(offset: local.offset(at: instant))
  }

  /// True if named zones are available, tested with a zone whose offset is known.
  public var works: Bool {
    let winter = Instant(seconds: 1_767_225_600)  // 2026-01-01T00:00:00Z
    return zone(named: "America/New_York")?.offset(at: winter) == -5 * 3600
  }

  // MARK: Changes

  /// A text that changes with the rules of the local zone, and of the zones with the given names.
  ///
  /// - Complexity: Reads the files of the zones.
  public func fingerprint(of names: Set<String>) -> String {
    let digests = names.sorted().map { "\($0) \(source(named: $0).digest)\n" }.joined()
    return "\(local.name) \(localSource.digest) \(Repository.blobID(Array(digests.utf8)))"
  }

  /// Returns true if a later library has the same rules for all zones that were used from here, and the same local zone.
  public func hasSameRules(as later: ZoneLibrary) -> Bool {
    let used = Set(loaded.withLock { $0.keys })
    return fingerprint(of: used) == later.fingerprint(of: used)
  }

  /// The paths of the files from which zones were read, or would be if they existed.
  public var files: Set<String> {
    loaded.withLock { $0.values.reduce(into: localSource.files) { $0.formUnion($1.files) } }
  }
}
