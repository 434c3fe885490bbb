import BelfryCore
import Files
import Git
import Glibc

/// The completion of writes whose process ended during them or whose effects a power failure undid, and the rollback of
/// a write that failed.
///
/// - Precondition: A branch is checked out, and the store's lock is held, so that no other write is in progress. After a
///   power failure, `PowerFailureRecovery` has run.
/// - Effect: The branch contains the writes of the journal: it is at the commit of the last one, or at a later commit of
///   another program, or at a commit that joins both. The work tree has their files, apart from hand edits and from what
///   is left of damaged ones, which is moved to the quarantine. All writes are applied, and after a power failure the
///   journal is empty.
/// - Cost: Reads the head of one file. Otherwise in proportion to the interrupted writes.
struct JournalRecovery: ReconcileStep {
  static let stage = ReconcileStage.interruptedWrite

  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws {
    let store = writer.store
    guard store.local.hasJournal else { return }
    let isAfterFailure = store.local.hasLostPower
    let writes = try store.local.interruptedWrites()
    // The process that ended may have held these locks.
    for lock in writer.repository.locks(of: writer.branch) {
      _ = writer.repository.removeStaleLock(lock, olderThan: 0)
    }
    var replay = Replay(writer, isAfterFailure: isAfterFailure)
    if let refused = writes.refused { try replay.undo(refused) }
    if !writes.entries.isEmpty || isAfterFailure { try replay.complete(writes) }
    store.local.log.finish()
    if isAfterFailure {
      try writer.repository.mendReflogs(
        since: writes.commits.filter { (try? writer.repository.commit($0)) != nil },
        temporary: store.local.temporary("reflog"))
      // The writes of the recovery were not flushed either.
      try store.checkpoint.run(writer.repository)
      try? AlarmIndex(store).save()
    }
  }
}

/// The repetition of interrupted writes.
private struct Replay {
  private let writer: StoreWriter
  private let isAfterFailure: Bool
  private var store: Store { writer.store }
  private var repository: Repository { writer.repository }
  /// The versions by path that a file may have because a write is incomplete, and that are no hand edits.
  private var earlier: [String: Set<ObjectID>] = [:]

  /// - Parameter isAfterFailure: True if a file may have been damaged by a power failure.
  init(_ writer: StoreWriter, isAfterFailure: Bool) {
    self.writer = writer
    self.isAfterFailure = isAfterFailure
  }

  // MARK: Completing

  /// Completes writes in their order.
  mutating func complete(_ writes: LocalState.InterruptedWrites) throws {
    let entries = writes.entries
    // `PowerFailureRecovery` has restored all objects.
    if !isAfterFailure {
      for entry in entries { try entry.restoreObjects(in: repository) }
    }
    guard let target = writes.end else { return }
    let head = try writer.head()
    if !isReachable(target, writes, from: head), head.map(repository.isWhole) ?? true {
      return try commitAgain(entries)
    }
    if head.map(writes.commits.contains) ?? true || isLost(head, writes) {
      if head != target { try move(from: head, to: target) }
    } else if let head, try !repository.isAncestor(target, of: head),
      try !repository.isAncestor(head, of: target)
    {
      return try commitAgain(entries)
    }
    try restoreFiles(entries, of: target)
    // The next step takes over what other programs have committed since then, and restores what they have removed.
    writer.reconciled = target
    writer.noteReconciled()
  }

  /// Returns false if a commit of the writes is missing or incomplete, as in a backup whose journal is newer than its
  /// objects.
  private func isReachable(
    _ target: ObjectID, _ writes: LocalState.InterruptedWrites, from head: ObjectID?
  ) -> Bool {
    guard writes.commits.allSatisfy({ (try? repository.commit($0)) != nil }) else { return false }
    // Without a power failure, the objects of the commits are as complete as before the write.
    return !isAfterFailure || head == target || repository.isWhole(target, besides: head)
  }

  /// Returns true if the branch is at a commit of another program that the power failure has damaged, because git did
  /// not flush it.
  private func isLost(_ head: ObjectID?, _ writes: LocalState.InterruptedWrites) -> Bool {
    guard isAfterFailure, let head else { return false }
    return !repository.isWhole(head, since: writes.commits)
  }

