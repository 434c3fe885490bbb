import BelfryCore
import BelfryScheduler
import BelfryStore

/// The log as text and as JSON.
struct LogText {
  /// The names of the devices.
  let names: [Identifier: String]
  let zones: ZoneLibrary

  /// Returns an entry as one line, with the names of its alarm and device made printable.
  ///
  /// - Parameter when: returns a moment as text.
  func line(_ entry: LogEntry, when: (Instant) -> String) -> String {
    let at = zones.local.civil(at: entry.at)
    var text = "\(at.date.spoken), \(at.time)  \(entry.action.label)"
    if entry.auto { text += " (by itself)" }
    text += ": \(Printable.text(entry.title))"
    if let occurrence = entry.occurrence { text += " (\(occurrence.date) \(occurrence.time))" }
    if let details = self.text(entry) { text += ", \(Printable.text(details))" }
    if let done = entry.effective { text += ", at \(when(done))" }
    return text + "  \(Printable.text(names[entry.device] ?? entry.device.short))"
  }

  /// Returns `{id, alarm, title, occurrence?, action, at, device, auto?, payload?, doneAt?}`. The payload has the form
  /// of `LogPayloadRecord`.
  func json(_ entry: LogEntry) -> JSON {
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
  func text(_ entry: LogEntry) -> String? {
    guard let payload = entry.payload else { return nil }
    let device = names[entry.device] ?? entry.device.short
    switch payload {
    case .schedule(let schedule): return schedule.summary
    case .partnerRequest(let partner): return "requested by \(partner ?? "a partner")"
    case .fields(let fields): return fields.map(\.rawValue).joined(separator: ", ")
    case .restoredPart(let part): return part.name
    case .cascade(let edit): return "cascade: \(text(edit))"
    case .replacedDevice(let old):
      return "device: \(device) (\(entry.device.short)) replaces \(old.short)"
    case .deletion(.recalled(let partner)): return "recalled by \(partner)"
    case .deletion(.partnershipEnded(let partner)):
      return "the partnership with \(partner) has ended"
    case .deletion(.partnerRemoved(let partner)): return "parted from \(partner)"
    case .snooze(let until): return "until \(until)"
    case .pause(let until): return "until \(until)"
    case .followUp(let number, let count, let isUnanswered):
      return "\(number) of \(count)\(isUnanswered ? ", unanswered" : "")"
    case .skippedByPause(let earlier):
      return "paused" + (earlier.map { ", \(MissedText.text($0))" } ?? "")
    case .earlier, .exhaustedCascade: return MissedText.text(payload)
    case .unansweredSteps(1): return "the only step of the cascade was unanswered"
    case .unansweredSteps(let count): return "all \(count) steps of the cascade were unanswered"
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
  var reason: String? {
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
