/// The text of a battery warning. It is derived from a prediction and never stored.
public struct BatteryWarning: Hashable, Sendable {
  /// The risk: `warning` or `critical`.
  public let risk: BatteryPrediction.Risk
  /// The predicted level in whole percent.
  public let predicted: Int
  /// True if the prediction assumes a typical drain, as nothing is measured yet.
  public let isAssumed: Bool

  /// Creates the warning of a prediction; nil if the risk is `safe`.
  public init?(_ prediction: BatteryPrediction) {
    guard prediction.risk != .safe, let predicted = prediction.predicted else { return nil }
    risk = prediction.risk
    self.predicted = predicted
    isAssumed = prediction.isAssumed
  }

  /// Creates a warning; nil if the risk is `safe`.
  public init?(risk: BatteryPrediction.Risk, predicted: Int, isAssumed: Bool = false) {
    guard risk != .safe else { return nil }
    self.risk = risk
    self.predicted = predicted
    self.isAssumed = isAssumed
  }

  /// The title: `Alarm at Risk`.
  public var title: String { risk == .critical ? "Alarm at Risk" : "Low Battery Warning" }
  /// The predicted level: `Estimated battery at alarm: 0%`.
  public var headline: String { "Estimated battery at alarm: \(predicted)%" }
  /// The recommended action: `Plug in now.`
  public var action: String { risk == .critical ? "Plug in now." : "Consider plugging in." }
  /// The note that the drain is assumed; nil if it was measured.
  public var note: String? { isAssumed ? "A typical drain is assumed." : nil }
}

/// The battery warnings that were delivered. A warning is repeated only if the risk gets worse.
public struct BatteryWarningHistory: Hashable, Sendable {
  /// The last warning about an occurrence.
  public struct SentWarning: Hashable, Sendable {
    /// The risk of that warning.
    public var risk: BatteryPrediction.Risk
    /// The time of that warning.
    public var at: Instant
    /// True if the risk has passed since. The next warning is then a new one.
    public var isOver: Bool

    /// Creates an entry.
    public init(risk: BatteryPrediction.Risk, at: Instant, isOver: Bool = false) {
      self.risk = risk
      self.at = at
      self.isOver = isOver
    }
  }

  /// The last warning about each occurrence.
  public private(set) var sent: [OccurrenceID: SentWarning]

  /// Creates a history.
  public init(_ sent: [OccurrenceID: SentWarning] = [:]) {
    self.sent = sent
  }

  /// The distance above the warning level at which the risk has passed, in percent. It filters fluctuations.
  private static let margin = 10.0

  /// The minimum time between two warnings of the same risk, in seconds. It filters loose plugs and short loads.
  private static let pause: Int64 = 1800

  /// Updates the history and returns the predictions that are worse than the last warning.
  ///
  /// - Parameters:
  ///   - predictions: the predictions for all upcoming occurrences. Other occurrences are removed.
  ///   - isCharging: true if external power is connected, which ends all risks.
  /// - Returns: The warnings to deliver now.
  public mutating func worsened(
    _ predictions: [OccurrenceID: BatteryPrediction], isCharging: Bool, at now: Instant
  ) -> [OccurrenceID: BatteryWarning] {
    if isCharging {
      for key in sent.keys { sent[key]?.isOver = true }
      return [:]
    }
    sent = sent.filter { predictions[$0.key] != nil }
    var result: [OccurrenceID: BatteryWarning] = [:]
    for (key, prediction) in predictions {
      if let level = prediction.level,
        level > BatteryPrediction.warning + BatteryWarningHistory.margin
      {
        sent[key]?.isOver = true
      }
      guard let batteryWarning = BatteryWarning(prediction) else { continue }
      if let last = sent[key], batteryWarning.risk <= last.risk {
        // A clock that was set back delays no warning.
        let isRecent = (0..<BatteryWarningHistory.pause).contains(now.seconds(since: last.at))
        if !last.isOver || isRecent { continue }
      }
      result[key] = batteryWarning
    }
    return result
  }

  /// Records a delivered warning.
  public mutating func note(_ batteryWarning: BatteryWarning, of key: OccurrenceID, at now: Instant)
  {
    sent[key] = SentWarning(risk: batteryWarning.risk, at: now)
  }
}
