import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryScheduler
import BelfryStore

/// A calendar that this device follows: the document of `calendar unfollow`, and an element of `calendar follow --list`.
package struct SubscriptionDocument: JSONDocument {
  /// The name.
  let name: String
  /// The URL without its credentials and its path, or the path.
  let source: String
  /// The number of alarms.
  let alarms: Int
  /// The tags of new alarms.
  let tags: [String]
  /// The events that ring: `reminders`, or `all`.
  let events: String
  /// The seconds before its start at which an event without a reminder rings; absent at the start, or for never.
  let before: Int?
  /// The time between two fetches, in seconds; absent for a file or folder.
  let interval: Int?
  /// The time of the last fetch; of a file or folder, of its last change.
  let fetched: String?
  /// The time of the last success.
  let succeeded: String?
  /// The time of the next fetch; absent for a file or folder, and if it is due.
  let next: String?
  /// The reason of the last failure.
  let failure: String?
  /// The damaged files of a folder, with the reasons.
  let damaged: [String]
  /// The loss that waits for `calendar refresh --accept`.
  let held: Held?

  /// A number of alarms whose events have vanished.
  package struct Held: Encodable {
    /// The number of alarms that would be deleted.
    let alarms: Int
    /// The number of alarms of the calendar with an occurrence ahead.
    let total: Int
  }

  package init(_ subscription: CalendarSubscription, zones: ZoneLibrary) {
    name = subscription.name
    source = subscription.source.shown
    alarms = subscription.alarms.count
    tags = subscription.tags.sorted().map(\.text)
    switch subscription.silent {
    case .ignored: (events, before) = ("reminders", nil)
    case .ringing: (events, before) = ("all", nil)
    case .ringingBefore(let seconds): (events, before) = ("all", Int(seconds))
    }
    interval = subscription.source.path == nil ? Int(subscription.currentInterval) : nil
    fetched = subscription.checkedAt.map { zones.text($0) }
    succeeded = subscription.succeededAt.map { zones.text($0) }
    next = subscription.nextFetch.map { zones.text($0) }
    failure = subscription.state.failure
    damaged = subscription.state.damaged
    held = subscription.state.held.map { Held(alarms: $0.count, total: $0.total) }
  }
}

/// The refresh of a calendar that this device follows: the document of `calendar follow`, and an element of `calendar
/// refresh`.
package struct RefreshDocument: JSONDocument {
  /// The calendar.
  let calendar: SubscriptionDocument
  /// The result: `imported`, `unchanged`, `failed` or `skipped`, if another process refreshes it.
  let result: String
  /// The import; absent without one.
  let `import`: ImportDocument?
  /// The number of events without a reminder, which do not ring; absent without an import.
  let silent: Int?
  /// The titles of the imported alarms that somebody has deleted, and that stay deleted; absent without an import.
  let deleted: [String]?

  package init(_ report: CalendarRefresh.Report, zones: ZoneLibrary) {
    calendar = SubscriptionDocument(report.subscription, zones: zones)
    switch report.outcome {
    case .notNeeded: (result, `import`, silent, deleted) = ("skipped", nil, nil, nil)
    case .unchanged: (result, `import`, silent, deleted) = ("unchanged", nil, nil, nil)
    case .failed: (result, `import`, silent, deleted) = ("failed", nil, nil, nil)
    case .imported(let imported):
      result = "imported"
      let alarms = imported.result.alarms
      `import` = ImportDocument(
        imported: alarms.new.count, unchanged: imported.unchangedCount,
        updated: alarms.changedCount, removed: alarms.removed.count,
        leftOut: imported.feed.leftOut.filter(\.isFailure), moves: alarms.moves)
      silent = imported.feed.silentCount
      deleted = imported.result.deleted.map(\.title)
    }
  }
}

extension CalendarRefresh.Import {
  /// The number of alarms of the calendar that are in the store already.
  package var unchangedCount: Int {
    let brought = Set(feed.alarms.map(\.id))
    let new = result.alarms.new.count { brought.contains($0.id) }
    return max(0, feed.alarms.count - result.alarms.changedCount - new - result.deleted.count)
  }
}
