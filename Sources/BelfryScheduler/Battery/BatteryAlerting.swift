import BelfryCore
import BelfryStore

/// The rules for battery warnings, for the daemon and for `tick`: one warning for each increase of the risk, and one
/// notification for all alarms together.
struct BatteryAlerting {
  /// An occurrence that rings on this device within the horizon.
  struct UpcomingOccurrence: Hashable {
    let id: OccurrenceID
    /// The time at which it rings.
    let at: Instant
  }

  /// A battery warning that has to be delivered.
  struct Alert: Sendable {
    /// The notification.
    let delivery: PendingDelivery
    /// The warnings about all occurrences whose risk has increased.
    let warnings: [OccurrenceID: BatteryWarning]

    /// Records in the history that the warnings were delivered.
    func record(in history: inout BatteryWarningHistory, at now: Instant) {
      for (id, warning) in warnings { history.note(warning, of: id, at: now) }
    }
  }

  /// The maximum time between a warning and the occurrence, in seconds: one night.
  static let horizon: Int64 = 12 * 3600

  let store: Store

  /// Returns the warning that has to be delivered now; nil if no risk has increased.
  ///
  /// - Parameters:
  ///   - upcoming: the occurrences within the horizon.
  ///   - history: the delivered warnings. Risks that have passed are updated.
  ///   - alarm: returns an alarm; nil if it is unknown.
  func alert(
    _ standing: BatteryStanding, upcoming: [UpcomingOccurrence],
    history: inout BatteryWarningHistory, alarm: (Identifier) -> Alarm?
  ) -> Alert? {
    let now = store.context.now
    let times = Dictionary(upcoming.map { ($0.id, $0.at) }) { first, _ in first }
    let worse = history.worsened(
      times.mapValues(standing.prediction(at:)), isCharging: standing.reading.isCharging, at: now)
    // The highest risk comes first; of several, the earliest occurrence.
    let first = worse.min { a, b in
      if a.value.risk != b.value.risk { return a.value.risk > b.value.risk }
      return (times[a.key] ?? .distantFuture, a.key) < (times[b.key] ?? .distantFuture, b.key)
    }
    guard let (id, warning) = first, let alarm = alarm(id.alarm) else { return nil }
    let content = Notification.Content(
      id: id, title: alarm.title, note: alarm.note,
      zoneName: store.context.zones.foreignName(of: alarm), at: times[id] ?? now)
    return Alert(
      delivery: PendingDelivery(
        due: now,
        notification: .batteryWarning(content, warning, others: worse.count - 1)),
      warnings: worse)
  }
}
