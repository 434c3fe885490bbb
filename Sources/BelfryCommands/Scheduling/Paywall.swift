import BelfryCore

/// The messages for features that the tier does not include.
enum Paywall {
  static func limit(_ tier: Settings.Tier, _ limit: Int) -> String {
    "you have reached the \(limit)-alarm limit of the tier \(tier.rawValue)."
  }

  static func partners(_ tier: Settings.Tier) -> String {
    "partners are part of the tier premium; yours is \(tier.rawValue)."
  }

  /// The features of the tier premium and the command that switches to it.
  static let partnersOffer = """
    Premium includes all of Plus, and
      * partners, who may set alarms on your
        devices, as you may on theirs
      * end-to-end encryption through any
        git remote, without a server
      * ❤️ Got it, and short replies
    Switch with: belfry tier premium
    """

  /// The features of the tier plus and the command that switches to it.
  static let offer = """
    Plus includes:
      * any number of alarms
      * Stop is not Done: a stopped alarm is
        pending until you confirm it
      * follow-ups at +30, +60, +90 min
      * strict alarms, which ring again
    Switch with: belfry tier plus
    Or delete an alarm: belfry delete ALARM
    """
}
