import BelfryCore
import BelfryStore

/// The schedule of rounds, in which the daemon compares all files with the known alarms and reads the time zones again.
///
/// A round is a safeguard against changes that were not reported. It accompanies another wake-up, and the daemon wakes up
/// for it only where the system does not report all changes, such as on a network file system.
struct RoundSchedule {
  /// The time between two rounds, in seconds.
  private static let interval: Int64 = 900

  /// The time from which a round accompanies a wake-up.
  private(set) var due: Instant
  /// The time of a round that was requested; nil without one.
  private var requested: Instant?
  /// The time zones in the last round.
  private var zones: ZoneLibrary

  init(_ context: StoreContext) {
    due = context.now.adding(seconds: RoundSchedule.interval)
    zones = context.zones
  }

  /// Returns the time at which the daemon wakes up for a round; nil if it need not.
  ///
  /// - Parameter seesAllChanges: true if every change of a file is reported.
  func nextWake(seesAllChanges: Bool) -> Instant? { seesAllChanges ? requested : due }

  /// Requests a round at a time.
  mutating func request(at time: Instant) {
    requested = time
    due = min(due, time)
  }

  /// Starts a round. Returns true if the time zones have changed since the last one.
  mutating func start(_ context: StoreContext) -> Bool {
    due = context.now.adding(seconds: RoundSchedule.interval)
    requested = nil
    defer { zones = context.zones }
    return !zones.hasSameRules(as: context.zones)
  }
}
