import BelfryCore
import Git
import Glibc

/// Puts right what can be, under the store's lock, in this order:
///
/// ```
/// locks → HEAD → damaged objects → missing objects → branch → index → records and log → packs
/// ```
///
/// Each step works with what those before it have mended. What cannot be mended is moved into a quarantine.
public struct Repair: Sendable {
  private let store: Store
  private let report: @Sendable (Mended) -> Void

  /// - Parameter report: told of each thing as soon as it is done.
  public init(_ store: Store, report: @escaping @Sendable (Mended) -> Void) {
    self.store = store
    self.report = report
  }

  public func run() async throws {
    try await store.locked { try await mend() }
  }

  private func mend() async throws {
    let quarantine = Quarantine(store)
    if Reference.brokenHead(store) != nil { try mendHead(quarantine) }
    let repository = try store.repository()
    let branch = try repository.headBranch() ?? "refs/heads/\(Repository.branch)"
    for lock in repository.locks(of: branch)
    where repository.removeAbandonedLock(lock, olderThan: 0) {
      report(.lock(path: lock))
    }
    for damaged in repository.damagedLooseObjects() {
      let name = damaged.path.split(separator: "/").suffix(2).joined()
      report(
        .quarantined(
          path: damaged.path, to: try quarantine.take(damaged.path, as: "objects/\(name)")))
    }
    try await restoreObjects(repository)
    var isMoved = false
    if Reference.broken(branch, of: repository) != nil {
      isMoved = true
      try await mendBranch(branch, repository, quarantine)
    }
    try mendReflogs(repository, quarantine)
    try await mendIndex(repository, quarantine, isStale: isMoved)
    // The cards tell what is committed by what they were told; now everything is looked at again.
    _ = unlink(store.local.cards)
    try await mendRecords(quarantine)
  }

  // MARK: References

