import BelfryCore
import Git

/// The files of the local state, each with its writers and the effect of its loss.
extension LocalState {
  /// The delivery ledger, `ledger.json`: the deliveries of the last 40 days.
  ///
  /// Written by every process that delivers, under `ledger.lock`, before and after each delivery. No change waits for
  /// the disk: a claim ends with its process, so that a power failure, too, can only cause another delivery. Without the
  /// file, `ledgerBackup` is used.
  var ledger: LocalFile<DeliveryLedger> {
    LocalFile(
      path: folder + "/ledger.json", format: .ledger,
      exclusion: .lock(ledgerLock, required: false), isDurable: false)
  }

  /// The delivery ledger as the last checkpoint flushed it, `ledger-backup.json`.
  ///
  /// Linked by each checkpoint. Without it and `ledger`, alarms that ring are delivered again.
  var ledgerBackup: LocalFile<DeliveryLedger> {
    LocalFile(
      path: folder + "/ledger-backup.json", format: .ledger, exclusion: .storeLock,
      isDurable: false)
  }

  /// Returns the delivery ledger at a path in memory, which is used while `ledger` cannot be written, under its lock.
  static func spareLedger(_ path: String) -> LocalFile<DeliveryLedger> {
    LocalFile(path: path, format: .ledger, exclusion: .storeLock, isDurable: false)
  }

  /// The known heartbeats of the other devices, `alive.json`, and the last heartbeat of this one.
  ///
  /// Written by every sync. Without it, devices count as never seen until the next sync.
  var heartbeats: LocalFile<DeviceHeartbeats> {
    LocalFile(
      path: folder + "/alive.json", format: .heartbeats,
      exclusion: .lock(folder + "/alive.lock", required: false), isDurable: false)
  }

  /// The notes of merge decisions without a merge commit, `set-aside`: one JSON object per line.
  ///
  /// Written by git's merge driver. Without it, `belfry conflicts` doesn't show these decisions.
  var decisionNotes: LocalFile<[UInt8]> {
    LocalFile(
      path: folder + "/set-aside", format: .lines(maxSize: DecisionNotes.maxReadSize),
      exclusion: .lock(folder + "/set-aside.lock", required: false), isDurable: false)
  }

  /// The signature of the settings when they were last committed, `settings`.
  ///
  /// Written by the holder of the store's lock. Without it, the next command reads the settings again.
  var settings: LocalFile<String?> {
    LocalFile(
      path: folder + "/settings", format: .text, exclusion: .storeLock, isDurable: false)
  }

  /// The signature of the holiday calendars when they were last committed, `calendars`.
  ///
  /// Written by the holder of the store's lock. Without it, the next command that evaluates reads them again.
  var calendars: LocalFile<String?> {
    LocalFile(
      path: folder + "/calendars", format: .text, exclusion: .storeLock, isDurable: false)
  }

  /// The commit at which Belfry left the branch, `seen`.
  ///
  /// Written by the holder of the store's lock. Without it, a branch that was moved back isn't restored.
  private var seen: LocalFile<ObjectID?> {
    LocalFile(path: folder + "/seen", format: .commit, exclusion: .storeLock, isDurable: false)
  }

  /// Returns the commit at which Belfry left the branch, or nil if it is unknown.
  func readSeen() -> ObjectID? { seen.read() }

  /// Records the commit at which Belfry left the branch. A write error is ignored: the branch is then not restored.
  func noteSeen(_ commit: ObjectID) { try? seen.replace(with: commit) }

  /// The time of a commit in a pack, `head-time`: its id, and its seconds since the epoch.
  ///
  /// Written by any process that has read it with libgit2. Without it, the next one reads it again.
  private var headTime: LocalFile<String?> {
    LocalFile(path: folder + "/head-time", format: .text, exclusion: .none, isDurable: false)
  }

  /// Returns the time of a commit if it is the one that was noted last.
  func notedTime(of commit: ObjectID) -> Instant? {
    let words = (headTime.read() ?? "").split(separator: " ")
    guard words.count == 2, words[0] == commit.description, let seconds = Int64(words[1]) else {
      return nil
    }
    return Instant(seconds: seconds)
  }

  /// Records the time of a commit. A write error is ignored.
  func noteTime(of commit: Commit) {
    try? headTime.replace(with: "\(commit.id) \(commit.time)")
  }

  /// Work that a device does again and again.
  enum Routine: String {
    case tick, sync
    /// The name of its file is older.
    case maintenance = "tidying"
  }

  /// The time when routine work was last completed, `last-tick` and others.
  ///
  /// Written by the process that completed the work. Without it, the work counts as never done.
  private func lastRun(_ routine: Routine) -> LocalFile<Instant?> {
    LocalFile(
      path: "\(folder)/last-\(routine.rawValue)", format: .instant, exclusion: .none,
      isDurable: false)
  }

  /// Returns the time when routine work was last completed, or nil if it is unknown.
  func last(_ routine: Routine) -> Instant? { lastRun(routine).read() }

  /// Records that routine work was completed. A write error is ignored, because the time is informative only.
  func note(_ routine: Routine, at now: Instant) { try? lastRun(routine).replace(with: now) }
}
