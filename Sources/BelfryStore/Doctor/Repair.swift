import BelfryCore
import Git
import Glibc

/// Puts right what can be, under the store's lock, in this order:
///
/// ```
/// configuration → HEAD → packed references → locks → damaged objects and packs → missing objects → branch → reflogs → index
///   → records → log
/// ```
///
/// Each step works with what those before it have mended. What cannot be mended is moved into a quarantine.
public struct Repair: Sendable {
  let store: Store
  let report: @Sendable (Mended) -> Void

  /// - Parameter report: told of each thing as soon as it is done.
  public init(_ store: Store, report: @escaping @Sendable (Mended) -> Void) {
    self.store = store
    self.report = report
  }

  public func run() async throws {
    try await store.lockedThroughout { try await mend() }
  }

  private func mend() async throws {
    let quarantine = Quarantine(store)
    try await mendSkeleton(quarantine)
    if Reference.brokenHead(store) != nil { try mendHead(quarantine) }
    let repository = try store.repository()
    try mendPackedReferences(repository, quarantine)
    let branch =
      try repository.headBranch()
      ?? "refs/heads/\(store.presentBranch(repository) ?? Repository.branch)"
    for lock in repository.locks(of: branch)
    where repository.removeAbandonedLock(lock, olderThan: 0) {
      report(.lock(path: lock))
    }
    if repository.removeCollectionLock() {
      report(.lock(path: repository.commonDirectory + "gc.pid"))
    }
    for damaged in repository.damagedLooseObjects() {
      let name = damaged.path.split(separator: "/").suffix(2).joined()
      report(
        .quarantined(
          path: damaged.path, to: try quarantine.take(damaged.path, as: "objects/\(name)")))
    }
    try await salvagePacks(repository, quarantine)
    try await restoreObjects(repository)
    var isMoved = false
    if Reference.broken(branch, of: repository) != nil {
      isMoved = true
      try await mendBranch(branch, repository, quarantine)
    }
    try mendReflogs(repository, quarantine)
    try await mendGraph(repository, quarantine)
    try await mendIndex(repository, quarantine, isStale: isMoved)
    // The cards tell what is committed by what they were told; now everything is looked at again.
    _ = unlink(store.local.summaries)
    try await mendRecords(quarantine)
  }

  // MARK: Folders and configuration

  /// Makes what every repository has, and this one lacks: empty folders, a configuration that can be read.
  private func mendSkeleton(_ quarantine: Quarantine) async throws {
    let git = store.local.gitDirectory
    // A linked work tree has these in the repository that it belongs to.
    guard access(git + "/commondir", F_OK) != 0 else { return }
    for folder in ["objects/info", "objects/pack", "refs/heads"] {
      try DurableFile.makeFolder("\(git)/\(folder)")
    }
    let check = try await GitCommand.run(["config", "--file", "\(git)/config", "--list"], in: git)
    guard check.status != 0, access(git + "/config", F_OK) == 0 else { return }
    report(
      .quarantined(path: git + "/config", to: try quarantine.take(git + "/config", as: "config")))
    let plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
    try DurableFile.write(
      Array(plain.utf8), to: git + "/config", temporary: store.local.temporary("config"))
  }

  // MARK: References

  private func mendHead(_ quarantine: Quarantine) throws {
    let git = store.local.gitDirectory
    if access(git + "/HEAD", F_OK) == 0 {
      report(
        .quarantined(path: git + "/HEAD", to: try quarantine.take(git + "/HEAD", as: "HEAD")))
    }
    let branch = "refs/heads/\(Repository.branch)"
    try DurableFile.write(
      Array("ref: \(branch)\n".utf8), to: git + "/HEAD",
      temporary: store.local.temporary("head"))
    report(.head(branch: branch))
  }

  /// Lets the branch name the latest commit that is whole: where Belfry left it, where it stood before,
  /// what a remote has. Without any the history begins anew with the records as they lie.
  private func mendBranch(
    _ branch: String, _ repository: Repository, _ quarantine: Quarantine
  ) async throws {
    let candidates =
      [store.local.readSeen()].compactMap { $0 } + repository.reflog(branch)
      + repository.reflog("HEAD") + repository.trackedCommits().compactMap(\.commit)
    var tried: Set<ObjectID> = []
    var whole = candidates.first { tried.insert($0).inserted && repository.isWhole($0) }
    let broken =
      [branch] + repository.trackedCommits().filter { $0.commit == nil }.map(\.reference)
    for name in broken {
      guard let file = repository.referenceFile(name) else { continue }
      report(.quarantined(path: file.path, to: try quarantine.take(file.path, as: name)))
    }
    if whole == nil {
      // Nothing names a broken commit any more, so that git can fetch.
      for remote in try repository.remotes() {
        // One that is out of reach has nothing to give.
        let transport = try? GitTransport(repository, remote, context: store.context)
        _ = try? await transport?.fetch(Repository.branch)
      }
      whole = repository.trackedCommits().compactMap(\.commit).first { repository.isWhole($0) }
    }
    guard let whole else { return }
    let current = try? repository.commit(of: branch)
    let signature = Repository.Signature(
      name: "Belfry", email: "belfry@localhost", time: store.context.now.seconds)
    let move = try repository.moveReference(
      branch, from: current ?? nil, to: whole, signature: signature, message: "belfry doctor")
    guard case .moved = move else {
      throw StoreError.gitBusy(path: repository.lock(of: branch), by: nil)
    }
    report(.branch(branch, whole))
  }

  /// Keeps the lines of git's packed references that can be read. A branch that is lost with the others is mended as one
  /// that is broken.
  private func mendPackedReferences(_ repository: Repository, _ quarantine: Quarantine) throws {
    guard let packed = repository.packedReferences, packed.isDamaged else { return }
    let place = try quarantine.take(packed.path, as: "packed-refs")
    report(.quarantined(path: packed.path, to: place))
    if packed.mended.isEmpty { return }
    try DurableFile.write(
      packed.mended, to: packed.path, temporary: store.local.temporary("packed-refs"))
  }

  private func mendReflogs(_ repository: Repository, _ quarantine: Quarantine) throws {
    let root = repository.commonDirectory.utf8.count
    for (path, mended) in repository.brokenReflogs() {
      let place = try quarantine.take(path, as: String(path.dropFirst(root)))
      report(.quarantined(path: path, to: place))
      try DurableFile.write(mended, to: path, temporary: store.local.temporary("reflog"))
    }
  }

  // MARK: The index

  private func mendIndex(
    _ repository: Repository, _ quarantine: Quarantine, isStale: Bool
  ) async throws {
    let path = repository.gitDirectory + "index"
    guard try repository.commit(of: "HEAD") != nil else { return }
    let isThere = access(path, F_OK) == 0
    guard isStale || !isThere || repository.indexDamage() != nil else { return }
    if isThere {
      report(.quarantined(path: path, to: try quarantine.take(path, as: "index")))
    }
    let outcome = try await GitCommand.run(["read-tree", "HEAD"], in: store.path)
    guard outcome.status == 0 else {
      throw GitError(.generic, "make the index anew", GitCommand.reason(outcome))
    }
    _ = try await GitCommand.run(["update-index", "-q", "--refresh"], in: store.path)
    report(.index)
  }
}
