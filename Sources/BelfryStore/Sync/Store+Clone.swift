import BelfryCore
import Git

extension Store {
  /// Creates a store with the content of a remote and a new device identity.
  ///
  /// If the remote has no branch, the result is an empty store with that remote.
  ///
  /// - Parameters:
  ///   - url: The URL of the remote.
  ///   - path: The folder of the new store.
  ///   - context: The environment of the store.
  public static func clone(
    _ url: String, to path: String, context: StoreContext
  ) async throws -> (store: Store, result: SyncResult) {
    let remote = Remote(name: "origin", url: url)
    _ = try GitTransport.check(url)
    let builder = try StoreBuilder(path, context: context)
    var result = SyncResult()
    result.exchanges = [SyncResult.Exchange(remote: remote)]
    do {
      try builder.repository.addRemote(remote)
      let transport = try GitTransport(builder.repository, remote, context: context)
      let fetched = try await StoreSync.fetchStore(
        over: transport, at: url, into: builder.repository)
      if let (branch, theirs) = fetched {
        result.add(try BranchJoin(builder.store.reconciledWriter(.branch)).join(theirs), to: 0)
        if branch != Repository.defaultBranch { result.exchanges[0].branch = branch }
      }
      try builder.finish()
    } catch {
      builder.discard()
      throw error
    }
    let store = try open(path, context: context).store
    store.local.noteSync(with: [remote.name], at: context.now, holder: context.process)
    return (store, result)
  }
}
