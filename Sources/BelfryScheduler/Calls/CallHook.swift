import BelfryCore
import BelfryStore
import Glibc
import SystemPackage

/// Calls a number, or sends word to a person, through an executable: the user's own first, then the shipped one.
///
/// It gets the same JSON as other hooks, with `number` or `address`, and `message`; it prints `answered`, `busy` or
/// `no-answer`, and one that ends well without a word has done its work.
public struct CallHook: Sendable {
  private let paths: [String]
  private let variables: [String: String]
  private let timeout: Int

  /// How long a call may take, in seconds.
  public static let patience = 150

  /// The time in seconds that the hook has to hang up when the call is cancelled.
  private static let grace = 10

  /// - Parameters:
  ///   - folders: where the hook may be, the first first.
  ///   - variables: what it gets beside the call's own: how calls are placed.
  public init(
    folders: [String], variables: [String: String], timeout: Int = CallHook.patience
  ) {
    paths = folders
    self.variables = variables
    self.timeout = timeout
  }

  /// What is said in a call.
  ///
  /// - Parameter source: whose device it is about: `Chris's laptop`.
  public static func message(
    _ alarm: Alarm, due: CivilDateTime, from source: String, note: String?, isTest: Bool
  ) -> String {
    let kind = isTest ? "a test of an automated backup alarm" : "an automated backup alarm"
    let sentences = [
      "This is \(kind) from \(source).", "\(alarm.title), due at \(due.time).", note ?? "",
    ]
    return sentences.filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// Whose device it is, in words: `Chris's laptop`, or its name alone.
  public static func source(_ device: Device?) -> String {
    guard let device else { return "another device" }
    guard let owner = device.owner, !device.name.lowercased().hasPrefix(owner.lowercased()) else {
      return device.name
    }
    return "\(owner)'s \(device.name)"
  }

  /// Calls once, or sends word once.
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
    case .device: return .failed("a device rings by itself")
    }
    let files: [String] = paths.map { "\($0)/\(name)" }.filter { access($0, F_OK) == 0 }
    var reasons: [String] = []
    for path in files {
      let (outcome, isFinal) = await run(path, JSON.object(members), own)
      if isFinal { return outcome }
      if case .failed(let reason) = outcome { reasons.append(reason) }
    }
    return .failed(
      reasons.isEmpty
        ? "there is no executable '\(name)' in \(paths.joined(separator: ", "))"
        : reasons.joined(separator: "; "))
  }

  /// Returns what came of it, and whether it is of no use to try another way.
  private func run(
    _ path: String, _ input: JSON, _ own: [String: String]
  ) async -> (CallOutcome, isFinal: Bool) {
    let outcome = await TimedProcess.run(
      .path(FilePath(path)), [], input: input.document,
      variables: variables.merging(own) { $1 }, seconds: timeout, grace: CallHook.grace)
    switch outcome {
    case .ended(0, let output, _):
      let word = String(decoding: output, as: UTF8.self).split(separator: "\n").last.map(
        String.init)
      switch word {
      case "busy": return (.failed("it was busy"), true)
      case "no-answer": return (.failed("nobody answered"), true)
      default: return (.answered, true)
      }
    case .ended(let status, _, let error):
      let line = error.split(separator: "\n").last.map(String.init)
      let words = line.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
      return (.failed(words ?? "the hook ended with \(status)"), false)
    case .timedOut: return (.failed("the hook did not end within \(timeout) seconds"), false)
    case .failed(let reason): return (.failed(reason), false)
    }
  }
}
