import BelfryCore
import BelfryStore
import Synchronization

/// Records in the background that the event loop turns: a disk that hangs must not hold up what rings.
final class Heartbeat: Sendable {
  private struct State {
    var isWriting = false
    var promise: Instant?
  }
  private let state = Mutex(State())

  /// Records the moment by which the loop turns again, by the system's clock.
  func beat(_ lock: DaemonLock, until promise: Instant) {
    let starts = state.withLock { state in
      state.promise = promise
      defer { state.isWriting = true }
      return !state.isWriting
    }
    guard starts else { return }
    BackgroundThread.start { [self] in
      while let promise = next() { lock.beat(until: promise) }
    }
  }

  private func next() -> Instant? {
    state.withLock { state in
      defer { state.promise = nil }
      state.isWriting = state.promise != nil
      return state.promise
    }
  }
}
