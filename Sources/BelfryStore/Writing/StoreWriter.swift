import BelfryCore
import Files
import Git
import Glibc

/// A writer of records and commits. It is used under the store's lock, after a reconciliation (see
/// `Store.write(reconciling:)`).
///
/// ```
/// objects in memory → journal (the only flush) → objects → record files → index → branch (the commit point)
///                   → alarm index
/// ```
///
/// If a step before the commit point fails, the old files are restored from backups, which needs no disk space, and the
/// write is removed from the journal. If the process ends before the commit point, or the power fails at any time, the
/// journal remains: the next reconciliation completes the write, or, after a failure whose files could not be restored,
/// undoes it (see `JournalRecovery`).
final class StoreWriter {
  /// The store.
  let store: Store
  /// The store's repository.
  let repository: Repository
  /// The full name of the checked-out branch.
  let branch: String
  private let signature: Repository.Signature
  private let hold: CollectionHold
  /// The commit at which Belfry left the branch; nil if it is unknown. Another program may have moved the branch since
  /// then.
  let seen: ObjectID?
  /// The commit with which the work tree agrees. It moves with the branch as long as only this process moves the
  /// branch. Commits of other programs are left to the next writer.
  var reconciled: ObjectID?
  /// True while the work tree is being updated, so that `reconciled` is not yet saved.
  var isReconciling = false
  /// The latest stage of the reconciliation.
  var latestStage = ReconcileStage.mergeConflicts
  /// The blobs of the files that were read for the changes, by path. A write replaces no other version of a file, except
  /// for the one in `reconciled`.
  var read: [String: ObjectID] = [:]
  /// The alarm index as it was before an import of all hand edits; nil if there was no such import.
  var checkedAlarms: AlarmIndex?
  /// The blobs of the files that this writer has committed, by path.
  private(set) var committed: [String: ObjectID] = [:]
  /// The folders of a commit with which the work tree agreed.
  var folders: FolderCache
  /// The commit of `folders`; nil for none.
  var commitOfFolders: ObjectID?

  /// Creates a writer. `Store.write(reconciling:)` is the only caller that does so for a write.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - repository: The store's repository.
  ///   - branch: The full name of the checked-out branch.
  ///   - signature: The author of the commits.
  ///   - hold: Prevents a garbage collection during the write.
  ///   - seen: The commit at which Belfry left the branch; nil if it is unknown.
  init(
    _ store: Store, _ repository: Repository, branch: String, signature: Repository.Signature,
    hold: consuming CollectionHold, seen: ObjectID?
  ) {
    self.store = store
    self.repository = repository
    self.branch = branch
    self.signature = signature
    self.hold = hold
    self.seen = seen
    reconciled = seen
    folders = FolderCache(repository, commit: nil)
  }

  /// Returns the commit of the branch, or nil before the first commit.
  func head() throws -> ObjectID? { try repository.commit(of: branch) }

  /// Saves the commit with which the work tree agrees.
  func noteReconciled() {
    if !isReconciling, let reconciled { store.local.noteSeen(reconciled) }
  }

  // MARK: Committing

  /// Commits a change.
  func commit(_ change: Store.Change) throws {
    try commit(change.files, message: change.message.text)
  }

  /// Writes files, and commits them on top of the branch.
  ///
  /// - Parameters:
  ///   - files: The contents by path. Nil removes a file from the branch, but not from the work tree.
  ///   - kept: The files that are committed, but not written to the work tree.
  ///   - message: The message.
  func commit(
    _ files: [String: [UInt8]?], keeping kept: Set<String> = [], message: CommitMessage
  ) throws {
    try commit(files, keeping: kept, message: message.text)
  }

  /// Writes files, and commits them on top of the branch.
  ///
  /// - Parameter message: The whole text of the message.
  func commit(
    _ files: [String: [UInt8]?], keeping kept: Set<String> = [], message: String
  ) throws {
    for _ in 0..<StoreWriter.maxAttempts {
      do {
        return try write(files, keeping: kept) { blobs in
          let head = try self.head()
          let tree = try self.tree(from: head.map { try self.repository.commit($0).tree }, blobs)
          assert(self.contains(blobs, tree), "the commit has the files of the write")
          let commit = try self.repository.writeCommit(
            tree: tree, parents: head.map { [$0] } ?? [], signature: self.signature,
            message: message)
          return Move(from: head, to: commit)
        }
      } catch is MovedElsewhere {
        // Another program has moved the branch in the meantime.
      }
    }
    throw StoreError.gitBusy(path: branch, by: nil)
  }

