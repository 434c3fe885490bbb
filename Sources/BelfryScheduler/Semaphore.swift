import CLinux
import Glibc

// Sound: the pointer never changes, any thread may call `sem_post` and `sem_wait` on the semaphore, and `deinit` runs
// after the last use.
/// A counting semaphore.
public final class Semaphore: @unchecked Sendable {
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  /// Creates a semaphore with the count 0.
  public init() { sem_init(semaphore, 0, 0) }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  /// Adds 1 to the count, which wakes one waiting thread.
  public func signal() { sem_post(semaphore) }

  /// Blocks the thread until the count is above 0, and subtracts 1.
  public func wait() { while sem_wait(semaphore) != 0, errno == EINTR {} }

  /// Waits like `wait()`, or until a timeout.
  func wait(nanoseconds: Int64) {
    guard nanoseconds > 0 else { return }
    // The monotonic clock, as changes of the wall clock must not affect the timeout.
    var limit = timespec()
    clock_gettime(CLOCK_MONOTONIC, &limit)
    let end = Int64(limit.tv_nsec) + nanoseconds
    limit.tv_sec += Int(end / 1_000_000_000)
    limit.tv_nsec = Int(end % 1_000_000_000)
    while sem_clockwait(semaphore, CLOCK_MONOTONIC, &limit) != 0, errno == EINTR {}
  }
}
