import BelfryCore
import BelfryStore

/// The selection of an alarm's log entries that the sender of the request may see.
///
/// The selection is an allow-list: only events that the consent text names are reported, in fixed words. Nothing else
/// is copied from the store: neither log payloads nor devices, people, numbers or names.
///
/// | log entry | receipt |
/// |---|---|
/// | fired, snoozed, stopped, missed, skipped | rung, snoozed, stopped, missed, skipped |
/// | missed, without a fired entry of the occurrence | missed, did not ring |
/// | done by the user | acknowledged |
/// | undone, unskipped | changed: the response was undone, no longer skipped |
/// | paused, resumed | changed: paused, resumed |
/// | edited, if the time or text was changed; moved | changed, with the kind of change |
/// | any other entry or edit | none |
struct AlarmReport {
  private let alarm: Alarm
  private let zone: TimeZoneRules

  init(_ alarm: Alarm, zone: TimeZoneRules) {
    self.alarm = alarm
    self.zone = zone
  }

  /// Returns the event to report for a log entry; nil for none.
  ///
  /// - Parameters:
  ///   - entry: the log entry.
  ///   - isUnheard: true if the entry says that the alarm rang but no notification was delivered.
  func event(_ entry: LogEntry, isUnheard: Bool) -> AlarmEvent? {
    func event(_ state: PartnerReceipt.State, _ detail: String? = nil) -> AlarmEvent {
      AlarmEvent(
        state: state, at: entry.at,
        due: entry.occurrence.map { zone.instant(of: alarm.progress.moves[$0]?.time ?? $0) },
        revision: entry.revision, detail: detail)
    }
    switch entry.action {
    case .fired: return event(.rung, isUnheard ? "no notification could be delivered" : nil)
    case .snoozed: return event(.snoozed)
    case .stopped: return event(.stopped)
    case .done: return entry.auto ? nil : event(.acknowledged)
    case .missed: return event(.missed)
    case .skipped: return event(.skipped)
    case .undone: return event(.changed, "the response was undone")
    case .unskipped: return event(.changed, "no longer skipped")
    case .paused: return event(.changed, "paused")
    case .resumed: return event(.changed, "resumed")
    case .moved: return event(.changed, "changed: time")
    case .edited: return edit(at: entry.at).map { event(.changed, "changed: \($0)") }
    case .created, .enabled, .disabled, .deleted, .reminded, .dismissed, .cleared, .exhausted,
      .called, .rehearsed, .unknown:
      return nil
    }
  }

  /// Returns the events of an alarm, with the misses marked of occurrences for which no device is known to have rung.
  /// A ring without a delivered notification does not count.
  ///
  /// - Parameter start: the time from which on all events are known.
  static func markingSilentMisses(_ events: [AlarmEvent], knownFrom start: Instant) -> [AlarmEvent]
  {
    let rung = Set(events.filter { $0.state == .rung && $0.detail == nil }.map(\.due))
    return events.map { event in
      guard event.state == .missed, let due = event.due, due >= start, !rung.contains(due) else {
        return event
      }
      var silent = event
      silent.detail = "did not ring"
      return silent
    }
  }

  /// Returns the requested properties that an edit at a moment has changed; nil if there are none.
  ///
  /// The stamps of the edited fields have the time of the edit.
  private func edit(at moment: Instant) -> String? {
    func isEdited(_ fields: [Alarm.Field]) -> Bool {
      fields.contains { alarm.mergeState.stamps[$0]?.time == moment }
    }
    let parts = [
      isEdited([.schedule, .zone]) ? "the time" : nil,
      isEdited([.title, .note]) ? "the text" : nil,
    ].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }
}
