import BelfryCore
import Git

/// A way to a remote: what it has, and how to move its branch.
public protocol RemoteTransport: Sendable {
  /// Brings the remote's branch here. Returns the commit it stands at; nil when it has none.
  ///
  /// Throws `StoreError.remoteFailed`.
  func fetch(_ branch: String) async throws -> ObjectID?

  /// Brings all objects of the remote's branch here again, also those that should be here: some of them are missing.
  ///
  /// Throws `StoreError.remoteFailed`.
  func refetch(_ branch: String) async throws

  /// Brings the latest heartbeats of some devices here, and removes those that the remote does not have any more.
  ///
  /// Throws `StoreError.remoteFailed`.
  func fetchHeartbeats(of devices: Set<Identifier>) async throws

  /// Moves the remote's branch to a commit that comes after the one fetched last.
  ///
  /// Throws `StoreError.remoteFailed`.
  func push(_ commit: ObjectID, to branch: String) async throws -> PushOutcome

  /// Leaves a commit for a remote to take in itself, under a name that is this device's own.
  ///
  /// Throws `StoreError.remoteFailed`.
  func leave(_ commit: ObjectID, as reference: String) async throws

  /// Returns the branches that the remote has, its default branch first.
  ///
  /// Throws `StoreError.remoteFailed`.
  func branches() async throws -> [String]
}

extension RemoteTransport {
  public func branches() async throws -> [String] { [] }

  /// The number of branches that are looked at.
  private static var mostBranches: Int { 4 }

  /// Brings the store of the remote here.
  ///
  /// 1. The branch that is synced, `main`. 2. Without one, the first of its other branches that is a store's: it was made
  /// under another name, such as `master`.
  ///
  /// - Returns: the branch and the commit at which it stands; nil when the remote has no branch.
  /// - Throws: `StoreError.remoteIsNoStore`, `StoreError.remoteFailed`.
  func fetchStore(
    at url: String, into repository: Repository
  ) async throws -> (branch: String, commit: ObjectID)? {
    if let commit = try await fetch(Repository.branch) {
      try await expectStore(commit, of: Repository.branch, at: url, repository)
      return (Repository.branch, commit)
    }
    let others = try await branches()
    for branch in others.prefix(Self.mostBranches) {
      guard let commit = try await fetch(branch) else { continue }
      do {
        try await expectStore(commit, of: branch, at: url, repository)
      } catch StoreError.remoteIsNoStore {
        continue
      }
      return (branch, commit)
    }
    if others.isEmpty { return nil }
    throw StoreError.remoteIsNoStore(url: URLMask.masked(url: url))
  }

  /// Throws unless a branch is that of a store. Its objects are fetched again where they cannot be read here.
  private func expectStore(
    _ commit: ObjectID, of branch: String, at url: String, _ repository: Repository
  ) async throws {
    do {
      try BranchJoin.expectStore(commit, at: url, repository)
    } catch StoreError.unreadableObject {
      // Whether it helped shows when the objects are read.
      _ = try? await refetch(branch)
      try BranchJoin.expectStore(commit, at: url, repository)
    }
  }
}

/// What came of moving a remote's branch.
public enum PushOutcome: Sendable {
  case moved
  /// Somebody else was faster: the branch has moved since, or is being moved.
  case elsewhere
  /// The remote is somebody's own store, which moves its branch itself.
  case checkedOut
}

/// Why a remote could not be reached, or refused.
public struct RemoteFailure: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// The host's key is not known, or another than the one known.
    case hostKey(HostKey, RemoteURL)
    /// No key, or no user and password, that it accepts.
    case authentication(RemoteURL.Transport)
    /// Its certificate is not to be trusted.
    case certificate
    /// It names another address to go to.
    case redirected
    /// It said nothing for so many seconds.
    case stalled(seconds: Int)
    /// It was reached, and refused: by a hook, for lack of rights.
    case rejected
    /// It can be reached, and has no repository there.
    case missing
    /// It is damaged.
    case damaged
    case other
  }
  public enum HostKey: Hashable, Sendable {
    case unknown, changed
  }
  public let kind: Kind
  public let reason: String

  public init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = URLMask.masked(reason)
  }
}