  private func mendHead(_ quarantine: Quarantine) throws {
    let git = DurableFile.parent(of: store.local.folder)
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
        _ = try await GitCommand.run(
          ["fetch", "--quiet", "--end-of-options", remote.name], in: store.path)
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

  private func mendReflogs(_ repository: Repository, _ quarantine: Quarantine) throws {
    let root = repository.commonDirectory.utf8.count
    for (path, mended) in repository.brokenReflogs() {
      let place = try quarantine.take(path, as: String(path.dropFirst(root)))
      report(.quarantined(path: path, to: place))
      try DurableFile.write(mended, to: path, temporary: store.local.temporary("reflog"))
    }
  }

  // MARK: Objects

  /// Looks for missing objects in the work tree, the index and the remotes, again as long as that helps:
  /// what a restored object names may be missing too.
  private func restoreObjects(_ repository: Repository) async throws {
    var isWorthwhile = true
    while isWorthwhile {
      isWorthwhile = false
      let missing = try await missingObjects()
      if missing.isEmpty { break }
      for object in missing {
        if let source = try await restore(object, repository) {
          report(.object(object.id, source: source))
          isWorthwhile = true
        }
      }
      try repository.flush()
    }
    removeClones()
  }

  private func missingObjects() async throws -> [MissingObject] {
    let outcome = try await GitCommand.run(
      ["fsck", "--connectivity-only", "--no-dangling", "--no-progress"], in: store.path)
    return MissingObject.all(in: outcome)
  }

  private func restore(
    _ object: MissingObject, _ repository: Repository
  ) async throws -> Mended.Source? {
    if object.kind == "blob", let bytes = workTreeFile(object.id) {
      _ = try repository.writeBlob(bytes)
      return .workTree
    }
    if object.kind == "tree" {
      // The index knows the trees of HEAD.
      _ = try await GitCommand.run(["write-tree", "--missing-ok"], in: store.path)
      if (try? repository.tree(object.id)) != nil { return .index }
    }
    for remote in try repository.remotes() {
      guard let clone = try await self.clone(remote) else { continue }
      if try repository.adopt(object.id, from: clone) { return .remote(remote.name) }
    }
    return nil
  }

  private func workTreeFile(_ id: ObjectID) -> [UInt8]? {
    for path in store.recordFiles() {
      guard let kind = RecordPath(path),
        let file = (try? DurableFile.read("\(store.path)/\(path)", limit: kind.largest)) ?? nil,
        Repository.blobID(file.bytes) == id
      else { continue }
      return file.bytes
    }
    return nil
  }

  private func clonePath(_ remote: Remote) -> String {
    "\(store.local.folder)/recovery-\(remote.name).git"
  }

  /// A copy of what a remote has, made once; nil when it cannot be reached.
  private func clone(_ remote: Remote) async throws -> Repository? {
    let path = clonePath(remote)
    if access(path, F_OK) != 0 {
      let outcome = try await GitCommand.run(
        ["clone", "--quiet", "--bare", "--no-local", "--end-of-options", remote.url, path],
        in: store.path)
      guard outcome.status == 0 else { return nil }
    }
    return try? Repository.open(path)
  }

  private func removeClones() {
    for name in DurableFile.names(in: store.local.folder) where name.hasPrefix("recovery-") {
      Store.remove("\(store.local.folder)/\(name)")
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

  // MARK: Records

  private func mendRecords(_ quarantine: Quarantine) async throws {
    let writer = try StoreWriter(store)
    let dropped = try await Dropped(store).files()
    if !dropped.isEmpty {
      try writer.commit(
        dropped.mapValues { $0 }, keeping: store.edited(dropped.mapValues { _ in nil }),
        message: CommitMessage("Put back what was dropped", device: store.device))
      report(.restored(dropped.keys.sorted()))
    }
    try removeUnusable(quarantine, writer)
    let missing = try CardView(store).unsettled
      .filter { access("\(store.path)/\(AlarmRecord.path($0))", F_OK) != 0 }
    try Absorption(writer).absorb(try CardView(store).unsettled)
    if !missing.isEmpty { report(.restored(missing.map(AlarmRecord.path))) }
    try SettingsAbsorption(writer).absorb()

    let changes = try await WorkTreeChanges(store)
    try restore(changes.removed, writer)
    var files: [String: [UInt8]?] = [:]
    for path in changes.uncommitted {
      guard let kind = RecordPath(path),
        let file = try DurableFile.read("\(store.path)/\(path)", limit: kind.largest),
        kind.error(in: file.bytes) == nil
      else { continue }
      files[path] = .some(file.bytes)
    }
    if !files.isEmpty {
      try writer.commit(
        files, message: CommitMessage("Take up what another program wrote", device: store.device))
      report(.committed(files.keys.sorted()))
    }
    try restoreAnswers(writer)
    try CardView(store).save()
  }

  /// Moves what lies in a record's place and is none out of the way; what was good before comes back.
  private func removeUnusable(_ quarantine: Quarantine, _ writer: StoreWriter) throws {
    var back: [String] = []
    for path in store.recordFiles() {
      let error: RecordError?
      if let kind = RecordPath(path) {
        do {
          let file = try DurableFile.read("\(store.path)/\(path)", limit: kind.largest)
          error = file.flatMap { kind.error(in: $0.bytes) }
        } catch {
          try put(path, into: quarantine)
          back.append(path)
          continue
        }
      } else {
        error = RecordError("no record has this name")
      }
      guard let error else { continue }
      // A later Belfry will read it.
      if case .newerFormat = error.kind { continue }
      // Of the attributes every form is git's to read.
      if path == Store.attributesPath { continue }
      try put(path, into: quarantine)
      back.append(path)
    }
    try restore(back.filter { !$0.hasPrefix("alarms/") }, writer)
  }

  private func put(_ path: String, into quarantine: Quarantine) throws {
    let place = try quarantine.take("\(store.path)/\(path)", as: path)
    report(.quarantined(path: path, to: place))
  }

  /// Writes records again that HEAD has and the work tree lacks.
  private func restore(_ paths: [String], _ writer: StoreWriter) throws {
    guard let head = try writer.head(), !paths.isEmpty else { return }
    let tree = try writer.repository.commit(head).tree
    var files: [String: [UInt8]?] = [:]
    for path in paths {
      guard let kind = RecordPath(path),
        let blob = try writer.repository.blob(at: path, in: tree),
        let bytes = try? writer.repository.blob(blob, limit: kind.largest)
      else { continue }
      files[path] = .some(bytes)
    }
    if files.isEmpty { return }
    try writer.write(files) { _ in head }
    report(.restored(files.keys.sorted()))
  }

  /// Brings answers that only the log knows into the alarms' records.
  private func restoreAnswers(_ writer: StoreWriter) throws {
    let entries = Dictionary(grouping: store.log(), by: \.alarm)
    for (id, told) in entries.sorted(by: { $0.key < $1.key }) {
      guard case .good(let alarm, _) = try store.readAlarm(id) else { continue }
      let lost = LostAnswer.all(alarm, told)
      if alarm.isDeleted || lost.isEmpty { continue }
      let mended = LostAnswer.mended(alarm, told)
      try writer.commit(
        [AlarmRecord.path(id): AlarmRecord.encode(mended)],
        message: CommitMessage(
          "Restore \(lost.count) answer\(lost.count == 1 ? "" : "s") from the log: \(alarm.title)",
          device: store.device))
      report(.answers(title: alarm.title, lost.map(\.0)))
    }
  }
}
