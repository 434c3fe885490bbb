import BelfryCore

/// The schedule of attempts to write the ledger after the disk did not take it.
struct LedgerRetry {
  /// True while something was delivered that the disk has not taken.
  private(set) var isUnwritten = false
  /// The time of the next attempt; nil while the disk hangs, because its response starts one.
  private(set) var nextWake: Instant?
  private var failures: Int64 = 0

  /// The maximum time between two attempts, in seconds.
  private static let maxInterval: Int64 = 30

  /// Records the result of a write. Returns true if the disk has now taken everything that it had not.
  mutating func record(_ ledger: SharedLedger, at now: Instant) -> Bool {
    guard ledger.hasUnwritten else {
      defer { self = LedgerRetry() }
      return isUnwritten
    }
    let pause = min(LedgerRetry.maxInterval, 1 << min(failures, 5))
    nextWake = ledger.isStuck ? nil : now.adding(seconds: pause)
    failures += 1
    isUnwritten = true
    return false
  }

  /// Makes the next attempt due now, because the disk has taken something else.
  mutating func retryNow(_ ledger: SharedLedger, at now: Instant) {
    if isUnwritten, !ledger.isStuck { nextWake = now }
  }

  /// Makes the next attempt due now, because the disk responds again.
  mutating func diskRecovered(at now: Instant) { nextWake = now }

  /// Returns true if an attempt is due.
  func isDue(at now: Instant) -> Bool { nextWake.map { $0 <= now } ?? false }
}
