import BelfryCore
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

  /// The result of recording an answer.
  public enum Result: Sendable {
    /// The store has the answer, or the alarm is gone.
    case recorded
    /// The state of the alarm does not permit the answer, with the message of the command.
    case refused(String)
    /// Every attempt failed, with the reason of the last one.
    case failed(String)

    /// True if the answer was refused.
    var isRefused: Bool { if case .refused = self { true } else { false } }
  }

  /// The variable with the time of an answer, in milliseconds since 1970, for the command that records it.
  public static let timeVariable = "BELFRY_ANSWERED_AT"

  /// Records an answer. Failed attempts are retried for about a day.
  ///
  /// - Parameters:
  ///   - now: the time of the answer; nil if it is unknown.
  ///   - delayed: receives the reason if the first attempt fails.
  public func record(
    _ answer: DeliveredAnswer, to keys: [DeliveryKey], at now: Instant?,
    delayed: @escaping @Sendable (String) -> Void = { _ in }
  ) async -> Result {
    guard case .answer(let answer) = answer else { return .recorded }
    let occurrences = keys.compactMap { key -> OccurrenceID? in
      guard let alarm = key.alarm, let occurrence = key.occurrence else { return nil }
      return OccurrenceID(alarm: alarm, occurrence: occurrence)
    }
    if occurrences.count > 1, let command = bulkCommand(answer, occurrences) {
      return await run(command, at: now, delayed)
    }
    var result = Result.recorded
    for id in occurrences {
      let next = await run((arguments(answer, id), []), at: now, delayed)
      if case .recorded = next { continue }
      result = next
    }
    return result
  }

  /// Runs a command, repeatedly if it fails.
  private func run(
    _ command: Command, at now: Instant?, _ delayed: @Sendable (String) -> Void
  ) async -> Result {
    var more = [CommandDiagnostic.variable: "json"]
    more[AnswerRecorder.timeVariable] = now.map { "\($0.milliseconds)" }
    var reason = "it was not tried"
    for attempt in 0..<AnswerRecorder.maxAttempts {
      if attempt > 0 {
        if attempt == 1 { delayed(reason) }
        let delay = AnswerRecorder.backOff[min(attempt, AnswerRecorder.backOff.count) - 1]
        do {
          try await TimerThread.sleep(for: .seconds(delay))
        } catch {
          return .failed(reason)
        }
      }
      let outcome = await TimedProcess.run(
        .path(FilePath(self.command)), command.arguments, input: command.input,
        variables: variables().merging(more) { $1 },
        seconds: AnswerRecorder.timeout)
      switch outcome {
      case .ended(0, _, let error):
        let warnings = ChildCommands.diagnostics(error)
        if !warnings.isEmpty { warn(warnings) }
        return .recorded
      // The alarm is gone.
      case .ended(3, _, _): return .recorded
      case .ended(let status, _, let error):
        reason =
          ChildCommands.diagnostics(error).last { $0.isError }?.message
          ?? error.split(separator: "\n").first.map(String.init)
          ?? "the command exited with status \(status)"
        // Not possible in the state of the alarm, such as after another answer.
        if status == 4 { return .refused(reason) }
      case .timedOut: reason = "the command timed out after \(AnswerRecorder.timeout) s"
      case .failed(let message): reason = message
      }
    }
    return .failed(reason)
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
