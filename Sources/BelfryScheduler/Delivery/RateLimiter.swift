import Synchronization

/// A place for one at a time: the others wait, but not for ever.
final class Turn: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    var last = 0
  }
  private let state = Mutex(State())
  private let patience: Duration
  private let spacing: Duration

  /// - Parameters:
  ///   - patience: how long somebody waits before they go all the same.
  ///   - spacing: between the end of one and the beginning of the next.
  init(patience: Duration, spacing: Duration) {
    self.patience = patience
    self.spacing = spacing
  }

  /// Runs `body` when nobody else does, or after waiting long enough; returns nil without it when the task is cancelled
  /// first.
  func take<Result: Sendable>(_ body: @Sendable () async -> Result) async -> Result? {
    guard await enter() else { return nil }
    let result = await body()
    Task.detached { [self] in
      do { try await Task.sleep(for: spacing) } catch {}
      leave()
    }
    return result
  }

  /// Waits for the turn; returns false when the task was cancelled instead.
  private func enter() async -> Bool {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isAdmitted: Bool? = state.withLock { state in
          // Asked under the lock: a cancellation comes either before it, or finds it waiting.
          if Task.isCancelled { return false }
          if !state.isTaken {
            state.isTaken = true
            return true
          }
          state.waiting.append((number, continuation))
          return nil
        }
        if let isAdmitted { return continuation.resume(returning: isAdmitted) }
        Task.detached { [self, patience] in
          do { try await Task.sleep(for: patience) } catch { return }
          remove(number)?.resume(returning: true)
        }
      }
    } onCancel: {
      remove(number)?.resume(returning: false)
    }
  }

  private func remove(_ number: Int) -> CheckedContinuation<Bool, Never>? {
    state.withLock { state in
      state.waiting.firstIndex { $0.number == number }
        .map { state.waiting.remove(at: $0).continuation }
    }
  }

  private func leave() {
    let next = state.withLock { state in
      if state.waiting.isEmpty {
        state.isTaken = false
        return CheckedContinuation<Bool, Never>?.none
      }
      return state.waiting.removeFirst().continuation
    }
    next?.resume(returning: true)
  }
}
