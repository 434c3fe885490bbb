import BelfryCore

/// What a person answered through the delivery that reached them.
public enum DeliveredAnswer: Hashable, Sendable {
  case answer(Answer)
  /// Ask again, as was planned.
  case remind

  /// Reads the line that a hook prints: `done`, `stop`, `skip`, `snooze 10m`, `remind`.
  ///
  /// - Parameter snooze: how long a snooze without a length lasts, in seconds.
  init?(_ line: Substring, snooze: Int64) {
    let words = line.split(separator: " ").map(String.init)
    switch (words.first, words.count) {
    case ("done", 1): self = .answer(.done())
    case ("stop", 1): self = .answer(.stop)
    case ("skip", 1): self = .answer(.skip())
    case ("remind", 1): self = .remind
    case ("snooze", 1): self = .answer(.snooze(seconds: snooze))
    case ("snooze", 2):
      guard let seconds = Span.parse(words[1]) else { return nil }
      self = .answer(.snooze(seconds: seconds))
    default: return nil
    }
  }
}

/// What came of bringing a notice to a person.
public enum DeliveryOutcome: Hashable, Sendable {
  /// It reached them, and is over.
  case delivered(DeliveredAnswer?)
  /// It reached them, and goes on until it is answered: the process that is about it.
  case attended(leaseOwner: String)
  /// Every way was tried; the reason of each, in words.
  case undelivered([String])
  /// It was answered, or not wanted any more, before any way had reached the person.
  case withdrawn
}

/// A way to reach a person.
public protocol NotificationDelivery: Sendable {
  /// Brings a notice to the person; returns as soon as it has reached them, or cannot.
  ///
  /// - Parameter snooze: how long a snooze lasts that is answered without a length, in seconds.
  func deliver(_ notification: Notification, snooze: Int64) async -> DeliveryOutcome
}
