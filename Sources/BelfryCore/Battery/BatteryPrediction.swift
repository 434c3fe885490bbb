/// Whether a battery will last until a moment, by a linear drain.
///
/// ```
/// predicted = level − drain × hours        above 20   safe
///                                          above 5    warning
///                                          5 or less  critical: the machine may switch itself off before
/// ```
///
/// It is told apart before it is rounded, and shown rounded down: rather a false alarm than a missed one. What is not known
/// makes no alarm at all.
public struct BatteryPrediction: Hashable, Sendable {
  /// How likely it is that the battery does not last; the greater the worse.
  public enum Risk: String, Comparable, CaseIterable, Sendable {
    case safe, warning, critical

    public static func < (a: Risk, b: Risk) -> Bool {
      Risk.allCases.firstIndex(of: a)! < Risk.allCases.firstIndex(of: b)!
    }
  }

  /// What keeps a prediction from being made.
  public enum Unknown: String, Hashable, Sendable {
    /// There is no battery, or it does not tell.
    case level
    /// How fast it drains is not known yet, or it does not drain.
    case drain
    /// The moment has passed.
    case time
  }

  public let risk: Risk
  /// What is likely to be left, in percent, before rounding; below 0 when it is empty before. Nil when it is not known.
  public let level: Double?
  /// What is not known; nil when all is.
  public let unknown: Unknown?

  /// - Parameters:
  ///   - level: what is left now, in percent; nil when that is not known.
  ///   - drain: in percent per hour; nil when that is not known.
  ///   - hours: from now until the alarm.
  ///   - isCharging: whether power comes from outside, which is safe whatever the level.
  public init(level: Double?, drain: Double?, hours: Double, isCharging: Bool) {
    func isUsable(_ number: Double?) -> Bool { number.map { $0.isFinite } ?? false }
    if isCharging {
      // It does not fall below what it is.
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

  /// Far less than any battery tells, and more than what sums of binary fractions are off.
  private static let tolerance = 1e-9

  /// In percent: so much may be left for a warning, and for a critical one.
  static let warning = 20.0
  private static let critical = 5.0

  private static func risk(of level: Double) -> Risk {
    if level <= critical + tolerance { return .critical }
    return level <= warning + tolerance ? .warning : .safe
  }

  /// As it is shown: whole percent from 0 to 100, rounded down; nil when it is not known.
  public var predicted: Int? {
    level.map { Int(min(100, max(0, $0 + BatteryPrediction.tolerance)).rounded(.down)) }
  }
}
