import BelfryCore
import BelfryStore
import Glibc
import SystemPackage

/// The hook that calls a number or sends a message to a person: the user's own first, then the shipped one.
///
/// The hook gets the same JSON as other hooks, with `number` or `address`, and `message`. It prints `answered`, `busy`
/// or `no-answer`. A hook that exits with status 0 and prints nothing has succeeded. If both hooks fail, the outcome has
/// the failure of the user's own.
public struct CallHook: Sendable {
  private let paths: [String]
  private let variables: [String: String]
  private let timeout: Int

  /// The default timeout of a call, in seconds.
  public static let defaultTimeout = 150

  /// The time to hang up after a cancellation or timeout, in seconds.
  private static let grace = 10

  /// Creates a hook.
  ///
  /// - Parameters:
  ///   - folders: the folders to search for the hook, in order.
  ///   - variables: additional environment variables: the call provider.
  ///   - timeout: the timeout of a call, in seconds.
  public init(
    folders: [String], variables: [String: String], timeout: Int = CallHook.defaultTimeout
  ) {
    paths = folders
    self.variables = variables
    self.timeout = timeout
  }

  /// Calls a phone number or sends a message to a person, once.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - message: The text to speak or send.
  public func run(_ call: Notification.Call, message: String) async -> CallOutcome {
    let title = call.subject?.title ?? "Test"
    let name: String
    var members: [String: JSON?] = [
      "kind": "call", "alarm": call.subject.map { JSON($0.alarm) }, "title": .string(title),
      "occurrence": call.subject?.occurrence.map { JSON($0) }, "message": .string(message),
      "test": .bool(call.isTest),
    ]
    var own = [
      "BELFRY_MESSAGE": message, "BELFRY_TITLE": title,
      "BELFRY_ALARM": call.subject?.alarm.text ?? "",
      "BELFRY_OCCURRENCE": call.subject?.occurrence?.description ?? "",
      "BELFRY_TEST": call.isTest ? "true" : "false",
    ]
    switch call.target {
    case .phone(let number, _):
      name = "call"
      members["number"] = .string(number.e164)
      own["BELFRY_NUMBER"] = number.e164
    case .person(let person):
      name = "person"
      members["person"] = .string(person.name)
      members["address"] = person.address.map { .string($0) }
      own["BELFRY_PERSON"] = person.name
      own["BELFRY_ADDRESS"] = person.address ?? ""
    case .device, .phoneTasks: return .failed([.notRun("a device is not called")])
    }
    let files: [String] = paths.map { "\($0)/\(name)" }.filter { access($0, F_OK) == 0 }
    var first: CallOutcome.HookFailure?
    for path in files {
      switch await run(path, JSON.object(omittingNil: members), own) {
      case .placed(let outcome): return outcome
      // The advice of the shipped hook does not apply to a user who has set up a hook.
      case .failed(let failure): first = first ?? failure
      }
    }
    return first.map { .failed([$0]) } ?? .hookMissing(name: name, folders: paths)
  }

  /// The result of one executable.
  private enum Attempt {
    /// The call was placed, so no other executable may be tried.
    case placed(CallOutcome)
    /// The call was not placed.
    case failed(CallOutcome.HookFailure)
  }

  /// Runs one executable.
  private func run(
    _ path: String, _ input: JSON, _ own: [String: String]
  ) async -> Attempt {
    let outcome = await TimedProcess.run(
      .path(FilePath(path)), [], input: input.document,
      variables: variables.merging(own) { $1 }, seconds: timeout, grace: CallHook.grace)
    switch outcome {
    case .ended(0, let output, _):
      let line = String(decoding: output, as: UTF8.self).split(separator: "\n").last.map(
        String.init)
      switch line {
      case "busy": return .placed(.busy)
      case "no-answer": return .placed(.noAnswer)
      default: return .placed(.answered)
      }
    case .ended(let status, _, let error):
      let line = error.split(separator: "\n").last.map(String.init)
      let message = line.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
      return .failed(message.map { .message($0) } ?? .exited(status: status))
    case .timedOut: return .failed(.timedOut(seconds: timeout))
    case .failed(let reason): return .failed(.notRun(reason))
    }
  }
}