  /// Returns true if a tree has the given files, or if it cannot be read. Debug builds check it for few files.
  private func contains(_ blobs: [String: ObjectID?], _ tree: ObjectID) -> Bool {
    if blobs.count > 16 { return true }
    return blobs.allSatisfy { path, blob in
      guard let blob else { return true }
      var id = tree
      for name in path.split(separator: "/") {
        // A malformed tree of another program can repeat a name.
        guard let folder = try? repository.tree(id),
          (try? folder.repeatedNames().isEmpty) == true, let entries = try? folder.entries()
        else { return true }
        guard let found = entries.first(where: { $0.name == name }) else { return false }
        id = found.id
      }
      return id == blob
    }
  }

  /// The number of attempts to commit on top of a branch that other programs move.
  static let maxAttempts = 20

  /// Moves the branch. Returns false if it is no longer at `from`.
  func move(from head: ObjectID?, to commit: ObjectID) throws -> Bool {
    assert(head != commit, "a move changes the branch")
    let isMoved = try store.waitingForGit(repository.lock(of: branch), in: repository) {
      switch try repository.moveReference(
        branch, from: head, to: commit, signature: signature, message: store.context.process,
        isDurable: false)
      {
      case .moved: true
      case .elsewhere: false
      case .locked: nil
      }
    }
    if isMoved, head == reconciled { reconciled = commit }
    return isMoved
  }

  /// A move of the branch.
  struct Move {
    /// The commit before; nil before the first one.
    var from: ObjectID?
    /// The commit after. It may be the same.
    var to: ObjectID
  }

  /// The error of a write that was rolled back because another program has moved the branch.
  struct MovedElsewhere: Error {}

  /// Writes files, moves the branch to a commit that contains them, and updates git's index and the alarm index.
  ///
  /// A file that the user has edited since it was read stays in the work tree as it is, and is imported later.
  ///
  /// - Parameters:
  ///   - files: The contents by path. Nil removes a file from the branch, but not from the work tree.
  ///   - kept: The files that are committed, but not written to the work tree.
  ///   - known: The blobs of files that the repository already contains.
  ///   - prepare: Receives the blobs, creates the commit, and returns the move of the branch.
  /// - Throws: `MovedElsewhere` if the branch is no longer where the move begins; `StoreError`, `GitError`, `FileError`;
  ///   the errors of `prepare`. Nothing has changed then.
  func write(
    _ files: [String: [UInt8]?], keeping kept: Set<String> = [], known: [String: ObjectID] = [:],
    prepare: ([String: ObjectID?]) throws -> Move
  ) throws {
    assert(kept.isSubset(of: files.keys), "a file that is kept is one of the write")
    assert(known.keys.allSatisfy(files.keys.contains), "a known blob is of a file of the write")
    let entry = try entry(of: files, keeping: kept, known: known, prepare: prepare)
    let before = try store.local.log.append(entry.bytes, session: store.local.session)
    var transaction = WorkTreeTransaction(store, keeping: kept)
    do {
      try apply(entry, files, &transaction)
    } catch {
      rollBack(&transaction, to: before)
      throw error
    }
    noteReconciled()
    store.local.log.finish()
    let (written, blobs) = (transaction.written, entry.blobs)
    assert(kept.isDisjoint(with: written.keys), "a kept file stays in the work tree as it is")
    assert(written.keys.allSatisfy { blobs[$0] ?? nil != nil }, "a written file is committed")
    for path in written.keys { read[path] = blobs[path] ?? nil }
    committed.merge(blobs.compactMapValues { $0 }) { $1 }
    transaction.removeBackups {
      repository.forgetOldIndex()
      store.alarmIndexCache.update(files: files, blobs: blobs, written: written)
    }
    store.checkpoint.runIfLarge(repository)
    store.local.pokeDaemon()
    // An error is ignored: the next command then compares the settings with the branch once more.
    if let status = written[SettingsFile.path] {
      try? store.local.settings.replace(with: FileSignature(status).text)
    }
    if written.keys.contains(where: { $0.hasPrefix(CalendarRecord.folder) }) {
      try? store.local.calendars.replace(with: "changed")
    }
    store.context.didWrite(store)
  }

  /// Writes files whose versions the branch contains already.
  ///
  /// - Parameters:
  ///   - files: The contents by path.
  ///   - known: The blobs of files that the repository already contains.
  ///   - head: The commit of the branch.
  func checkOut(
    _ files: [String: [UInt8]?], known: [String: ObjectID] = [:], of head: ObjectID
  ) throws {
    try write(files, known: known) { _ in Move(from: head, to: head) }
  }

