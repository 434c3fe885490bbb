import BelfryCore
import Git
import Glibc

/// Writes records and commits them; made and used under the store's lock.
///
/// ```
/// blobs → journal → record files → index → trees, commit → branch (the commit point) → cards
/// ```
///
/// Up to the commit point a failure puts the old files back, which were kept aside: that needs no room on the
/// disk. A process that dies there leaves the journal, which names files and blobs: the next writer commits
/// all of them, or, after a failure whose files could not be put back, none.
final class StoreWriter {
  let store: Store
  let repository: Repository
  /// The branch that HEAD names, in full.
  let branch: String
  private let signature: Repository.Signature
  private let hold: CollectionHold
  /// Where Belfry left the branch, which somebody else may have moved since; nil when it is not known.
  let seen: ObjectID?
  /// The commit that the work tree is in line with: it moves with the branch as long as only this process moves it. What
  /// somebody else has put on top is left to the next writer.
  var reconciled: ObjectID?
  /// Keeps `reconciled` from being noted before all of the work tree is in line.
  var isReconciling = false

  init(_ store: Store) throws {
    self.store = store
    repository = try store.repository()
    if Repository.mayBeUnmerged(repository.gitDirectory) {
      try MergeMending(store, repository).mend()
    }
    let operation = try repository.operation()
    guard operation == .none else { throw StoreError.operationInProgress(operation) }
    guard let branch = try repository.headBranch() else {
      throw StoreError.detachedHead(branch: store.presentBranch(repository))
    }
    self.branch = branch
    signature = try store.signature(repository)
    hold = try StoreWriter.holdOff(repository, patience: store.context.patience)
    seen = store.local.readSeen()
    reconciled = seen
    try recover()
    try reconcile()
  }

  /// Waits for a collection that goes on, and keeps the next from beginning.
  private static func holdOff(
    _ repository: Repository, patience: Int
  ) throws -> CollectionHold {
    var waited = 0
    while true {
      do {
        return try CollectionHold(repository)
      } catch CollectionHold.Failure.collecting(let user) {
        let lock = repository.commonDirectory + "gc.pid"
        if user == nil, repository.removeAbandonedLock(lock + ".lock") { continue }
        guard waited < patience else { throw StoreError.gitBusy(path: lock, by: user) }
        usleep(5_000)
        waited += 5
      }
    }
  }

  func head() throws -> ObjectID? { try repository.commit(of: branch) }

  // MARK: Committing

  /// Writes files (nil: tracks them no longer, and leaves them lying) and commits them on top of the branch. Returns the commit.
  @discardableResult
  func commit(
    _ files: [String: [UInt8]?], keeping kept: Set<String> = [], message: CommitMessage
  ) throws -> ObjectID {
    try commit(files, keeping: kept, message: message.text)
  }

  /// - Parameter message: the message's whole text.
  @discardableResult
  func commit(
    _ files: [String: [UInt8]?], keeping kept: Set<String> = [], message: String
  ) throws -> ObjectID {
    try write(files, keeping: kept, message: message) { blobs in
      try self.advance { head in
        let tree = try self.tree(from: head.map { try self.repository.commit($0).tree }, blobs)
        return try self.repository.writeCommit(
          tree: tree, parents: head.map { [$0] } ?? [], signature: self.signature,
          message: message)
      }
    }
  }

  /// Moves the branch to a commit that is made on top of where it stands; again when somebody else moved
  /// it meanwhile.
  private func advance(_ make: (ObjectID?) throws -> ObjectID) throws -> ObjectID {
    for _ in 0..<20 {
      let head = try head()
      let commit = try make(head)
      if try move(from: head, to: commit) { return commit }
    }
    throw StoreError.gitBusy(path: branch, by: nil)
  }

  /// Moves the branch; false when it does not stand at `from` any more.
  func move(from head: ObjectID?, to commit: ObjectID) throws -> Bool {
    let isMoved = try store.waitingForGit(repository.lock(of: branch), in: repository) {
      switch try repository.moveReference(
        branch, from: head, to: commit, signature: signature, message: store.context.process)
      {
      case .moved: true
      case .elsewhere: false
      case .locked: nil
      }
    }
    if isMoved, head == reconciled { reconciled = commit }
    return isMoved
  }

