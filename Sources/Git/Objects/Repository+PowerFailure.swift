import Files
import Glibc

/// The removal of what a power failure left of writes that were not flushed.
extension Repository {
  /// Removes damaged loose objects, references to objects that cannot be read, and stale locks.
  ///
  /// Call it only after every object that must be there was restored: what remains damaged was never acknowledged, or
  /// was written by a program that doesn't flush.
  ///
  /// - Parameter temporary: The path of a temporary file.
  /// - Complexity: Reads every loose object and every reference.
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
    try mendPackedReferences(temporary: temporary)
    for lock in locks(of: "HEAD") { _ = removeStaleLock(lock, olderThan: 0) }
  }

  /// Removes the reflog entries of commits that cannot be read.
  ///
  /// - Parameters:
  ///   - known: Commits that can be read entirely.
  ///   - temporary: The path of a temporary file.
  public func mendReflogs(since known: Set<ObjectID>, temporary: String) throws {
    for (path, content) in brokenReflogs(since: known) {
      try DurableFile.write(content, to: path, temporary: temporary, syncing: false)
    }
  }

  /// Keeps the packed references whose lines are intact and whose objects can be read. git packs references without
  /// flushing the file.
  private func mendPackedReferences(temporary: String) throws {
    guard let packed = packedReferences else { return }
    let lines = packed.mended.split(separator: UInt8(ascii: "\n"))
    let good = lines.filter { line in
      ObjectID(hexadecimal: String(decoding: line.prefix(2 * ObjectID.byteCount), as: UTF8.self))
        .map(exists) == true
    }
    if !packed.isDamaged, good.count == lines.count { return }
    try DurableFile.write(
      good.flatMap { $0 + [UInt8(ascii: "\n")] }, to: packed.path, temporary: temporary,
      syncing: false)
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

  /// True if git's index is not damaged, and every file in it can be read.
  ///
  /// A checksum of zeros counts as damage: a power failure can leave zeros at the end of a file.
  public var isIndexIntact: Bool {
    guard indexDamage(acceptsZeros: false) == nil,
      let file = (try? DurableFile.read(gitDirectory + "index")) ?? nil,
      let blobs = IndexFile.blobs(in: file.bytes)
    else { return false }
    return Set(blobs).allSatisfy(exists)
  }

  /// Returns true if a commit and everything between it and known commits can be read.
  ///
  /// - Parameter known: Commits that can be read, with all of their ancestors.
  public func isWhole(_ commit: ObjectID, since known: Set<ObjectID>) -> Bool {
    var waiting = [commit]
    var visited = known
    while let next = waiting.popLast() {
      guard visited.insert(next).inserted else { continue }
      guard isWhole(next), let commit = try? self.commit(next) else { return false }
      waiting += commit.parents
    }
    return true
  }

  /// Returns true if an object of any kind can be read.
  private func exists(_ id: ObjectID) -> Bool {
    [LooseObjects.Kind.blob, .commit, .tree, .tag].contains { kind in
      do throws(GitError) {
        _ = try read(id, kind, limit: 16 << 20)
        return true
      } catch {
        return error.code == .tooLarge
      }
    }
  }
}
