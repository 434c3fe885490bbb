import Synchronization

/// A place for one at a time: the others wait, but not for ever.
final class Turn: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [(number: Int, continuation: CheckedContinuation<Void, Never>)] = []
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

  /// Runs `body` when nobody else does, or after waiting long enough.
  func take<Result: Sendable>(_ body: @Sendable () async -> Result) async -> Result {
    await enter()
    let result = await body()
    Task.detached { [self] in
      do { try await Task.sleep(for: spacing) } catch {}
      leave()
    }
    return result
  }

  private func enter() async {
    await withCheckedContinuation { continuation in
      let number: Int? = state.withLock { state in
        if !state.isTaken {
          state.isTaken = true
          return nil
        }
        state.last += 1
        state.waiting.append((state.last, continuation))
        return state.last
      }
      guard let number else { return continuation.resume() }
      Task.detached { [self, patience] in
        do { try await Task.sleep(for: patience) } catch { return }
        let late = state.withLock { state in
          state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        late?.continuation.resume()
      }
    }
  }

  private func leave() {
    let next = state.withLock { state in
      if state.waiting.isEmpty {
        state.isTaken = false
        return CheckedContinuation<Void, Never>?.none
      }
      return state.waiting.removeFirst().continuation
    }
    next?.resume()
  }
}
