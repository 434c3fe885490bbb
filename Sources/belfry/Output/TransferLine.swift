import Git
import Glibc
import Synchronization

/// How far a transfer has come, on one line of the terminal that is written over and gone at the end.
final class TransferLine: Sendable {
  private let isShown: Bool
  private let state = Mutex<(began: ContinuousClock.Instant, text: String)>((.now, ""))

  /// What is over sooner than this needs no line.
  private static let delay = Duration.milliseconds(500)

  init() {
    isShown = isatty(STDERR_FILENO) == 1
  }

  /// Takes note of a step.
  func show(_ step: GitCommand.Progress) {
    Watchdog.feed()
    guard isShown else { return }
    state.withLock { state in
      let text = "\(step.phase): \(step.percent) %"
      guard text != state.text, ContinuousClock.now - state.began > TransferLine.delay else {
        return
      }
      state.text = text
      Console.overwrite(text)
    }
  }

  /// Takes the line away.
  func clear() {
    state.withLock { state in
      if !state.text.isEmpty { Console.overwrite("") }
      state = (.now, "")
    }
  }
}
