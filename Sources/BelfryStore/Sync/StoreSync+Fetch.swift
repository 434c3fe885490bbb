import Git

extension StoreSync {
  /// The maximum number of examined branches.
  private static let maxBranches = 4

  /// Fetches the store's branch from a remote.
  ///
  /// 1. The remote has the branch `main`: that branch.
  /// 2. Otherwise: the first other branch that belongs to a store, which may have been created as `master`.
  ///
  /// - Parameters:
  ///   - transport: The access to the remote.
  ///   - url: The URL, for errors.
  ///   - repository: The repository that the transport fetches into.
  /// - Returns: The branch and its commit; nil if the remote has no branch.
  /// - Throws: `StoreError.remoteIsNoStore` or `StoreError.remoteFailed`.
  static func fetchStore(
    over transport: any RemoteTransport, at url: String, into repository: Repository
  ) async throws -> (branch: String, commit: ObjectID)? {
    if let commit = try await transport.fetch(Repository.defaultBranch) {
      try await expectStore(
        commit, of: Repository.defaultBranch, over: transport, at: url, repository)
      return (Repository.defaultBranch, commit)
    }
    let others = try await transport.branches()
    for branch in others.prefix(maxBranches) {
      guard let commit = try await transport.fetch(branch) else { continue }
      do {
        try await expectStore(commit, of: branch, over: transport, at: url, repository)
      } catch StoreError.remoteIsNoStore {
        continue
      }
      return (branch, commit)
    }
    if others.isEmpty { return nil }
    throw StoreError.remoteIsNoStore(url: URLMask.masked(url: url))
  }

  /// Throws unless a branch belongs to a store. Unreadable objects are fetched again.
  private static func expectStore(
    _ commit: ObjectID, of branch: String, over transport: any RemoteTransport, at url: String,
    _ repository: Repository
  ) async throws {
    do {
      try BranchJoin.expectStore(commit, at: url, repository)
    } catch StoreError.unreadableObject {
      // A failure shows when the objects are read.
      _ = try? await transport.refetch(branch)
      try BranchJoin.expectStore(commit, at: url, repository)
    }
  }
}
