import BelfryCore

/// The schedule of `belfry tick --settle`, which commits outcomes. One runs at a time.
struct SettlementSchedule {
  private var isRunning = false
  private var due: Instant?
  private var failures: Int64 = 0

  /// The time of the next run; nil if none is needed or one runs.
  var nextWake: Instant? { isRunning ? nil : due }

  /// Requests a run.
  mutating func request(at time: Instant) { due = due.map { min($0, time) } ?? time }

  /// Makes a requested run due now, after the clock was set.
  mutating func reset(to now: Instant) { if due != nil { due = now } }

  /// Starts a run if one is due. Returns true if it has to start.
  mutating func start(at now: Instant) -> Bool {
    guard !isRunning, let due, due <= now else { return false }
    self.due = nil
    isRunning = true
    return true
  }

  /// Records the end of a run. A failed run is repeated after 4 s, then with exponential back-off up to 60 s.
  mutating func finish(failed: Bool, at now: Instant) {
    isRunning = false
    failures = failed ? failures + 1 : 0
    if failed {
      request(
        at: Instant(milliseconds: now.milliseconds + min(60_000, 2_000 << min(failures, 5))))
    }
  }
}
