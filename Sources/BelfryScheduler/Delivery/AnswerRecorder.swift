import BelfryCore

/// A recorder of answers to notifications. It runs child commands, so that a store that hangs or is damaged delays no
/// alarm.
public struct AnswerRecorder: Sendable {
  private let commands: ChildCommands
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
    commands = ChildCommands(command: command, store: store, variables: variables)
  }

  /// The timeout of one attempt, in seconds.
  private static let timeout = 60
  /// The delays before the retries, in seconds. The last one repeats.
  private static let backOff = [1, 2, 5, 10, 30, 60]
  /// The maximum number of attempts, which take about a day.
  private static let maxAttempts = 1_440

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
    var result = Result.recorded
    for batch in AnswerRecorder.batches(of: occurrences, for: answer) {
      let next = await run(.recordAnswer(answer, batch, at: now), delayed)
      if case .recorded = next { continue }
      result = next
    }
    return result
  }

  /// Returns the occurrences that are answered in one commit each time: all at once, or one by one for an answer that a
  /// notification of several alarms does not offer.
  private static func batches(of occurrences: [OccurrenceID], for answer: Answer)
    -> [[OccurrenceID]]
  {
    if occurrences.isEmpty { return [] }
    return switch answer {
    case .stop, .snooze: [occurrences]
    case .done, .skip, .unskip, .dismiss: occurrences.map { [$0] }
    }
  }

  /// Runs a command, repeatedly if it fails.
  private func run(
    _ command: ChildCommand, _ delayed: @Sendable (String) -> Void
  ) async -> Result {
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
      let result = await commands.run(command, timeout: AnswerRecorder.timeout)
      guard let failure = result.failure else {
        if !result.warnings.isEmpty { warn(result.warnings) }
        return .recorded
      }
      switch result.exitCode {
      // The alarm is gone.
      case .noSuchAlarm: return .recorded
      case .notPossible: return .refused(failure)
      case .failed, .usage, .tierLimit, .network, .locked, nil: reason = failure
      }
    }
    return .failed(reason)
  }
}
