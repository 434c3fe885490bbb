import BelfryCore
import BelfryExchange
import BelfryStore

/// The properties of tasks that are Belfry's own, and the forms of their values.
enum TaskProperty {
  /// The identity of the occurrence: `<alarm>/2026-12-01T09:00`.
  static let occurrence = "X-BELFRY-OCCURRENCE"
  /// The revision that Belfry has written: see `TaskRevision`.
  static let revision = "X-BELFRY-REV"
  /// The times of the reminders that Belfry has written.
  static let alerts = "X-BELFRY-ALERT"
  /// The priority and the tags that Belfry has written: `1/home,money`.
  static let labels = "X-BELFRY-LABELS"
  /// The time of the latest acknowledgment, as several apps write it beside RFC 9074's ACKNOWLEDGED.
  static let acknowledged = "X-MOZ-LASTACK"
  /// The end of a snooze, as several apps write it.
  static let snooze = "X-MOZ-SNOOZE-TIME"

  /// Returns the UID of an occurrence's task: `<alarm>-20261201T0900`. vdirsyncer names files by such UIDs.
  static func uid(_ id: OccurrenceID) -> String { stem(id) }

  /// Returns the name of an occurrence's file.
  static func fileName(_ id: OccurrenceID) -> String { stem(id) + ".ics" }

  private static func stem(_ id: OccurrenceID) -> String {
    // Without the seconds.
    "\(id.alarm.text)-\(CalendarTime.text(id.occurrence).dropLast(2))"
  }

  /// Returns the occurrence of a task: of Belfry's property, or else of its UID; nil for a task that Belfry has not written.
  static func identity(of task: TaskComponent) -> OccurrenceID? {
    if let value = task.first(occurrence)?.value {
      let parts = value.split(separator: "/")
      if parts.count == 2, let alarm = Identifier(parts[0]),
        let civil = CivilDateTime(String(parts[1]))
      {
        return OccurrenceID(alarm: alarm, occurrence: civil)
      }
    }
    return task.first("UID").flatMap { identity(stem: $0.value[...]) }
  }

  /// Returns the occurrence of a file's name; nil for another name.
  static func identity(fileName: String) -> OccurrenceID? {
    fileName.hasSuffix(".ics") ? identity(stem: fileName.dropLast(4)) : nil
  }

  private static func identity(stem: Substring) -> OccurrenceID? {
    let parts = stem.split(separator: "-")
    guard parts.count == 2, let alarm = Identifier(parts[0]), parts[1].utf8.count == 13 else {
      return nil
    }
    let text = Array(parts[1])
    let civil =
      "\(String(text[0..<4]))-\(String(text[4..<6]))-\(String(text[6..<8]))\(text[8])"
      + "\(String(text[9..<11])):\(String(text[11..<13]))"
    return CivilDateTime(civil).map { OccurrenceID(alarm: alarm, occurrence: $0) }
  }
}

/// A date, or a date and time, of a task.
enum TaskTime: Hashable, Sendable {
  /// A date without a time.
  case date(CivilDate)
  /// A wall-clock time without a zone, and its second.
  case civil(CivilDateTime, second: Int = 0)
  case instant(Instant)

  /// Reads the value of a line such as `DUE;TZID=Europe/Berlin:20261201T090000`; nil for another value.
  ///
  /// - Parameters:
  ///   - zones: The known zones. A time in a zone that is not known counts as a wall-clock time.
  init?(_ line: ContentLine, zones: ZoneLibrary) {
    let text = line.value.uppercased()
    guard let date = TaskTime.date(text) else { return nil }
    let rest = Array(text.utf8.dropFirst(8))
    if rest.isEmpty {
      self = .date(date)
      return
    }
    guard rest.count >= 7, rest[0] == UInt8(ascii: "T"), let hour = TaskTime.number(rest[1..<3]),
      let minute = TaskTime.number(rest[3..<5]), let second = TaskTime.number(rest[5..<7]),
      second < 61, let time = CivilTime(hour: hour, minute: minute)
    else { return nil }
    let civil = CivilDateTime(date, time)
    let zone: TimeZoneRules? =
      rest.count == 8 && rest[7] == UInt8(ascii: "Z")
      ? .utc : line.parameter("TZID").flatMap { TaskTime.zone($0, zones) }
    let seconds = min(second, 59)
    self =
      zone.map { .instant($0.instant(of: civil).adding(seconds: Int64(seconds))) }
      ?? .civil(civil, second: seconds)
  }

  /// Returns the instant. A time without a zone, and midnight of a date, count in a zone.
  func instant(in zone: TimeZoneRules) -> Instant {
    switch self {
    case .date(let date): zone.instant(of: CivilDateTime(date, .midnight))
    case .civil(let civil, let second): zone.instant(of: civil).adding(seconds: Int64(second))
    case .instant(let instant): instant
    }
  }

  private static func date(_ text: String) -> CivilDate? {
    let digits = Array(text.utf8.prefix(8))
    guard digits.count == 8, number(digits[...]) != nil else { return nil }
    let text = String(decoding: digits, as: UTF8.self)
    return CivilDate("\(text.prefix(4))-\(text.dropFirst(4).prefix(2))-\(text.suffix(2))")
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    var result = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      result = result * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return result
  }

  /// Returns a zone by its name: an IANA name, also behind the path of a library, or a name of Windows.
  private static func zone(_ name: String, _ zones: ZoneLibrary) -> TimeZoneRules? {
    if ZoneLibrary.isName(name), let zone = zones.zone(named: name) { return zone }
    let last = name.split(separator: "/").suffix(2).joined(separator: "/")
    if last != name, ZoneLibrary.isName(last) { return zones.zone(named: last) }
    return WindowsZones.names[name].flatMap { zones.zone(named: $0) }
  }
}
