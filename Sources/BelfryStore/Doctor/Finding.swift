import BelfryCore
import Git
import Glibc

/// A fact that an examination of a store has found. The command line adds the advice.
public enum Finding: Sendable {
  // MARK: The repository

  /// The repository is intact. `loose` is the number of loose objects, `bytes` the size of the `.git` folder.
  case repository(commits: Int, loose: Int, bytes: Int64)
  /// The file HEAD is missing or doesn't contain a branch or a commit.
  case headBroken
  /// The branch doesn't point to a complete commit.
  case branchBroken(name: String, reason: String)
  /// A git lock file exists. The process that uses it is nil if there is none.
  case lock(path: String, by: GitUser?)
  /// A reflog has entries of missing commits.
  case reflogBroken(path: String)
  /// git's index is missing.
  case indexMissing
  /// git's index is damaged.
  case indexDamaged(reason: String)
  /// A loose object is damaged.
  case damagedObject(DamagedObject)
  /// A referenced object is missing.
  case missingObject(kind: String, ObjectID)
  /// `git fsck` reports another problem, which is the value.
  case complaint(String)
  /// The repository has more loose objects than git handles quickly.
  case manyLooseObjects(Int)
  /// An operation of the user's own git is unfinished.
  case operation(Repository.Operation)
  /// A commit is checked out instead of a branch. `branch` is the branch to return to; nil if it is unknown.
  case detachedHead(String, branch: String?)
  /// A branch other than `main` is checked out. `hasMain` is true if `main` exists, too.
  case otherBranch(String, hasMain: Bool)
  /// A write was interrupted. The next write completes it.
  case interruptedWrite
  /// The journal of the latest writes cannot be used, so nothing can be written. The reason is a clause about it.
  case journalUnusable(path: String, reason: String)
  /// A file or folder of the store belongs to another user.
  case foreign(path: String, user: UInt32)
  /// A file or folder of the store cannot be read.
  case unreadable(path: String, UnreadableReason)
  /// The disk is almost full. The value is the free space in bytes.
  case littleSpace(Int64)
  /// The file system is mounted read-only.
  case readOnly
  /// The file system doesn't support locks, so nothing can be written.
  case noLocks(reason: String)
  /// `.git/belfry`, the folder of this device's local state, is not a folder.
  case localFolderReplaced(path: String)
  /// git's file of packed references has malformed lines.
  case packedReferencesDamaged(path: String, lines: Int)

  // MARK: The records

  /// The number of records. `deleted` alarms are not included in `alarms`.
  case records(alarms: Int, deleted: Int, devices: Int)
  /// A record has a problem.
  case record(RecordProblem)
  /// Records are not committed, or have changed since.
  case uncommitted([String])
  /// Records in HEAD are missing from the work tree. Alarms are reported as `record`.
  case removed([String])
  /// Records in the history are missing from HEAD, without a tombstone.
  case dropped([String])
  /// Files in the store are not records.
  case strays([String])

  // MARK: The log

  /// The number of log entries.
  case log(entries: Int)
  /// A log entry's record is not valid.
  case entry(path: String, RecordError)
  /// A log entry belongs to an unknown alarm.
  case entryOfUnknownAlarm(path: String, Identifier)
  /// A log entry was made by an unknown device.
  case entryOfUnknownDevice(path: String, Identifier)
  /// The log contains an outcome that the alarm's record lacks.
  case answerLost(title: String, CivilDateTime, logged: Statistics.Outcome)

  // MARK: Time

  /// The clock is plausible.
  case clock(Instant)
  /// The latest log entry and the latest commit are in the future, so this device's clock may be behind.
  case clockBehind(Instant, path: String)
  /// The latest log entry is in the future, but the latest commit is not: the clock that wrote the entry was ahead.
  case writtenAhead(Instant, path: String)
  /// A clock that was ahead has settled future occurrences of an alarm.
  case settledAhead(title: String)
  /// A field of an alarm has a stamp more than a day in the future.
  case futureStamp(title: String, Stamp)
  /// The system's time zones can be read. `local` is the name of the local zone.
  case zones(local: String)
  /// The system has no time zone data.
  case noZoneData
}

extension Finding {
  /// The reason that a file or folder cannot be read.
  public enum UnreadableReason: Equatable, Sendable {
    /// A system call failed with an error number.
    case system(Int32)
    /// libgit2 reported an error.
    case git(GitError)

    /// True if this user lacks the permission.
    public var isDenied: Bool {
      switch self {
      case .system(let number): number == EACCES
      case .git(let error): error.cause == .system(EACCES)
      }
    }
  }
}
