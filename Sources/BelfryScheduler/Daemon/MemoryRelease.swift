import BelfryCore
import CLinux
import Glibc

/// A schedule for returning memory to the system after the start and after many deliveries. The process would keep it.
struct MemoryRelease {
  /// The number of deliveries up to which no memory is released.
  private static let threshold = 8
  /// The delay in seconds, after which the processes and tasks of a start or delivery have ended.
  private static let delay: Int64 = 10

  private var count = 0
  /// The time at which memory is released; nil if no release is scheduled.
  private(set) var due: Instant?

  /// Schedules a release, because much has been done that is done once.
  mutating func request(at now: Instant) { due = now.adding(seconds: MemoryRelease.delay) }

  /// Counts deliveries that have started or ended.
  mutating func recordDeliveries(_ deliveries: Int, at now: Instant) {
    count += deliveries
    if count > MemoryRelease.threshold { request(at: now) }
  }

  /// Releases memory if the time has come.
  mutating func releaseIfDue(at now: Instant) {
    guard let due, due <= now else { return }
    self.due = nil
    count = 0
    // Free memory, and the code and constants that were last used by what has ended: half of the resident memory.
    _ = malloc_trim(0)
    belfry_release_code(Int(sysconf(Int32(_SC_PAGESIZE))))
  }
}
