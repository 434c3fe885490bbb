import BelfryCore

/// The difference between a calendar that is followed and its state after the last import on this device.
///
/// Only differences are imported. So a device that fetches an outdated version which it has imported before does not undo
/// the import of a later version on another device.
public struct FeedChange: Sendable {
  /// The alarms of the series that are new or have changed.
  public let alarms: [ForeignAlarm]
  /// The changes of single occurrences whose series is not in the calendar.
  public let changes: [ForeignChange]
  /// The alarms that the last import had and the calendar does not have any more.
  public let vanished: [Identifier]
  /// The alarms of items that are cancelled or completed.
  public let ended: [Identifier]
  /// The alarms of the last import whose items Belfry cannot represent any more. They stay as they are.
  public let unsupported: [Identifier]

  private let before: [String: CalendarFeed.Series]
  private let feed: CalendarFeed

  /// Creates the difference.
  ///
  /// - Parameters:
  ///   - feed: The calendar.
  ///   - before: The series after the last import, by UID.
  public init(_ feed: CalendarFeed, since before: [String: CalendarFeed.Series]) {
    let unchanged = before.filter { uid, series in
      !series.fingerprint.isEmpty && feed.fingerprints[uid] == series.fingerprint
    }
    let known = Set(
      unchanged.flatMap { uid, series in series.alarms + [Identifier(naming: uid)] })
    alarms = feed.alarms.filter { !known.contains($0.id) }
    changes = feed.changes.filter { !known.contains($0.alarm) }
    ended = feed.ended.filter { unchanged[$0.key] == nil }.flatMap(\.value).sorted()
    var vanished: [Identifier] = []
    var unsupported: [Identifier] = []
    let current = Set(feed.alarms.map(\.id)).union(ended)
    for (uid, series) in before {
      // An occurrence can leave its series while the UID stays.
      let missing = series.alarms.filter { !current.contains($0) }
      if feed.unsupported.contains(uid) { unsupported += missing } else { vanished += missing }
    }
    (self.vanished, self.unsupported) = (vanished.sorted(), unsupported.sorted())
    (self.before, self.feed) = (before, feed)
  }

  /// Returns the series after the import.
  ///
  /// - Parameter kept: The alarms that have vanished or ended, and still count as those of the calendar.
  public func series(keeping kept: Set<Identifier>) -> [String: CalendarFeed.Series] {
    var series = feed.series
    for (uid, known) in before {
      let alarms = known.alarms.filter { kept.contains($0) || unsupported.contains($0) }
      if alarms.isEmpty { continue }
      // Without a fingerprint, the series is compared again with the next fetch.
      let all = Set((series[uid]?.alarms ?? []) + alarms).sorted()
      series[uid] = CalendarFeed.Series(fingerprint: "", alarms: all)
    }
    return series
  }
}
