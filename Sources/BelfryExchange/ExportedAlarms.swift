import BelfryCore
import BelfryStore

/// The alarms of a document that Belfry exported and nobody has changed since.
struct ExportedAlarms {
  private let library: CalendarLibrary
  private let zones: ZoneLibrary
  private let calendar: WorkCalendar
  /// The definitions in the document, by their text. An alarm's events have the same one.
  private var definitions: [String: Definition] = [:]
  /// The alarms all of whose events are in the document and unchanged.
  private var complete: Set<Identifier> = []

  /// An alarm as it was exported.
  private struct Definition {
    let timeline: Timeline
    /// The events that an export writes, by UID.
    let events: [String: CalendarComponent]
  }

  init(
    _ items: [CalendarComponent], library: CalendarLibrary, zones: ZoneLibrary,
    calendar: WorkCalendar
  ) {
    self.library = library
    self.zones = zones
    self.calendar = calendar
    var found: [Identifier: Int] = [:]
    for item in items {
      guard let text = item.first(CalendarEvents.recordProperty)?.value else { continue }
      if definitions[text] == nil { definitions[text] = definition(text) }
      if let alarm = alarm(unchanged: item) { found[alarm.id, default: 0] += 1 }
    }
    for definition in definitions.values {
      let id = definition.timeline.alarm.id
      if found[id] == definition.events.count { complete.insert(id) }
    }
  }

  private func definition(_ text: String) -> Definition? {
    let bytes = Array(CalendarText.unescaped(text).utf8)
    guard let id = (try? JSON(parsing: bytes))?["id"]?.identifier,
      let alarm = try? AlarmRecord.decode(bytes, id: id, now: Instant(seconds: 0))
    else { return nil }
    let zone = alarm.zone == .floating ? zones.local : zones.zone(named: alarm.zone.text)
    let timeline = Timeline(alarm, zone: zone ?? zones.local, calendar: calendar)
    let events = CalendarEvents(timeline, library, now: nil).components()
    return Definition(
      timeline: timeline,
      events: Dictionary(
        events.map { ($0.first("UID")?.value ?? "", $0) }, uniquingKeysWith: { first, _ in first }))
  }

  /// Returns the alarm of an event; nil if any event of it is of another origin, was changed or is missing.
  func alarm(_ item: CalendarComponent) -> ForeignAlarm? {
    guard let known = alarm(unchanged: item), complete.contains(known.id) else { return nil }
    return known
  }

  /// Returns the alarm of an event that nobody changed; nil for any other event.
  private func alarm(unchanged item: CalendarComponent) -> ForeignAlarm? {
    guard let text = item.first(CalendarEvents.recordProperty)?.value,
      let definition = definitions[text], let uid = item.first("UID")?.value,
      let written = definition.events[uid]
    else { return nil }
    let timeline = definition.timeline
    let alarm = timeline.alarm
    for name in ["DTSTART", "SUMMARY", "DESCRIPTION"]
    where written.first(name)?.value != item.first(name)?.value {
      return nil
    }
    // Another program may reorder the categories, and write one property for each.
    func categories(_ item: CalendarComponent) -> Set<String> {
      Set(item.all("CATEGORIES").flatMap { CalendarText.list($0.value) })
    }
    guard categories(written) == categories(item) else { return nil }
    // Another program may reorder the parts of a rule, and their elements.
    func parts(_ item: CalendarComponent) -> Set<[Substring]> {
      let parts = item.first("RRULE")?.value.split(separator: ";") ?? []
      return Set(parts.map { $0.split { $0 == "=" || $0 == "," }.sorted() })
    }
    guard parts(written) == parts(item) else { return nil }
    var result = ForeignAlarm(
      id: alarm.id, title: alarm.title, note: alarm.note, schedule: alarm.schedule, zone: alarm.zone
    )
    result.tags = alarm.tags
    result.enabled = alarm.enabled
    result.delivery = alarm.delivery
    result.skipped = item.all("EXDATE").flatMap { CalendarTime.list($0.value) }
      .filter(timeline.scheduled.contains)
    return result
  }
}
