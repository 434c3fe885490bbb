import BelfryActions
import BelfryCore
import BelfryStore
import BelfryTerminal

/// The result of an answer as text.
struct AnswerText {
  private let output: AlarmOutput

  init(_ output: AlarmOutput) { self.output = output }

  /// Returns the messages for the result of an answer.
  func messages(_ change: AlarmChange) -> [String] {
    guard let event = change.events.last else { return [] }
    let (alarm, status) = (change.alarm, change.status)
    let title = Printable.text(alarm.title)
    let zone = alarm.zone.text
    let when = event.occurrence.map { " (\(output.when($0, of: alarm)))" } ?? ""
    let next = output.next(alarm, status)
    switch event.action {
    case .snoozed:
      let until = status.snooze.map { output.times.at($0.until) } ?? "later"
      let sooner = status.next.flatMap { next in
        status.snooze.flatMap { $0.until >= next.at ? output.when(next, zone: zone) : nil }
      }
      // The next occurrence replaces a snoozed one.
      return ["Snoozed \(title)\(when): it rings again \(until)."]
        + (sooner.map { ["The next occurrence comes first and replaces it: \($0)."] } ?? [])
    case .moved:
      guard case .move(let from, let to) = event.payload else { return [] }
      let (earlier, later) = (output.when(from, zone: zone), output.when(to, zone: zone))
      let wait = event.occurrence.flatMap { civil in
        status.next.flatMap { $0.civil == civil ? $0.at.seconds(since: output.now) : nil }
      }
      return [
        "Moved \(title) from \(earlier) to \(later)\(wait.map { ", \(Span.until($0))" } ?? "")."
      ]
    case .stopped:
      let asks =
        status.pending.last?.nextFollowUp.map { ", next follow-up \(output.times.at($0))" } ?? ""
      return ["Stopped \(title)\(when): pending until 'belfry done'\(asks); \(next)."]
    case .dismissed:
      let count = change.events.count { $0.action == .dismissed }
      return ["Dismissed \(title)\(count > 1 ? " (\(count) missed)" : when); \(next)."]
    case .skipped:
      let skipped = change.occurrences(.skipped)
      guard skipped.count > 1, let first = skipped.first, let last = skipped.last else {
        return ["Skipped \(title)\(when); \(next)."]
      }
      let dates = "\(output.when(first, of: alarm)) to \(output.when(last, of: alarm))"
      return ["Skipped \(skipped.count) occurrences of \(title), \(dates); \(next)."]
    default:
      let at = event.effective.map { " at \(output.when($0))" } ?? ""
      let done = change.events.filter { $0.action == .done && !$0.auto }.compactMap(\.occurrence)
      let settled =
        done.count > 1
        ? " (\(done.map { output.when($0, of: alarm) }.joined(separator: " and ")))" : when
      let rest = status.pending.last.map {
        "Still pending: \(output.when($0.occurrence, of: alarm))."
      }
      let missed = status.missed.last.map {
        let more = status.missed.count > 1 ? " and \(status.missed.count - 1) more" : ""
        return
          "Still missed: \(output.when($0, of: alarm))\(more). To close: belfry dismiss \(alarm.id.short)"
      }
      let partner = alarm.partner.map {
        "\(Printable.text($0.name)) is notified: ❤️ Got it."
      }
      return ["Done: \(title)\(settled)\(at); \(next)."]
        + [rest, missed, partner].compactMap { $0 }
    }
  }
}
