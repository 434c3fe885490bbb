import BelfryCore
import BelfryStore

/// The rules for battery warnings: one warning for each increase of the risk, and one notification for all alarms
/// together.
struct BatteryAlerting {
  /// An occurrence that rings on this device within the horizon.
  struct UpcomingOccurrence: Hashable {
    let alarm: Identifier
    let occurrence: CivilDateTime
    /// The time at which it rings.
    let at: Instant
  }

  /// A battery warning that has to be delivered.
  struct PendingWarning: Sendable {
    /// The occurrence with the highest risk; of several, the earliest.
    let first: BatteryWarningHistory.Key
    /// The warning about that occurrence.
    let batteryWarning: BatteryWarning
    /// The warnings about all occurrences whose risk has increased.
    let all: [BatteryWarningHistory.Key: BatteryWarning]

    /// Records in the history that the warnings were delivered.
    func record(in history: inout BatteryWarningHistory, at now: Instant) {
      for (key, batteryWarning) in all { history.note(batteryWarning, of: key, at: now) }
    }
  }

  /// The maximum time between a warning and the occurrence, in seconds: one night.
  static let horizon: Int64 = 12 * 3600

  /// Returns the warning that has to be delivered now, or nil if no risk has increased.
  ///
  /// - Parameters:
  ///   - upcoming: the occurrences within the horizon.
  ///   - history: the delivered warnings. Risks that have passed are updated.
  static func pendingWarning(
    _ standing: BatteryStanding, upcoming: [UpcomingOccurrence], at now: Instant,
    history: inout BatteryWarningHistory
  ) -> PendingWarning? {
    var predictions: [BatteryWarningHistory.Key: BatteryPrediction] = [:]
    var moments: [BatteryWarningHistory.Key: Instant] = [:]
    for item in upcoming {
      let key = BatteryWarningHistory.Key(alarm: item.alarm, occurrence: item.occurrence)
      predictions[key] = standing.prediction(at: item.at)
      moments[key] = item.at
    }
    let worse = history.worsened(predictions, isCharging: standing.reading.isCharging, at: now)
    let order = worse.sorted { a, b in
      if a.value.risk != b.value.risk { return a.value.risk > b.value.risk }
      return (moments[a.key] ?? .distantFuture, a.key.alarm)
        < (moments[b.key] ?? .distantFuture, b.key.alarm)
    }
    return order.first.map { PendingWarning(first: $0.key, batteryWarning: $0.value, all: worse) }
  }

  /// Returns the notification of a warning.
  ///
  /// - Parameters:
  ///   - alarm: the alarm of the warning's first occurrence.
  ///   - moment: the time at which that occurrence rings.
  static func notification(
    _ warning: PendingWarning, _ alarm: Alarm, at moment: Instant, _ zones: ZoneLibrary
  ) -> Notification {
    Notification(
      .batteryWarning(warning.batteryWarning, more: warning.all.count - 1),
      alarm: alarm.id, title: alarm.title,
      note: alarm.note, occurrence: warning.first.occurrence,
      zone: zones.foreignName(of: alarm), due: zones.text(moment))
  }
}

extension Tick {
  /// The result of a battery check.
  public struct BatteryReport: Sendable {
    /// The battery warning and its delivery outcome; nil if no warning was due.
    public var batteryWarning: (notification: Notification, outcome: DeliveryOutcome)?
    /// The error that kept the sample or the warning history from being recorded; nil if both were.
    public var failure: (any Error)?
  }

  /// Records a sample of the battery if one is due, and delivers a battery warning if the risk has increased.
  ///
  /// - Parameter summaries: returns the alarms. It is called only if the battery is discharging.
  public func checkBattery(
    _ gauge: BatteryGauge, _ summaries: () -> [AlarmSummary]
  ) async -> BatteryReport {
    var report = BatteryReport()
    let now = store.context.now
    let sampling = await gauge.sample(at: now)
    report.failure = sampling.failure
    guard let standing = sampling.finding?.standing else { return report }
    let upcoming =
      standing.reading.isCharging
      ? []
      : summaries().compactMap { summary -> BatteryAlerting.UpcomingOccurrence? in
        guard let next = summary.status.comes, next.at > now,
          next.at <= now.adding(seconds: BatteryAlerting.horizon),
          let alarm = (try? store.alarm(summary.id)) ?? nil, store.ringsHere(alarm)
        else { return nil }
        return BatteryAlerting.UpcomingOccurrence(
          alarm: summary.id, occurrence: next.civil, at: next.at)
      }
    let before = store.batteryWarningHistory
    var history = before
    let warning = BatteryAlerting.pendingWarning(
      standing, upcoming: upcoming, at: now, history: &history)
    if let warning, let alarm = (try? store.alarm(warning.first.alarm)) ?? nil {
      let moment = upcoming.first { $0.alarm == alarm.id }?.at ?? now
      let notification = BatteryAlerting.notification(
        warning, alarm, at: moment, store.context.zones)
      let outcome = await delivery.deliver(notification, snooze: 0)
      report.batteryWarning = (notification, outcome)
      if case .undelivered = outcome {
      } else {
        warning.record(in: &history, at: now)
      }
    }
    if history != before {
      do {
        try store.keep(history)
      } catch {
        report.failure = report.failure ?? error
      }
    }
    return report
  }
}
