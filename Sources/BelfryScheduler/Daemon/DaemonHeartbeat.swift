import BelfryCore
import BelfryStore
import Synchronization

/// A writer of the event loop's heartbeat. It writes in the background, because a disk that hangs must not block the
/// loop.
final class DaemonHeartbeat: Sendable {
  private struct State {
    var isWriting = false
    /// The deadline that is not written yet; nil without one.
    var deadline: Instant?
  }
  private let state = Mutex(State())

  /// Records a heartbeat with the deadline of the next one, by the system's clock.
  func beat(_ lock: LocalLock, until deadline: Instant) {
    let starts = state.withLock { state in
      state.deadline = deadline
      defer { state.isWriting = true }
      return !state.isWriting
    }
    guard starts else { return }
    BackgroundThread.start { [self] in
      while let deadline = next() { lock.setModificationTime(deadline) }
    }
  }

  private func next() -> Instant? {
    state.withLock { state in
      defer { state.deadline = nil }
      state.isWriting = state.deadline != nil
      return state.deadline
    }
  }
}
