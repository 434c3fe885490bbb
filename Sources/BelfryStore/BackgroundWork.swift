import Dispatch
import Synchronization

/// Work that mostly waits for the disk, and runs in a thread of its own while its caller does something else.
final class BackgroundWork<Failure: Error>: Sendable {
  private let group = DispatchGroup()
  private let failure = Mutex<Failure?>(nil)

  /// Starts the work.
  init(_ work: @escaping @Sendable () throws(Failure) -> Void) {
    group.enter()
    BackgroundThread.start { [self] in
      do throws(Failure) {
        try work()
      } catch {
        failure.withLock { $0 = error }
      }
      group.leave()
    }
  }

  /// Waits for the end of the work.
  ///
  /// - Throws: The error of the work.
  func wait() throws(Failure) {
    group.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}
