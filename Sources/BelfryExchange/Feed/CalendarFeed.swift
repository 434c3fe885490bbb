import BelfryCore
import BelfryStore

/// The state of a calendar that is followed, as one fetch has found it.
public struct CalendarFeed: Sendable {
  /// The treatment of the events and to-dos that have no reminder.
  public enum SilentItems: Hashable, Sendable {
    /// They become no alarm.
    case ignored
    /// They ring at their start, and those of whole days in the morning, as with an import.
    case ringing
    /// They ring some seconds before their start, and those of whole days in the morning.
    case ringingBefore(Int64)
  }

  /// The events and to-dos that have one UID.
  public struct Series: Hashable, Sendable {
    /// A text that changes whenever something does from which the alarms follow.
    public var fingerprint: String
    /// The alarms, ascending.
    public var alarms: [Identifier]

    /// Creates a series.
    public init(fingerprint: String, alarms: [Identifier]) {
      self.fingerprint = fingerprint
      self.alarms = alarms
    }
  }

  /// The property of the tasks that Belfry writes for occurrences of its own alarms.
  static let ownTask = "X-BELFRY-REV"

  /// The maximum number of events and to-dos.
  public static let maxItems = 100_000
  /// The maximum number of alarms.
  public static let maxAlarms = 5_000

  /// The time after which the calendar asks to be fetched again, in seconds; nil for none.
  public let refreshInterval: Int64?
  /// The number of events and to-dos.
  public let itemCount: Int
  /// The number of series without a reminder that were left out.
  public let silentCount: Int
  /// The series with alarms, by UID. The alarms of a Belfry export are not among them: they have other owners.
  public let series: [String: Series]
  /// The alarms.
  public let alarms: [ForeignAlarm]
  /// A remark for each item that was left out, except for those without a reminder.
  public let leftOut: [Remark]
  /// The UIDs of the items that Belfry cannot represent.
  let unsupported: Set<String>
  /// The UIDs of cancelled and completed items, with the alarms that an earlier version may have made.
  let ended: [String: [Identifier]]
  /// The changes of single occurrences whose series is not in the calendar.
  let changes: [ForeignChange]
  /// The fingerprints of all UIDs with items.
  let fingerprints: [String: String]
}

extension CalendarDocument {
  /// Reads a calendar that is followed.
  ///
  /// - Parameters:
  ///   - bytes: The document, for which `CalendarDamage` has found no damage.
  ///   - silent: The treatment of items without a reminder.
  ///   - tags: The tags that new alarms get, besides their categories.
  ///   - now: The current time. Items without a future occurrence are left out.
  ///   - zones: The known time zones.
  ///   - calendar: The working days and holidays of the store.
  /// - Throws: `ExchangeError` if the document is not valid.
  public func feed(
    _ bytes: [UInt8], silent: CalendarFeed.SilentItems = .ignored, tags: Set<AlarmTag> = [],
    now: Instant, zones: ZoneLibrary, calendar: WorkCalendar = .standard
  ) throws(ExchangeError) -> CalendarFeed {
    let documents = try library.read(bytes)
    // Belfry's own tasks, such as those for a phone, must not become alarms again.
    let all = documents.flatMap(\.items).filter { $0.first(CalendarFeed.ownTask) == nil }
    let (items, silentCount) = SilentItemFilter(silent).apply(to: all)
    var reading = read(items, of: documents, now: now, zones: zones, calendar: calendar)
    if reading.alarms.count > CalendarFeed.maxAlarms {
      throw ExchangeError(
        "it has \(reading.alarms.count) alarms; the maximum is \(CalendarFeed.maxAlarms)")
    }
    for index in reading.alarms.indices {
      // Whoever writes the calendar must not run programs here, also not those of the user.
      for name in [reading.alarms[index].delivery.run, reading.alarms[index].delivery.runDone] {
        if let name { reading.alarms[index].losses.append("the action \(name)") }
      }
      reading.alarms[index].delivery.run = nil
      reading.alarms[index].delivery.runDone = nil
      let missing = tags.subtracting(reading.alarms[index].tags).map(\.text).sorted()
      _ = reading.alarms[index].addTags(missing)
    }
    let fingerprints = Dictionary(grouping: items) { $0.first("UID")?.value ?? "" }
      .mapValues { items in CalendarFeed.fingerprint(items) }
    var series: [String: CalendarFeed.Series] = [:]
    for alarm in reading.alarms {
      guard let uid = reading.uids[alarm.id] else { continue }
      // An item without a UID has the identifier of its alarm, which changes with its title and its time.
      series[
        uid, default: CalendarFeed.Series(fingerprint: fingerprints[uid] ?? "", alarms: [])
      ].alarms.append(alarm.id)
    }
    for uid in series.keys { series[uid]?.alarms.sort() }
    return CalendarFeed(
      refreshInterval: CalendarFeed.refreshInterval(of: documents), itemCount: all.count,
      silentCount: silentCount, series: series, alarms: reading.alarms,
      leftOut: reading.leftOut, unsupported: reading.unsupported,
      ended: reading.ended.filter { !$0.value.isEmpty },
      changes: changes(of: documents, now: now, zones: zones), fingerprints: fingerprints)
  }

