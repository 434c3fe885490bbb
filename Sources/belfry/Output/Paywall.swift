import BelfryCore

/// What is said when the tier allows no further alarm.
enum Paywall {
  static func limit(_ tier: Settings.Tier, _ limit: Int) -> String {
    "you have reached the \(limit)-alarm limit of the tier \(tier.rawValue)."
  }

  /// What the next tier brings, and the command that switches.
  static let offer = """
    Plus brings:
      * any number of alarms
      * Stop is not Done: what you stop is
        pending until you confirm it
      * it asks again at +30, +60, +90 min
      * strict alarms, which ring again
    Switch with: belfry tier plus
    Or make room: belfry delete ALARM
    """
}
