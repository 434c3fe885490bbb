import BelfryCore
import BelfryStore

/// A later step of an alarm that some device is to call, or to send word to.
public struct Callout: Hashable, Sendable {
  public let alarm: Identifier
  public let occurrence: CivilDateTime
  public let target: CascadeTarget
  /// When its turn came.
  public let due: Instant
  /// Whether it is only rehearsed.
  public let isTest: Bool

  public init(
    alarm: Identifier, occurrence: CivilDateTime, target: CascadeTarget, due: Instant, isTest: Bool
  ) {
    self.alarm = alarm
    self.occurrence = occurrence
    self.target = target
    self.due = due
    self.isTest = isTest
  }

  init(alarm: Identifier, _ callout: Evaluation.Callout) {
    self.init(
      alarm: alarm, occurrence: callout.occurrence, target: callout.target, due: callout.due,
      isTest: callout.isTest)
  }

  /// The command that sees to it.
  public var arguments: [String] {
    [
      "cascade", "contact", alarm.text, "--occurrence", occurrence.description, "--due",
      due.rfc3339Milliseconds,
    ] + (isTest ? ["--test"] : [])
  }

  /// The variable that names the target to that command: every user of the machine can list arguments, and a number or
  /// a person is nobody else's business.
  public static let targetVariable = "BELFRY_CASCADE_TARGET"
  public var variables: [String: String] { [Callout.targetVariable: target.key] }

  /// What is noted of it here.
  public var key: String { Store.callKey(alarm, occurrence, target) }
}

/// What came of one call.
public enum CallOutcome: Hashable, Sendable {
  case answered
  /// Why nobody answered, in words.
  case failed(String)

  /// What the others are to know of it.
  var claim: CallElection.Claim.Outcome {
    switch self {
    case .answered: .answered
    case .failed: .failed
    }
  }
}
