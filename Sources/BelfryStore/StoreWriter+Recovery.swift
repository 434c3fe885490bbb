import BelfryCore
import Git
import Glibc

extension StoreWriter {
  /// Finishes what a process that died had begun to write, or takes back what one could not.
  func recover() throws {
    guard let journal = try store.local.readJournal() else { return }
    // What died here may have held these.
    for lock in repository.locks(of: branch) {
      _ = repository.removeAbandonedLock(lock, olderThan: 0)
    }
    let tree = try head().map { try repository.commit($0).tree }
    var wanted: [String: [UInt8]] = [:]
    var isWhole = true
    for (path, blob) in journal.files {
      guard let kind = RecordPath(path), let blob else { continue }
      guard let bytes = try? repository.blob(blob, limit: kind.largest) else {
        // The power was cut: the blobs had not reached the disk.
        isWhole = false
        continue
      }
      wanted[path] = bytes
    }
    if journal.isRefused || !isWhole {
      try takeBack(journal.files, tree: tree)
    } else {
      try finish(
        wanted, tree: tree, begun: journal.head,
        message: recoveredMessage(journal.message))
    }
    store.local.endJournal()
  }

  /// The message that an interrupted write was to have: it says what was done, so that it can be undone like any other.
  private func recoveredMessage(_ message: String?) -> String {
    guard let message else {
      return CommitMessage("Finish an interrupted write", device: store.device).text
    }
    let trailers = CommitMessage.trailers(of: message)
    // One that was interrupted twice says so once.
    if trailers["Device"] == nil || trailers[CommitMessage.recovered] != nil { return message }
    return message + (message.hasSuffix("\n") ? "" : "\n") + "\(CommitMessage.recovered): true\n"
  }

  /// - Parameter begun: the commit at which the branch stood when the write began. Where it has moved since, the files
  ///   are joined with what has been committed.
  private func finish(
    _ wanted: [String: [UInt8]], tree: ObjectID?, begun: ObjectID?, message: String
  ) throws {
    let isMoved = try begun != head()
    let base = isMoved ? begun.flatMap { try? repository.commit($0).tree } : nil
    var files: [String: [UInt8]?] = [:]
    var edited: Set<String> = []
    for (path, bytes) in wanted {
      let committed = try tree.flatMap { try repository.blob(at: path, in: $0) }
      let id = Repository.blobID(bytes)
      if committed == id { continue }
      let content = isMoved ? joined(path, bytes, committed, base: base) : bytes
      // Somebody has written something later since.
      if Repository.blobID(content) == committed { continue }
      files[path] = .some(content)
      // What a person has written there since is left for them.
      let lying = try? DurableFile.read("\(store.path)/\(path)", limit: AlarmRecord.largest)
      if let lying = lying ?? nil, case let now = Repository.blobID(lying.bytes), now != id,
        now != committed
      {
        edited.insert(path)
      }
    }
    if files.isEmpty { return }
    do {
      try commit(files, keeping: edited, message: message)
    } catch {
      // The next writer finishes it, and joins it as well where the branch has moved.
      try store.local.beginJournal(
        wanted.map { ($0.key, Repository.blobID($0.value)) }, head: begun, message: message)
      throw error
    }
  }

  /// Returns the join of the version that an interrupted write wanted and the one that has been committed since.
  ///
  /// - Parameter base: the tree from which both were made: it tells what somebody has edited without a stamp.
  private func joined(
    _ path: String, _ bytes: [UInt8], _ committed: ObjectID?, base: ObjectID?
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

  /// Gives files that hold what was refused HEAD's version again.
  private func takeBack(_ files: [(path: String, blob: ObjectID?)], tree: ObjectID?) throws {
    for (path, blob) in files {
      guard RecordPath(path) != nil, let blob else { continue }
      let file = "\(store.path)/\(path)"
      guard let lying = try DurableFile.read(file, limit: AlarmRecord.largest),
        Repository.blobID(lying.bytes) == blob
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
    try resetIndex(files.map(\.path).filter { RecordPath($0) != nil })
  }
}
