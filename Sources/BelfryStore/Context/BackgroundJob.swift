import Dispatch
import Synchronization

/// The result of work that runs in another thread or task, and that threads and tasks can wait for.
public final class BackgroundJob<Value: Sendable>: Sendable {
  private let result = Mutex<Value?>(nil)
  private let group = DispatchGroup()

  /// Creates a job for work that the caller starts. The work calls `finish(_:)` once.
  public init() { group.enter() }

  /// Starts work that mostly waits, such as for the disk, in a thread of its own.
  public convenience init(_ work: @escaping @Sendable () -> Value) {
    self.init()
    BackgroundThread.start { self.finish(work()) }
  }

  /// Ends the job with its result.
  public func finish(_ value: Value) {
    result.withLock { $0 = value }
    group.leave()
  }

  /// Blocks the current thread until the job ends, and returns its result.
  public func wait() -> Value {
    group.wait()
    guard let value = result.withLock({ $0 }) else {
      preconditionFailure("a job has ended without a result")
    }
    return value
  }

  /// Blocks the current thread until the job ends, and returns its result; nil on timeout.
  ///
  /// The job continues after a timeout. Changes of the wall clock do not affect the timeout.
  public func wait(within limit: Duration) -> Value? {
    _ = group.wait(timeout: .now() + limit / .seconds(1))
    return result.withLock { $0 }
  }

  /// Suspends the current task until the job ends, and returns its result; nil on timeout.
  ///
  /// The job continues after a timeout.
  public func value(within limit: Duration) async -> Value? {
    if let value = result.withLock({ $0 }) { return value }
    return await withCheckedContinuation { continuation in
      BackgroundThread.start { continuation.resume(returning: self.wait(within: limit)) }
    }
  }
}