  private func move(from head: ObjectID?, to target: ObjectID) throws {
    guard try writer.move(from: head, to: target) else {
      throw StoreError.gitBusy(path: writer.branch, by: nil)
    }
  }

  /// Writes the files of completed writes, and their entries in git's index.
  ///
  /// - Parameter target: The commit after the last write.
  private mutating func restoreFiles(_ entries: [JournalEntry], of target: ObjectID) throws {
    try noteEarlierVersions(entries)
    let tree = try repository.commit(target).tree
    var last: [String: JournalEntry.File] = [:]
    for file in entries.flatMap(\.files) { last[file.path] = file }
    var index: [String: IndexFile.Entry?] = [:]
    for (path, file) in last.sorted(by: { $0.key < $1.key }) {
      // Another program may have committed a later version between two writes.
      guard let blob = try repository.blob(at: path, in: tree) else {
        index[path] = .some(nil)
        continue
      }
      let status = try restore(file, blob)
      index[path] = .some(IndexFile.Entry(id: blob, status: status ?? stat()))
    }
    // A branch that has moved on has other entries.
    let head = try writer.head()
    if head == target {
      try writer.updateIndex(index)
    } else {
      try writer.resetIndex(last.keys.sorted())
    }
  }

  private mutating func noteEarlierVersions(_ entries: [JournalEntry]) throws {
    let files = entries.flatMap(\.files)
    for file in files { if let blob = file.blob { earlier[file.path, default: []].insert(blob) } }
    // Another program may have committed between two writes.
    let own = Set(entries.map(\.target))
    for head in Set(entries.compactMap(\.head))
    where !own.contains(head) || head == entries.first?.head {
      let tree = try repository.commit(head).tree
      for path in Set(files.map(\.path)) {
        guard let blob = try repository.blob(at: path, in: tree) else { continue }
        earlier[path, default: []].insert(blob)
      }
    }
  }

  /// Writes a file unless the user has edited it. Returns the file's status if it has the content of the write.
  private func restore(_ file: JournalEntry.File, _ blob: ObjectID) throws -> stat? {
    guard let kind = RecordPath(carried: file.path) else { return nil }
    let path = "\(store.path)/\(file.path)"
    let current: (bytes: [UInt8], status: stat)?
    do {
      current = try DurableFile.read(path, limit: AlarmRecord.largest)
    } catch {
      // Something else than a record is in its place, which the user has put there.
      return nil
    }
    if let current {
      let now = Repository.blobID(current.bytes)
      if now == blob { return current.status }
      if isAfterFailure, isTorn(current.bytes, kind, file.path) {
        try setAside(current.bytes, file.path)
      } else if file.isKept || earlier[file.path]?.contains(now) != true {
        return nil
      }
    } else if file.isKept, !isAfterFailure {
      return nil
    }
    try DurableFile.makeFolder(DurableFile.parent(of: path), syncing: false)
    return try DurableFile.write(
      try repository.blob(blob, limit: kind.largest), to: path,
      temporary: store.local.temporary("record"), syncing: false)
  }

  /// Returns true if a power failure has damaged a file: a part is missing, at the end or as zeros. Any other content,
  /// valid or not, may be a hand edit.
  private func isTorn(_ bytes: [UInt8], _ kind: RecordPath, _ path: String) -> Bool {
    guard let error = kind.error(in: bytes) else { return false }
    if case .newerFormat = error.kind { return false }
    if bytes.isEmpty || bytes.contains(0) { return true }
    return (earlier[path] ?? []).contains { version in
      (try? repository.blob(version, limit: kind.largest).starts(with: bytes)) == true
    }
  }

  /// Moves a damaged file to the quarantine, because it can contain a part of a hand edit.
  private func setAside(_ bytes: [UInt8], _ path: String) throws {
    if bytes.allSatisfy({ $0 == 0 }) { return }
    let destination = try Quarantine(store).take("\(store.path)/\(path)", as: path)
    store.context.report(.setAside(path: path, to: destination))
  }

  // MARK: Committing again

