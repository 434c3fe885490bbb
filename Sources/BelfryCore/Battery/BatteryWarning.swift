/// What a person is told whose battery may not last until an alarm: made afresh from a prediction, never stored. Where the
/// battery will last there is none, and not a word.
public struct BatteryWarning: Hashable, Sendable {
  /// Warning or critical.
  public let risk: BatteryPrediction.Risk
  /// What will be left, in whole percent.
  public let predicted: Int

  public init?(_ prediction: BatteryPrediction) {
    guard prediction.risk != .safe, let predicted = prediction.predicted else { return nil }
    risk = prediction.risk
    self.predicted = predicted
  }

  /// Nil for `safe`.
  public init?(risk: BatteryPrediction.Risk, predicted: Int) {
    guard risk != .safe else { return nil }
    self.risk = risk
    self.predicted = predicted
  }

  /// What it is about: `Alarm at Risk`.
  public var title: String { risk == .critical ? "Alarm at Risk" : "Low Battery Warning" }
  /// What matters most: `Estimated battery at alarm: 0%`.
  public var headline: String { "Estimated battery at alarm: \(predicted)%" }
  /// What to do: `Plug in now.`
  public var action: String { risk == .critical ? "Plug in now." : "Consider plugging in." }
}

/// What was told of the battery, so that each worsening is told once.
public struct BatteryWarningHistory: Hashable, Sendable {
  public struct Key: Hashable, Sendable {
    public let alarm: Identifier
    public let occurrence: CivilDateTime

    public init(alarm: Identifier, occurrence: CivilDateTime) {
      self.alarm = alarm
      self.occurrence = occurrence
    }
  }

  /// What was told of an occurrence.
  public struct Told: Hashable, Sendable {
    /// The worst.
    public var risk: BatteryPrediction.Risk
    /// When that was.
    public var at: Instant
    /// It was over since: what comes then is a new worsening.
    public var isOver: Bool

    public init(risk: BatteryPrediction.Risk, at: Instant, isOver: Bool = false) {
      self.risk = risk
      self.at = at
      self.isOver = isOver
    }
  }

  public private(set) var told: [Key: Told]

  public init(_ told: [Key: Told] = [:]) {
    self.told = told
  }

  /// What a prediction has to be above the limit for the matter to count as over, in percent: a level that wavers about it is
  /// no news.
  private static let margin = 10.0

  /// Between two words of the same, in seconds: a plug may be loose, and a load come and go.
  private static let pause: Int64 = 1800

  /// Marks what is over, and returns which of the predictions are worse than what was told: those to be told now.
  ///
  /// - Parameters:
  ///   - predictions: of all alarms that are near. What was told of others is forgotten.
  ///   - isCharging: a charge ends it all, and predictions say nothing.
  public mutating func worsened(
    _ predictions: [Key: BatteryPrediction], isCharging: Bool, at now: Instant
  ) -> [Key: BatteryWarning] {
    if isCharging {
      for key in told.keys { told[key]?.isOver = true }
      return [:]
    }
    told = told.filter { predictions[$0.key] != nil }
    var result: [Key: BatteryWarning] = [:]
    for (key, prediction) in predictions {
      if let level = prediction.level,
        level > BatteryPrediction.warning + BatteryWarningHistory.margin
      {
        told[key]?.isOver = true
      }
      guard let batteryWarning = BatteryWarning(prediction) else { continue }
      if let told = told[key], batteryWarning.risk <= told.risk {
        // A clock that was set back holds nothing up.
        let isRecent = (0..<BatteryWarningHistory.pause).contains(now.seconds(since: told.at))
        if !told.isOver || isRecent { continue }
      }
      result[key] = batteryWarning
    }
    return result
  }

  /// Notes that somebody was told.
  public mutating func note(_ batteryWarning: BatteryWarning, of key: Key, at now: Instant) {
    told[key] = Told(risk: batteryWarning.risk, at: now)
  }
}