  /// Returns the name that a calendar gives itself (RFC 7986, 5.1, and Apple's older property), by its first lines; nil
  /// for none.
  public static func title(_ bytes: [UInt8]) -> String? {
    let start = CalendarText.normalized(Array(bytes.prefix(16 << 10)))
    let lines = start.split { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
      .map { String(decoding: $0, as: UTF8.self) }
      .prefix {
        !$0.uppercased().hasPrefix("BEGIN:VEVENT") && !$0.uppercased().hasPrefix("BEGIN:VTODO")
      }
    for name in ["NAME", "X-WR-CALNAME"] {
      for line in lines {
        guard let colon = line.firstIndex(of: ":"),
          line[..<colon].split(separator: ";").first?.uppercased() == name
        else { continue }
        let text = String(line[line.index(after: colon)...]).replacing("\\", with: "")
        let title = ForeignAlarm.texts(text, nil).title
        if title != ForeignAlarm.untitled { return title }
      }
    }
    return nil
  }
}

extension CalendarFeed {
  /// Returns the time after which calendars ask to be fetched again (RFC 7986, 5.7, and Microsoft's older property).
  fileprivate static func refreshInterval(of documents: [CalendarComponent]) -> Int64? {
    let texts = ["REFRESH-INTERVAL", "X-PUBLISHED-TTL"].compactMap { name in
      documents.prefix(1).flatMap { $0.all(name) + $0.rejected.filter { $0.name == name } }.first?
        .value
    }
    return texts.compactMap { CalendarDuration(correcting: $0) }.map { Int64($0.total) }
      .first { $0 > 0 }
  }

  /// Returns a hash of the items with one UID, in any order. Some servers write the time of the request into each item.
  fileprivate static func fingerprint(_ items: [CalendarComponent]) -> String {
    ContentHash.text(of: items.map(\.content).sorted().joined())
  }
}

extension CalendarComponent {
  /// The component as lines, with those that libical rejected, and without the time of writing.
  fileprivate var content: String {
    var own = self
    own.properties = (properties + rejected).filter { $0.name != "DTSTAMP" }
    own.components = []
    return own.text + components.map(\.content).joined()
  }
}

/// The removal of the items without a reminder, or the addition of one.
private struct SilentItemFilter {
  private let treatment: CalendarFeed.SilentItems

  init(_ treatment: CalendarFeed.SilentItems) { self.treatment = treatment }

  /// Returns the items that are read, and the number of series without a reminder that were left out.
  ///
  /// An event with a reminder keeps all its changed occurrences, because each of them replaces an occurrence that rings.
  func apply(to items: [CalendarComponent]) -> (items: [CalendarComponent], silentCount: Int) {
    if case .ringing = treatment { return (items, 0) }
    if case .ringingBefore(let seconds) = treatment {
      return (items.map { $0.isSilent ? $0.reminding(before: seconds) : $0 }, 0)
    }
    func key(_ item: CalendarComponent) -> String {
      "\(item.name) \(item.first("UID")?.value ?? "")"
    }
    let reminded = Set(
      items.filter { !$0.isSilent && $0.first("RECURRENCE-ID") == nil }.map(key))
    var silent: Set<String> = []
    var withoutUID = 0
    let kept = items.filter { item in
      let hasUID = item.first("UID").map { !$0.value.isEmpty } ?? false
      // The end of an item is news also without its reminder. Belfry exports disabled alarms without reminders.
      let isKept =
        !item.isSilent || hasUID && reminded.contains(key(item)) || item.hasEnded
        || item.first(CalendarEvents.recordProperty) != nil
      if !isKept, item.first("RECURRENCE-ID") == nil {
        if hasUID { silent.insert(key(item)) } else { withoutUID += 1 }
      }
      return isKept
    }
    return (kept, silent.count + withoutUID)
  }
}

extension CalendarComponent {
  /// True for an item without a reminder. Apple writes "no reminder" as a reminder without an action.
  fileprivate var isSilent: Bool {
    !components("VALARM").contains { $0.first("ACTION")?.value.uppercased() != "NONE" }
  }

  /// True for an item that is cancelled or completed.
  fileprivate var hasEnded: Bool {
    ["CANCELLED", "COMPLETED"].contains(first("STATUS")?.value.uppercased())
      || first("COMPLETED") != nil
  }

  /// Returns the item with a reminder some seconds before its start. An item of whole days stays as it is.
  fileprivate func reminding(before seconds: Int64) -> CalendarComponent {
    let start = first("DTSTART") ?? first("DUE")
    guard seconds > 0, let start, CalendarTime.read(start.value)?.isDate == false else {
      return self
    }
    var reminder = CalendarComponent("VALARM")
    reminder.add("ACTION", "DISPLAY")
    // The due time of a to-do without a start is the end of it.
    let related = first("DTSTART") == nil ? ["RELATED": "END"] : [:]
    reminder.add("TRIGGER", "-PT\(seconds)S", related)
    var item = self
    item.components.append(reminder)
    return item
  }
}
