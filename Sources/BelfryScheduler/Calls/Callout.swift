import BelfryCore
import BelfryStore

/// A cascade step whose target is a phone number or a person, which a device has to call or message.
public struct Callout: Hashable, Sendable {
  /// The alarm.
  public let alarm: Identifier
  /// The occurrence that rings.
  public let occurrence: CivilDateTime
  /// The phone number or person.
  public let target: CascadeTarget
  /// The time at which the cascade step became due.
  public let due: Instant
  /// True for a rehearsal.
  public let isTest: Bool

  /// Creates a callout.
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

  /// The arguments of the `belfry` command that makes the call.
  public var arguments: [String] {
    [
      "cascade", "contact", alarm.text, "--occurrence", occurrence.description, "--due",
      due.rfc3339Milliseconds,
    ] + (isTest ? ["--test"] : [])
  }

  /// The environment variable with the target for that command. The target is not an argument, because every user of
  /// the machine can list the arguments of processes.
  public static let targetVariable = "BELFRY_CASCADE_TARGET"
  /// The environment variables for that command.
  public var variables: [String: String] { [Callout.targetVariable: target.key] }

  /// The key of the call in the local records.
  public var key: String { Store.callKey(alarm, occurrence, target) }
}

extension CallOutcome {
  /// The outcome in the claim at the remote.
  var claim: CallElection.Claim.Outcome { self == .answered ? .answered : .failed }
}
