import BelfryStore
import Dispatch
import Synchronization

/// A worker that runs blocking jobs one after another, outside the thread pool that tasks share.
///
/// A disk that hangs blocks every thread that writes to it, and the write cannot be interrupted. A job that may hang
/// runs here: it blocks a dedicated thread, and its callers wait for a limited time.
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
  func start<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> BlockingJob<Value> {
    let job = BlockingJob<Value>()
    enqueue { job.finish(work()) }
    return job
  }
}

/// A job of a `BlockingWorker` and its result.
final class BlockingJob<Value: Sendable>: Sendable {
  private let result = Mutex<Value?>(nil)
  private let group = DispatchGroup()

  fileprivate init() {
    group.enter()
  }

  fileprivate func finish(_ value: Value) {
    result.withLock { $0 = value }
    group.leave()
  }

  /// Blocks the current thread until the job ends, and returns its result; nil on timeout.
  ///
  /// The job continues after a timeout.
  func wait(within limit: Duration) -> Value? {
    _ = group.wait(timeout: .now() + limit / .seconds(1))
    return result.withLock { $0 }
  }

  /// Suspends the current task until the job ends, and returns its result; nil on timeout.
  ///
  /// The job continues after a timeout.
  func value(within limit: Duration) async -> Value? {
    if let value = result.withLock({ $0 }) { return value }
    return await withCheckedContinuation { continuation in
      BackgroundThread.start { continuation.resume(returning: self.wait(within: limit)) }
    }
  }
}
