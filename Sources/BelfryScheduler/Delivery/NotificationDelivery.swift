import BelfryCore

/// The user's answer to a delivered notification.
public enum DeliveredAnswer: Hashable, Sendable {
  /// An answer that changes the occurrence.
  case answer(Answer)
  /// A request for the next follow-up, as scheduled. It changes nothing.
  case remind

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
}

/// The outcome of a delivery.
public enum DeliveryOutcome: Hashable, Sendable {
  /// The notification was delivered and the delivery has ended, with the answer if there was one.
  case delivered(DeliveredAnswer?)
  /// The notification was delivered and the delivery continues until it is answered, in the process of the lease owner.
  case attended(leaseOwner: String)
  /// Every channel failed, with the reason of each.
  case undelivered([String])
  /// The notification was answered or no longer needed before any channel had delivered it.
  case withdrawn
}

/// A method of delivering notifications to the user.
public protocol NotificationDelivery: Sendable {
  /// Delivers a notification. Returns as soon as it was delivered or every channel has failed.
  ///
  /// - Parameter snooze: the length of a snooze that is answered without a length, in seconds.
  func deliver(_ notification: Notification, snooze: Int64) async -> DeliveryOutcome
}