  /// Writes files, lets `commit` make the commit that holds them, and brings index and cards in step.
  ///
  /// - Parameters:
  ///   - kept: files that are committed, but left as they lie in the work tree.
  ///   - known: the blobs of files that the repository holds already.
  ///   - message: that of the commit, for whoever finishes this write if it is interrupted; nil when it is no commit of
  ///     its own.
  ///   - commit: is given the blobs, and returns the commit at which the branch then stands.
  @discardableResult
  func write(
    _ files: [String: [UInt8]?], keeping kept: Set<String> = [], known: [String: ObjectID] = [:],
    message: String? = nil, commit: ([String: ObjectID?]) throws -> ObjectID
  ) throws -> ObjectID {
    let paths = files.keys.sorted()
    // Blobs first: a full disk is met before any file has changed.
    var blobs: [String: ObjectID?] = [:]
    for path in paths {
      blobs[path] = .some(
        try known[path] ?? files[path]?.map { try repository.writeBlob($0) } ?? nil)
    }
    var placement = Placement(store, keeping: kept)
    try store.local.beginJournal(
      paths.map { ($0, blobs[$0] ?? nil) }, head: try head(), message: message)
    let result: ObjectID
    do {
      try placement.place(files)
      try updateIndex(
        Dictionary(
          uniqueKeysWithValues: blobs.map { path, blob in
            // Without a status git looks at the file itself, and sees that it differs.
            (path, blob.map { IndexFile.Entry(id: $0, status: placement.written[path] ?? stat()) })
          }))
      placement.isIndexed = true
      result = try commit(blobs)
    } catch {
      putBack(&placement)
      throw error
    }
    noteReconciled()
    store.local.endJournal()
    placement.forget()
    repository.forgetOldIndex()
    store.updateCards(files: files, blobs: blobs, written: placement.written)
    store.local.pokeDaemon()
    // A note: without it the next command compares the settings with the branch once more.
    if placement.written[SettingsFile.path] != nil { try? store.settleSettings() }
    return result
  }

  /// Undoes what a failed write has placed; what cannot be undone now is by the next writer.
  private func putBack(_ placement: inout Placement) {
    var isWhole = placement.putBack()
    if placement.isIndexed, !repository.restoreIndex() {
      do {
        try resetIndex(placement.paths)
      } catch {
        isWhole = false
      }
    }
    if isWhole {
      store.local.endJournal()
      placement.forget()
    } else {
      store.local.refuseJournal()
    }
  }

  /// Lets git's index have HEAD's versions of some files again.
  func resetIndex(_ paths: [String]) throws {
    let tree = try head().map { try repository.commit($0).tree }
    var entries: [String: IndexFile.Entry?] = [:]
    for path in paths {
      let known = try tree.flatMap { try repository.blob(at: path, in: $0) }
      entries[path] = .some(known.map { IndexFile.Entry(id: $0, status: stat()) })
    }
    try updateIndex(entries)
  }

  /// Follows with git's index; waits for another git that holds it.
  func updateIndex(_ changes: [String: IndexFile.Entry?]) throws {
    try store.waitingForGit(repository.gitDirectory + "index.lock", in: repository) {
      do {
        return try repository.updateIndex(changes)
      } catch IndexFile.Failure.busy {
        return nil
      } catch IndexFile.Failure.unmerged {
        try MergeMending(store, repository).mend()
        return try repository.updateIndex(changes)
      }
    }
  }

  // MARK: Trees

  /// A tree with some files replaced, added or (nil) removed, sharing all that did not change.
  func tree(from base: ObjectID?, _ files: [String: ObjectID?]) throws -> ObjectID {
    try tree(
      from: base,
      files.map { (path: $0.key.split(separator: "/")[...], blob: $0.value) })
      ?? repository.writeTree(TreeData())
  }

  private typealias Change = (path: ArraySlice<Substring>, blob: ObjectID?)

  /// Nil when nothing is left in the tree.
  private func tree(from base: ObjectID?, _ changes: [Change]) throws -> ObjectID? {
    let data = try base.map { try repository.tree($0) } ?? TreeData()
    var entries: [String: TreeData.Entry?] = [:]
    for (name, group) in Dictionary(grouping: changes, by: { $0.path.first ?? "" }) {
      let name = String(name)
      if let file = group.first(where: { $0.path.count == 1 }) {
        entries[name] = .some(
          file.blob.map { TreeData.Entry(name: name, mode: .file, id: $0) })
      } else {
        let below = try data.entry(named: name).flatMap { $0.mode == .folder ? $0.id : nil }
        let subtree = try tree(from: below, group.map { ($0.path.dropFirst(), $0.blob) })
        entries[name] = .some(
          subtree.map { TreeData.Entry(name: name, mode: .folder, id: $0) })
      }
    }
    let result = try data.replacing(entries)
    return result.bytes.isEmpty ? nil : try repository.writeTree(result)
  }
}

extension Store {
  /// Who commits here, now: git's own user, or the device where git knows none.
  func signature(_ repository: Repository) throws(GitError) -> Repository.Signature {
    let user = try repository.configuredUser() ?? (context.deviceName, "belfry@localhost")
    return Repository.Signature(name: user.name, email: user.email, time: context.now.seconds)
  }
}
