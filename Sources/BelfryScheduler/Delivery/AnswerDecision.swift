import BelfryCore

/// The decision whether an answer to a notification is accepted. Only an accepted answer ends the notification.
public final class AnswerDecision: Sendable {
  private let decision = FirstValue<Bool>()

  /// The time that the decision may take. Without one, the answer is accepted: a refusal by the store makes the alarm ring
  /// again.
  private static let timeout = Duration.seconds(2)

  /// Makes the decision. Only the first one counts.
  public func decide(isAccepted: Bool) { decision.set(isAccepted) }

  /// Returns true if the answer is accepted, once that is decided.
  func wait() async -> Bool {
    let limit = TimerThread.shared.run(after: AnswerDecision.timeout) { [decision] in
      decision.set(true)
    }
    defer { TimerThread.shared.cancel(limit) }
    return await decision.value
  }
}

/// The reason why an answer to a notification is refused.
public enum AnswerRefusal: Hashable, Sendable {
  /// The state of the alarm does not permit the answer.
  case notPossible(LifecycleError)
  /// Only a follow-up can be asked again.
  case notAFollowUp
  /// The command that records the answer has refused it, with its message.
  case command(String)
}
