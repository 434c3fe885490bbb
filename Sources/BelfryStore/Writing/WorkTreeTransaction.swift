import Files
import Git
import Glibc

/// The replacement of record files in the work tree, with backups for a rollback. The journal makes it durable.
///
/// A file is replaced only if it has a version on which the write is based. Otherwise the user has just edited it: it
/// stays as it is, and the next reconciliation imports the edit. An editor can be faster than the comparison, or can have
/// the file open:
///
/// 1. The file is exchanged with its new version, so that the replaced version can be compared, and put back.
/// 2. The backups are compared once more before they are removed.
struct WorkTreeTransaction {
  private let store: Store
  private let kept: Set<String>
  /// The files that were replaced.
  private var replaced: [Replacement] = []
  /// The status of each written file.
  private(set) var written: [String: stat] = [:]
  /// The time before which the clock of the file system tells two versions apart, in nanoseconds since the epoch.
  private let conclusive: Int64
  /// True if git's index contains the files.
  var isIndexed = false

  /// A file that was replaced.
  private struct Replacement {
    /// The path in the work tree.
    let path: String
    /// The blob of the new version.
    let written: ObjectID
    /// The path of the backup.
    let backup: String
    /// The version of the backup; `missing` if there was no file before.
    let old: Version
  }

  /// Creates a transaction.
  ///
  /// - Parameter kept: The files that are not written.
  init(_ store: Store, keeping kept: Set<String>) {
    self.store = store
    self.kept = kept
    conclusive = FileSignature.lastConclusiveTime(in: store.path)
  }

  /// The paths of the files that may have been replaced.
  var paths: [String] { replaced.map(\.path) }

  // MARK: Replacing

  /// Writes the files. The old ones become backups.
  ///
  /// - Parameters:
  ///   - files: The contents by path. A file without content stays as it is.
  ///   - isKnown: Returns true for the blob of a version that the write is based on, and that it may replace.
  mutating func apply(
    _ files: [String: [UInt8]?], isKnown: (_ path: String, _ blob: ObjectID) -> Bool
  ) throws {
    assert(replaced.isEmpty && written.isEmpty, "a transaction is applied once")
    var folders: Set<String> = []
    for path in files.keys.sorted() {
      guard let content = files[path] ?? nil, !kept.contains(path) else { continue }
      assert(WorkTreeTransaction.isInside(path), "a file of a write is in the work tree")
      let file = "\(store.path)/\(path)"
      let folder = DurableFile.parent(of: file)
      if folders.insert(folder).inserted { try DurableFile.makeFolder(folder, syncing: false) }
      let blob = Repository.blobID(content)
      func isReplaceable(_ version: Version) -> Bool {
        switch version {
        case .missing: true
        case .record(let present, _): present == blob || isKnown(path, present)
        case .other: false
        }
      }
      let present = Version(file)
      guard isReplaceable(present) else { continue }
      let backup = store.local.temporary("old-\(replaced.count)")
      let (status, hadFile) = try FileExchange.replace(file, with: content, aside: backup)
      let old = !hadFile ? .missing : isUnchanged(backup, present) ? present : Version(backup)
      replaced.append(Replacement(path: path, written: blob, backup: backup, old: old))
      if isReplaceable(old) {
        written[path] = status
        continue
      }
      guard restore(replaced[replaced.count - 1]) else { throw FileError("put back", file) }
      replaced.removeLast()
    }
    assert(Set(paths) == Set(written.keys), "exactly the written files were replaced")
    assert(
      Set(replaced.map(\.backup)).count == replaced.count, "each file has a backup of its own")
  }

