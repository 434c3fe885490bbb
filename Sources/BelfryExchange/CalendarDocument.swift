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

  private let library: CalendarLibrary

  /// Loads libical.
  ///
  /// - Throws: `ExchangeError` if libical is not installed.
  public init() throws(ExchangeError) {
    library = try CalendarLibrary()
  }

  /// Returns true if bytes look like an iCalendar document.
  public static func matches(_ bytes: [UInt8]) -> Bool {
    let start = bytes.drop { $0 <= 0x20 || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }
    return start.starts(with: "BEGIN:VCALENDAR".utf8)
  }

  private static let recordProperty = "X-BELFRY-RECORD"

  // MARK: Writing

  /// Returns an iCalendar document of the alarms that are not deleted.
  ///
  /// - Returns: The document, and a remark for each setting that iCalendar cannot represent.
  /// - Throws: `ExchangeError` if libical rejects the document.
  public func write(_ alarms: [Alarm]) throws(ExchangeError) -> (bytes: [UInt8], remarks: [Remark])
  {
    var calendar = CalendarComponent("VCALENDAR")
    calendar.add("VERSION", "2.0")
    calendar.add("PRODID", "-//Belfry//belfry export//EN")
    var remarks: [Remark] = []
    let alarms = alarms.filter { !$0.isDeleted }.sorted { $0.id < $1.id }
    for name in Set(alarms.map(\.zone.text)).sorted() where name != Alarm.Zone.floating.text {
      if let zone = library.timeZone(name) { calendar.components.append(zone) }
    }
    for alarm in alarms {
      calendar.components += events(alarm)
      remarks += losses(alarm).map { Remark(title: alarm.title, $0) }
    }
    return (try library.document(calendar), remarks)
  }

  /// Returns the settings of an alarm that iCalendar cannot represent, as noun phrases.
  private func losses(_ alarm: Alarm) -> [String] {
    var losses: [String] = []
    if alarm.delivery.persistent { losses.append("persistent ringing") }
    if alarm.delivery.strict { losses.append("the strict setting") }
    if let plan = alarm.delivery.followUps { losses.append("follow-ups after \(plan)") }
    if let sound = alarm.delivery.sound { losses.append("the sound \(sound)") }
    if !alarm.enabled { losses.append("the disabled state (its events have no reminder)") }
    let states = Set(alarm.progress.occurrences.values.map(\.state)).subtracting([.open, .skipped])
    if !states.isEmpty {
      losses.append("the state \(states.sorted().map(\.rawValue).joined(separator: ", "))")
    }
    return losses
  }

  private func events(_ alarm: Alarm) -> [CalendarComponent] {
    let rules = CalendarRule.rules(for: alarm.schedule.recurrence)
    var events: [CalendarComponent] = []
    for rule in rules {
      for time in alarm.schedule.times {
        guard let first = firstDay(of: rule, alarm.schedule.recurrence) else { continue }
        events.append(event(alarm, rule, CivilDateTime(first, time), number: events.count))
      }
    }
    return events
  }

  /// Returns the first day of a recurrence that a rule covers; nil if there is none.
  private func firstDay(of rule: CalendarRule, _ recurrence: Recurrence) -> CivilDate? {
    var day = recurrence.first(onOrAfter: CivilDate(dayNumber: Int(Int32.min) / 8))
    // With an interval of months, a month of a given length may never occur. 100 years are enough to tell.
    let end = day.map { $0.year + 100 }
    while let current = day, let end, current.year < end {
      if rule.covers(current) { return current }
      day = recurrence.first(onOrAfter: current.adding(days: 1))
    }
    return nil
  }

  private func event(
    _ alarm: Alarm, _ rule: CalendarRule, _ start: CivilDateTime, number: Int
  ) -> CalendarComponent {
    var event = CalendarComponent("VEVENT")
    event.add("UID", "\(alarm.id)-\(number)@belfry")
    event.add("DTSTAMP", CalendarTime.utc(alarm.latestStamp?.time ?? alarm.progress.armed))
    let zone = alarm.zone == .floating ? [:] : ["TZID": alarm.zone.text]
    event.add("DTSTART", CalendarTime.text(start), zone)
    if let text = rule.text { event.add("RRULE", text) }
    let skipped = alarm.progress.occurrences
      .filter {
        $0.value.state == .skipped && $0.key.time == start.time && rule.covers($0.key.date)
      }
      .map { CalendarTime.text($0.key) }.sorted()
    if !skipped.isEmpty { event.add("EXDATE", skipped.joined(separator: ","), zone) }
    event.add("SUMMARY", library.escaped(alarm.title))
    if let note = alarm.note { event.add("DESCRIPTION", library.escaped(note)) }
    event.add(CalendarDocument.recordProperty, library.escaped(definition(alarm)))
    if alarm.enabled {
      var reminder = CalendarComponent("VALARM")
      reminder.add("ACTION", "DISPLAY")
      reminder.add("DESCRIPTION", library.escaped(alarm.title))
      reminder.add("TRIGGER", "PT0S")
      event.components.append(reminder)
    }
    return event
  }

  /// Returns the alarm's record without its progress, on one line.
  private func definition(_ alarm: Alarm) -> String {
    let plain = Alarm(
      id: alarm.id, title: alarm.title, note: alarm.note, enabled: alarm.enabled,
      schedule: alarm.schedule, zone: alarm.zone, delivery: alarm.delivery,
      progress: Progress(armed: Instant(seconds: 0)))
    return (try? JSON(parsing: AlarmRecord.encode(plain)))?.line ?? "{}"
  }

  // MARK: Reading

  /// Reads alarms from the events and to-dos of a document.
  ///
  /// - Parameters:
  ///   - bytes: the document.
  ///   - now: the current time. Items without a future occurrence are left out.
  ///   - zones: the known time zones. An item in an unknown zone becomes a floating alarm.
  /// - Returns: The alarms, and a remark for each item that was left out.
  /// - Throws: `ExchangeError` if the document is not valid.
  public func read(
    _ bytes: [UInt8], now: Instant, zones: ZoneLibrary
  ) throws(ExchangeError) -> (alarms: [ForeignAlarm], leftOut: [Remark]) {
    var alarms: [Identifier: ForeignAlarm] = [:]
    var order: [Identifier] = []
    var leftOut: [Remark] = []
    let calendars = try library.read(bytes)
    let complete = completeAlarms(calendars.flatMap(\.components))
    for calendar in calendars {
      for item in calendar.components where item.name == "VEVENT" || item.name == "VTODO" {
        do throws(CalendarRule.Unsupported) {
          let alarm: ForeignAlarm
          if let native = nativeAlarm(item), complete.contains(native.id) {
            alarm = native
          } else {
            alarm = try CalendarItem(item, library).alarm(now: now, zones: zones)
          }
          if var known = alarms[alarm.id] {
            // The event is another rule or time of the same alarm.
            known.skipped = Set(known.skipped + alarm.skipped).sorted()
            alarms[alarm.id] = known
          } else {
            order.append(alarm.id)
            alarms[alarm.id] = alarm
          }
        } catch {
          let title = item.first("SUMMARY").map { library.text($0.value) } ?? "Untitled"
          leftOut.append(Remark(title: title, error.reason))
        }
      }
    }
    return (order.compactMap { alarms[$0] }, leftOut)
  }

  /// Returns the exported alarms all of whose events are unchanged. Other events are imported one by one.
  private func completeAlarms(_ items: [CalendarComponent]) -> Set<Identifier> {
    var counts: [Identifier: Int] = [:]
    var alarms: [Identifier: ForeignAlarm] = [:]
    for item in items {
      guard let native = nativeAlarm(item) else { continue }
      counts[native.id, default: 0] += 1
      alarms[native.id] = native
    }
    return Set(
      alarms.values.filter { foreign in
        let rules = CalendarRule.rules(for: foreign.schedule.recurrence)
        let days = rules.count { firstDay(of: $0, foreign.schedule.recurrence) != nil }
        return counts[foreign.id] == days * foreign.schedule.times.count
      }.map(\.id))
  }

  /// Returns the alarm of an event that Belfry has exported; nil if the event is of another origin or was changed.
  private func nativeAlarm(_ item: CalendarComponent) -> ForeignAlarm? {
    guard let property = item.first(CalendarDocument.recordProperty) else { return nil }
    let bytes = Array(library.text(property.value).utf8)
    guard let id = (try? JSON(parsing: bytes))?["id"]?.identifier,
      let alarm = try? AlarmRecord.decode(bytes, id: id, now: Instant(seconds: 0)),
      let uid = item.first("UID")?.value,
      let written = events(alarm).first(where: { $0.first("UID")?.value == uid })
    else { return nil }
    for name in ["DTSTART", "SUMMARY", "DESCRIPTION"]
    where written.first(name)?.value != item.first(name)?.value {
      return nil
    }
    // Another program may reorder the parts of a rule.
    func parts(_ item: CalendarComponent) -> Set<Substring> {
      Set(item.first("RRULE")?.value.split(separator: ";") ?? [])
    }
    guard parts(written) == parts(item) else { return nil }
    var result = ForeignAlarm(
      id: id, title: alarm.title, note: alarm.note, schedule: alarm.schedule, zone: alarm.zone)
    result.enabled = alarm.enabled
    result.delivery = alarm.delivery
    result.skipped = item.all("EXDATE").flatMap { CalendarTime.list($0.value) }
    return result
  }
}

