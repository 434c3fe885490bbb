import BelfryCore

/// A method of delivering notifications to the user.
public protocol NotificationDelivery: Sendable {
  /// Delivers a group in one notification. Returns as soon as it was delivered or every channel has failed.
  ///
  /// - Parameter snooze: the length of a snooze that is answered without a length, in seconds.
  /// - Returns: the outcome of each of the deliveries.
  func deliver(_ group: DeliveryGroup, snooze: Int64) async -> DeliveryOutcome
}

extension NotificationDelivery {
  /// Delivers one notification.
  public func deliver(_ delivery: PendingDelivery, snooze: Int64) async -> DeliveryOutcome {
    await deliver(DeliveryGroup(delivery), snooze: snooze)
  }
}

extension DeliveredAnswer {
  /// Parses a line that a hook prints: `done`, `stop`, `skip`, `snooze 10m`, `remind`. Nil for any other line.
  ///
  /// - Parameter snooze: the length of a snooze without a length, in seconds.
  init?(_ line: Substring, snooze: Int64) {
    let parts = line.split(separator: " ").map(String.init)
    switch (parts.first, parts.count) {
    case ("done", 1): self = .answer(.done())
    case ("stop", 1): self = .answer(.stop)
    case ("skip", 1): self = .answer(.skip())
    case ("remind", 1): self = .remind
    case ("snooze", 1): self = .answer(.snooze(seconds: snooze))
    case ("snooze", 2):
      guard let seconds = Span.parse(parts[1]) else { return nil }
      self = .answer(.snooze(seconds: seconds))
    default: return nil
    }
  }

  /// The line that `init(_:snooze:)` parses.
  var line: String {
    switch self {
    case .remind: "remind"
    case .answer(.stop): "stop"
    case .answer(.snooze(let seconds)): "snooze \(Span.code(seconds))"
    case .answer(.skip): "skip"
    case .answer: "done"
    }
  }
}
