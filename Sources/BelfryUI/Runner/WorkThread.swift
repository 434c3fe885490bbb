import BelfryStore
import CLinux
import Glibc
import Synchronization

/// A thread that performs work in order, and sleeps without.
///
/// Unlike a queue of Dispatch, whose monitor wakes each second, it never runs without work.
final class WorkThread: Sendable {
  private let waiting = Mutex<[@Sendable () -> Void]?>(nil)
  private let ends: (read: Int32, write: Int32)

  init() {
    var ends: [Int32] = [-1, -1]
    _ = pipe2(&ends, O_CLOEXEC)
    self.ends = (ends[0], ends[1])
  }

  /// Adds work. The thread starts with the first one.
  func add(_ work: @escaping @Sendable () -> Void) {
    let isFirst = waiting.withLock { waiting in
      let isFirst = waiting == nil
      waiting = (waiting ?? []) + [work]
      return isFirst
    }
    if isFirst { BackgroundThread.start { [self] in run() } }
    var byte: UInt8 = 1
    _ = write(ends.write, &byte, 1)
  }

  private func run() {
    var byte: UInt8 = 0
    while read(ends.read, &byte, 1) == 1 {
      let next = waiting.withLock { $0?.isEmpty == false ? $0?.removeFirst() : nil }
      next?()
    }
  }

  /// Performs work on the calling thread, after all that was added before.
  func finish<Result>(_ work: () -> Result) -> Result {
    if waiting.withLock({ $0 != nil }) {
      var ends: [Int32] = [-1, -1]
      guard pipe2(&ends, O_CLOEXEC) == 0 else { return work() }
      let (start, end) = (ends[0], ends[1])
      add { close(end) }
      var byte: UInt8 = 0
      while read(start, &byte, 1) < 0, errno == EINTR {}
      close(start)
    }
    return work()
  }
}
