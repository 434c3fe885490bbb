import BelfryCore

/// What is said when the tier allows no further alarm.
enum Paywall {
  static func limit(_ tier: Settings.Tier, _ limit: Int) -> String {
    "you have reached the \(limit)-alarm limit of the tier \(tier.rawValue)."
  }

  static func partners(_ tier: Settings.Tier) -> String {
    "partners are part of the tier premium; yours is \(tier.rawValue)."
  }

  /// What premium brings beside them, and the command that switches.
  static let partnersOffer = """
    Premium brings all of Plus, and
      * partners, who may set alarms on your
        devices, and you on theirs
      * sealed end to end, through any git
        remote: no server of anybody's
      * ❤️ Got it, and a short reply
    Switch with: belfry tier premium
    """

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
