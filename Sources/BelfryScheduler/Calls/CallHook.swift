import BelfryCore
import BelfryStore
import Glibc
import SystemPackage

/// The hook that calls a number or sends a message to a person: the user's own first, then the shipped one.
///
/// The hook gets the same JSON as other hooks, with `number` or `address`, and `message`. It prints `answered`, `busy`
/// or `no-answer`. A hook that exits with status 0 and prints nothing has succeeded.
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

  /// Returns the text of a call or message.
  ///
  /// - Parameters:
  ///   - source: the device whose alarm it is, as returned by `source(_:)`.
  ///   - note: an additional sentence; nil for none.
  public static func message(
    _ alarm: Alarm, due: CivilDateTime, from source: String, note: String?, isTest: Bool
  ) -> String {
    let kind = isTest ? "a test of an automated backup alarm" : "an automated backup alarm"
    let sentences = [
      "This is \(kind) from \(source).", "\(alarm.title), due at \(due.time).", note ?? "",
    ]
    return sentences.filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// Returns the name of a device with its owner, such as `Chris's laptop`; without an owner, the name alone.
  public static func source(_ device: Device?) -> String {
    guard let device else { return "another device" }
    guard let owner = device.owner, !device.name.lowercased().hasPrefix(owner.lowercased()) else {
      return device.name
    }
    return "\(owner)'s \(device.name)"
  }

  /// Calls a phone number or sends a message to a person, once.
  public func run(
    _ target: CascadeTarget, message: String, alarm: Alarm, occurrence: CivilDateTime, isTest: Bool
  ) async -> CallOutcome {
    let name: String
    var members: [String: JSON] = [
      "kind": "call", "alarm": JSON(alarm.id), "title": .string(alarm.title),
      "occurrence": JSON(occurrence), "message": .string(message), "test": .bool(isTest),
    ]
    var own = [
      "BELFRY_MESSAGE": message, "BELFRY_TITLE": alarm.title, "BELFRY_ALARM": alarm.id.text,
      "BELFRY_OCCURRENCE": occurrence.description, "BELFRY_TEST": isTest ? "true" : "false",
    ]
    switch target {
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
    case .device: return .failed([.notRun("a device is not called")])
    }
    let files: [String] = paths.map { "\($0)/\(name)" }.filter { access($0, F_OK) == 0 }
    var failures: [CallOutcome.HookFailure] = []
    for path in files {
      switch await run(path, JSON.object(members), own) {
      case .placed(let outcome): return outcome
      case .failed(let failure): failures.append(failure)
      }
    }
    return failures.isEmpty ? .hookMissing(name: name, folders: paths) : .failed(failures)
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
