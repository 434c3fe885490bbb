import BelfryCore

/// The schedule of a daemon's syncs: soon after a local change, frequently while other devices may have answered an
/// alarm, and rarely otherwise.
struct SyncSchedule {
  /// Returns the time between two syncs, in seconds.
  static func interval(_ urgency: AlarmQueue.SyncUrgency) -> Int64 {
    switch urgency {
    case .cascading: 5
    case .ringing: 15
    case .waiting: 60
    case .guarding: 120
    case .quiet: 600
    }
  }
  /// The delay between a local change and its sync, in seconds. It combines several changes into one sync.
  static let changeDelay: Int64 = 2
  /// The maximum back-off after failed syncs, in seconds.
  private static let maxBackOff: Int64 = 900

  /// The end of the last sync; nil before the first one, and after `requestNow()` and `reset()`.
  private var lastEnd: Instant?
  /// The start of the running sync.
  private var began: Instant?
  /// The start of the last completed sync, which is the time of the state that it fetched.
  private var lastBegan: Instant?
  /// The number of consecutive failures.
  private var failures: Int64 = 0
  /// The time of the first change that no sync has pushed, and of its sync; nil without one.
  private var change: (at: Instant, due: Instant)?
  /// True while a sync runs.
  private(set) var isRunning = false

  /// Returns the time of the next sync; nil while one runs.
  func next(_ urgency: AlarmQueue.SyncUrgency, now: Instant) -> Instant? {
    if isRunning { return nil }
    guard let lastEnd else { return now }
    // After a failure the interval backs off, whatever the urgency. During a cascade it does not, because each step
    // depends on the answers of other devices.
    let interval =
      failures == 0 || urgency == .cascading
      ? SyncSchedule.interval(urgency)
      : max(15, min(SyncSchedule.maxBackOff, 15 << min(failures - 1, 6)))
    let regular = lastEnd.adding(seconds: interval)
    guard let change, failures == 0 else { return regular }
    return min(regular, urgency == .cascading ? change.at : change.due)
  }

  /// Returns true if the last sync is so recent, successful or not, that another one would fetch nothing new.
  func isFresh(at now: Instant) -> Bool {
    // The start counts, not the end: the machine may have slept during the sync.
    guard let lastBegan else { return false }
    return abs(now.seconds(since: lastBegan)) <= 3 * SyncSchedule.interval(.cascading)
  }

  /// Makes the next sync due immediately.
  mutating func requestNow() { lastEnd = nil }

  /// True if the last sync has failed.
  var hasFailed: Bool { failures > 0 }

  /// Records a local change that other devices do not have yet.
  ///
  /// - Parameter isUrgent: True to sync it at once.
  mutating func noteChange(at now: Instant, isUrgent: Bool = false) {
    if change == nil { change = (now, now.adding(seconds: SyncSchedule.changeDelay)) }
    if isUrgent { expediteChange(at: now) }
  }

  /// Makes the sync of a local change due now, if there is one.
  mutating func expediteChange(at now: Instant) {
    if let change { self.change = (change.at, min(change.due, now)) }
  }

  /// Discards the local change, because the other devices have it.
  mutating func discardChange() { change = nil }

  /// Records the start of a sync.
  mutating func begin(at now: Instant) {
    began = now
    isRunning = true
    change = nil
  }

  /// Records the end of a sync.
  mutating func end(at now: Instant, succeeded: Bool) {
    isRunning = false
    lastEnd = now
    lastBegan = began
    failures = succeeded ? 0 : failures + 1
  }

  /// Discards the recorded times, for example after the clock was set. The next sync is due immediately.
  mutating func reset() {
    lastEnd = nil
    change = nil
  }
}
