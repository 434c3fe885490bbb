/// A notification that is due and not delivered.
public struct PendingDelivery: Hashable, Sendable {
  /// The time at which the notification was due.
  public let due: Instant
  /// The notification.
  public let notification: Notification
  /// True if another device may have got an answer that this one has not fetched: the device rings as a later step of a
  /// cascade, or stands in for others. A sync precedes such a delivery.
  public let mayBeAnswered: Bool

  /// The key of the delivery in the ledger.
  public var key: DeliveryKey { notification.key }
  /// The identity of the delivery.
  public var id: DeliveryID { DeliveryID(key: key, due: due) }

  /// Creates a pending delivery.
  public init(due: Instant, notification: Notification, mayBeAnswered: Bool = false) {
    self.due = due
    self.notification = notification
    self.mayBeAnswered = mayBeAnswered
  }
}

/// The outcome of a delivery.
public enum DeliveryOutcome: Hashable, Sendable {
  /// The notification was delivered and its channels have ended, with the user's answer if there was one.
  case delivered(DeliveredAnswer?)
  /// The notification was delivered, and its channels continue until it is answered, in the process with a name.
  case ongoing(owner: String)
  /// Every channel failed, with the reason of each.
  case undelivered([String])
  /// The notification was answered or no longer needed before any channel had delivered it.
  case withdrawn
}

/// The user's answer to a delivered notification.
public enum DeliveredAnswer: Hashable, Sendable {
  /// An answer that changes the occurrence.
  case answer(Answer)
  /// A request for the next follow-up, as scheduled. It changes nothing.
  case remind
}

/// The identity of one delivery: a notification that is due at a time.
public struct DeliveryID: Hashable, Sendable {
  /// The key in the ledger.
  public let key: DeliveryKey
  /// The time at which the notification was due.
  public let due: Instant

  /// Creates the identity of a delivery.
  public init(key: DeliveryKey, due: Instant) {
    self.key = key
    self.due = due
  }
}
