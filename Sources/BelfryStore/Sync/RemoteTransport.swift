import BelfryCore
import Git

/// Access to a remote: fetching its branches and pushing to them.
public protocol RemoteTransport: Sendable {
  /// Starts what the first access needs, and returns immediately.
  func prepare()

  /// Fetches a branch. Returns its commit, or nil if the remote has no such branch.
  ///
  /// - Throws: `StoreError.remoteFailed`.
  func fetch(_ branch: String) async throws -> ObjectID?

  /// Fetches all objects of a branch again, including those that should exist here, because some are missing.
  ///
  /// - Throws: `StoreError.remoteFailed`.
  func refetch(_ branch: String) async throws

  /// Fetches the latest heartbeats of devices, and removes those that the remote no longer has.
  ///
  /// - Throws: `StoreError.remoteFailed`.
  func fetchHeartbeats(of devices: Set<Identifier>) async throws

  /// Pushes a commit that contains the last fetched one to a branch.
  ///
  /// - Throws: `StoreError.remoteFailed`.
  func push(_ commit: ObjectID, to branch: String) async throws -> PushOutcome

  /// True if pushes also go to other places than that from which is fetched.
  var hasOtherPushURLs: Bool { get }

  /// Removes the locks of a branch that a dead push left, if they can be seen. Returns true if there were any.
  func removeAbandonedLocks(of branch: String) -> Bool

  /// Returns true if a branch is known to have another commit than an expected one, without a connection to the remote.
  func hasMoved(_ branch: String, from expected: ObjectID) -> Bool

  /// Pushes a commit to a branch without a fetch, if the branch still has the last fetched commit.
  ///
  /// - Parameters:
  ///   - commit: The commit, which contains the expected one.
  ///   - expected: The expected commit of the branch.
  ///   - branch: The branch.
  /// - Returns: `.elsewhere` or `.refused` if the branch has another commit, or has none.
  /// - Throws: `StoreError.remoteFailed`.
  func pushAhead(
    _ commit: ObjectID, of expected: ObjectID, to branch: String
  ) async throws -> PushOutcome

  /// Pushes a commit to a reference that belongs to this device.
  ///
  /// - Throws: `StoreError.remoteFailed`.
  func leave(_ commit: ObjectID, as reference: String) async throws

  /// Returns the names of the remote's branches, the default branch first.
  ///
  /// - Throws: `StoreError.remoteFailed`.
  func branches() async throws -> [String]
}

extension RemoteTransport {
  /// Starts nothing.
  public func prepare() {}

  /// Pushes only to the place from which is fetched.
  public var hasOtherPushURLs: Bool { false }

  /// Sees no locks.
  public func removeAbandonedLocks(of branch: String) -> Bool { false }

  /// Knows nothing about the branch.
  public func hasMoved(_ branch: String, from expected: ObjectID) -> Bool { false }

  /// Pushes nothing.
  public func pushAhead(
    _ commit: ObjectID, of expected: ObjectID, to branch: String
  ) async throws -> PushOutcome { .elsewhere }

  /// Returns no branches.
  public func branches() async throws -> [String] { [] }
}

/// The result of a push.
public enum PushOutcome: Sendable {
  /// The branch has the new commit.
  case moved
  /// The push must be tried again, after a fetch.
  case elsewhere
  /// The remote refused the branch in words that it uses if another device moves it at the same time. Only a fetch that
  /// shows a moved branch proves it. The error has the remote's words.
  case refused(StoreError)
  /// The branch is checked out at the remote, which is another store and must move its branch itself.
  case checkedOut
}

/// The reason that a remote could not be reached, or rejected a push.
public struct RemoteFailure: Hashable, Sendable {
  /// The kind of a failure.
  public enum Kind: Hashable, Sendable {
    /// The host key is unknown or has changed.
    case hostKey(HostKey, RemoteURL)
    /// The remote accepts none of the user's keys or credentials.
    case authentication(RemoteURL.Transport)
    /// The remote's certificate is not trusted.
    case certificate
    /// The remote redirects to another URL.
    case redirected
    /// The remote didn't respond for the given number of seconds.
    case stalled(seconds: Int)
    /// The remote rejected the operation, by a hook or for lack of permission.
    case rejected
    /// The host can be reached but has no repository at the path.
    case missing
    /// The remote's repository is damaged.
    case damaged
    /// The remote cannot create files.
    case unwritable
    /// A lock file at the remote keeps the branch from moving.
    case locked
    /// A hook of this machine's git, at the path, refused the push.
    case hook(path: String)
    /// The remote's repository uses another hash than SHA-1.
    case objectFormat
    /// The repository on this machine belongs to another user, and git does not trust it. The path is that of the
    /// repository.
    case foreign(path: String)
    /// Another failure.
    case other
  }
  /// The state of a host key.
  public enum HostKey: Hashable, Sendable {
    /// ssh doesn't know the host.
    case unknown
    /// The key differs from the known one.
    case changed
  }
  /// The kind.
  public let kind: Kind
  /// The reason as a clause about the remote, without credentials.
  public let reason: String

  /// Creates a failure. Credentials in the reason are masked.
  public init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = URLMask.masked(reason)
  }
}
