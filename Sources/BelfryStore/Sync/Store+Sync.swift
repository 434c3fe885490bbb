import BelfryCore
import Git
import Glibc

/// What a sync did.
public struct SyncResult: Sendable {
  /// Commits that came in.
  public var fetched = 0
  /// Commits that went out.
  public var pushed = 0
  /// Records that came in or were joined.
  public var merged = 0
  public var decisions: [MergeDecision] = []
  public var refusals: [MergeRefusal] = []
}

extension Store {
  public func remotes() throws -> [Remote] {
    try repository().remotes()
  }

  /// Adds a remote. Throws when there is one of that name, or no way to reach such a URL.
  public func addRemote(_ remote: Remote) throws {
    guard LocalTransport.reaches(remote.url) else {
      throw StoreError.unsupportedRemote(url: remote.url)
    }
    try locked {
      let repository = try configuration()
      guard try !repository.remotes().contains(where: { $0.name == remote.name }) else {
        throw StoreError.remoteExists(remote.name)
      }
      try repository.addRemote(remote)
    }
  }

  /// The repository, without the lock on its configuration that a git may have left which died.
  private func configuration() throws -> Repository {
    let repository = try repository()
    _ = repository.removeAbandonedLock(repository.commonDirectory + "config.lock")
    return repository
  }

  public func removeRemote(_ name: String) throws {
    try locked {
      let repository = try configuration()
      guard try repository.remotes().contains(where: { $0.name == name }) else {
        throw StoreError.noRemote(name)
      }
      try repository.removeRemote(name)
    }
  }

  /// How often a push that lost the race is tried again.
  static let pushAttempts = 12

  /// Fetches, merges, and pushes, until this store and the remote have the same.
  ///
  /// The lock is held only while merging: local work never waits for a remote.
  ///
  /// - Parameter remoteName: nil: `origin`, or the only one there is.
  public func sync(_ remoteName: String?) async throws -> SyncResult {
    let repository = try repository()
    let remotes = try repository.remotes()
    let remote =
      remotes.first { $0.name == remoteName ?? "origin" }
      ?? (remoteName == nil && remotes.count == 1 ? remotes[0] : nil)
    guard let remote else { throw StoreError.noRemote(remoteName) }
    let transport: any RemoteTransport = try LocalTransport(repository, remote)

    var result = SyncResult()
    for attempt in 1...Store.pushAttempts {
      let theirs = try transport.fetch(Repository.branch)
      if let theirs { try Store.expectStore(theirs, at: remote.url, repository) }
      let (ours, branch) = try locked {
        let writer = try StoreWriter(self)
        try Absorption(writer).absorb(try CardView(self).unsettled)
        try SettingsAbsorption(writer).absorb()
        try Tidying(writer).commitDevices()
        if let theirs { try merge(theirs, writer, into: &result) }
        return (try writer.head(), writer.branch)
      }
      guard let ours else { throw StoreError.noRemote(remoteName) }
      guard branch == "refs/heads/\(Repository.branch)" else { throw StoreError.detachedHead }
      if ours == theirs {
        local.note(.sync, at: context.now)
        return result
      }
      if try await transport.push(ours, to: Repository.branch) {
        result.pushed =
          try theirs.map { try repository.aheadBehind(ours, $0).ahead }
          ?? repository.count(ours)
        local.note(.sync, at: context.now)
        return result
      }
      // Those who lost together must not come back together.
      try await Task.sleep(for: .milliseconds(context.random(5...(20 * attempt))))
    }
    throw StoreError.pushRaceLost(attempts: Store.pushAttempts)
  }

  /// Throws unless a remote's commit is one of a store: merging would strip another project of its files.
  private static func expectStore(
    _ commit: ObjectID, at url: String, _ repository: Repository
  ) throws {
    let tree = try repository.tree(try repository.commit(commit).tree)
    guard try tree.entry(named: "devices")?.mode == .folder else {
      throw StoreError.notAStore(path: url)
    }
  }

