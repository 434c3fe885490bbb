import BelfryCore
import BelfryStore

/// Finds out whom a battery that will not last is to be told of: once for each worsening, and one word for all alarms
/// together.
struct BatteryAlerting {
  /// An alarm that rings here before long.
  struct Near: Hashable {
    let alarm: Identifier
    let occurrence: CivilDateTime
    /// When it rings.
    let at: Instant
  }

  /// What is to be told, and of what.
  struct PendingDelivery: Sendable {
    let first: BatteryWarningHistory.Key
    let batteryWarning: BatteryWarning
    let all: [BatteryWarningHistory.Key: BatteryWarning]

    /// Notes that it was told.
    func note(in notes: inout BatteryWarningHistory, at now: Instant) {
      for (key, batteryWarning) in all { notes.note(batteryWarning, of: key, at: now) }
    }
  }

  /// How far ahead somebody is told unasked, in seconds: one night.
  static let horizon: Int64 = 12 * 3600

  /// - Parameters:
  ///   - near: the alarms of the next twelve hours.
  ///   - notes: what was told before; what is over is taken out of it.
  static func pendingDelivery(
    _ standing: BatteryStanding, near: [Near], at now: Instant, notes: inout BatteryWarningHistory
  ) -> PendingDelivery? {
    var predictions: [BatteryWarningHistory.Key: BatteryPrediction] = [:]
    var moments: [BatteryWarningHistory.Key: Instant] = [:]
    for item in near {
      let key = BatteryWarningHistory.Key(alarm: item.alarm, occurrence: item.occurrence)
      predictions[key] = standing.prediction(at: item.at)
      moments[key] = item.at
    }
    let worse = notes.worsened(predictions, isCharging: standing.reading.isCharging, at: now)
    // The worst is told, and of several the first to ring.
    let order = worse.sorted { a, b in
      if a.value.risk != b.value.risk { return a.value.risk > b.value.risk }
      return (moments[a.key] ?? .distantFuture, a.key.alarm)
        < (moments[b.key] ?? .distantFuture, b.key.alarm)
    }
    return order.first.map { PendingDelivery(first: $0.key, batteryWarning: $0.value, all: worse) }
  }

  /// The notice of what is to be told.
  static func notification(
    _ pendingDelivery: PendingDelivery, _ alarm: Alarm, at moment: Instant, _ zones: ZoneLibrary
  )
    -> Notification
  {
    Notification(
      .batteryWarning(pendingDelivery.batteryWarning, more: pendingDelivery.all.count - 1),
      alarm: alarm.id, title: alarm.title,
      note: alarm.note, occurrence: pendingDelivery.first.occurrence,
      zone: zones.foreignName(of: alarm), due: zones.text(moment))
  }
}

extension Tick {
  /// What came of looking at the battery.
  public struct BatteryReport: Sendable {
    /// What somebody was told, and what came of that.
    public var batteryWarning: (notification: Notification, outcome: DeliveryOutcome)?
    /// Why what was seen could not be kept.
    public var failure: (any Error)?
  }

  /// Takes a sample of the battery when it is time for one, and tells whom it will not last.
  ///
  /// - Parameter cards: the alarms as they stand; asked for only when somebody may have to be told.
  public func lookAtBattery(
    _ gauge: BatteryGauge, _ summaries: () -> [AlarmSummary]
  ) async -> BatteryReport {
    var report = BatteryReport()
    let now = store.context.now
    let sampling = await gauge.sample(at: now)
    report.failure = sampling.failure
    guard let standing = sampling.finding?.standing else { return report }
    let near =
      standing.reading.isCharging
      ? []
      : summaries().compactMap { summary -> BatteryAlerting.Near? in
        guard let next = summary.status.comes, next.at > now,
          next.at <= now.adding(seconds: BatteryAlerting.horizon),
          let alarm = (try? store.alarm(summary.id)) ?? nil, store.ringsHere(alarm)
        else { return nil }
        return BatteryAlerting.Near(alarm: summary.id, occurrence: next.civil, at: next.at)
      }
    let before = store.batteryWarningHistory
    var notes = before
    let pendingDelivery = BatteryAlerting.pendingDelivery(
      standing, near: near, at: now, notes: &notes)
    if let pendingDelivery, let alarm = (try? store.alarm(pendingDelivery.first.alarm)) ?? nil {
      let moment = near.first { $0.alarm == alarm.id }?.at ?? now
      let notification = BatteryAlerting.notification(
        pendingDelivery, alarm, at: moment, store.context.zones)
      let outcome = await delivery.deliver(notification, snooze: 0)
      report.batteryWarning = (notification, outcome)
      if case .undelivered = outcome {
      } else {
        pendingDelivery.note(in: &notes, at: now)
      }
    }
    if notes != before {
      do {
        try store.keep(notes)
      } catch {
        report.failure = report.failure ?? error
      }
    }
    return report
  }
}
