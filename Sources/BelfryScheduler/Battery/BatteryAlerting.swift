import BelfryCore
import BelfryStore

/// The rules for battery warnings, for the daemon and for `tick`: one warning for each increase of the risk, and one
/// notification for all alarms together.
struct BatteryAlerting: Sendable {
  /// An occurrence that rings on this device within `lookahead`.
  struct UpcomingOccurrence: Hashable, Sendable {
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
  /// The time within which occurrences are checked, in seconds: a weekend. Of those beyond the horizon, only the ones that
  /// the machine cannot warn about later get a warning.
  static let lookahead: Int64 = 72 * 3600
  /// The time before a shutdown within which the machine warns about occurrences beyond the horizon, in seconds.
  private static let lead: Int64 = 3600

  let standing: BatteryStanding
  /// The occurrences within `lookahead`.
  let upcoming: [UpcomingOccurrence]
  let now: Instant

  /// Returns the warnings for a history, and the change that the history needs; nil for none. An idle check then takes
  /// no lock and writes nothing.
  func assess(
    _ history: BatteryWarningHistory
  ) -> (
    warnings: [OccurrenceID: BatteryWarning],
    change: (@Sendable (inout BatteryWarningHistory) -> Void)?
  ) {
    var updated = history
    let warnings = worsened(&updated)
    if updated == history { return (warnings, nil) }
    return (warnings, { history in _ = worsened(&history) })
  }

  /// Returns the occurrences whose risk is higher than at the last warning.
  ///
  /// - Parameter history: the delivered warnings. Risks that have passed are updated.
  private func worsened(_ history: inout BatteryWarningHistory) -> [OccurrenceID: BatteryWarning] {
    let predictions = Dictionary(
      upcoming.map { ($0.id, prediction(at: $0.at)) }
    ) { first, _ in first }
    return history.worsened(predictions, isCharging: standing.reading.isCharging, at: now)
  }

  /// Returns the prediction for an occurrence. Beyond the horizon it is unknown, unless the machine may shut down before
  /// the horizon begins, and soon.
  private func prediction(at moment: Instant) -> BatteryPrediction {
    let begin = moment.adding(seconds: -BatteryAlerting.horizon)
    let check = min(begin, now.adding(seconds: BatteryAlerting.lead))
    if begin <= now || standing.prediction(at: check).risk == .critical {
      return standing.prediction(at: moment)
    }
    return BatteryPrediction(
      level: nil, drain: nil, hours: 0, isCharging: standing.reading.isCharging)
  }

  /// Returns the warning about occurrences whose risk has increased; nil if there are none.
  ///
  /// - Parameters:
  ///   - warnings: the warnings of `assess(_:)`.
  ///   - alarm: returns an alarm; nil if it is unknown.
  func alert(
    _ warnings: [OccurrenceID: BatteryWarning], zones: ZoneLibrary, alarm: (Identifier) -> Alarm?
  ) -> Alert? {
    let times = Dictionary(upcoming.map { ($0.id, $0.at) }) { first, _ in first }
    // The highest risk comes first; of several, the earliest occurrence.
    let first = warnings.min { a, b in
      if a.value.risk != b.value.risk { return a.value.risk > b.value.risk }
      return (times[a.key] ?? .distantFuture, a.key) < (times[b.key] ?? .distantFuture, b.key)
    }
    guard let (id, warning) = first, let alarm = alarm(id.alarm) else { return nil }
    let content = Notification.Content(
      id: id, title: alarm.title, note: alarm.note, zoneName: zones.foreignName(of: alarm),
      at: times[id] ?? now, movedTo: alarm.progress.moves[id.occurrence]?.time)
    return Alert(
      delivery: PendingDelivery(
        due: now,
        notification: .batteryWarning(content, warning, others: warnings.count - 1)),
      warnings: warnings)
  }
}
