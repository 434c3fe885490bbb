import BelfryStore
import Synchronization

/// A writer of a value that changes often, such as the event loop's heartbeat. It writes in the background, because a disk
/// that hangs must not block the loop, and it skips values that were replaced before they were written.
final class LatestValueWriter<Value: Sendable>: Sendable {
  private struct State {
    var isWriting = false
    /// The value that is not written yet; nil without one.
    var value: Value?
  }
  private let state = Mutex(State())
  private let write: @Sendable (Value) -> Void

  /// Creates a writer.
  ///
  /// - Parameter write: writes a value, in a thread that may block. Calls do not overlap.
  init(_ write: @escaping @Sendable (Value) -> Void) {
    self.write = write
  }

  /// Writes a value soon, unless a later one replaces it.
  func submit(_ value: Value) {
    let starts = state.withLock { state in
      state.value = value
      defer { state.isWriting = true }
      return !state.isWriting
    }
    guard starts else { return }
    BackgroundThread.start { [self] in
      while let value = next() { write(value) }
    }
  }

  private func next() -> Value? {
    state.withLock { state in
      defer { state.value = nil }
      state.isWriting = state.value != nil
      return state.value
    }
  }
}
