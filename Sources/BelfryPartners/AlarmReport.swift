import BelfryCore
import BelfryStore

/// The part of an alarm's log that its sender may read.
///
/// An allow-list: only what the consent text names is reported, in words that are fixed here. Nothing that the receiver
/// wrote, chose or added is copied from the store: not the log's own words, nor devices, people, numbers or names.
///
/// | in the log | reported as |
/// |---|---|
/// | fired, snoozed, stopped, missed, skipped | the same |
/// | done by a person | acknowledged |
/// | undone, unskipped | changed: the answer was taken back |
/// | paused, resumed | changed: paused, or not any more |
/// | edited, where the time or the words were | changed: which of the two |
/// | anything else, and every other edit | nothing |
struct AlarmReport {
  private let alarm: Alarm
  private let zone: TimeZoneRules

  init(_ alarm: Alarm, zone: TimeZoneRules) {
    self.alarm = alarm
    self.zone = zone
  }

  /// Returns what the sender is told of a log entry; nil for nothing.
  ///
  /// - Parameter isUnheard: whether it says that the alarm rang, and nobody could be told.
  func event(_ entry: LogEntry, isUnheard: Bool) -> AlarmEvent? {
    func event(_ state: PartnerReceipt.State, _ detail: String? = nil) -> AlarmEvent {
      AlarmEvent(
        state: state, at: entry.at, due: entry.occurrence.map { zone.instant(of: $0) },
        revision: entry.revision, detail: detail)
    }
    switch entry.action {
    case .fired: return event(.rung, isUnheard ? "nobody could be told there" : nil)
    case .snoozed: return event(.snoozed)
    case .stopped: return event(.stopped)
    case .done: return entry.auto ? nil : event(.acknowledged)
    case .missed: return event(.missed)
    case .skipped: return event(.skipped)
    case .undone: return event(.changed, "they took their answer back")
    case .unskipped: return event(.changed, "it is not skipped any more")
    case .paused: return event(.changed, "paused")
    case .resumed: return event(.changed, "not paused any more")
    case .edited: return edit(at: entry.at).map { event(.changed, "changed: \($0)") }
    case .created, .enabled, .disabled, .deleted, .reminded, .dismissed, .cleared, .exhausted,
      .called, .rehearsed:
      return nil
    }
  }

  /// Returns what an edit at a moment changed of what the sender asked for; nil for nothing of that.
  ///
  /// The fields' stamps tell it: an edit stamps what it changes with its own time.
  private func edit(at moment: Instant) -> String? {
    func isEdited(_ fields: [Alarm.Field]) -> Bool {
      fields.contains { alarm.stamps[$0]?.time == moment }
    }
    let parts = [
      isEdited([.schedule, .zone]) ? "the time" : nil,
      isEdited([.title, .note]) ? "the words" : nil,
    ].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }
}
