import Dispatch
import Synchronization

/// Waits for asynchronous work from a command that is not.
///
/// Only for the main thread: a thread of the tasks' own pool that waits for another may wait for ever.
enum Blocking {
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
