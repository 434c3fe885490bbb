import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal

extension BatteryWarnings {
  /// The time ahead for which warnings are shown, in seconds.
  static let horizon: Int64 = 86_400

  /// Predicts the battery for the alarms of a list that ring on this device within the horizon.
  init(_ context: CommandContext, _ store: Store, _ alarms: AlarmListing) {
    let now = context.storeContext.now
    let end = now.adding(seconds: BatteryWarnings.horizon)
    let ringing = alarms.ringing(after: now, until: end)
    guard !ringing.isEmpty, let standing = context.battery.standing, !standing.reading.isCharging
    else {
      self.init()
      return
    }
    let reader = store.alarmReader()
    var byAlarm: [Identifier: BatteryWarning] = [:]
    for alarm in ringing.summaries {
      guard let comes = alarm.nextRinging,
        let batteryWarning = BatteryWarning(standing.prediction(at: comes.at)),
        // An alarm that rings on other devices only does not depend on this battery.
        let record = (try? reader.alarm(alarm.id)) ?? nil, store.ringsHere(record)
      else { continue }
      byAlarm[alarm.id] = batteryWarning
    }
    self.init(byAlarm)
  }

  init(_ context: CommandContext, _ store: Store, _ alarm: Alarm, _ status: AlarmStatus) {
    self.init(context, store, AlarmListing([AlarmSummary(alarm, status: status)]))
  }
}
