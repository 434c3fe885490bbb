import Glibc

/// The removal of what a power failure left of writes that were not flushed.
extension Repository {
  /// Removes damaged loose objects, references and reflog entries of commits that cannot be read, and stale locks.
  ///
  /// Call it only after every object that must be there was restored: what remains damaged was never acknowledged, or
  /// was written by a program that doesn't flush.
  ///
  /// - Parameter temporary: The path of a temporary file.
  /// - Complexity: Reads every loose object, every reference and every commit of the reflogs.
  public func removeTornFiles(temporary: String) throws {
    for object in damagedLooseObjects() where unlink(object.path) != 0 && errno != ENOENT {
      throw FileError("remove", object.path)
    }
    for path in Repository.files(in: commonDirectory + "refs") {
      if path.hasSuffix(".lock") {
        _ = removeStaleLock(path, olderThan: 0)
      } else if !isIntactReference(path), unlink(path) != 0, errno != ENOENT {
        throw FileError("remove", path)
      }
    }
    for lock in locks(of: "HEAD") { _ = removeStaleLock(lock, olderThan: 0) }
    for (path, content) in brokenReflogs() {
      try DurableFile.write(content, to: path, temporary: temporary, syncing: false)
    }
  }

  /// Returns true if a reference's file names an object that can be read, or another reference.
  private func isIntactReference(_ path: String) -> Bool {
    guard let line = DurableFile.firstLine(of: path) else { return false }
    if line.hasPrefix("ref: ") { return true }
    guard let id = ObjectID(hexadecimal: line) else { return false }
    return exists(id)
  }

  /// Returns the paths of the files in a folder and in the folders below it.
  static func files(in folder: String) -> [String] {
    DurableFile.names(in: folder).sorted().flatMap { name -> [String] in
      let path = "\(folder)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0 else { return [] }
      return status.st_mode & S_IFMT == S_IFDIR ? files(in: path) : [path]
    }
  }

  /// Returns true if an object of any kind can be read.
  private func exists(_ id: ObjectID) -> Bool {
    [LooseObjects.Kind.commit, .tag, .tree, .blob].contains { kind in
      do throws(GitError) {
        _ = try read(id, kind, limit: 16 << 20)
        return true
      } catch {
        return error.code == .tooLarge
      }
    }
  }
}
