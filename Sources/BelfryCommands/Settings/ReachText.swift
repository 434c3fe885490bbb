import BelfryScheduler

/// The text about the channel that shows notifications.
enum ReachText {
  /// Returns true if a channel shows notifications.
  static func isReachable(_ reach: HookDelivery.Reach) -> Bool {
    if case .unreachable = reach { false } else { true }
  }

  /// Returns the channel, or the reason why there is none.
  static func text(_ reach: HookDelivery.Reach) -> String {
    switch reach {
    case .desktop(let service): service
    case .ownHook(let path): "your own hook, \(path)"
    case .terminals(let count, let reason): "terminals only (\(count) open; no desktop: \(reason))"
    case .unreachable(let reason): reason
    }
  }
}
