import BelfryCore
import Git

/// What an examination of a store has found, as a fact; what to do about it is the command line's to say.
public enum Finding: Sendable {
  // MARK: The repository

  /// It is as it should be.
  case repository(commits: Int, loose: Int, bytes: Int64)
  /// The file HEAD is not one.
  case headBroken
  /// The branch names no commit that is there and whole.
  case branchBroken(name: String, reason: String)
  /// A lock of git's; nil when nobody is at work with it.
  case lock(path: String, by: GitUser?)
  /// It has entries of commits that are not there.
  case reflogBroken(path: String)
  case indexMissing
  case indexDamaged(reason: String)
  case damagedObject(DamagedObject)
  /// An object that others name, and that is not there.
  case missingObject(kind: String, ObjectID)
  /// What else `git fsck` has to say.
  case complaint(String)
  /// So many that git becomes slow.
  case manyLooseObjects(Int)
  case operation(Repository.Operation)
  /// A commit of the past is checked out; the branch to return to, nil when it is not known.
  case past(String, branch: String?)
  /// A branch of another name than the usual one is checked out; whether there is one of that name, too.
  case otherBranch(String, hasMain: Bool)
  /// A write was interrupted: the next one finishes it.
  case interruptedWrite
  /// Part of the store belongs to another user.
  case foreign(path: String, user: UInt32)
  case unreadable(path: String, reason: String)
  /// Bytes free on the disk.
  case littleSpace(Int64)
  case readOnly
  /// The file system gives no locks, so that nothing can be written.
  case noLocks(reason: String)
  /// Something else lies where this device keeps what is its own.
  case localFolderReplaced(path: String)
  /// git's file of packed references has lines that name none.
  case packedReferencesDamaged(path: String, lines: Int)

  // MARK: The records

  case records(alarms: Int, deleted: Int, devices: Int)
  case record(RecordProblem)
  /// Records that are not committed, or changed since.
  case uncommitted([String])
  /// Records other than alarms that HEAD has and the work tree lacks.
  case removed([String])
  /// Records that the history has and HEAD lacks, without a tombstone.
  case dropped([String])
  /// Files that are no records.
  case strays([String])

  // MARK: The log

  case log(entries: Int)
  case entry(path: String, RecordError)
  case entryOfUnknownAlarm(path: String, Identifier)
  case entryOfUnknownDevice(path: String, Identifier)
  /// The log knows of an answer that the alarm's record does not.
  case answerLost(title: String, CivilDateTime, logged: Statistics.Outcome)

  // MARK: Time

  case clock(Instant)
  /// Something was recorded later than now.
  case clockBehind(Instant, path: String)
  /// The same by a clock that was ahead: what was recorded last is of the past.
  case writtenAhead(Instant, path: String)
  /// A clock that was ahead has settled occurrences that have not come.
  case settledAhead(title: String)
  /// A field was stamped more than a day ahead.
  case futureStamp(title: String, Stamp)
  case zones(local: String)
  case noZoneData
}
