import Dispatch
import Synchronization

/// A bridge that runs asynchronous work from synchronous commands.
///
/// Use it on the main thread only. A blocked thread of the task pool may wait for work that never gets a thread.
enum Blocking {
  /// Runs asynchronous work and blocks until it returns.
  static func run<Result: Sendable>(_ work: @escaping @Sendable () async -> Result) -> Result {
    let done = DispatchSemaphore(value: 0)
    let box = Box<Result>()
    Task.detached {
      let result = await work()
      box.value.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    return box.value.withLock { $0 }!
  }

  private final class Box<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
  }
}
