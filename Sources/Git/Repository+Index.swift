import CLibgit2
import Crypto
import Glibc

extension Repository {
  /// Brings git's index in step with records that are about to be committed.
  ///
  /// The new index is written to the scratch folder, linked to `index.lock` and renamed over the index:
  /// git's own protocol, so that neither overwrites the other's work. A lock that is the same file as the
  /// one in the scratch folder was left by a process that died here, and is taken away; the caller holds
  /// a lock that keeps a living one out.
  ///
  /// An index that git has split in two files becomes a whole one. One of another form that cannot be spliced is left to
  /// libgit2, which is slower, and so is one that is missing, or of a form that libgit2 does not know either: it is made
  /// anew from HEAD.
  ///
  /// Throws `IndexFile.Failure`, `FileError` or `GitError`.
  public func updateIndex(_ changes: [String: IndexFile.Entry?]) throws {
    do {
      try replaceIndex { current in
        guard let bytes = try current ?? emptyIndex() else { throw IndexFile.Failure.unsupported }
        func replaced(_ bytes: [UInt8]) throws -> [UInt8] {
          try IndexFile.replacing(changes, in: bytes) { Array(Insecure.SHA1.hash(data: $0)) }
        }
        do {
          return try replaced(bytes)
        } catch IndexFile.Failure.unsupported where SplitIndex.isSplit(bytes) {
          return try replaced(try whole(bytes))
        }
      }
    } catch IndexFile.Failure.unsupported {
      try rewriteIndex(changes)
    }
  }

  /// Makes a whole index of one that git has split in two files: libgit2 reads no other.
  ///
  /// One that cannot be joined is left as it is. Throws `IndexFile.Failure.busy` while another git holds it.
  func joinIndex() throws {
    guard let bytes = try DurableFile.read(gitDirectory + "index")?.bytes,
      SplitIndex.isSplit(bytes)
    else { return }
    do {
      try replaceIndex { current in
        let bytes = Array(try whole(current ?? []).dropLast(ObjectID.byteCount))
        return bytes + Array(Insecure.SHA1.hash(data: bytes))
      }
    } catch IndexFile.Failure.unsupported {
      // Whoever reads it next says what is wrong.
    }
  }

  /// A split index as one file.
  private func whole(_ bytes: [UInt8]) throws -> [UInt8] {
    try SplitIndex.joined(bytes) { checksum in
      try DurableFile.read("\(gitDirectory)sharedindex.\(checksum)")?.bytes
    }
  }

  /// Replaces the index's bytes by those that `change` makes of them; it is given nil when there is no index.
  private func replaceIndex(_ change: ([UInt8]?) throws -> [UInt8]) throws {
    let path = gitDirectory + "index"
    let scratch = self.scratch + "/new-index"
    let lock = path + ".lock"
    removeDeadLock(lock, scratch: scratch)
    // Locked first, read afterwards: what another git writes in between would be lost otherwise.
    // The lock holds the place of the content, which follows.
    let placeholder = try lockIndex(lock, scratch: scratch)
    do {
      let next = try change(try DurableFile.read(path)?.bytes)
      try DurableFile.fill(placeholder.number, next, lock)
      guard fsync(placeholder.number) == 0 else { throw FileError("sync", lock) }
      _ = unlink(oldIndex)
      _ = try DurableFile.keep(path, as: oldIndex)
      guard rename(lock, path) == 0 else { throw FileError("write", path) }
      var status = stat()
      splicedIndex.withLock {
        $0 = fstat(placeholder.number, &status) == 0 ? UInt64(status.st_ino) : nil
      }
      _ = unlink(scratch)
    } catch {
      _ = unlink(lock)
      _ = unlink(scratch)
      throw error
    }
  }

