import Synchronization

/// A writer of a value that changes often, such as the event loop's heartbeat. It writes in the background, because a
/// disk that hangs must not block the loop, and it skips values that were replaced before they were written.
final class LatestValueWriter<Value: Sendable>: Sendable {
  /// The value that is not written yet; nil without one.
  private let value = Mutex<Value?>(nil)
  private let worker = BlockingWorker()
  private let write: @Sendable (Value) -> Void

  /// Creates a writer.
  ///
  /// - Parameter write: writes a value, in a thread that may block. Calls do not overlap.
  init(_ write: @escaping @Sendable (Value) -> Void) {
    self.write = write
  }

  /// Writes a value soon, unless a later one replaces it.
  func submit(_ value: Value) {
    // If a value waits already, the job that writes it takes this one instead.
    if exchange(value) == nil {
      worker.enqueue { [self] in if let latest = exchange(nil) { write(latest) } }
    }
  }

  /// Replaces the value, and returns the replaced one.
  private func exchange(_ new: Value?) -> Value? {
    value.withLock { value in
      defer { value = new }
      return value
    }
  }
}
