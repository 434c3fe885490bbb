import BelfryCore

/// The alarms whose files have changed and were not read yet.
///
/// A sync writes many files, one after the other. The daemon reads them together as soon as no more of them change, so
/// that many alarms that are due share one notification. A command that has completed its write pokes the daemon, which
/// then reads all files at once.
struct ChangedAlarmFiles {
  private var alarms: Set<Identifier> = []
  /// The times of the first and of the last change.
  private var changes: (first: Instant, last: Instant)?

  /// The time without another change after which the files are read, in milliseconds.
  private static let quietTime: Int64 = 100
  /// The time after which the files are read although more of them change, in milliseconds.
  private static let maxDelay: Int64 = 1_000

  /// The time at which the files are read; nil without a change.
  var nextWake: Instant? {
    changes.map { first, last in
      min(
        Instant(milliseconds: last.milliseconds + ChangedAlarmFiles.quietTime),
        Instant(milliseconds: first.milliseconds + ChangedAlarmFiles.maxDelay))
    }
  }

  /// Records changed files.
  mutating func insert(_ ids: Set<Identifier>, at now: Instant) {
    alarms.formUnion(ids)
    changes = (min(changes?.first ?? now, now), now)
  }

  /// Returns the alarms whose files have to be read now; nil if there are none.
  mutating func take(at now: Instant) -> Set<Identifier>? {
    guard let nextWake, nextWake <= now else { return nil }
    defer { removeAll() }
    return alarms
  }

  /// Forgets the changes, because all files are read.
  mutating func removeAll() { (alarms, changes) = ([], nil) }
}
