import CLibgit2
import Files
import Glibc

extension Repository {
  /// Updates git's index for records that are about to be committed.
  ///
  /// The new index is written to `index.lock`, a hard link of a file in the scratch folder, and renamed over the
  /// index. This is git's own protocol, so no writer overwrites another's work. A lock that is the same file as the
  /// one in the scratch folder was left by a process that died here, and is removed. The caller holds a lock that
  /// keeps living processes out.
  ///
  /// The user's git joins a split index into one file. libgit2 rewrites an index that cannot be spliced, which is
  /// slower. A missing index, or one that libgit2 doesn't support either, is rebuilt from HEAD.
  ///
  /// - Parameters:
  ///   - changes: The entries by path; nil removes an entry.
  ///   - syncing: False if the index need not be durable when the call returns.
  /// - Throws: `IndexFile.Failure`, `FileError` or `GitError`.
  public func updateIndex(
    _ changes: [String: IndexFile.Entry?], syncing: Bool = true
  ) throws {
    func splice() throws {
      try replaceIndex(syncing: syncing) { current in
        guard let bytes = try current ?? emptyIndex() else { throw IndexFile.Failure.unsupported }
        return try IndexFile.replacing(changes, in: bytes)
      }
    }
    do {
      try splice()
    } catch IndexFile.Failure.unsupported {
      do {
        guard try joinIndex() else { throw IndexFile.Failure.unsupported }
        try splice()
      } catch IndexFile.Failure.unsupported {
        try rewriteIndex(changes)
      }
    }
  }

  /// Lets git join a split index into one file, because neither Belfry nor libgit2 reads a split index.
  ///
  /// git takes the index's lock itself, which must be free. It waits for no lock of Belfry: it runs no hook. Without
  /// git, the index stays as it is.
  ///
  /// - Returns: True if git succeeded.
  /// - Throws: `IndexFile.Failure.busy` if another git holds the index.
  @discardableResult
  func joinIndex() throws -> Bool {
    let lock = gitDirectory + "index.lock"
    // The shared part, which can also be left over from an earlier split.
    guard DurableFile.names(in: gitDirectory).contains(where: { $0.hasPrefix("sharedindex.") })
    else { return false }
    removeOwnIndexLock(lock, scratch: scratch + "/new-index")
    let settings = ["core.splitIndex=false", "core.hooksPath=/dev/null", "core.fsync=index"]
    let isJoined: Bool
    do throws(FileError) {
      isJoined = try DetachedProcess.run(
        "git",
        ["-C", workTree] + settings.flatMap { ["-c", $0] } + ["update-index", "--no-split-index"],
        without: GitCommand.repositoryVariables)
    } catch {
      if error.number == ENOENT { return false }
      throw error
    }
    if !isJoined, access(lock, F_OK) == 0 { throw IndexFile.Failure.busy }
    return isJoined
  }

  /// Replaces the index with the content that `change` returns. `change` receives nil if there is no index.
  private func replaceIndex(
    syncing: Bool, _ change: ([UInt8]?) throws -> SplicedFile
  ) throws {
    let path = gitDirectory + "index"
    let scratch = self.scratch + "/new-index"
    let lock = path + ".lock"
    removeOwnIndexLock(lock, scratch: scratch)
    // The lock comes before the read. Otherwise a write of another git in between would be lost.
    let placeholder = try lockIndex(lock, scratch: scratch)
    do {
      let next = try change(try DurableFile.read(path)?.bytes)
      try next.writeWithChecksum(to: placeholder.number, lock)
      guard !syncing || fsync(placeholder.number) == 0 else { throw FileError("sync", lock) }
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

  /// Creates the empty lock of the index.
  ///
  /// The lock is a hard link of the scratch file, which identifies it as Belfry's to a later process. If the file
  /// system doesn't support links, it is a separate file. The journal then identifies the lock of a process that
  /// died.
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
    throw FileError(locking: lock, number: number)
  }

  private var oldIndex: String { scratch + "/old-index" }

  /// Restores the index from before this repository's last update.
  ///
  /// A rename is enough, so it works on a full disk.
  ///
  /// - Returns: False if another process has written the index since, or if libgit2 rebuilt it.
  public func restoreIndex() -> Bool {
    var status = stat()
    let path = gitDirectory + "index"
    guard let spliced = splicedIndex.withLock({ $0 }), lstat(path, &status) == 0,
      UInt64(status.st_ino) == spliced, rename(oldIndex, path) == 0
    else { return false }
    return true
  }

  /// Removes the copy of the index from before the last update.
  public func forgetOldIndex() { _ = unlink(oldIndex) }

  /// Returns the equivalent of a missing index: empty bytes if there is no commit, otherwise nil.
  private func emptyIndex() throws -> [UInt8]? {
    try commit(of: "HEAD") == nil ? [] : nil
  }

  private func removeOwnIndexLock(_ lock: String, scratch: String) {
    var (one, two) = (stat(), stat())
    guard lstat(lock, &one) == 0, lstat(scratch, &two) == 0, one.st_ino == two.st_ino,
      one.st_dev == two.st_dev
    else { return }
    _ = unlink(lock)
  }

  private func rewriteIndex(_ changes: [String: IndexFile.Entry?]) throws {
    func rewrite() throws(GitError) -> (code: Int32, isRead: Bool) {
      try withLooseObjects { repository throws(GitError) in
        Repository.rewriteIndex(of: repository, changes)
      }
    }
    var (code, isRead) = try rewrite()
    if code != 0, code != GIT_ELOCKED.rawValue, !isRead, indexDamage() == nil {
      // The index is intact, but libgit2 doesn't support its format, such as a sparse index.
      let path = gitDirectory + "index"
      guard access(path + ".lock", F_OK) != 0 else { throw IndexFile.Failure.busy }
      let aside = scratch + "/unknown-index"
      guard rename(path, aside) == 0 else { throw FileError("move", path) }
      code = try rewrite().code
      // The old index holds the staged changes. It is restored if a full disk prevents a new one.
      if code == 0 { _ = unlink(aside) } else { _ = rename(aside, path) }
    }
    if code == GIT_ELOCKED.rawValue { throw IndexFile.Failure.busy }
    guard code == 0 else {
      throw GitError(
        GitError.Code(rawValue: code), "write git's index",
        "it is damaged or has an unknown format; remove \(gitDirectory)index to rebuild it")
    }
  }

  /// Returns libgit2's code, 0 if the index was written, and true if libgit2 could read the old index.
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
    // An empty repository has nothing to read.
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

  /// Returns libgit2's form of an entry.
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
