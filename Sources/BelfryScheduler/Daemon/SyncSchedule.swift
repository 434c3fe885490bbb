import BelfryCore

/// When a daemon syncs: soon after something has changed here, often while somebody elsewhere may have answered,
/// seldom otherwise.
struct SyncSchedule {
  /// The seconds between two syncs, by how things stand.
  static func interval(_ urgency: AlarmQueue.SyncUrgency) -> Int64 {
    switch urgency {
    case .cascading: 5
    case .ringing: 15
    case .waiting: 60
    case .guarding: 120
    case .quiet: 600
    }
  }
  /// The seconds between a change here and the sync that sends it: several changes go together.
  static let settling: Int64 = 2
  /// The longest that a failed sync holds up the next, in seconds.
  private static let mostPatience: Int64 = 900

  private var lastEnd: Instant?
  /// When the running one began, and when the last one did that has ended: what it has learned is as of then.
  private var began: Instant?
  private var lastBegan: Instant?
  private var failures: Int64 = 0
  private var changed: Instant?
  private(set) var isRunning = false

  /// When the next one is due; nil while one runs.
  func next(_ urgency: AlarmQueue.SyncUrgency, now: Instant) -> Instant? {
    if isRunning { return nil }
    guard let lastEnd else { return now }
    // Who cannot be reached is not asked every few seconds, however much there is to tell.
    // But where cascade steps ring for want of news.
    let interval =
      failures == 0 || urgency == .cascading
      ? SyncSchedule.interval(urgency)
      : max(15, min(SyncSchedule.mostPatience, 15 << min(failures - 1, 6)))
    let regular = lastEnd.adding(seconds: interval)
    guard let changed, failures == 0 else { return regular }
    return min(regular, changed.adding(seconds: urgency == .cascading ? 0 : SyncSchedule.settling))
  }

  /// Whether it has been tried to learn what others have done so lately that another try would tell nothing new.
  func isFresh(at now: Instant) -> Bool {
    // Not when it ended: the machine may have slept over it.
    guard let lastBegan else { return false }
    return abs(now.seconds(since: lastBegan)) <= 3 * SyncSchedule.interval(.cascading)
  }

  /// The next one is wanted now.
  mutating func demand() { lastEnd = nil }

  /// Something has changed here that others do not have.
  mutating func noteChange(at now: Instant) {
    if changed == nil { changed = now }
  }

  mutating func begin(at now: Instant) {
    began = now
    isRunning = true
    changed = nil
  }

  mutating func end(at now: Instant, succeeded: Bool) {
    isRunning = false
    lastEnd = now
    lastBegan = began
    failures = succeeded ? 0 : failures + 1
  }

  /// The clock was set: what was reckoned by it counts no more.
  mutating func forget() {
    lastEnd = nil
    changed = nil
  }
}
