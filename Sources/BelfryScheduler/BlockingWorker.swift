import BelfryStore
import Synchronization

/// A worker that runs blocking jobs one after another, outside the thread pool that tasks share.
///
/// A disk that hangs blocks every thread that writes to it, and the write cannot be interrupted. A job that may hang
/// runs here: it blocks a dedicated thread, and its callers wait for a limited time. A serial queue of Dispatch could
/// block them without limit, see `BackgroundThread`.
final class BlockingWorker: Sendable {
  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var isRunning = false
  }
  private let state = Mutex(State())

  /// Enqueues a job and returns immediately. The job runs after all earlier jobs.
  func enqueue(_ job: @escaping @Sendable () -> Void) {
    let wasIdle = state.withLock { state in
      state.jobs.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard wasIdle else { return }
    BackgroundThread.start {
      while let job = self.next() { job() }
    }
  }

  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      if state.jobs.isEmpty {
        state.isRunning = false
        return nil
      }
      return state.jobs.removeFirst()
    }
  }

  /// Enqueues a job with a result and returns immediately.
  func start<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> BackgroundJob<Value> {
    let job = BackgroundJob<Value>()
    enqueue { job.finish(work()) }
    return job
  }
}
