import BelfryCore
import BelfryStore

/// The alarms of a document that Belfry exported and nobody has changed since.
struct ExportedAlarms {
  private let library: CalendarLibrary
  private let zones: ZoneLibrary
  private let calendar: WorkCalendar
  /// The alarms all of whose events are in the document and unchanged.
  private var complete: Set<Identifier> = []

  init(
    _ items: [CalendarComponent], library: CalendarLibrary, zones: ZoneLibrary,
    calendar: WorkCalendar
  ) {
    self.library = library
    self.zones = zones
    self.calendar = calendar
    var counts: [Identifier: (found: Int, written: Int)] = [:]
    for item in items {
      guard let known = read(item) else { continue }
      counts[known.alarm.id, default: (0, known.events)].found += 1
    }
    complete = Set(counts.filter { $0.value.found == $0.value.written }.keys)
  }

  /// Returns the alarm of an event; nil if any event of it is of another origin, was changed or is missing.
  func alarm(_ item: CalendarComponent) -> ForeignAlarm? {
    guard let known = read(item)?.alarm, complete.contains(known.id) else { return nil }
    return known
  }

  /// Returns the alarm of an unchanged event and the number of the alarm's events.
  private func read(_ item: CalendarComponent) -> (alarm: ForeignAlarm, events: Int)? {
    guard let property = item.first(CalendarEvents.recordProperty) else { return nil }
    let bytes = Array(library.text(property.value).utf8)
    guard let id = (try? JSON(parsing: bytes))?["id"]?.identifier,
      let alarm = try? AlarmRecord.decode(bytes, id: id, now: Instant(seconds: 0)),
      let uid = item.first("UID")?.value
    else { return nil }
    let zone = alarm.zone == .floating ? zones.local : zones.zone(named: alarm.zone.text)
    let timeline = Timeline(alarm, zone: zone ?? zones.local, calendar: calendar)
    let events = CalendarEvents(timeline, library).components()
    guard let written = events.first(where: { $0.first("UID")?.value == uid }) else { return nil }
    for name in ["DTSTART", "SUMMARY", "DESCRIPTION"]
    where written.first(name)?.value != item.first(name)?.value {
      return nil
    }
    // Another program may reorder the categories, and write one property for each.
    func categories(_ item: CalendarComponent) -> Set<String> {
      Set(item.all("CATEGORIES").flatMap { library.texts($0.value) })
    }
    guard categories(written) == categories(item) else { return nil }
    // Another program may reorder the parts of a rule, and their elements.
    func parts(_ item: CalendarComponent) -> Set<[Substring]> {
      let parts = item.first("RRULE")?.value.split(separator: ";") ?? []
      return Set(parts.map { $0.split { $0 == "=" || $0 == "," }.sorted() })
    }
    guard parts(written) == parts(item) else { return nil }
    var result = ForeignAlarm(
      id: id, title: alarm.title, note: alarm.note, schedule: alarm.schedule, zone: alarm.zone)
    result.tags = alarm.tags
    result.enabled = alarm.enabled
    result.delivery = alarm.delivery
    result.skipped = item.all("EXDATE").flatMap { CalendarTime.list($0.value) }
      .filter(timeline.scheduled.contains)
    return (result, events.count)
  }
}
