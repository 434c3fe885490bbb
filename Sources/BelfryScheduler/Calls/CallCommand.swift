import BelfryCore

/// The command line of `belfry cascade contact`, by which a scheduler makes the call of a callout.
public struct CallCommand: Hashable, Sendable {
  /// The callout.
  public let callout: Callout

  /// Creates the command of a callout.
  public init(_ callout: Callout) {
    self.callout = callout
  }

  /// The arguments of `belfry`.
  public var arguments: [String] {
    let subject =
      switch callout.id.subject {
      case .occurrence(let id, let resumed):
        ["--occurrence", id.occurrence.description, "--due", callout.due.rfc3339Milliseconds]
          + (resumed.map { ["--resumed", $0.rfc3339Milliseconds] } ?? [])
      case .rehearsal(_, let requested): ["--rehearsal", requested.rfc3339Milliseconds]
      }
    return ["cascade", "contact", callout.alarm.text] + subject
  }

  /// The environment variable with the target. The target is not an argument, because every user of the machine can list
  /// the arguments of processes.
  public static let targetVariable = "BELFRY_CASCADE_TARGET"

  /// The environment variables of the command.
  public var variables: [String: String] { [CallCommand.targetVariable: callout.target.key] }
}