  /// Commits the files of writes on top of a branch that does not contain them: the versions are joined.
  private func commitAgain(_ entries: [JournalEntry]) throws {
    let (start, head) = (entries.first?.head, try writer.head())
    let tree = try head.map { try repository.commit($0).tree }
    var intended: [String: [UInt8]] = [:]
    for file in entries.flatMap(\.files) {
      guard let kind = RecordPath(carried: file.path), let blob = file.blob else { continue }
      // A remote has a missing blob: only fetched objects are not in the journal.
      guard let bytes = try? repository.blob(blob, limit: kind.largest) else { continue }
      intended[file.path] = bytes
    }
    let isMoved = start != head
    let base = isMoved ? start.flatMap { try? repository.commit($0).tree } : nil
    var files: [String: [UInt8]?] = [:]
    var edited: Set<String> = []
    for (path, bytes) in intended {
      let committed = try tree.flatMap { try repository.blob(at: path, in: $0) }
      let id = Repository.blobID(bytes)
      if committed == id { continue }
      let content = isMoved ? joined(path, bytes, committed, base: base) : bytes
      // The committed version already contains the write.
      if Repository.blobID(content) == committed { continue }
      files[path] = .some(content)
      // An edit that the user has made since then stays in the work tree.
      let current = try? DurableFile.read("\(store.path)/\(path)", limit: AlarmRecord.largest)
      guard let current = current ?? nil else { continue }
      let now = Repository.blobID(current.bytes)
      if now == id || now == committed {
        writer.read[path] = now
      } else {
        edited.insert(path)
      }
    }
    if files.isEmpty { return }
    try writer.commit(files, keeping: edited, message: message(for: entries))
  }

  /// Returns the message for the commit of interrupted writes: that of the last one, so that the action can be undone,
  /// and a trailer.
  private func message(for entries: [JournalEntry]) -> String {
    guard let message = entries.last.flatMap({ try? repository.commit($0.target).message }) else {
      return CommitMessage("Finish an interrupted write", device: store.device).text
    }
    let trailers = CommitMessage.trailers(of: message)
    // A write that was interrupted twice gets the trailer once.
    if trailers["Device"] == nil || trailers[CommitMessage.recovered] != nil { return message }
    return message + (message.hasSuffix("\n") ? "" : "\n") + "\(CommitMessage.recovered): true\n"
  }

  /// Returns the join of a file of an interrupted write and the committed version.
  ///
  /// - Parameter base: The tree from which both were made. It shows values that were edited without a stamp.
  private func joined(
    _ path: String, _ bytes: [UInt8], _ committed: ObjectID?, base: ObjectID?
  ) -> [UInt8] {
    guard let kind = RecordPath(carried: path), let committed,
      let known = try? repository.blob(committed, limit: kind.largest)
    else { return bytes }
    let join = RecordJoin(kind, ours: .success(bytes), theirs: .success(known)) {
      let before = base.flatMap { (try? repository.blob(at: path, in: $0)) ?? nil }
      return before.flatMap { try? repository.blob($0, limit: kind.largest) }
    }
    return join.bytes ?? bytes
  }

  // MARK: Undoing

  /// Undoes a write: restores HEAD's versions of the files that still have the content of the write.
  func undo(_ entry: JournalEntry) throws {
    let tree = try writer.head().map { try repository.commit($0).tree }
    for file in entry.files {
      guard RecordPath(carried: file.path) != nil, let blob = file.blob else { continue }
      let path = "\(store.path)/\(file.path)"
      guard let current = try DurableFile.read(path, limit: AlarmRecord.largest),
        Repository.blobID(current.bytes) == blob
      else { continue }
      let committed = try tree.flatMap { try repository.blob(at: file.path, in: $0) }
      if committed == blob { continue }
      if let committed {
        let bytes = try repository.blob(committed, limit: AlarmRecord.largest)
        try DurableFile.write(bytes, to: path, temporary: store.local.temporary("record"))
      } else if unlink(path) != 0, errno != ENOENT {
        throw FileError("remove", path)
      }
    }
    try writer.resetIndex(entry.files.map(\.path).filter { RecordPath(carried: $0) != nil })
  }
}