  /// Joins a remote's commit into the branch, on disk and in the history.
  ///
  /// 1. It is in our history: nothing to do.
  /// 2. The joined tree is the remote's, and our history is in its own: fast-forward.
  /// 3. Else a merge commit, made of nothing but its parents: every device makes the same one.
  private func merge(
    _ theirs: ObjectID, _ writer: StoreWriter, into result: inout SyncResult
  ) throws {
    let repository = writer.repository
    for _ in 0..<20 {
      let ours = try writer.head()
      if let ours, try repository.isAncestor(theirs, of: ours) { return }
      let base = try ours.flatMap { try repository.mergeBase($0, theirs) }
      let other = try repository.commit(theirs)
      let mine = try ours.map { try repository.commit($0) }
      let join = try TreeJoin(
        writer, ours: mine?.tree, theirs: other.tree,
        base: base.map { try repository.commit($0).tree })
      let isBehind = ours == nil || base == ours
      let kept = edited(
        Dictionary(uniqueKeysWithValues: join.files.keys.map { ($0, join.before[$0]) }))
      do {
        try writer.write(join.files, keeping: kept) { blobs in
          let tree = try writer.tree(from: mine?.tree, blobs)
          let target =
            isBehind && tree == other.tree
            ? theirs
            : try writer.writeMerge(
              [mine, other].compactMap { $0 }, tree: tree, isBehind: isBehind,
              decisions: join.decisions)
          guard try writer.move(from: ours, to: target) else { throw MergeRace() }
          return target
        }
      } catch is MergeRace {
        continue
      }
      result.fetched +=
        try ours.map { try repository.aheadBehind(theirs, $0).ahead } ?? repository.count(theirs)
      result.merged += join.merged
      result.decisions += join.decisions
      result.refusals += join.refusals
      return
    }
    throw StoreError.gitBusy(path: writer.branch, by: nil)
  }

  private struct MergeRace: Error {}

  // MARK: Cloning

  /// Makes a store at `path` with everything that a remote has, and this device's own identity.
  ///
  /// A remote without a branch makes an empty store that knows the remote.
  public static func clone(
    _ url: String, to path: String, context: StoreContext
  ) throws -> (store: Store, result: SyncResult) {
    guard LocalTransport.reaches(url) else { throw StoreError.unsupportedRemote(url: url) }
    var result = SyncResult()
    try create(path, context: context) { store, repository in
      let remote = Remote(name: "origin", url: url)
      try repository.addRemote(remote)
      let transport = try LocalTransport(repository, remote)
      guard let theirs = try transport.fetch(Repository.branch) else { return }
      try expectStore(theirs, at: url, repository)
      try store.merge(theirs, StoreWriter(store), into: &result)
    }
    return (try open(path, context: context).store, result)
  }
}

extension StoreWriter {
  /// A merge commit that depends on its parents alone, so that devices which merge the same two
  /// histories make the same commit.
  fileprivate func writeMerge(
    _ parents: [Commit], tree: ObjectID, isBehind: Bool, decisions: [MergeDecision]
  ) throws -> ObjectID {
    // What is in the history of the last parent needs no mention.
    let named = isBehind ? Array(parents.suffix(1)) : parents.sorted { $0.id < $1.id }
    let message = CommitMessage(
      "Merge \(named.map(\.id.short).joined(separator: " and "))",
      body: decisions.map { decision in
        "\(decision.field) of \(decision.title): kept \"\(decision.kept)\" over \"\(decision.discarded)\""
          .replacing("\n", with: " ")
      }, device: nil)
    return try repository.writeCommit(
      tree: tree, parents: named.map(\.id),
      signature: Repository.Signature(
        name: "Belfry", email: "belfry@localhost", time: parents.map(\.time).max() ?? 0),
      message: message.text)
  }
}
