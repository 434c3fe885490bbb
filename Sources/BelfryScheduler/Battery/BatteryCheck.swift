import BelfryCore
import BelfryStore

/// One check of the battery by a tick.
public struct BatteryCheck: Sendable {
  /// The result of a battery check.
  public struct Report: Sendable {
    /// The battery warning and its delivery outcome; nil if no warning was due.
    public var warning: (notification: Notification, outcome: DeliveryOutcome)?
    /// The error that kept the sample or the warning history from being recorded; nil if both were.
    public var failure: (any Error)?
  }

  private let store: Store
  private let delivery: any NotificationDelivery

  /// Creates a check.
  public init(_ store: Store, delivery: any NotificationDelivery) {
    self.store = store
    self.delivery = delivery
  }

  /// Records a sample of the battery if one is due, and delivers a battery warning if the risk has increased.
  ///
  /// - Parameter summaries: returns the alarms. It is called only if the battery is discharging.
  public func run(_ gauge: BatteryGauge, _ summaries: () -> [AlarmSummary]) async -> Report {
    var report = Report()
    let now = store.context.now
    let sampling = await gauge.sample(at: now)
    report.failure = sampling.failure
    guard let standing = sampling.finding?.standing else { return report }
    let file = BatteryWarningFile(store)
    let alerting = BatteryAlerting(
      standing: standing, upcoming: standing.reading.isCharging ? [] : upcoming(summaries()),
      now: now)
    let assessment = alerting.assess(file.read())
    let failure = assessment.change.flatMap(file.update)
    report.failure = report.failure ?? failure
    let alert = alerting.alert(assessment.warnings, zones: store.context.zones) {
      (try? store.alarm($0)) ?? nil
    }
    guard let alert else { return report }
    let outcome = await delivery.deliver(alert.delivery, snooze: 0)
    report.warning = (notification: alert.delivery.notification, outcome: outcome)
    if case .undelivered = outcome { return report }
    let recordFailure = file.update { alert.record(in: &$0, at: now) }
    report.failure = report.failure ?? recordFailure
    return report
  }

  private func upcoming(_ summaries: [AlarmSummary]) -> [BatteryAlerting.UpcomingOccurrence] {
    let now = store.context.now
    return summaries.compactMap { summary in
      guard let next = summary.status.nextRinging, next.at > now,
        next.at <= now.adding(seconds: BatteryAlerting.lookahead),
        let alarm = (try? store.alarm(summary.id)) ?? nil, store.ringsHere(alarm)
      else { return nil }
      return BatteryAlerting.UpcomingOccurrence(
        id: OccurrenceID(alarm: summary.id, occurrence: next.civil), at: next.at)
    }
  }
}
