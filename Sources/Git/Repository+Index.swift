import Crypto
import Glibc

extension Repository {
  /// Brings git's index in step with records that are about to be committed.
  ///
  /// The new index is written to `scratch` (on the same file system), linked to `index.lock` and renamed
  /// over the index: git's own protocol, so that neither overwrites the other's work. A lock that
  /// is the same file as `scratch` was left by a process that died here, and is taken away; the caller
  /// holds a lock that keeps a living one out.
  ///
  /// Throws `IndexFile.Failure` or `FileError`.
  public func updateIndex(_ changes: [String: IndexFile.Entry?], scratch: String) throws {
    let path = gitDirectory + "index"
    let lock = path + ".lock"
    removeDeadLock(lock, scratch: scratch)
    // Locked first, read afterwards: what another git writes in between would be lost otherwise.
    // The link holds the place of the content, which follows.
    _ = unlink(scratch)
    let placeholder = try Descriptor(scratch, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    guard link(scratch, lock) == 0 else {
      let number = errno
      _ = unlink(scratch)
      if number == EEXIST { throw IndexFile.Failure.busy }
      throw FileError("lock", path, number: number)
    }
    do {
      let current = try DurableFile.read(path)?.bytes ?? []
      let next = try IndexFile.replacing(changes, in: current) { bytes in
        Array(Insecure.SHA1.hash(data: bytes))
      }
      try DurableFile.fill(placeholder.number, next, lock)
      guard fsync(placeholder.number) == 0 else { throw FileError("sync", lock) }
      guard rename(lock, path) == 0 else { throw FileError("write", path) }
      _ = unlink(scratch)
    } catch {
      _ = unlink(lock)
      _ = unlink(scratch)
      throw error
    }
  }

  private func removeDeadLock(_ lock: String, scratch: String) {
    var (one, two) = (stat(), stat())
    guard lstat(lock, &one) == 0, lstat(scratch, &two) == 0, one.st_ino == two.st_ino,
      one.st_dev == two.st_dev
    else { return }
    _ = unlink(lock)
  }
}
