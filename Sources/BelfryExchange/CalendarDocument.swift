import BelfryCore
import BelfryStore

/// Import and export of alarms as an iCalendar document.
///
/// An alarm becomes one event with a VALARM for each of its times of day and each of its rules (`CalendarRule`). The
/// property `X-BELFRY-RECORD` contains the complete definition, and a remark names each setting that iCalendar cannot
/// represent. An import uses the property only if the event is unchanged.
public struct CalendarDocument {
  /// The maximum size of a document, in bytes.
  public static let largest = 16 << 20

  let library: CalendarLibrary

  /// Loads libical.
  ///
  /// - Throws: `ExchangeError` if libical is not installed.
  public init() throws(ExchangeError) {
    library = try CalendarLibrary()
  }

  /// Returns true if bytes look like an iCalendar document.
  public static func matches(_ bytes: [UInt8]) -> Bool {
    ["VCALENDAR", "VEVENT", "VTODO"].contains { CalendarText.begins(bytes, with: $0) }
  }

  // MARK: Writing

  /// Returns an iCalendar document of the alarms that are not deleted.
  ///
  /// - Parameters:
  ///   - timelines: the alarms, with their zones, working days and holidays.
  ///   - now: the time after which an alarm that follows completions has its only date.
  /// - Returns: The document, and a remark for each setting that iCalendar cannot represent.
  /// - Throws: `ExchangeError` if libical rejects the document.
  public func write(
    _ timelines: [Timeline], now: Instant
  ) throws(ExchangeError) -> (bytes: [UInt8], remarks: [Remark]) {
    var calendar = CalendarComponent("VCALENDAR")
    calendar.add("VERSION", "2.0")
    calendar.add("PRODID", "-//Belfry//belfry export//EN")
    var remarks: [Remark] = []
    let timelines = timelines.filter { !$0.alarm.isDeleted }.sorted { $0.alarm.id < $1.alarm.id }
    let zones = Set(timelines.map(\.alarm.zone.text))
    for name in zones.sorted() where name != Alarm.Zone.floating.text {
      if let zone = library.timeZone(name) { calendar.components.append(zone) }
    }
    for timeline in timelines {
      let events = CalendarEvents(timeline, library, now: now).components()
      calendar.components += events
      let losses = events.isEmpty ? ["a schedule without occurrences"] : losses(timeline.alarm)
      remarks += losses.map { Remark(title: timeline.alarm.title, $0) }
    }
    return (try library.document(calendar), remarks)
  }

  /// Returns the settings of an alarm that iCalendar cannot represent, as noun phrases.
  private func losses(_ alarm: Alarm) -> [String] {
    var losses: [String] = []
    if case .afterDone(let period, _) = alarm.schedule.recurrence {
      losses.append("the repetition \(period.words) after done (only the next date is written)")
    }
    if alarm.delivery.persistent { losses.append("persistent ringing") }
    if alarm.delivery.strict { losses.append("the strict setting") }
    if let plan = alarm.delivery.followUps { losses.append("follow-ups after \(plan)") }
    if let sound = alarm.delivery.sound { losses.append("the sound \(sound)") }
    for name in [alarm.delivery.run, alarm.delivery.runDone].compactMap({ $0 }) {
      losses.append("the action \(name)")
    }
    if !alarm.enabled { losses.append("the disabled state (its events have no reminder)") }
    let states = Set(alarm.progress.occurrences.values.map(\.state)).subtracting([.open, .skipped])
    if !states.isEmpty {
      losses.append("the state \(states.sorted().map(\.rawValue).joined(separator: ", "))")
    }
    return losses
  }

  // MARK: Reading

  /// Reads alarms from the events and to-dos of a document.
  ///
  /// - Parameters:
  ///   - bytes: the document.
  ///   - now: the current time. Items without a future occurrence are left out.
  ///   - zones: the known time zones. An item in an unknown zone becomes a floating alarm.
  ///   - calendar: the working days and holidays of the store.
  /// - Returns: The alarms, and a remark for each item that was left out.
  /// - Throws: `ExchangeError` if the document is not valid.
  public func read(
    _ bytes: [UInt8], now: Instant, zones: ZoneLibrary, calendar: WorkCalendar = .standard
  ) throws(ExchangeError) -> (alarms: [ForeignAlarm], leftOut: [Remark]) {
    let documents = try library.read(bytes)
    let reading = read(
      documents.flatMap(\.items), of: documents, now: now, zones: zones, calendar: calendar)
    return (reading.alarms, reading.leftOut)
  }

  /// The alarms of some events and to-dos.
  struct Reading {
    var alarms: [ForeignAlarm] = []
    /// A remark for each item that was left out.
    var leftOut: [Remark] = []
    /// The UIDs of the items of alarms, except for those that Belfry exported.
    var uids: [Identifier: String] = [:]
    /// The UIDs of the items that Belfry cannot represent.
    var unsupported: Set<String> = []
    /// The UIDs of the cancelled and completed items, with the identifiers of their alarms.
    var ended: [String: [Identifier]] = [:]
  }

