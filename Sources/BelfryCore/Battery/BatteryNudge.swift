/// What a person is told whose battery may not last until an alarm: made afresh from a prediction, never stored. Where the
/// battery will last there is none, and not a word.
public struct BatteryNudge: Hashable, Sendable {
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
public struct NudgeNotes: Hashable, Sendable {
  public struct Key: Hashable, Sendable {
    public let alarm: Identifier
    public let occurrence: CivilDateTime

    public init(alarm: Identifier, occurrence: CivilDateTime) {
      self.alarm = alarm
      self.occurrence = occurrence
    }
  }

  /// The worst that was told of each.
  public private(set) var told: [Key: BatteryPrediction.Risk]

  public init(_ told: [Key: BatteryPrediction.Risk] = [:]) {
    self.told = told
  }

  /// What a prediction has to be above the limit for the matter to count as over, in percent: a level that wavers about it is
  /// no news.
  private static let margin = 10.0

  /// Forgets what is over, and returns which of the predictions are worse than what was told: those to be told now.
  ///
  /// - Parameters:
  ///   - predictions: of all alarms that are near. What was told of others is forgotten.
  ///   - isCharging: a charge ends it all: the next worsening is a new one.
  public mutating func worsened(
    _ predictions: [Key: BatteryPrediction], isCharging: Bool
  ) -> [Key: BatteryNudge] {
    if isCharging {
      told = [:]
      return [:]
    }
    told = told.filter { key, _ in
      guard let prediction = predictions[key] else { return false }
      return prediction.level.map { $0 <= 20 + NudgeNotes.margin } ?? true
    }
    var result: [Key: BatteryNudge] = [:]
    for (key, prediction) in predictions {
      guard let nudge = BatteryNudge(prediction), nudge.risk > told[key] ?? .safe else { continue }
      result[key] = nudge
    }
    return result
  }

  /// Notes that somebody was told.
  public mutating func note(_ nudge: BatteryNudge, of key: Key) { told[key] = nudge.risk }
}