  /// Makes the lock of the index, empty.
  ///
  /// It is a link of the scratch file, by which a later process recognizes it as ours; a file of its own where the file
  /// system takes no links. Of that a process that dies leaves a journal.
  private func lockIndex(_ lock: String, scratch: String) throws -> Descriptor {
    _ = unlink(scratch)
    let placeholder = try Descriptor(scratch, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    if link(scratch, lock) == 0 { return placeholder }
    var number = errno
    _ = unlink(scratch)
    if DurableFile.linksAreRefused(number) {
      let opened = Descriptor.open(lock, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
      if opened >= 0 { return Descriptor(taking: opened) }
      number = errno
    }
    if number == EEXIST { throw IndexFile.Failure.busy }
    throw FileError("lock", lock, number: number)
  }

  private var oldIndex: String { scratch + "/old-index" }

  /// Gives git the index back that it had before this repository's last update, without writing: a full
  /// disk takes that. Returns false when somebody else has written it since, or it was made anew.
  public func restoreIndex() -> Bool {
    var status = stat()
    let path = gitDirectory + "index"
    guard let spliced = splicedIndex.withLock({ $0 }), lstat(path, &status) == 0,
      UInt64(status.st_ino) == spliced, rename(oldIndex, path) == 0
    else { return false }
    return true
  }

  /// Lets go of the index that it had before.
  public func forgetOldIndex() { _ = unlink(oldIndex) }

  /// What a missing index stands for: nothing in a repository without a commit; nil in any other.
  private func emptyIndex() throws -> [UInt8]? {
    try commit(of: "HEAD") == nil ? [] : nil
  }

  private func removeDeadLock(_ lock: String, scratch: String) {
    var (one, two) = (stat(), stat())
    guard lstat(lock, &one) == 0, lstat(scratch, &two) == 0, one.st_ino == two.st_ino,
      one.st_dev == two.st_dev
    else { return }
    _ = unlink(lock)
  }

  private func rewriteIndex(_ changes: [String: IndexFile.Entry?]) throws {
    func rewrite() throws(GitError) -> (code: Int32, isRead: Bool) {
      try with { repository throws(GitError) in
        Repository.rewriteIndex(of: repository, changes)
      }
    }
    var (code, isRead) = try rewrite()
    if code != 0, code != GIT_ELOCKED.rawValue, !isRead, indexDamage() == nil {
      // Whole, and of a form that libgit2 does not know, such as a sparse index.
      let path = gitDirectory + "index"
      guard access(path + ".lock", F_OK) != 0 else { throw IndexFile.Failure.busy }
      let aside = scratch + "/unknown-index"
      guard rename(path, aside) == 0 else { throw FileError("move", path) }
      code = try rewrite().code
      // A full disk takes no new index; the old one has what was staged.
      if code == 0 { _ = unlink(aside) } else { _ = rename(aside, path) }
    }
    if code == GIT_ELOCKED.rawValue { throw IndexFile.Failure.busy }
    guard code == 0 else {
      throw GitError(
        GitError.Code(rawValue: code), "write git's index",
        "it is damaged, or of an unknown form; if you remove \(gitDirectory)index it is made anew")
    }
  }

  /// Returns libgit2's code, 0 when the index is written, and whether libgit2 could read the old one.
  private static func rewriteIndex(
    of repository: OpaquePointer, _ changes: [String: IndexFile.Entry?]
  ) -> (code: Int32, isRead: Bool) {
    var index: OpaquePointer?
    var code = git_repository_index(&index, repository)
    guard code == 0 else { return (code, false) }
    defer { git_index_free(index) }
    code = git_index_read(index, 1)
    guard code == 0 else { return (code, false) }
    if git_index_entrycount(index) == 0 { code = readHead(into: index, repository) }
    for (path, change) in changes where code == 0 {
      guard let change else {
        code = git_index_remove_bypath(index, path)
        continue
      }
      var entry = indexEntry(change)
      code = path.withCString { name in
        entry.path = name
        return git_index_add(index, &entry)
      }
    }
    return (code == 0 ? git_index_write(index) : code, true)
  }

  private static func readHead(into index: OpaquePointer?, _ repository: OpaquePointer) -> Int32 {
    var oid = git_oid()
    // Without a commit there is nothing to read.
    guard git_reference_name_to_id(&oid, repository, "HEAD") == 0 else { return 0 }
    var (commit, tree): (OpaquePointer?, OpaquePointer?)
    defer {
      git_tree_free(tree)
      git_commit_free(commit)
    }
    var code = git_commit_lookup(&commit, repository, &oid)
    if code == 0 { code = git_commit_tree(&tree, commit) }
    return code == 0 ? git_index_read_tree(index, tree) : code
  }

  static func indexEntry(_ change: IndexFile.Entry) -> git_index_entry {
    let status = change.status
    var entry = git_index_entry()
    entry.id = change.id.oid
    entry.mode = 0o100644
    entry.ctime.seconds = Int32(truncatingIfNeeded: status.st_ctim.tv_sec)
    entry.ctime.nanoseconds = UInt32(truncatingIfNeeded: status.st_ctim.tv_nsec)
    entry.mtime.seconds = Int32(truncatingIfNeeded: status.st_mtim.tv_sec)
    entry.mtime.nanoseconds = UInt32(truncatingIfNeeded: status.st_mtim.tv_nsec)
    entry.dev = UInt32(truncatingIfNeeded: status.st_dev)
    entry.ino = UInt32(truncatingIfNeeded: status.st_ino)
    entry.uid = status.st_uid
    entry.gid = status.st_gid
    entry.file_size = UInt32(truncatingIfNeeded: status.st_size)
    return entry
  }
}
