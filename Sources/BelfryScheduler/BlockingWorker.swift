import Dispatch
import Synchronization

/// Runs blocking work one job after the other, away from the threads that tasks share.
///
/// A disk that hangs holds every thread that writes to it, and nothing can interrupt that. Work that may hang runs
/// here: it then holds one thread that nobody else needs, and its callers wait for a limited time only.
final class BlockingWorker: Sendable {
  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var isRunning = false
  }
  private let state = Mutex(State())

  /// Runs a job when those before it have ended; returns at once.
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

  /// Runs a job whose result somebody waits for; returns at once.
  func start<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> BlockingJob<Value> {
    let job = BlockingJob<Value>()
    enqueue { job.finish(work()) }
    return job
  }
}

/// Work that a `BlockingWorker` does, and its result.
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

  /// Blocks this thread until the job has ended, and returns its result; nil when it has not ended in time. It then
  /// runs on.
  func wait(within limit: Duration) -> Value? {
    _ = group.wait(timeout: .now() + limit / .seconds(1))
    return result.withLock { $0 }
  }

  /// The same for a task, of which no thread is blocked.
  func value(within limit: Duration) async -> Value? {
    if let value = result.withLock({ $0 }) { return value }
    return await withCheckedContinuation { continuation in
      BackgroundThread.start { continuation.resume(returning: self.wait(within: limit)) }
    }
  }
}
