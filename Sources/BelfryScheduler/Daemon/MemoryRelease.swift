import BelfryCore
import CLinux
import Glibc

/// A schedule for returning free memory to the system after many deliveries. The allocator would keep it.
struct MemoryRelease {
  /// The number of deliveries up to which no memory is released.
  private static let threshold = 8
  /// The delay after the last delivery, in seconds. By then its processes and tasks have ended.
  private static let delay: Int64 = 10

  private var count = 0
  /// The time at which memory is released; nil if no release is scheduled.
  private(set) var due: Instant?

  /// Counts deliveries that have started or ended.
  mutating func recordDeliveries(_ deliveries: Int, at now: Instant) {
    count += deliveries
    if count > MemoryRelease.threshold { due = now.adding(seconds: MemoryRelease.delay) }
  }

  /// Releases memory if the time has come.
  mutating func releaseIfDue(at now: Instant) {
    guard let due, due <= now else { return }
    self.due = nil
    count = 0
    MemoryRelease.release()
  }

  /// Returns free memory to the system, and the code and constants that were last used by what has ended: at the start,
  /// half of the resident memory.
  static func release() {
    _ = malloc_trim(0)
    belfry_release_code(Int(sysconf(Int32(_SC_PAGESIZE))))
  }
}
