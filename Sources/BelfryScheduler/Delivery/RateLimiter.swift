import Synchronization

/// A limiter that runs one operation at a time, with a pause in between. Waiting is limited by a timeout.
final class RateLimiter: Sendable {
  private struct Waiting {
    let number: Int
    let continuation: CheckedContinuation<Bool, Never>
    /// The timer that ends the waiting.
    let timer: TimerThread.Timer

    /// Ends the waiting.
    func resume(admitted: Bool) {
      TimerThread.shared.cancel(timer)
      continuation.resume(returning: admitted)
    }
  }
  private struct State {
    /// True while an operation or the pause after it runs.
    var isBusy = false
    /// The waiting operations, in order.
    var waiting: [Waiting] = []
    /// The number of the last operation.
    var last = 0
  }
  private let state = Mutex(State())
  private let timeout: Duration
  private let spacing: Duration

  /// Creates a limiter.
  ///
  /// - Parameters:
  ///   - timeout: the maximum waiting time. After it, an operation runs even if another one does.
  ///   - spacing: the pause between two operations.
  init(timeout: Duration, spacing: Duration) {
    self.timeout = timeout
    self.spacing = spacing
  }

  /// Runs an operation after the earlier ones, or after the timeout.
  ///
  /// - Returns: The result; nil if the task was canceled while it waited. The operation did not run then.
  func run<Result: Sendable>(_ body: @Sendable () async -> Result) async -> Result? {
    guard await enter() else { return nil }
    let result = await body()
    TimerThread.shared.run(after: spacing) { [self] in leave() }
    return result
  }

  /// Waits for the earlier operations or the timeout. Returns false if the task was canceled.
  private func enter() async -> Bool {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isAdmitted: Bool? = state.withLock { state in
          // Checked under the lock, so that a cancellation is either seen here or finds the operation waiting.
          if Task.isCancelled { return false }
          if !state.isBusy {
            state.isBusy = true
            return true
          }
          let timer = TimerThread.shared.run(after: timeout) { [self] in
            remove(number)?.resume(admitted: true)
          }
          state.waiting.append(Waiting(number: number, continuation: continuation, timer: timer))
          return nil
        }
        if let isAdmitted { continuation.resume(returning: isAdmitted) }
      }
    } onCancel: {
      remove(number)?.resume(admitted: false)
    }
  }

  /// Removes and returns a waiting operation; nil if it no longer waits.
  private func remove(_ number: Int) -> Waiting? {
    state.withLock { state in
      state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
    }
  }

  /// Starts the next waiting operation.
  private func leave() {
    let next = state.withLock { state in
      if state.waiting.isEmpty {
        state.isBusy = false
        return Waiting?.none
      }
      return state.waiting.removeFirst()
    }
    next?.resume(admitted: true)
  }
}