  /// Returns the journal's entry of a write, with its objects, which are not in the repository yet.
  private func entry(
    of files: [String: [UInt8]?], keeping kept: Set<String>, known: [String: ObjectID],
    prepare: ([String: ObjectID?]) throws -> Move
  ) throws -> JournalEntry {
    repository.holdNewObjects()
    defer { repository.dropHeldObjects() }
    var blobs: [String: ObjectID?] = [:]
    for (path, content) in files {
      blobs[path] = .some(try known[path] ?? content.map { try repository.writeBlob($0) })
    }
    let move = try prepare(blobs)
    return JournalEntry(
      head: move.from, target: move.to,
      files: blobs.sorted { $0.key < $1.key }.map { path, blob in
        JournalEntry.File(path: path, blob: blob, isKept: kept.contains(path))
      }, objects: try repository.heldObjects())
  }

  /// Applies an entry of the journal: writes its objects and files, updates git's index, and moves the branch.
  private func apply(
    _ entry: JournalEntry, _ files: [String: [UInt8]?], _ transaction: inout WorkTreeTransaction
  ) throws {
    for object in entry.objects { try repository.restore(object) }
    // Another program may have committed an edit that has not been read here.
    try transaction.apply(files) { isKnown($1, at: $0) }
    // Without a status, git reads the file itself and detects the difference.
    try updateIndex(
      entry.blobs.reduce(into: [:]) { index, file in
        index[file.key] = .some(
          file.value.map {
            IndexFile.Entry(id: $0, status: transaction.written[file.key] ?? stat())
          })
      })
    transaction.isIndexed = true
    if entry.target != entry.head, try !move(from: entry.head, to: entry.target) {
      throw MovedElsewhere()
    }
  }

  /// Rolls back a failed write. If that fails, too, the next writer repeats it.
  ///
  /// - Parameter before: The state of the journal before the write.
  private func rollBack(
    _ transaction: inout WorkTreeTransaction, to before: WriteAheadLog.State
  ) {
    var isComplete = transaction.rollBack()
    if transaction.isIndexed, !repository.restoreIndex() {
      do {
        try resetIndex(transaction.paths)
      } catch {
        isComplete = false
      }
    }
    if isComplete {
      store.local.log.cancel(to: before)
      transaction.removeBackups()
    } else {
      store.local.log.refuse()
    }
  }

  /// Resets files in git's index to HEAD's versions.
  func resetIndex(_ paths: [String]) throws {
    let tree = try head().map { try repository.commit($0).tree }
    var entries: [String: IndexFile.Entry?] = [:]
    for path in paths {
      let known = try tree.flatMap { try repository.blob(at: path, in: $0) }
      entries[path] = .some(known.map { IndexFile.Entry(id: $0, status: stat()) })
    }
    try updateIndex(entries)
  }

  /// Updates git's index. Waits while another git holds its lock.
  func updateIndex(_ changes: [String: IndexFile.Entry?]) throws {
    try store.waitingForGit(repository.gitDirectory + "index.lock", in: repository) {
      do {
        return try repository.updateIndex(changes, syncing: false)
      } catch IndexFile.Failure.busy {
        return nil
      } catch IndexFile.Failure.unmerged {
        try MergeConflictResolver(store, repository).resolve()
        return try repository.updateIndex(changes, syncing: false)
      }
    }
  }

  // MARK: Trees

  /// Writes a tree with some files replaced, added or (nil) removed. It shares everything unchanged with `base`.
  func tree(from base: ObjectID?, _ files: [String: ObjectID?]) throws -> ObjectID {
    try tree(
      from: base,
      files.map { (path: $0.key.split(separator: "/")[...], blob: $0.value) })
      ?? repository.writeTree(TreeData())
  }

  private typealias Change = (path: ArraySlice<Substring>, blob: ObjectID?)

  /// Returns nil if the tree becomes empty.
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
    if result.bytes.isEmpty { return nil }
    return try repository.writeTree(result)
  }
}

extension Store {
  /// Returns the author of a commit: the user in git's configuration, or else the device.
  func signature(_ repository: Repository) throws(GitError) -> Repository.Signature {
    let user = try repository.configuredUser() ?? (context.deviceName, "belfry@localhost")
    return Repository.Signature(name: user.name, email: user.email, time: context.now.seconds)
  }
}
