/// The predicted battery level at a moment, assuming a constant drain.
///
/// ```
/// predicted = level − drain × hours        above 20   safe
///                                          above 5    warning
///                                          5 or less  critical: the machine may shut down first
/// ```
///
/// The displayed level is rounded down, and the risk follows from it. Both favor a false alarm over a missed one. Unknown
/// values cause no warning.
public struct BatteryPrediction: Hashable, Sendable {
  /// The risk that the battery is empty at the moment, in ascending order.
  public enum Risk: String, Comparable, CaseIterable, Sendable {
    /// More than 20 percent, 20 percent or less, 5 percent or less.
    case safe, warning, critical

    /// Returns true if one risk is lower than another.
    public static func < (a: Risk, b: Risk) -> Bool {
      Risk.allCases.firstIndex(of: a)! < Risk.allCases.firstIndex(of: b)!
    }
  }

  /// The reason why no level can be predicted.
  public enum Unknown: String, Hashable, Sendable {
    /// There is no battery, or it reports no level.
    case level
    /// The drain is not known yet, or the level does not fall.
    case drain
    /// The moment has passed.
    case time
  }

  /// The risk; `safe` if the level is unknown.
  public let risk: Risk
  /// The predicted level in percent before rounding; negative if the battery is empty earlier, nil if unknown.
  public let level: Double?
  /// The missing value; nil if a level was predicted or external power is connected.
  public let unknown: Unknown?

  /// True if the drain is a typical one, as nothing is measured yet.
  public let isAssumed: Bool

  /// Predicts the level.
  ///
  /// - Parameters:
  ///   - level: the current level in percent; nil if unknown.
  ///   - drain: the drain in percent per hour; nil if unknown.
  ///   - hours: the time until the alarm, in hours.
  ///   - isCharging: true if external power is connected, which is safe at any level.
  ///   - isAssumed: true if the drain is a typical one.
  public init(
    level: Double?, drain: Double?, hours: Double, isCharging: Bool, isAssumed: Bool = false
  ) {
    self.isAssumed = isAssumed
    func isUsable(_ number: Double?) -> Bool { number.map { $0.isFinite } ?? false }
    if isCharging {
      // While charging, the level does not fall.
      (self.level, risk, unknown) = (level.flatMap { isUsable($0) ? $0 : nil }, .safe, nil)
    } else if !isUsable(level) {
      (self.level, risk, unknown) = (nil, .safe, .level)
    } else if !hours.isFinite || hours < 0 {
      (self.level, risk, unknown) = (nil, .safe, .time)
    } else if let level, let drain, drain.isFinite, drain > 0 {
      let left = level - drain * hours
      (self.level, risk, unknown) = (left, BatteryPrediction.risk(of: left), nil)
    } else {
      (self.level, risk, unknown) = (nil, .safe, .drain)
    }
  }

  /// A margin below the resolution of any gauge and above the rounding error of binary fractions.
  private static let tolerance = 1e-9

  /// The level up to which a prediction is a warning, in percent.
  static let warning = 20.0
  /// The level up to which a prediction is critical, in percent.
  private static let critical = 5.0

  private static func risk(of level: Double) -> Risk {
    let level = (level + tolerance).rounded(.down)
    if level <= critical { return .critical }
    return level <= warning ? .warning : .safe
  }

  /// The predicted level for display, rounded down to 0 to 100 percent; nil if unknown.
  public var predicted: Int? {
    level.map { Int(min(100, max(0, $0 + BatteryPrediction.tolerance)).rounded(.down)) }
  }
}
