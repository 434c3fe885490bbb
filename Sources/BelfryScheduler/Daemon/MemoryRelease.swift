import BelfryCore
import CLinux

/// Gives memory back to the system once many deliveries are over: the allocator would keep it until the next burst.
struct MemoryRelease {
  /// Fewer deliveries than this leave nothing worth giving back.
  private static let burst = 8
  /// Seconds after the last of them, when their processes and tasks are gone too.
  private static let delay: Int64 = 10

  private var count = 0
  /// The time at which memory is released; nil when there is no need.
  private(set) var due: Instant?

  /// Notes deliveries that have begun or ended.
  mutating func note(_ deliveries: Int, at now: Instant) {
    count += deliveries
    if count > MemoryRelease.burst { due = now.adding(seconds: MemoryRelease.delay) }
  }

  /// Gives memory back when it is time.
  mutating func run(at now: Instant) {
    guard let due, due <= now else { return }
    self.due = nil
    count = 0
    _ = malloc_trim(0)
  }
}
