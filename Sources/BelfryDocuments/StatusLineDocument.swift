import BelfryCore
import BelfryStore

/// The content of a status bar: the document of `status --format json`.
package struct StatusLineDocument: JSONDocument {
  /// The text of the line, as `--format plain` prints it.
  let text: String
  /// The most urgent state: `ringing`, `missed`, `pending`, `snoozed`, `next` or `idle`.
  let state: String
  /// The problem: `storeMissing`, `storeUnreadable`, `schedulerAbsent`, `schedulerUnresponsive`, `clockBehind` or `syncOutdated`.
  let problem: String?
  /// The alarms that ring.
  let ringing: [Item]
  /// The alarms with missed occurrences.
  let missed: [Item]
  /// The alarms with pending occurrences.
  let pending: [Item]
  /// The snoozed alarms.
  let snoozed: [Item]
  /// The alarms that ring next, at most five.
  let next: [Item]

  /// An alarm.
  package struct Item: Encodable {
    /// The id.
    let id: String
    /// The title.
    let title: String
    /// The time of the occurrence that rings, is pending or was missed.
    let occurrence: String?
    /// The time at which the alarm rings next, or again.
    let at: String?
  }

  /// Creates the document.
  ///
  /// - Parameters:
  ///   - text: the text of the line.
  ///   - state: the most urgent state.
  package init(
    _ summary: AttentionSummary, text: String, state: String, zones: ZoneLibrary
  ) {
    self.text = text
    self.state = state
    problem = summary.problem?.rawValue
    func items(_ items: [AttentionSummary.Item]) -> [Item] {
      items.map { item in
        Item(
          id: item.id.text, title: item.title, occurrence: item.civil.map { "\($0)" },
          at: item.at.map { zones.text($0) })
      }
    }
    ringing = items(summary.ringing)
    missed = items(summary.missed)
    pending = items(summary.pending)
    snoozed = items(summary.snoozed)
    next = items(summary.upcoming)
  }
}
