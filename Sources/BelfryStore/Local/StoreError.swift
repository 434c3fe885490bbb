import BelfryCore
import Git

/// What can go wrong with a store, as facts; what to do about it is the command line's to say.
public enum StoreError: Error, Sendable {
  /// There is no store, and the caller may not create one.
  case noStore(path: String)
  /// The place holds something, but not a store.
  case notAStore(path: String)
  /// Something else lies where this device keeps what is its own, `.git/belfry`.
  case localFolderReplaced(path: String)
  /// The place, or a part of it, belongs to somebody else.
  case foreignOwner(path: String, user: UInt32)
  /// Another process holds the lock, and did not let go in time.
  case locked(by: String)
  /// The store has a daemon already.
  case daemonRuns(process: String)
  /// Another git holds a lock; nil when it cannot be seen which.
  case gitBusy(path: String, by: GitUser?)
  /// The user's own git has begun a merge or a rebase and not ended it.
  case operationInProgress(Repository.Operation)
  /// HEAD names no branch: a commit of the past is checked out. The branch to return to; nil when it is not known.
  case detachedHead(branch: String?)
  /// A record of this store is not one; `path` is relative to the store.
  case badRecord(path: String, RecordError)
  /// No record has this path.
  case noRecord(path: String)
  /// No alarm, or more than one, goes by that name.
  case noSuchAlarm(String)
  case ambiguousAlarm(String, [AlarmName])
  /// The store has no remote, or none of that name.
  case noRemote(String?)
  case remoteExists(String)
  /// The remote cannot be reached, or refused.
  case remoteFailed(url: String, RemoteFailure)
  /// Belfry has no way to reach such a remote.
  case unsupportedRemote(url: String, reason: String)
  /// The clone has only the end of its history, so that nothing can be joined.
  case shallow
  /// What the remote has is not a store's.
  case remoteIsNoStore(url: String)
  /// An object that a merge needs cannot be read here: it is missing or damaged. Nothing was merged, as what cannot be
  /// read is not absent.
  case unreadableObject(reason: String)
  /// The remote has more records than any store.
  case tooLarge
  /// The remote refused every try: somebody else was always faster.
  case pushRaceLost(attempts: Int)
  /// Git is not installed.
  case gitNotFound
  /// What a merge had set aside cannot be had any more.
  case notRestorable(subject: String)
  /// Nobody has done anything on this device that is not undone.
  case nothingToUndo
  /// The last action is one that nobody can take back.
  case cannotBeUndone(subject: String)
  /// Other things have happened since to what an action changed; `subject` tells of the action.
  case notUndone(subject: String, title: String, UndoError)
  case settingChangedSince(subject: String, Setting)
  /// The tier's number of alarms is reached.
  case alarmLimit(tier: Settings.Tier, limit: Int)

  /// An alarm as a person tells it apart.
  public struct AlarmName: Hashable, Sendable {
    public let id: Identifier
    public let title: String
    /// What tells apart those of one title.
    public let note: String?
  }
}

/// A record that could not be used, and what was done instead.
public struct RecordProblem: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// The file is not a record; the last good version stays in use, if there is one.
    case invalid(RecordError, lastGood: Bool)
    /// The file was removed without `belfry delete`; the last version stays in use.
    case removed
    /// The alarm's time zone is not known to this system.
    case unknownZone(String)
  }
  /// Relative to the store.
  public let path: String
  public let kind: Kind

  public init(path: String, kind: Kind) {
    self.path = path
    self.kind = kind
  }
}
