import BelfryCore
import Git

extension Store {
  /// Makes a store at `path` with everything that a remote has, and this device's own identity.
  ///
  /// A remote without a branch makes an empty store that knows the remote.
  public static func clone(
    _ url: String, to path: String, context: StoreContext
  ) async throws -> (store: Store, result: SyncResult) {
    let remote = Remote(name: "origin", url: url)
    _ = try GitTransport.check(url)
    let site = try StoreBuilder(path, context: context)
    var result = SyncResult()
    result.exchanges = [SyncResult.Exchange(remote: remote)]
    do {
      try site.repository.addRemote(remote)
      let transport = try GitTransport(site.repository, remote, context: context)
      if let (branch, theirs) = try await transport.fetchStore(at: url, into: site.repository) {
        result.add(try BranchJoin(StoreWriter(site.store)).join(theirs), to: 0)
        if branch != Repository.branch { result.exchanges[0].branch = branch }
      }
      try site.finish()
    } catch {
      site.discard()
      throw error
    }
    return (try open(path, context: context).store, result)
  }
}