/// Conversion of dates and times between Belfry and iCalendar.
enum CalendarTime {
  /// Returns `20261127T090000`.
  static func text(_ civil: CivilDateTime) -> String {
    "\(civil)".filter { $0 != "-" && $0 != ":" } + "00"
  }

  /// Returns `20261127T080000Z`.
  static func utc(_ instant: Instant) -> String {
    String(instant.rfc3339Milliseconds.filter { $0 != "-" && $0 != ":" }.prefix(15)) + "Z"
  }

  /// Parses a date, or a date and time with or without `Z`; nil for any other text.
  static func read(_ text: String) -> (civil: CivilDateTime, isDate: Bool, isUTC: Bool)? {
    let digits = Array(text)
    guard digits.count == 8 || digits.count == 15 || digits.count == 16 else { return nil }
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

  /// Returns the seconds of a duration such as `-PT15M`, `P1D`, `PT1H30M` or `-P1W`; nil for any other text.
  static func duration(_ text: String) -> Int64? {
    var rest = Substring(text)
    var sign: Int64 = 1
    if rest.hasPrefix("-") { sign = -1 }
    if rest.hasPrefix("-") || rest.hasPrefix("+") { rest.removeFirst() }
    guard rest.hasPrefix("P") else { return nil }
    rest.removeFirst()
    var seconds: Int64 = 0
    var number = ""
    for character in rest {
      if character == "T" { continue }
      if character.isNumber {
        number.append(character)
        continue
      }
      let units: [Character: Int64] = ["W": 604_800, "D": 86_400, "H": 3600, "M": 60, "S": 1]
      guard let unit = units[character], let value = Int64(number), value < 1_000_000 else {
        return nil
      }
      seconds += value * unit
      number = ""
    }
    return number.isEmpty ? sign * seconds : nil
  }
}
