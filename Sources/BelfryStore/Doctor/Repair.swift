import BelfryCore
import Files
import Git
import Glibc

/// A repair of a store, under its lock, in this order:
///
/// ```
/// configuration → HEAD → packed references → locks → journal → damaged objects and packs → objects from the journal
/// → missing objects → branch → reflogs → index → records → log
/// ```
///
/// The records and the log are repaired by the steps of a reconciliation (see `ReconcileStage`). Each step relies on the
/// steps before it. Files that cannot be repaired are moved to a quarantine.
public struct Repair: Sendable {
  let store: Store
  let report: @Sendable (RepairedItem) -> Void

  /// Creates a repair of a store.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - report: A function that receives each change when it has been made.
  public init(_ store: Store, report: @escaping @Sendable (RepairedItem) -> Void) {
    self.store = store
    self.report = report
  }

  /// Runs the repair.
  public func run() async throws {
    try await store.lockedThroughout { try await repair() }
  }

  private func repair() async throws {
    let quarantine = Quarantine(store)
    try await repairSkeleton(quarantine)
    if Reference.brokenHead(store) != nil { try repairHead(quarantine) }
    let repository = try store.repository()
    try repairPackedReferences(repository, quarantine)
    let branch =
      try repository.headBranch()
      ?? "refs/heads/\(store.branch.nameToCheckOut(in: repository) ?? Repository.defaultBranch)"
    for lock in repository.locks(of: branch)
    where repository.removeStaleLock(lock, olderThan: 0) {
      report(.lock(path: lock))
    }
    if repository.removeCollectionLock() {
      report(.lock(path: repository.commonDirectory + "gc.pid"))
    }
    try repairJournal(quarantine)
    for damaged in repository.damagedLooseObjects() {
      let name = damaged.path.split(separator: "/").suffix(2).joined()
      report(
        .quarantined(
          path: damaged.path, to: try quarantine.take(damaged.path, as: "objects/\(name)")))
    }
    try await salvagePacks(repository, quarantine)
    try restoreRecentObjects(repository)
    try await restoreObjects(repository)
    var isMoved = false
    if Reference.broken(branch, of: repository) != nil {
      isMoved = true
      try await repairBranch(branch, repository, quarantine)
    }
    try repairReflogs(repository, quarantine)
    try await repairGraph(repository, quarantine)
    try await repairIndex(repository, quarantine, isStale: isMoved)
    // The caches rely on the state before the repair. Without them every record is examined again.
    store.cache.remove()
    try await repairRecords(quarantine)
  }

  // MARK: Folders and configuration

  /// Creates the missing parts that every repository needs: empty folders and a valid configuration.
  private func repairSkeleton(_ quarantine: Quarantine) async throws {
    let git = store.local.gitDirectory
    // A linked work tree keeps these in its main repository.
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

  private func repairHead(_ quarantine: Quarantine) throws {
    let git = store.local.gitDirectory
    if access(git + "/HEAD", F_OK) == 0 {
      report(
        .quarantined(path: git + "/HEAD", to: try quarantine.take(git + "/HEAD", as: "HEAD")))
    }
    let branch = "refs/heads/\(Repository.defaultBranch)"
    try DurableFile.write(
      Array("ref: \(branch)\n".utf8), to: git + "/HEAD",
      temporary: store.local.temporary("head"))
    report(.head(branch: branch))
  }

  /// Moves the branch to the latest complete commit: where Belfry left it, an entry of a reflog, or a remote's
  /// branch. If there is none, the history restarts with the records in the work tree.
  private func repairBranch(
    _ branch: String, _ repository: Repository, _ quarantine: Quarantine
  ) async throws {
    let candidates =
      [store.local.readSeen()].compactMap { $0 } + repository.reflog(branch)
      + repository.reflog("HEAD") + repository.trackedCommits().compactMap(\.commit)
    var tried: Set<ObjectID> = []
    var complete = candidates.first { tried.insert($0).inserted && repository.isWhole($0) }
    let broken =
      [branch] + repository.trackedCommits().filter { $0.commit == nil }.map(\.reference)
    for name in broken {
      guard let file = repository.referenceFile(name) else { continue }
      report(.quarantined(path: file.path, to: try quarantine.take(file.path, as: name)))
    }
    if complete == nil {
      // The broken references are gone, so git can fetch.
      for remote in try repository.remotes() {
        // A remote that cannot be reached is skipped.
        let transport = try? GitTransport(repository, remote, context: store.context)
        _ = try? await transport?.fetch(Repository.defaultBranch)
      }
      complete = repository.trackedCommits().compactMap(\.commit).first { repository.isWhole($0) }
    }
    guard let complete else { return }
    let current = try? repository.commit(of: branch)
    let signature = Repository.Signature(
      name: "Belfry", email: "belfry@localhost", time: store.context.now.seconds)
    let move = try repository.moveReference(
      branch, from: current ?? nil, to: complete, signature: signature, message: "belfry doctor")
    guard case .moved = move else {
      throw StoreError.gitBusy(path: repository.lock(of: branch), by: nil)
    }
    report(.branch(branch, complete))
  }

  /// Keeps the intact lines of git's packed references. A branch that is lost with the others is repaired like a
  /// broken one.
  private func repairPackedReferences(
    _ repository: Repository, _ quarantine: Quarantine
  ) throws {
    guard let packed = repository.packedReferences, packed.isDamaged else { return }
    let destination = try quarantine.take(packed.path, as: "packed-refs")
    report(.quarantined(path: packed.path, to: destination))
    if packed.mended.isEmpty { return }
    try DurableFile.write(
      packed.mended, to: packed.path, temporary: store.local.temporary("packed-refs"))
  }

  private func repairReflogs(_ repository: Repository, _ quarantine: Quarantine) throws {
    let root = repository.commonDirectory.utf8.count
    for (path, content) in repository.brokenReflogs() {
      let destination = try quarantine.take(path, as: String(path.dropFirst(root)))
      report(.quarantined(path: path, to: destination))
      try DurableFile.write(content, to: path, temporary: store.local.temporary("reflog"))
    }
  }

  // MARK: The index

  private func repairIndex(
    _ repository: Repository, _ quarantine: Quarantine, isStale: Bool
  ) async throws {
    let path = repository.gitDirectory + "index"
    guard try repository.commit(of: "HEAD") != nil else { return }
    let exists = access(path, F_OK) == 0
    guard isStale || !exists || repository.indexDamage() != nil else { return }
    if exists {
      report(.quarantined(path: path, to: try quarantine.take(path, as: "index")))
    }
    let outcome = try await GitCommand.run(["read-tree", "HEAD"], in: store.path)
    guard outcome.status == 0 else {
      throw GitError(.generic, "rebuild git's index", GitCommand.reason(outcome))
    }
    _ = try await GitCommand.run(["update-index", "-q", "--refresh"], in: store.path)
    report(.index)
  }
}
