import BelfryCore
import Git

/// An error of a store, as a fact. The command line adds the advice.
public enum StoreError: Error, Sendable {
  /// There is no store, and the command may not create one.
  case noStore(path: String)
  /// The path exists, but is not a store.
  case notAStore(path: String)
  /// `.git/belfry`, the folder of this device's local state, is not a folder.
  case localFolderReplaced(path: String)
  /// The folder, or a part of it, belongs to another user.
  case foreignOwner(path: String, user: UInt32)
  /// Another process holds the lock and didn't release it before the timeout.
  case locked(by: String)
  /// The store already has a daemon.
  case daemonRuns(process: String)
  /// Another git holds a lock. The process is nil if it cannot be seen.
  case gitBusy(path: String, by: GitUser?)
  /// An operation of the user's own git, such as a merge or a rebase, is unfinished.
  case operationInProgress(Repository.Operation)
  /// A commit is checked out instead of a branch. `branch` is the branch to return to; nil if it is unknown.
  case detachedHead(branch: String?)
  /// A record is not valid. The path is relative to the store.
  case badRecord(path: String, RecordError)
  /// The path is not the path of a record.
  case noRecord(path: String)
  /// No alarm matches the text.
  case noSuchAlarm(String)
  /// The store has no remote, or none of the given name.
  case noRemote(String?)
  /// The store already has a remote of that name.
  case remoteExists(String)
  /// The remote could not be reached, or rejected a push.
  case remoteFailed(url: String, RemoteFailure)
  /// The URL of a remote is not valid.
  case unsupportedRemote(url: String, reason: String)
  /// The clone is shallow, so nothing can be merged.
  case shallow
  /// The remote's branch doesn't belong to a store.
  case remoteIsNoStore(url: String)
  /// An object that a merge needs is missing or damaged here. Nothing was merged, because an unreadable record
  /// doesn't count as missing.
  case unreadableObject(reason: String)
  /// The remote has more records than any store.
  case tooLarge
  /// Other devices were faster in every attempt to push.
  case pushRaceLost(attempts: Int)
  /// The program `git` is not in `PATH`.
  case gitNotFound
  /// The value that a merge discarded cannot be read anymore.
  case notRestorable(subject: String)
  /// This device has no action left to undo.
  case nothingToUndo
  /// This device's user has undone nothing since the latest action.
  case nothingToRedo
  /// The last action cannot be undone.
  case cannotBeUndone(subject: String, isMerge: Bool)
  /// An alarm has changed since the action that should be undone, whose commit is `subject`.
  case notUndone(subject: String, title: String, UndoError)
  /// A setting has changed since the action that should be undone.
  case settingChangedSince(subject: String, Setting)
  /// A holiday calendar has changed since the action to undo.
  case calendarChangedSince(subject: String, name: String)
  /// The store has as many alarms as its tier allows.
  case alarmLimit(tier: Settings.Tier, limit: Int)
}

/// A record that cannot be used, and the consequence.
public struct RecordProblem: Hashable, Sendable {
  /// The kind of a problem.
  public enum Kind: Hashable, Sendable {
    /// The file is not valid. If `lastGood` is true, the last valid version stays in use.
    case invalid(RecordError, lastGood: Bool)
    /// The file was removed without `belfry delete`. The last version stays in use.
    case removed
    /// This system doesn't know the alarm's time zone.
    case unknownZone(String)
  }
  /// The path relative to the store.
  public let path: String
  /// The kind.
  public let kind: Kind

  /// Creates a problem.
  public init(path: String, kind: Kind) {
    self.path = path
    self.kind = kind
  }
}
