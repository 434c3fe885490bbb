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
    try await mendSkeleton(quarantine)
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
    _ = unlink(store.local.cards)
    try await mendRecords(quarantine)
  }

  // MARK: Folders and configuration

  /// Makes what every repository has, and this one lacks: empty folders, a configuration that can be read.
  private func mendSkeleton(_ quarantine: Quarantine) async throws {
    let git = DurableFile.parent(of: store.local.folder)
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

  /// Moves packs out of the way that are damaged, and takes what can be read of them back.
  private func salvagePacks(_ repository: Repository, _ quarantine: Quarantine) async throws {
    let folder = repository.commonDirectory + "objects/pack"
    for name in DurableFile.names(in: folder).sorted() where name.hasSuffix(".idx") {
      let base = "\(folder)/\(name.dropLast(4))"
      let check = try await GitCommand.run(["verify-pack", "\(base).idx"], in: store.path)
      if check.status == 0 { continue }
      for suffix in ["idx", "rev", "bitmap", "pack"] where access("\(base).\(suffix)", F_OK) == 0 {
        let path = "\(base).\(suffix)"
        let place = try quarantine.take(path, as: "objects/\(name.dropLast(4)).\(suffix)")
        report(.quarantined(path: path, to: place))
        guard suffix == "pack" else { continue }
        // It stops at the first object that it cannot read; those before are saved.
        _ = try await GitCommand.run(["unpack-objects", "-r", "-q"], in: store.path, input: place)
      }
    }
  }

  /// Moves git's notes of the history out of the way that tell of commits which are not there: it makes
  /// them anew.
  private func mendGraph(_ repository: Repository, _ quarantine: Quarantine) async throws {
    let check = try await GitCommand.run(["commit-graph", "verify"], in: store.path)
    if check.status == 0 { return }
    for name in ["info/commit-graph", "info/commit-graphs", "pack/multi-pack-index"] {
      let path = "\(repository.commonDirectory)objects/\(name)"
      guard access(path, F_OK) == 0 else { continue }
      report(.quarantined(path: path, to: try quarantine.take(path, as: "objects/\(name)")))
    }
  }

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
    let writer: StoreWriter
    do {
      writer = try StoreWriter(store)
    } catch StoreError.operationInProgress, StoreError.detachedHead {
      // Nothing is written into what a person has begun; the examination tells of it.
      return
    }
    let dropped = try await Dropped(store).files()
    if !dropped.isEmpty {
      try writer.commit(
        dropped.mapValues { $0 }, keeping: store.edited(dropped.mapValues { _ in nil }),
        message: CommitMessage("Put back what was dropped", device: store.device))
      report(.restored(dropped.keys.sorted()))
    }
    try removeUnusable(quarantine, writer)
    let unsettled = try CardView(store).unsettled
    let missing = unsettled.map(AlarmRecord.path)
      .filter { access("\(store.path)/\($0)", F_OK) != 0 }
    try Absorption(writer).absorb(unsettled)
    let restored = missing.filter { access("\(store.path)/\($0)", F_OK) == 0 }
    if !restored.isEmpty { report(.restored(restored)) }
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
    for folder in ["alarms", "devices", "log"] {
      var status = stat()
      guard lstat("\(store.path)/\(folder)", &status) == 0, status.st_mode & S_IFMT != S_IFDIR
      else { continue }
      try put(folder, into: quarantine)
    }
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
    try restore(back, writer)
  }

  private func put(_ path: String, into quarantine: Quarantine) throws {
    let place = try quarantine.take("\(store.path)/\(path)", as: path)
    report(.quarantined(path: path, to: place))
  }

  /// Writes the last good versions of records.
  private func restore(_ paths: [String], _ writer: StoreWriter) throws {
    var files: [String: [UInt8]?] = [:]
    for path in paths {
      if let good = try store.lastGoodVersion(of: path, writer.repository) {
        files[path] = .some(good.bytes)
      }
    }
    if files.isEmpty { return }
    try writer.commit(
      files, message: CommitMessage("Take the last good version back", device: store.device))
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
