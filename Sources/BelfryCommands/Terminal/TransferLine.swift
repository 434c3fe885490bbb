import BelfryTerminal
import Git
import Glibc
import Synchronization

/// The progress of a transfer on one line of the terminal, which is cleared at the end.
final class TransferLine: Sendable {
  private let isShown: Bool
  private let state = Mutex<(began: ContinuousClock.Instant, text: String)>((.now, ""))

  /// The time before the line appears. Shorter transfers show none.
  private static let delay = Duration.milliseconds(500)

  init() {
    isShown = isatty(STDERR_FILENO) == 1
  }

  /// Shows a progress report, and restarts the watchdog.
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

  /// Clears the line.
  func clear() {
    state.withLock { state in
      if !state.text.isEmpty { Console.overwrite("") }
      state = (.now, "")
    }
  }
}
