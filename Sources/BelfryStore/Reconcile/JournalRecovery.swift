import BelfryCore
import Git
import Glibc

/// The completion of a write whose process ended during it, or the rollback of a write that failed or is incomplete.
///
/// - Precondition: A branch is checked out, and the store's lock is held, so that no other write is in progress.
/// - Effect: One commit with the files of the journal, joined with the branch if it has moved since the write began; or
///   HEAD's versions of the files. The journal is removed.
/// - Cost: Reads one small file that usually doesn't exist. Otherwise in proportion to the interrupted write.
struct JournalRecovery: ReconcileStep {
  static let stage = ReconcileStage.interruptedWrite

  func run(_ writer: StoreWriter) throws {
    let (store, repository) = (writer.store, writer.repository)
    guard let journal = try store.local.readJournal() else { return }
    // The process that ended may have held these locks.
    for lock in repository.locks(of: writer.branch) {
      _ = repository.removeStaleLock(lock, olderThan: 0)
    }
    let tree = try writer.head().map { try repository.commit($0).tree }
    var intended: [String: [UInt8]] = [:]
    var isComplete = true
    for (path, blob) in journal.files {
      guard let kind = RecordPath(path), let blob else { continue }
      guard let bytes = try? repository.blob(blob, limit: kind.largest) else {
        // The blobs had not reached the disk when the power failed.
        isComplete = false
        continue
      }
      intended[path] = bytes
    }
    if journal.isRefused || !isComplete {
      try rollBack(journal.files, tree: tree, writer)
    } else {
      try complete(
        intended, tree: tree, startHead: journal.head,
        message: recoveredMessage(journal.message, device: store.device), writer)
    }
    store.local.endJournal()
  }

  /// Returns the message for the commit of an interrupted write: its own message, so that the action can be undone, and
  /// a trailer.
  private func recoveredMessage(_ message: String?, device: Identifier) -> String {
    guard let message else {
      return CommitMessage("Finish an interrupted write", device: device).text
    }
    let trailers = CommitMessage.trailers(of: message)
    // A write that was interrupted twice gets the trailer once.
    if trailers["Device"] == nil || trailers[CommitMessage.recovered] != nil { return message }
    return message + (message.hasSuffix("\n") ? "" : "\n") + "\(CommitMessage.recovered): true\n"
  }

  /// Completes an interrupted write. If the branch has moved since the write began, the files are joined with the
  /// committed versions.
  ///
  /// - Parameters:
  ///   - intended: The files of the write.
  ///   - tree: The tree of the branch; nil before the first commit.
  ///   - startHead: The commit of the branch when the write began.
  ///   - message: The message of the commit.
  private func complete(
    _ intended: [String: [UInt8]], tree: ObjectID?, startHead: ObjectID?, message: String,
    _ writer: StoreWriter
  ) throws {
    let (store, repository) = (writer.store, writer.repository)
    let isMoved = try startHead != writer.head()
    let base = isMoved ? startHead.flatMap { try? repository.commit($0).tree } : nil
    var files: [String: [UInt8]?] = [:]
    var edited: Set<String> = []
    for (path, bytes) in intended {
      let committed = try tree.flatMap { try repository.blob(at: path, in: $0) }
      let id = Repository.blobID(bytes)
      if committed == id { continue }
      let content = isMoved ? joined(path, bytes, committed, base: base, repository) : bytes
      // The committed version already contains the write.
      if Repository.blobID(content) == committed { continue }
      files[path] = .some(content)
      // An edit that the user has made since then stays in the work tree.
      let current = try? DurableFile.read("\(store.path)/\(path)", limit: AlarmRecord.largest)
      if let current = current ?? nil, case let now = Repository.blobID(current.bytes), now != id,
        now != committed
      {
        edited.insert(path)
      }
    }
    if files.isEmpty { return }
    do {
      try writer.commit(files, keeping: edited, message: message)
    } catch {
      // The next reconciliation tries again.
      try store.local.beginJournal(
        intended.map { ($0.key, Repository.blobID($0.value)) }, head: startHead, message: message)
      throw error
    }
  }

  /// Returns the join of a file of an interrupted write and the committed version.
  ///
  /// - Parameter base: The tree from which both were made. It shows values that were edited without a stamp.
  private func joined(
    _ path: String, _ bytes: [UInt8], _ committed: ObjectID?, base: ObjectID?,
    _ repository: Repository
  ) -> [UInt8] {
    guard let kind = RecordPath(path), let committed,
      let known = try? repository.blob(committed, limit: kind.largest)
    else { return bytes }
    let join = RecordJoin(kind, ours: .success(bytes), theirs: .success(known)) {
      let before = base.flatMap { (try? repository.blob(at: path, in: $0)) ?? nil }
      return before.flatMap { try? repository.blob($0, limit: kind.largest) }
    }
    return join.bytes ?? bytes
  }

  /// Rolls back a write: restores HEAD's versions of the files that still have the content of the write.
  private func rollBack(
    _ files: [(path: String, blob: ObjectID?)], tree: ObjectID?, _ writer: StoreWriter
  ) throws {
    let (store, repository) = (writer.store, writer.repository)
    for (path, blob) in files {
      guard RecordPath(path) != nil, let blob else { continue }
      let file = "\(store.path)/\(path)"
      guard let current = try DurableFile.read(file, limit: AlarmRecord.largest),
        Repository.blobID(current.bytes) == blob
      else { continue }
      let committed = try tree.flatMap { try repository.blob(at: path, in: $0) }
      if committed == blob { continue }
      if let committed {
        let bytes = try repository.blob(committed, limit: AlarmRecord.largest)
        try DurableFile.write(bytes, to: file, temporary: store.local.temporary("record"))
      } else if unlink(file) != 0, errno != ENOENT {
        throw FileError("remove", file)
      }
    }
    try writer.resetIndex(files.map(\.path).filter { RecordPath($0) != nil })
  }
}