  /// Reads the alarms of some events and to-dos of calendars.
  func read(
    _ items: [CalendarComponent], of documents: [CalendarComponent], now: Instant,
    zones: ZoneLibrary, calendar: WorkCalendar
  ) -> Reading {
    var reading = Reading()
    var alarms: [Identifier: ForeignAlarm] = [:]
    var order: [Identifier] = []
    func add(_ alarm: ForeignAlarm) {
      guard var known = alarms[alarm.id] else {
        order.append(alarm.id)
        alarms[alarm.id] = alarm
        return
      }
      // The event is another rule or time of the same alarm.
      known.skipped = Set(known.skipped + alarm.skipped).sorted()
      alarms[alarm.id] = known
    }
    let exported = ExportedAlarms(items, library: library, zones: zones, calendar: calendar)
    let calendarZones = CalendarZones(zones, documents, library, now: now)
    var others: [CalendarComponent] = []
    var known: [String: Identifier] = [:]
    for item in items {
      if let alarm = exported.alarm(item) {
        add(alarm)
        known[item.first("UID")?.value ?? ""] = alarm.id
      } else {
        others.append(item)
      }
    }
    others.removeAll { change in
      // A change of an exported alarm: a moved occurrence, or one that another program has changed.
      guard let id = known[change.first("UID")?.value ?? ""], let alarm = alarms[id],
        let moment = change.first("RECURRENCE-ID").flatMap({ calendarZones.moments($0).first })
      else { return false }
      let start = CalendarMoment(civil: moment.civil, isDate: false, zone: alarm.zone)
      let civil = calendarZones.civil(moment, like: start)
      guard Occurrences(alarm.schedule, in: calendar).contains(civil) else { return false }
      let isMove =
        change.first("STATUS") == nil
        && CalendarText.unescaped(change.first("SUMMARY")?.value ?? "") == alarm.title
      if isMove, let time = change.first("DTSTART").flatMap({ calendarZones.moments($0).first }),
        !time.isDate
      {
        alarms[id]?.moved[civil] = calendarZones.civil(time, like: start)
        return true
      }
      alarms[id]?.skipped.append(civil)
      return false
    }
    var context = CalendarContext(library: library, zones: calendarZones, now: now)
    context.events = Set(
      items.filter { $0.name == "VEVENT" }.compactMap { $0.first("UID")?.value })
    for series in CalendarSeries.groups(of: others) {
      let result = CalendarItem.alarms(of: series, context)
      result.alarms.forEach(add)
      reading.leftOut += result.leftOut
      for alarm in result.alarms { reading.uids[alarm.id] = series.uid ?? alarm.id.text }
      let uid = series.uid ?? result.leftOut.first?.title ?? ""
      if result.leftOut.contains(where: \.isFailure) { reading.unsupported.insert(uid) }
      reading.ended[uid, default: []] += result.leftOut.compactMap(\.ended)
    }
    reading.alarms = order.compactMap { alarms[$0] }
    return reading
  }

  /// Reads the changes of single occurrences whose series is not in the document.
  ///
  /// - Throws: `ExchangeError` if the document is not valid.
  public func changes(
    _ bytes: [UInt8], now: Instant, zones: ZoneLibrary
  ) throws(ExchangeError) -> [ForeignChange] {
    changes(of: try library.read(bytes), now: now, zones: zones)
  }

  /// Reads the changes of single occurrences whose series is not in the calendars.
  func changes(
    of documents: [CalendarComponent], now: Instant, zones: ZoneLibrary
  ) -> [ForeignChange] {
    let items = documents.flatMap(\.items)
    guard items.contains(where: { $0.first("RECURRENCE-ID") != nil }) else { return [] }
    let context = CalendarContext(
      library: library, zones: CalendarZones(zones, documents, library, now: now), now: now)
    return CalendarSeries.groups(of: items).filter(\.items.isEmpty).flatMap(\.changes)
      .compactMap { CalendarItem($0, context).foreignChange() }
  }
}

/// Conversion of dates and times between Belfry and iCalendar.
package enum CalendarTime {
  /// Returns `20261127T090000`.
  package static func text(_ civil: CivilDateTime) -> String {
    "\(civil)".filter { $0 != "-" && $0 != ":" } + "00"
  }

  /// Returns `20261127T080000Z`.
  package static func utc(_ instant: Instant) -> String {
    String(instant.rfc3339Milliseconds.filter { $0 != "-" && $0 != ":" }.prefix(15)) + "Z"
  }

  /// Parses a date, or a date and time with or without `Z`; nil for any other text.
  static func read(_ text: String) -> (civil: CivilDateTime, isDate: Bool, isUTC: Bool)? {
    let digits = Array(text)
    guard digits.count == 8 || digits.count == 15 || (digits.count == 16 && digits[15] == "Z"),
      digits.count == 8 || digits[8] == "T",
      digits.enumerated().allSatisfy({ $0 == 8 || $0 == 15 || $1.isWholeNumber })
    else { return nil }
    let date = "\(String(digits[0..<4]))-\(String(digits[4..<6]))-\(String(digits[6..<8]))"
    let time =
      digits.count == 8 ? "00:00" : "\(String(digits[9..<11])):\(String(digits[11..<13]))"
    guard let civil = CivilDateTime("\(date)T\(time)") else { return nil }
    return (civil, digits.count == 8, digits.last == "Z")
  }

  /// Returns the valid elements of a comma-separated list.
  static func list(_ text: String) -> [CivilDateTime] {
    text.split(separator: ",").compactMap { read(String($0))?.civil }
  }
}
