import BelfryCore
import BelfryStore

/// The daemon's watch over the battery: when to sample, and which warning to deliver.
struct BatteryMonitor {
  private let gauge: BatteryGauge?
  /// The time from which a sample is due; nil while one is being taken, or without a gauge.
  private var due: Instant?
  /// True if the last sample has found a battery, or there was none yet.
  private var hasBattery = true
  /// The warning that is being delivered; nil if there is none.
  private var alert: BatteryAlerting.Alert?
  private let worker = BlockingWorker()

  /// The time to the next sample if the last one was too early, or while the battery charges, in seconds. Unplugging is
  /// noticed within that time.
  private static let shortInterval: Int64 = 60
  /// The time to the next check for a battery, in seconds. It accompanies another wake-up.
  private static let absenceInterval: Int64 = 900
  /// The time to wait for the disk.
  private static let diskTimeout = Duration.seconds(1)

  /// Creates a monitor.
  ///
  /// - Parameter gauge: the reader of the battery; nil to watch none.
  init(_ gauge: BatteryGauge?, at now: Instant) {
    self.gauge = gauge
    due = gauge == nil ? nil : now
  }

  /// The time at which the daemon wakes up for a sample; nil if it need not.
  var nextWake: Instant? { hasBattery ? due : nil }

  /// Makes the next sample due now, after the clock was set.
  mutating func reset(to now: Instant) { if due != nil { due = now } }

  /// Starts a sample if one is due.
  mutating func sampleIfDue(at now: Instant, _ tasks: BackgroundTasks) {
    guard let gauge, let due, due <= now else { return }
    self.due = nil
    tasks.start { .batterySampled(await gauge.sample(at: now)) }
  }

  /// Takes a sample. Returns the warning that has to be delivered; nil if there is none.
  mutating func take(
    _ result: BatteryGauge.SampleResult, _ store: Store, _ alarms: AlarmQueue,
    _ failures: inout FailureLog
  ) -> PendingDelivery? {
    let now = store.context.now
    failures.report(.batterySample, result.failure.map { "\($0)" })
    guard let finding = result.finding else {
      due = now.adding(seconds: BatteryMonitor.shortInterval)
      return nil
    }
    hasBattery = finding.standing != nil
    guard let standing = finding.standing else {
      due = now.adding(seconds: BatteryMonitor.absenceInterval)
      return nil
    }
    let isCharging = standing.reading.isCharging
    due = now.adding(
      seconds: isCharging ? BatteryMonitor.shortInterval : BatteryGauge.spacing)
    if alert != nil { return nil }
    let alerting = BatteryAlerting(
      standing: standing,
      upcoming: isCharging
        ? [] : alarms.upcoming(after: now, until: now.adding(seconds: BatteryAlerting.lookahead)),
      now: now)
    let assessment = alerting.assess(BatteryWarningFile(store).read())
    alert = alerting.alert(assessment.warnings, zones: store.context.zones) {
      alarms.alarm($0, now: now)
    }
    if let change = assessment.change { update(store, &failures, change) }
    return alert?.delivery
  }

  /// Records the outcome of a warning. A failed one is repeated with the next sample.
  mutating func finish(
    _ outcome: DeliveryOutcome, _ store: Store, _ failures: inout FailureLog
  ) {
    guard let alert else { return }
    self.alert = nil
    if case .undelivered = outcome { return }
    let now = store.context.now
    update(store, &failures) { alert.record(in: &$0, at: now) }
  }

  /// Changes the history. A disk that hangs delays no alarm.
  private func update(
    _ store: Store, _ failures: inout FailureLog,
    _ change: @escaping @Sendable (inout BatteryWarningHistory) -> Void
  ) {
    let job = worker.start { BatteryWarningFile(store).update(change).map { "\($0)" } }
    let timeout = BatteryMonitor.diskTimeout
    failures.report(
      .batteryHistory, job.wait(within: timeout) ?? "\(DiskTimeout(limit: timeout))")
  }
}
