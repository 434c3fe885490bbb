import BelfryCore
import BelfryStore

/// The log as text and as JSON.
package struct LogText {
  /// The names of the devices.
  package let names: [Identifier: String]
  package let times: TimeText
  /// The titles in lists of the alarms whose title alone does not tell them apart.
  package let titles: [Identifier: String]
  private var zones: ZoneLibrary { times.zones }

  package init(
    names: [Identifier: String], times: TimeText, titles: [Identifier: String] = [:]
  ) {
    self.names = names
    self.times = times
    self.titles = titles
  }

  private func title(_ entry: LogEntry) -> String {
    Printable.text(titles[entry.alarm] ?? entry.title)
  }

  /// Returns entries as one line, with the names of alarms and devices made printable.
  ///
  /// - Parameter entries: the reports of several devices about one event, or the entries of one action on several
  ///   alarms or occurrences, the newest first.
  package func line(_ entries: [LogEntry]) -> String { TimeText.text { append(entries, to: &$0) } }

  /// Appends entries as one line in UTF-8; see `line(_:)`.
  package func append(_ entries: [LogEntry], to bytes: inout [UInt8]) {
    guard let entry = entries.first else { return }
    times.appendFull(zones.local.civil(at: entry.at), to: &bytes)
    bytes.append("  ")
    bytes.append(entry.label)
    if entry.auto { bytes.append(" automatically") }
    bytes.append(": ")
    // Most lines have one entry. The lists of the others take three times as long.
    if entries.count == 1 {
      bytes.append(title(entry))
      if let occurrence = occurrence(entry) { bytes.append(" (\(occurrence))") }
    } else {
      bytes.append(subject(entries))
    }
    // The entries of one action can have different facts.
    if let details = text(entry), entries.allSatisfy({ $0.payload == entry.payload }) {
      bytes.append(", ")
      bytes.append(Printable.text(details))
    }
    if let done = entry.effective {
      bytes.append(", ")
      bytes.append(times.at(done))
    }
    bytes.append("  ")
    if entries.count == 1 { return bytes.append(device(entry)) }
    var devices: [String] = []
    for entry in entries.reversed() {
      let name = device(entry)
      if !devices.contains(name) { devices.append(name) }
    }
    bytes.append(devices.joined(separator: ", "))
  }

  /// Returns the name of an entry's device, made printable.
  private func device(_ entry: LogEntry) -> String {
    Printable.text(names[entry.device] ?? entry.device.short)
  }

  /// Returns an entry without the alarm and the occurrence: `today 09:00  fired  laptop`.
  package func event(_ entry: LogEntry) -> String {
    let details = text(entry).map { ", \(Printable.text($0))" } ?? ""
    let action = "\(entry.label)\(entry.auto ? " automatically" : "")"
    return "\(times.relative(entry.at))  \(action)\(details)  \(device(entry))"
  }

  /// The maximum number of alarms and occurrences that a line names.
  private static let maxNames = 3

  /// Returns the alarms of entries with their occurrences: `Rent (09:00)`, `Pills, Rent and 10 more`.
  private func subject(_ entries: [LogEntry]) -> String {
    // The oldest entry is the first of an action.
    var items: [(alarm: Identifier, title: String, occurrences: [String])] = []
    for entry in entries.reversed() {
      let occurrence = occurrence(entry)
      if let index = items.firstIndex(where: { $0.alarm == entry.alarm }) {
        guard let occurrence, !items[index].occurrences.contains(occurrence) else { continue }
        items[index].occurrences.append(occurrence)
      } else {
        items.append((entry.alarm, title(entry), occurrence.map { [$0] } ?? []))
      }
    }
    return list(
      items.map { item in
        item.occurrences.isEmpty
          ? item.title : "\(item.title) (\(list(item.occurrences, separator: "; ")))"
      })
  }

  /// Returns the time of an entry's occurrence, with the date if it is not that of the entry.
  private func occurrence(_ entry: LogEntry) -> String? {
    entry.occurrence.map { civil in
      civil.date == zones.local.civil(at: entry.at).date
        ? times.time(civil.time) : times.full(civil)
    }
  }

  /// Returns `a, b, c and 3 more`.
  private func list(_ names: [String], separator: String = ", ") -> String {
    let shown = names.count > LogText.maxNames + 1 ? LogText.maxNames : names.count
    let more = names.count > shown ? " and \(names.count - shown) more" : ""
    return names.prefix(shown).joined(separator: separator) + more
  }

  /// Returns `{id, alarm, title, occurrence?, action, at, device, auto?, payload?, doneAt?}`. The payload has the form
  /// of `LogPayloadRecord`.
  package func json(_ entry: LogEntry) -> JSON {
    .object(omittingNil: [
      "id": JSON(entry.id), "alarm": JSON(entry.alarm), "title": .string(entry.title),
      "occurrence": entry.occurrence.map { JSON($0) }, "action": .string(entry.action.rawValue),
      "at": .string(zones.text(entry.at)),
      "device": .string(names[entry.device] ?? entry.device.text), "auto": entry.auto ? true : nil,
      "payload": entry.payload.map { LogPayloadRecord.encode($0) },
      "doneAt": entry.effective.map { .string(zones.text($0)) },
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
      return "until \(isSameDay ? times.time(civil.time) : times.full(civil))"
    case .move(let from, let to):
      let isFromOwn = from == entry.occurrence
      return (isFromOwn ? "" : "from \(times.full(from)) ") + "to \(times.full(to))"
    case .pause(let until): return "until \(times.full(until))"
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
