import BelfryCore

extension CommitMessage {
  /// A trailer.
  typealias Fact = (key: String, value: String)

  /// Returns the facts of a payload as trailers, such as `Until: 2026-12-15T00:00` or `Fields: title, note`.
  ///
  /// The log entry of the commit has all facts; the trailers make them visible in `git log`.
  static func facts(of payload: LogPayload) -> [Fact] {
    switch payload {
    case .schedule(let schedule): return [("Schedule", schedule.summary)]
    case .partnerRequest(nil): return []
    case .partnerRequest(let partner?): return [("Partner", partner)]
    case .fields(let fields): return [("Fields", fields.map(\.rawValue).joined(separator: ", "))]
    case .restoredPart(let part): return [("Fields", part.name)]
    case .cascade(let edit): return facts(of: edit)
    case .replacedDevice(let device): return [("Replaces", device.text)]
    case .deletion(.recalled(let partner)): return [("Reason", "recalled"), ("Partner", partner)]
    case .deletion(.partnershipEnded(let partner)):
      return [("Reason", "partnershipEnded"), ("Partner", partner)]
    case .deletion(.partnerRemoved(let partner)):
      return [("Reason", "partnerRemoved"), ("Partner", partner)]
    case .snooze(let until): return [("Until", until.description)]
    case .move(let from, let to): return [("From", from.description), ("To", to.description)]
    case .pause(let from, let until):
      return (from.map { [("From", $0.description)] } ?? []) + [("Until", until.description)]
    case .followUp(let number, let count, false): return [("Follow-up", "\(number)/\(count)")]
    case .followUp(let number, let count, true):
      return [("Follow-up", "\(number)/\(count)"), ("Reason", "unanswered")]
    case .skippedByPause(nil): return [("Reason", "paused")]
    case .skippedByPause(let earlier?): return [("Reason", "paused")] + facts(of: earlier)
    case .earlier(let earlier): return facts(of: earlier)
    case .exhaustedCascade: return [("Reason", "exhaustedCascade")]
    case .undelivered: return [("Reason", "undelivered")]
    case .unansweredSteps(let count): return [("Steps", "\(count)")]
    case .undone(let action): return [("Undone", action.rawValue)]
    case .call(let call): return facts(of: call)
    case .rehearsalRequest: return [("Rehearsal", "requested")]
    case .rehearsal(let isDelivered):
      return [("Rehearsal", isDelivered ? "delivered" : "undelivered")]
    case .unknown: return []
    }
  }

  private static func facts(of edit: LogPayload.CascadeEdit) -> [Fact] {
    switch edit {
    case .on: [("Cascade", "on")]
    case .off: [("Cascade", "off")]
    case .added(let target): [("Cascade", "added"), ("Target", target.key)]
    case .removed(let target): [("Cascade", "removed"), ("Target", target.key)]
    case .moved(let from, let to): [("Cascade", "moved"), ("Steps", "\(from) \(to)")]
    }
  }

  private static func facts(of earlier: LogPayload.EarlierOccurrences) -> [Fact] {
    [("Earlier", "\(earlier.count)"), ("First", earlier.first.description)]
  }

  private static func facts(of call: LogPayload.Call) -> [Fact] {
    let outcome =
      switch call.outcome {
      case .answered: "answered"
      case .busy: "busy"
      case .noAnswer: "noAnswer"
      case .hookMissing: "hookMissing"
      case .failed: "failed"
      }
    var facts: [Fact] = [
      ("Target", call.target.key), ("Attempt", "\(call.attempt)"), ("Outcome", outcome),
    ]
    if call.isTest { facts.append(("Test", "true")) }
    return facts
  }
}
