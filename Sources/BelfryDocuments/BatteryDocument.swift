import BelfryCore
import BelfryScheduler
import BelfryStore

/// The battery of this machine: the document of `battery`.
package struct BatteryDocument: JSONDocument {
  /// True if there is a battery.
  let present: Bool
  /// The level, in percent.
  let level: Double?
  /// The state: `charging` or `discharging`.
  let state: String
  /// The drain while awake, in percent per hour; absent while charging.
  let drain: Double?
  /// The source of `drain`: `measured`, `kernel`, `usual`, or `assumed` if nothing is measured yet.
  let drainFrom: String?
  /// The drain while asleep, in percent per hour.
  let asleepDrain: Double?
  /// The expected share of the time asleep, from 0 to 1.
  let asleepShare: Double?
  /// The source of the reading: `kernel` or `upower`.
  let source: String
  /// The names of the batteries.
  let names: [String]
  /// The alarms of the next 24 hours that ring on this device, the earliest first.
  let alarms: [Alarm]
  /// The recorded levels of the last 12 hours, oldest first.
  let samples: [Sample]

  /// A prediction for an alarm.
  package struct Alarm: Encodable {
    /// The id of the alarm.
    let alarm: String
    /// The title of the alarm.
    let title: String
    /// The occurrence.
    let occurrence: String
    /// The time at which it rings.
    let at: String
    /// The predicted level at that time, in whole percent, rounded down.
    let predicted: Int?
    /// The risk: `safe`, `warning`, `critical`, or `unknown` if nothing is predicted.
    let risk: String
    /// The reason why nothing is predicted: `level`, `drain` or `time`.
    let unknown: String?
  }

  /// A recorded level.
  package struct Sample: Encodable {
    /// The time of the sample.
    let at: String
    /// The level, in percent.
    let level: Double
    /// True if external power was connected.
    let charging: Bool
  }
}

/// A machine without a usable battery: the document of `battery`.
package struct NoBatteryDocument: JSONDocument {
  /// False.
  var present = false
  /// The reason, as text.
  let reason: String

  package init(reason: String) {
    self.reason = reason
  }
}

/// A predicted battery level: the document of `battery predict`.
package struct BatteryPredictionDocument: JSONDocument {
  /// The predicted level, in whole percent, rounded down.
  let predicted: Int?
  /// The risk: `safe`, `warning`, `critical`, or `unknown` if nothing is predicted.
  let risk: String
  /// The reason why nothing is predicted: `level`, `drain` or `time`.
  let unknown: String?

  package init(_ prediction: BatteryPrediction) {
    predicted = prediction.predicted
    risk = prediction.unknown == nil ? prediction.risk.rawValue : "unknown"
    unknown = prediction.unknown?.rawValue
  }
}

/// A battery warning, in the documents of alarms and actions.
package struct BatteryWarningDocument: Codable {
  /// The risk: `warning` or `critical`.
  let risk: String
  /// The predicted level at the next occurrence, in whole percent.
  let predicted: Int
  /// True if the prediction assumes a typical drain, because nothing is measured yet.
  let assumed: Bool?
  /// The warning, as text.
  let headline: String
  /// The advice, as text.
  let action: String

  package init(_ warning: BatteryWarning) {
    risk = warning.risk.rawValue
    predicted = warning.predicted
    assumed = warning.isAssumed ? true : nil
    headline = warning.headline
    action = warning.action
  }
}

// MARK: Conversion

extension BatteryDocument {
  /// - Parameters:
  ///   - outlook: the forecast of the drain up to the last alarm; nil if the level is unknown.
  ///   - alarms: the alarms of the next 24 hours that ring on this device, the earliest first.
  ///   - start: the time of the first sample.
  package init(
    _ standing: BatteryStanding, outlook: DrainOutlook?,
    _ alarms: [(alarm: Identifier, title: String, nextRinging: Timeline.Occurrence)],
    since start: Instant, zones: ZoneLibrary
  ) {
    let isCharging = standing.reading.isCharging
    present = true
    level = standing.reading.level.map(BatteryDocument.rounded)
    state = isCharging ? "charging" : "discharging"
    drain = isCharging ? nil : outlook?.awake.map(BatteryDocument.rounded)
    drainFrom = isCharging ? nil : outlook?.source?.rawValue
    asleepDrain = outlook?.asleep.map(BatteryDocument.rounded)
    asleepShare = (outlook?.asleepShare).map(BatteryDocument.rounded)
    source = standing.reading.source.rawValue
    names = standing.reading.names
    self.alarms = alarms.map { alarm in
      let prediction = BatteryPredictionDocument(standing.prediction(at: alarm.nextRinging.at))
      return Alarm(
        alarm: alarm.alarm.text, title: alarm.title,
        occurrence: alarm.nextRinging.civil.description,
        at: zones.text(alarm.nextRinging.at), predicted: prediction.predicted,
        risk: prediction.risk,
        unknown: prediction.unknown)
    }
    samples = standing.history.samples.filter { $0.at > start }.map { sample in
      Sample(
        at: zones.text(sample.at), level: BatteryDocument.rounded(sample.level),
        charging: sample.isCharging)
    }
  }

  /// Returns a number rounded to sixteenths, which have a finite decimal representation.
  private static func rounded(_ value: Double) -> Double { (value * 16).rounded() / 16 }
}