  /// Returns true if a path leads neither out of the work tree nor into git's folder. Debug builds check it.
  private static func isInside(_ path: String) -> Bool {
    path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
      !["", ".", "..", ".git"].contains(part.lowercased())
    }
  }

  /// A version of a file.
  private enum Version {
    case missing
    case record(ObjectID, FileSignature)
    /// Something that cannot be read, or that no record can be, such as a folder.
    case other

    init(_ path: String) {
      do {
        let file = try DurableFile.read(path, limit: AlarmRecord.largest)
        self =
          file.map { .record(Repository.blobID($0.bytes), FileSignature($0.status)) } ?? .missing
      } catch {
        self = .other
      }
    }

    /// The blob of a record.
    var blob: ObjectID? {
      if case .record(let blob, _) = self { blob } else { nil }
    }
  }

  /// Returns true if a file still is the version of a record that it was.
  ///
  /// A file that has changed within the resolution of the file system's clock can change again without a sign of it, so
  /// its content is compared.
  private func isUnchanged(_ path: String, _ version: Version) -> Bool {
    guard case .record(let blob, let signature) = version,
      WorkTreeTransaction.signature(path).hasContent(of: signature)
    else { return false }
    return signature.modified < conclusive || Version(path).blob == blob
  }

  private static func signature(_ path: String) -> FileSignature {
    var status = stat()
    return lstat(path, &status) == 0 ? FileSignature(status) : missing
  }

  /// The signature for a missing file, which no file can have.
  private static let missing = FileSignature(size: 0, modified: 0, changed: 0, inode: 0)

  // MARK: Restoring

  /// Restores the old files, except where the user has edited the new one. Returns false if one could not be restored.
  func rollBack() -> Bool {
    var isComplete = true
    for replacement in replaced {
      guard case .missing = replacement.old else {
        if !restore(replacement) { isComplete = false }
        continue
      }
      let file = "\(store.path)/\(replacement.path)"
      guard Version(file).blob == replacement.written else { continue }
      if unlink(file) != 0, errno != ENOENT { isComplete = false }
    }
    return isComplete
  }

  /// Puts a backup back in the place of the new version, unless the user has changed that in the meantime. Returns false
  /// if that is not possible.
  private func restore(_ replacement: Replacement) -> Bool {
    let (file, backup) = ("\(store.path)/\(replacement.path)", replacement.backup)
    var placed = WorkTreeTransaction.signature(backup)
    guard placed != WorkTreeTransaction.missing else { return false }
    guard FileExchange.exchange(backup, file) else { return move(backup, to: file) }
    // Another version in the place is a later edit than the backup, and one that replaces that in turn is later still.
    while Version(backup).blob != replacement.written {
      let later = WorkTreeTransaction.signature(backup)
      guard FileExchange.exchange(backup, file) else { return move(backup, to: file) }
      if WorkTreeTransaction.signature(backup).hasContent(of: placed) { break }
      placed = later
    }
    _ = unlink(backup)
    return true
  }

  /// Moves a backup back where two files cannot be exchanged.
  private func move(_ backup: String, to file: String) -> Bool {
    if rename(backup, file) == 0 {
      // `rename` does nothing if both paths are links to the same file, which means that it was not replaced yet.
      _ = unlink(backup)
      return true
    }
    guard errno == EXDEV, let old = (try? DurableFile.read(backup)) ?? nil else { return false }
    let temporary = store.local.temporary("record")
    let written = try? DurableFile.write(
      old.bytes, to: file, temporary: temporary, syncing: false)
    _ = unlink(backup)
    return written != nil
  }

  // MARK: Removing the backups

  /// The number of files above which the removal of the backups takes longer than the start of a thread.
  private static let maxBackupsAtOnce = 64

  /// Removes the backups while a closure runs.
  func removeBackups(during body: () -> Void) {
    guard replaced.count > WorkTreeTransaction.maxBackupsAtOnce else {
      body()
      return removeBackups()
    }
    let removal = BackgroundJob { self.removeBackups() }
    body()
    removal.wait()
  }

  /// Removes the backups, and puts those back that were edited after the replacement.
  func removeBackups() {
    for replacement in replaced {
      if case .missing = replacement.old { continue }
      if isUnchanged(replacement.backup, replacement.old) {
        _ = unlink(replacement.backup)
      } else {
        _ = restore(replacement)
      }
    }
  }
}
