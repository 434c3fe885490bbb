import BelfryCore
import Git
import Subprocess
import SystemPackage

/// A recorder of answers to notifications. It runs child commands, so that a store that hangs or is damaged delays no
/// alarm.
public struct AnswerRecorder: Sendable {
  /// The path of the `belfry` binary.
  public let command: String
  /// The path of the store's folder.
  public let store: String
  private let variables: @Sendable () -> [String: String]
  private let warn: @Sendable ([CommandDiagnostic]) -> Void

  /// Creates a recorder.
  ///
  /// - Parameters:
  ///   - command: the path of the `belfry` binary.
  ///   - store: the path of the store's folder.
  ///   - variables: returns additional environment variables for the commands.
  ///   - warn: receives the warnings of a command that succeeded, such as a failed action.
  public init(
    command: String, store: String, variables: @escaping @Sendable () -> [String: String],
    warn: @escaping @Sendable ([CommandDiagnostic]) -> Void = { _ in }
  ) {
    self.warn = warn
    self.command = command
    self.store = store
    self.variables = variables
  }

  /// The timeout of one attempt, in seconds.
  private static let timeout = 60
  /// The delays before the retries, in seconds. The last one repeats.
  private static let backOff = [1, 2, 5, 10, 30, 60]
  /// The maximum number of attempts, which take about a day.
  private static let maxAttempts = 1_440

  /// The command that records one answer to several alarms, which it reads from standard input.
  public static let bulkCommand = "record-answer"

  /// The arguments and the standard input of a command.
  private typealias Command = (arguments: [String], input: [UInt8])

  /// Records an answer. Failed attempts are retried for about a day.
  ///
  /// - Returns: Nil if the answer was recorded or is no longer needed; otherwise the reason of the last failure.
  public func record(_ answer: DeliveredAnswer, to keys: [DeliveryKey]) async -> String? {
    guard case .answer(let answer) = answer else { return nil }
    let occurrences = keys.compactMap { key -> OccurrenceID? in
      guard let alarm = key.alarm, let occurrence = key.occurrence else { return nil }
      return OccurrenceID(alarm: alarm, occurrence: occurrence)
    }
    if occurrences.count > 1, let command = bulkCommand(answer, occurrences) {
      return await run(command)
    }
    var reason: String?
    for id in occurrences {
      if let failure = await run((arguments(answer, id), [])) { reason = failure }
    }
    return reason
  }

  /// Runs a command, repeatedly if it fails.
  private func run(_ command: Command) async -> String? {
    var reason: String?
    for attempt in 0..<AnswerRecorder.maxAttempts {
      if attempt > 0 {
        let delay = AnswerRecorder.backOff[min(attempt, AnswerRecorder.backOff.count) - 1]
        do {
          try await TimerThread.sleep(for: .seconds(delay))
        } catch {
          return reason
        }
      }
      let outcome = await TimedProcess.run(
        .path(FilePath(self.command)), command.arguments, input: command.input,
        variables: variables().merging([CommandDiagnostic.variable: "json"]) { $1 },
        seconds: AnswerRecorder.timeout)
      switch outcome {
      // 3: the alarm is gone. 4: the occurrence has been answered already.
      case .ended(0, _, let error):
        let warnings = ChildCommands.diagnostics(error)
        if !warnings.isEmpty { warn(warnings) }
        return nil
      case .ended(3, _, _), .ended(4, _, _): return nil
      case .ended(let status, _, let error):
        reason =
          ChildCommands.diagnostics(error).last { $0.isError }?.message
          ?? error.split(separator: "\n").first.map(String.init)
          ?? "the command exited with status \(status)"
      case .timedOut: reason = "the command timed out after \(AnswerRecorder.timeout) s"
      case .failed(let message): reason = message
      }
    }
    return reason
  }

  /// Returns the command that records an answer to several alarms in one commit; nil for an answer that needs one command
  /// for each, because it is not offered for several.
  private func bulkCommand(_ answer: Answer, _ occurrences: [OccurrenceID]) -> Command? {
    let verb: [String]
    switch answer {
    case .stop: verb = ["stop"]
    case .snooze(let seconds): verb = ["snooze", "--seconds", "\(seconds)"]
    case .done, .skip, .unskip, .dismiss: return nil
    }
    let lines = occurrences.map { "\($0.alarm.text) \($0.occurrence)\n" }.joined()
    return ([AnswerRecorder.bulkCommand] + verb + ["--store", store], Array(lines.utf8))
  }

  /// Returns the arguments of the command that records an answer to one alarm.
  private func arguments(_ answer: Answer, _ id: OccurrenceID) -> [String] {
    let verb: [String] =
      switch answer {
      case .stop: ["stop"]
      case .done: ["done"]
      case .snooze: ["snooze"]
      case .skip: ["skip", "--yes"]
      case .unskip: ["unskip"]
      case .dismiss: ["dismiss"]
      }
    var arguments =
      verb + [
        "--store", store, "--occurrence", id.occurrence.description,
        id.alarm.text,
      ]
    if case .snooze(let seconds) = answer { arguments.append(Span.code(seconds)) }
    return arguments
  }
}
