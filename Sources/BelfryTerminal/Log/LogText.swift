import BelfryCore
import BelfryStore

/// The log as text and as JSON.
///
/// ```
/// Today, Mon 23 Nov 2026
///   09:05  Done       Rent (09:00)  laptop
///   09:00  Fired      Rent (09:00)  laptop, server
/// ```
package struct LogText: Sendable {
  /// The names of the devices.
  package let names: [Identifier: String]
  package let times: TimeText
  /// The titles in lists of the alarms whose title alone does not tell them apart.
  package let titles: [Identifier: String]
  private let style: Style
  /// Returns the moves of an alarm's occurrences.
  private let moves: Moves
  /// True if rows name the devices.
  private let hasDevices: Bool
  /// False if all rows are about one alarm, which they need not name.
  private let hasTitles: Bool
  private var zones: ZoneLibrary { times.zones }

  /// Returns the moves of an alarm's occurrences, by occurrence.
  package typealias Moves = @Sendable (Identifier) -> [CivilDateTime: OccurrenceMove]

  /// - Parameters:
  ///   - moves: returns the moves of an alarm, which rows then name.
  ///   - hasDevices: true if rows name the devices; by default if there are several.
  ///   - hasTitles: false if all rows are about one alarm, which they need not name.
  package init(
    names: [Identifier: String], times: TimeText, titles: [Identifier: String] = [:],
    style: Style = Style(isColored: false, width: nil), moves: @escaping Moves = { _ in [:] },
    hasDevices: Bool? = nil, hasTitles: Bool = true
  ) {
    self.names = names
    self.times = times
    self.titles = titles
    self.style = style
    self.moves = moves
    self.hasDevices = hasDevices ?? (names.count > 1)
    self.hasTitles = hasTitles
  }

  private func title(_ entry: LogEntry) -> String {
    Printable.text(titles[entry.alarm] ?? entry.title)
  }

  // MARK: Days

  /// Returns the day of entries on this device's wall clock.
  package func day(_ entries: [LogEntry]) -> CivilDate? {
    entries.first.map { zones.local.civil(at: $0.at).date }
  }

  /// Appends the heading of a day in UTF-8: `Today, Mon 23 Nov 2026`.
  package func append(heading day: CivilDate, to bytes: inout [UInt8]) {
    let prefix =
      switch day.dayNumber - times.today.dayNumber {
      case 0: "Today, "
      case -1: "Yesterday, "
      default: ""
      }
    bytes.append(style.paint(prefix + times.date(day), .bold))
    bytes.append("\n")
  }

  // MARK: Rows

  /// Returns entries as one row without the date, with the names of alarms and devices made printable.
  ///
  /// - Parameter entries: the reports of several devices about one event, or the entries of one action on several
  ///   alarms or occurrences, the newest first.
  package func row(_ entries: [LogEntry]) -> String { TimeText.text { append(entries, to: &$0) } }

  /// Appends entries as one row in UTF-8; see `row(_:)`. A row that is wider than the terminal continues on other lines.
  package func append(_ entries: [LogEntry], to bytes: inout [UInt8]) {
    guard let entry = entries.first else { return }
    let time = times.clock(entry.at)
    let timeWidth = times.format.clock == .twelveHour ? LogText.longTime : LogText.shortTime
    let label = label(entry)
    bytes.append("  " + padding(timeWidth - time.utf8.count) + time + "  ")
    if let color = LogText.color(entry) {
      bytes.append(style.paint(label, color))
    } else {
      bytes.append(label)
    }
    let labelWidth = max(LogText.labelWidth, TextWidth.of(label))
    bytes.append(padding(labelWidth - TextWidth.of(label)) + "  ")
    let subject = subject(entries)
    var rest = rest(entries)
    // The facts follow a subject, unless there is none.
    if subject.isEmpty { rest = String(rest.drop { [",", ":", " "].contains($0) }) }
    let indent = timeWidth + labelWidth + 6
    if let columns = style.width, indent + TextWidth.of(subject + rest) > columns {
      // A narrow terminal has no room beside the label.
      let start = columns < LogText.narrow ? timeWidth + 4 : indent
      let lines = TextWidth.wrapped(subject + rest, to: max(8, columns - indent))
      for (index, line) in lines.enumerated() {
        bytes.append((index == 0 ? "" : "\n" + padding(start)) + line)
      }
    } else {
      bytes.append(subject)
      if !rest.isEmpty { bytes.append(style.isColored ? style.paint(rest, .faint) : rest) }
    }
  }

  private static let (shortTime, longTime) = (5, 8)
  /// The width of most labels.
  private static let labelWidth = 9
  /// The number of columns below which the lines of a row continue below the label.
  private static let narrow = 60

  private func padding(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

  private func label(_ entry: LogEntry) -> String {
    entry.action == .done && entry.auto ? "Completed" : entry.label
  }

  private static func color(_ entry: LogEntry) -> Style.Color? {
    switch entry.action {
    case .done: entry.auto ? nil : .green
    case .missed, .exhausted: .plainRed
    case .skipped, .snoozed, .paused: .yellow
    case .stopped: .magenta
    case .fired, .reminded, .called: .cyan
    default: nil
    }
  }

  /// Returns the facts and the devices of entries, to be shown behind the alarms.
  private func rest(_ entries: [LogEntry]) -> String {
    guard let entry = entries.first else { return "" }
    var text = entry.auto ? ", automatically" : ""
    // The entries of one action can have different facts.
    if let details = self.text(entry), entries.allSatisfy({ $0.payload == entry.payload }) {
      var separator = ", "
      if case .fields = entry.payload { separator = ": " }
      text += separator + Printable.text(details)
    }
    if let done = entry.effective { text += ", " + times.at(done) }
    guard hasDevices || entries.contains(where: { $0.via != nil }) else { return text }
    if entries.count == 1 { return "\(text)  \(device(entry))" }
    var devices: [String] = []
    for entry in entries.reversed() {
      let name = device(entry)
      if !devices.contains(name) { devices.append(name) }
    }
    return text + "  " + devices.joined(separator: ", ")
  }

  /// Returns the name of the place where a person acted, or else of an entry's device, made printable.
  private func device(_ entry: LogEntry) -> String {
    Printable.text(entry.via ?? names[entry.device] ?? entry.device.short)
  }

  /// Returns an entry without the alarm and the occurrence: `today 09:00  fired  laptop`.
  package func event(_ entry: LogEntry) -> String {
    let details = text(entry).map { ", \(Printable.text($0))" } ?? ""
    let action = "\(entry.label)\(entry.auto ? " automatically" : "")"
    let device = hasDevices || entry.via != nil ? "  \(device(entry))" : ""
    return "\(times.relative(entry.at))  \(action)\(details)\(device)"
  }

  /// The maximum number of alarms that a row names.
  private static let maxNames = 3

  /// Returns the alarms of entries with their occurrences: `Rent (09:00)`, `Pills, 9 times from 20 Nov 21:00 to 08:00`,
  /// `12 alarms: Pills, Rent, Tea and 9 more`.
  private func subject(_ entries: [LogEntry]) -> String {
    if !hasTitles {
      var occurrences: [String] = []
      for occurrence in entries.reversed().compactMap(occurrence)
      where !occurrences.contains(occurrence) {
        occurrences.append(occurrence)
      }
      return list(occurrences)
    }
    if entries.count == 1 {
      return title(entries[0]) + (occurrence(entries[0]).map { " (\($0))" } ?? "")
    }
    // The oldest entry is the first of an action.
    var items: [(title: String, occurrences: [String])] = []
    var positions: [Identifier: Int] = [:]
    for entry in entries.reversed() {
      let occurrence = occurrence(entry)
      if let index = positions[entry.alarm] {
        // Devices report the same occurrence.
        guard let occurrence, !items[index].occurrences.contains(occurrence) else { continue }
        items[index].occurrences.append(occurrence)
      } else {
        positions[entry.alarm] = items.count
        items.append((title(entry), occurrence.map { [$0] } ?? []))
      }
    }
    if items.count == 1 { return text(items[0].title, items[0].occurrences) }
    let shown = items.count > LogText.maxNames + 1 ? LogText.maxNames : items.count
    let more = items.count > shown ? " and \(items.count - shown) more" : ""
    let names = items.prefix(shown).map { item in
      item.occurrences.count > LogText.maxOccurrences
        ? "\(item.title) (\(item.occurrences.count) times)" : text(item.title, item.occurrences)
    }
    return "\(items.count) alarms: " + names.joined(separator: ", ") + more
  }

  private func text(_ title: String, _ occurrences: [String]) -> String {
    if occurrences.isEmpty { return title }
    let list = list(occurrences)
    return occurrences.count > LogText.maxOccurrences ? "\(title), \(list)" : "\(title) (\(list))"
  }

  /// Returns the occurrences, or the number of many.
  private func list(_ occurrences: [String]) -> String {
    guard let first = occurrences.first, let last = occurrences.last else { return "" }
    return occurrences.count > LogText.maxOccurrences
      ? "\(occurrences.count) times from \(first) to \(last)"
      : occurrences.joined(separator: "; ")
  }

  /// The maximum number of occurrences that a row names.
  private static let maxOccurrences = 2

  /// Returns the time of an entry's occurrence, with the date if it is not that of the entry: `09:00`, `23 Nov 09:00`,
  /// `15:00, moved from 23 Nov 09:00`.
  private func occurrence(_ entry: LogEntry) -> String? {
    guard let civil = entry.occurrence else { return nil }
    func text(_ civil: CivilDateTime) -> String {
      civil.date == zones.local.civil(at: entry.at).date
        ? times.time(civil.time) : times.short(civil)
    }
    guard let time = time(to: civil, movedBefore: entry) else { return text(civil) }
    return "\(text(time)), moved from \(text(civil))"
  }

  /// The age in seconds of entries whose alarms may still have moves.
  private static let moveAge: Int64 = 60 * 86_400

  /// Returns the time to which an occurrence had been moved before an entry; nil if it was at its own time.
  private func time(to civil: CivilDateTime, movedBefore entry: LogEntry) -> CivilDateTime? {
    guard entry.action != .moved, times.now.seconds(since: entry.at) < LogText.moveAge,
      let move = moves(entry.alarm)[civil], move.stamp.map({ $0.time <= entry.at }) ?? true
    else { return nil }
    return move.time
  }

  /// Returns `{id, alarm, title, occurrence?, action, at, device, via?, auto?, payload?, doneAt?}`. The payload has the form
  /// of `LogPayloadRecord`.
  package func json(_ entry: LogEntry) -> JSON {
    .object(omittingNil: [
      "id": JSON(entry.id), "alarm": JSON(entry.alarm), "title": .string(entry.title),
      "occurrence": entry.occurrence.map { JSON($0) }, "action": .string(entry.action.rawValue),
      "at": .string(zones.text(entry.at)),
      "device": .string(names[entry.device] ?? entry.device.text), "auto": entry.auto ? true : nil,
      "payload": entry.payload.map { LogPayloadRecord.encode($0) },
      "doneAt": entry.effective.map { .string(zones.text($0)) },
      "via": entry.via.map { .string($0) },
    ])
  }

  /// Returns the facts of an entry as a clause, not made printable; nil if there are none.
  package func text(_ entry: LogEntry) -> String? {
    guard let payload = entry.payload else { return nil }
    let device = names[entry.device] ?? entry.device.short
    switch payload {
    case .schedule(let schedule): return times.schedule(schedule)
    case .partnerRequest(let partner): return "requested by \(partner ?? "a partner")"
    case .fields(let fields): return fields.map(\.rawValue).joined(separator: ", ")
    case .restoredPart(let part): return part.name
    case .cascade(let edit): return "cascade: \(text(edit))"
    case .replacedDevice(let old):
      return "device: \(device) (\(entry.device.short)) replaces \(old.short)"
    case .deletion(.recalled(let partner)): return "recalled by \(partner)"
    case .deletion(.partnershipEnded(let partner)):
      return "the partnership with \(partner) has ended"
    case .deletion(.partnerRemoved(let partner)):
      return "the partnership with \(partner) was ended here"
    case .snooze(let until):
      let civil = zones.local.civil(at: until)
      let isSameDay = civil.date == zones.local.civil(at: entry.at).date
      return "until \(isSameDay ? times.time(civil.time) : times.short(civil))"
    case .move(let from, let to):
      let isFromOwn = from == entry.occurrence
      return (isFromOwn ? "" : "from \(times.short(from)) ") + "to \(times.short(to))"
    case .pause(let from, let until):
      let start = from.map { "from \(times.short($0)) " } ?? ""
      return "\(start)until \(times.short(until))"
    case .followUp(let number, let count, let isUnanswered):
      return "\(number) of \(count)\(isUnanswered ? ", unanswered" : "")"
    case .skippedByPause(let earlier):
      return "paused" + (earlier.map { ", \(MissedText.text($0, times))" } ?? "")
    case .earlier, .exhaustedCascade: return MissedText.text(payload, times)
    case .undelivered: return "no channel could deliver it"
    case .unansweredSteps(1): return "the only step of the cascade was unanswered"
    case .unansweredSteps(let count): return "all \(count) steps of the cascade were unanswered"
    case .undone(.undone): return nil
    case .undone(let action): return action.rawValue
    case .call(let call): return text(call)
    case .rehearsalRequest: return "requested"
    case .rehearsal(let isDelivered):
      return isDelivered ? "rang on \(device)" : "was not delivered on \(device)"
    case .unknown(let json): return json
    }
  }

  private func text(_ edit: LogPayload.CascadeEdit) -> String {
    switch edit {
    case .on: "on"
    case .off: "off"
    case .added(let target): "\(target.label(names)) added"
    case .removed(let target): "\(target.label(names)) removed"
    case .moved(let from, let to): "\(from) moved to \(to)"
    }
  }

  private func text(_ call: LogPayload.Call) -> String {
    let outcome = call.outcome.reason ?? "answered"
    let test = call.isTest ? " (a test)" : ""
    return "\(call.target.label(names)): \(outcome), try \(call.attempt)\(test)"
  }
}

extension CallOutcome {
  /// The reason that a call was not answered, as a clause; nil if it was answered.
  package var reason: String? {
    switch self {
    case .answered: return nil
    case .busy: return "the line was busy"
    case .noAnswer: return "there was no answer"
    case .hookMissing(let name, let folders):
      return "there is no hook '\(name)' in \(folders.joined(separator: ", "))"
    case .failed(let failures):
      let reasons = failures.map { failure in
        switch failure {
        case .message(let message): message
        case .exited(let status): "the hook exited with status \(status)"
        case .timedOut(let seconds): "the hook timed out after \(seconds) s"
        case .notRun(let reason): reason
        }
      }
      return reasons.joined(separator: "; ")
    }
  }
}
