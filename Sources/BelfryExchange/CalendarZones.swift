import BelfryCore
import BelfryStore

/// The time zones that the items of a document name.
struct CalendarZones {
  private let library: ZoneLibrary
  /// The IANA names of the zones in the document, by their names there.
  private let names: [String: String]

  /// - Parameters:
  ///   - library: The known time zones.
  ///   - documents: The calendars, with their VTIMEZONE components.
  ///   - now: The time from which a zone must have the rules of the definition.
  init(
    _ library: ZoneLibrary, _ documents: [CalendarComponent], _ calendars: CalendarLibrary,
    now: Instant
  ) {
    self.library = library
    var definitions: [String: CalendarComponent] = [:]
    for zone in documents.flatMap({ $0.components("VTIMEZONE") }) {
      if let name = zone.first("TZID")?.value { definitions[CalendarZones.unquoted(name)] = zone }
    }
    var names: [String: String] = [:]
    for identifier in documents.reduce(into: Set<String>(), { $0.formUnion($1.zoneNames) }) {
      let name = CalendarZones.unquoted(identifier)
      names[identifier] =
        CalendarZones.known(name, library)
        ?? definitions[name].flatMap { CalendarZones.match($0, library, calendars, now: now) }
        ?? WindowsZones.zone(displayedAs: name, library) ?? CalendarZones.similar(name, library)
    }
    self.names = names
  }

  /// Returns the rules of an alarm's zone.
  func rules(_ zone: Alarm.Zone) -> TimeZoneRules {
    switch zone {
    case .floating: library.local
    case .named(let name): library.zone(named: name) ?? library.local
    }
  }

  /// Returns the IANA name of a `TZID` of the document; nil if it is unknown.
  func name(_ identifier: String) -> String? { names[identifier] }

  private static func unquoted(_ text: String) -> String {
    text.hasPrefix("\"") && text.hasSuffix("\"") && text.count > 1
      ? String(text.dropFirst().dropLast()) : text
  }

  private static func known(_ name: String, _ library: ZoneLibrary) -> String? {
    if let known = WindowsZones.names[name], library.zone(named: known) != nil { return known }
    // Some programs put a path before the name.
    let parts = name.split(separator: "/").map(String.init)
    for count in stride(from: min(3, parts.count), to: 0, by: -1) {
      let candidate = parts.suffix(count).joined(separator: "/")
      if library.zone(named: candidate) != nil { return candidate }
    }
    return nil
  }

  /// Returns the zone of a name in another spelling: `europe/berlin`, `US-Eastern`, `GMT+0100`, `Z`.
  private static func similar(_ name: String, _ library: ZoneLibrary) -> String? {
    let lowered = name.lowercased()
    let last = lowered.split(separator: "/").last ?? ""
    if ["z", "gmt", "utc", "coordinated universal time"].contains(last) { return "UTC" }
    // Exchange numbers the copies of a zone.
    let words = name.split(separator: " ")
    if words.count > 1, let last = words.last, last.count == 1, last.allSatisfy(\.isNumber),
      let known = known(words.dropLast().joined(separator: " "), library)
    {
      return known
    }
    if lowered.hasPrefix("gmt") || lowered.hasPrefix("utc") {
      return WindowsZones.offset(String(lowered.dropFirst(3))).flatMap { fixed($0, library) }
    }
    let spellings = [lowered, lowered.replacing("-", with: "/"), lowered.replacing(" ", with: "_")]
    return library.names.first {
      spellings.contains($0.lowercased()) && library.zone(named: $0) != nil
    }
  }

  /// Returns the zone with a constant offset in seconds; nil unless it is a number of hours.
  private static func fixed(_ offset: Int, _ library: ZoneLibrary) -> String? {
    if offset == 0 { return "UTC" }
    guard offset % 3600 == 0 else { return nil }
    // These names count to the west.
    let name = "Etc/GMT\(offset > 0 ? "-" : "+")\(abs(offset) / 3600)"
    return library.zone(named: name) == nil ? nil : name
  }

  /// Returns a zone whose offsets are those of a definition in each hour of the next years; nil if there is none.
  private static func match(
    _ definition: CalendarComponent, _ library: ZoneLibrary, _ calendars: CalendarLibrary,
    now: Instant
  ) -> String? {
    let hours = (0..<(3 * 366 * 24)).map { Instant(seconds: now.seconds / 3600 * 3600 + $0 * 3600) }
    guard let offsets = calendars.offsets(of: definition, at: hours), let first = offsets.first
    else { return nil }
    if offsets.allSatisfy({ $0 == first }), let fixed = fixed(first, library) { return fixed }
    // The names of the large zones are better known than others with the same rules.
    let large = WindowsZones.names.values.sorted { ($0.count, $0) < ($1.count, $1) }
    return ([library.local.name] + large + library.names).first { name in
      guard let zone = library.zone(named: name) else { return false }
      return zip(hours, offsets).allSatisfy { zone.offset(at: $0) == $1 }
    }
  }
}

extension CalendarComponent {
  /// The names of the zones of its properties and components.
  fileprivate var zoneNames: Set<String> {
    components.reduce(into: Set(properties.compactMap { $0.parameters["TZID"] })) {
      $0.formUnion($1.zoneNames)
    }
  }
}

/// A date, or a date and time, of a property.
struct CalendarMoment: Hashable {
  /// The civil time in its zone; midnight for a date.
  var civil: CivilDateTime
  /// True for a date without a time.
  var isDate: Bool
  /// The zone of the civil time. A floating time that belongs to an item is in the zone of the item's start.
  var zone: Alarm.Zone
  /// The name of the zone if it is unknown.
  var unknownZone: String?
}

extension CalendarZones {
  /// Returns the dates and times of a property. Of a period, that is its start.
  func moments(_ property: CalendarProperty) -> [CalendarMoment] {
    property.value.split(separator: ",").compactMap { text in
      let start = text.split(separator: "/").first.map(String.init) ?? ""
      guard let time = CalendarTime.read(start) else { return nil }
      if time.isDate || property.parameters["VALUE"]?.uppercased() == "DATE" {
        return CalendarMoment(
          civil: CivilDateTime(time.civil.date, .midnight), isDate: true, zone: .floating)
      }
      if time.isUTC { return CalendarMoment(civil: time.civil, isDate: false, zone: .named("UTC")) }
      let identifier = property.parameters["TZID"].flatMap { $0.isEmpty ? nil : $0 }
      let name = identifier.flatMap(name)
      return CalendarMoment(
        civil: time.civil, isDate: false, zone: name.map { .named($0) } ?? .floating,
        unknownZone: name == nil ? identifier : nil)
    }
  }

  /// Returns the instant of a date or time.
  func instant(_ moment: CalendarMoment) -> Instant {
    rules(moment.zone).instant(of: moment.civil)
  }

  /// Returns the civil time of a moment in the zone of another one.
  func civil(_ moment: CalendarMoment, like start: CalendarMoment) -> CivilDateTime {
    if start.isDate { return CivilDateTime(date(moment), .midnight) }
    if moment.isDate { return CivilDateTime(moment.civil.date, start.civil.time) }
    if moment.zone == .floating || moment.zone == start.zone { return moment.civil }
    return rules(start.zone).civil(at: instant(moment))
  }

  /// Returns the date that a moment has as a property of an all-day item.
  func date(_ moment: CalendarMoment) -> CivilDate {
    if moment.isDate || moment.zone == .floating { return moment.civil.date }
    // Some programs write the midnight of their user in UTC.
    let local = rules(.floating).civil(at: instant(moment))
    return local.time == .midnight ? local.date : moment.civil.date
  }
}
