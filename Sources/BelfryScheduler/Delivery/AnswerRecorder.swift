import BelfryCore
import Git
import Subprocess
import SystemPackage

/// Carries out what people answer to notices, through the command line: a store that hangs or is damaged then holds
/// up nobody who is about to ring.
public struct AnswerRecorder: Sendable {
  /// The binary.
  public let command: String
  /// The store's folder.
  public let store: String
  /// What the command gets beside the variables of this process.
  private let variables: @Sendable () -> [String: String]

  public init(
    command: String, store: String, variables: @escaping @Sendable () -> [String: String]
  ) {
    self.command = command
    self.store = store
    self.variables = variables
  }

  /// How long one try may take, in seconds.
  private static let patience = 60
  /// When it is tried again, in seconds after the last try; the last for as long as it is needed.
  private static let pauses = [1, 2, 5, 10, 30, 60]
  /// So often it is tried in all: for about a day.
  private static let mostTries = 1_440

  /// Records an answer, again and again while the store cannot be written to; returns why it could not, in words.
  public func record(_ answer: DeliveredAnswer, to notification: Notification) async -> String? {
    guard case .answer(let answer) = answer else { return nil }
    var reason: String?
    for attempt in 0..<AnswerRecorder.mostTries {
      if attempt > 0 {
        let pause = AnswerRecorder.pauses[min(attempt, AnswerRecorder.pauses.count) - 1]
        do {
          try await Task.sleep(for: .seconds(pause))
        } catch {
          return reason
        }
      }
      let outcome = await TimedProcess.run(
        .path(FilePath(command)), arguments(answer, notification), variables: variables(),
        seconds: AnswerRecorder.patience)
      switch outcome {
      // It was not there any more, or had been answered meanwhile.
      case .ended(0, _, _), .ended(3, _, _), .ended(4, _, _): return nil
      case .ended(_, _, let error):
        reason = error.split(separator: "\n").first.map(String.init) ?? "it failed"
      case .timedOut: reason = "it came to no end"
      case .failed(let words): reason = words
      }
    }
    return reason
  }

  private func arguments(_ answer: Answer, _ notification: Notification) -> [String] {
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
        "--store", store, "--occurrence", notification.occurrence.description,
        notification.alarm.text,
      ]
    if case .snooze(let seconds) = answer { arguments.append(Span.code(seconds)) }
    return arguments
  }
}
