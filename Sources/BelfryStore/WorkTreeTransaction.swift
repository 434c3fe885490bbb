import Git
import Glibc

/// The replacement of record files in the work tree, with backups for a rollback. The journal makes it durable.
struct WorkTreeTransaction {
  private let store: Store
  private let kept: Set<String>
  /// The files that may have been replaced; `hadFile` is true if there was one before.
  private var touched: [(path: String, hadFile: Bool)] = []
  /// The status of each written file.
  private(set) var written: [String: stat] = [:]
  /// True if git's index contains the files.
  var isIndexed = false

  /// Creates a transaction.
  ///
  /// - Parameter kept: The files that are not written.
  init(_ store: Store, keeping kept: Set<String>) {
    self.store = store
    self.kept = kept
  }

  /// The paths of the files that may have been replaced.
  var paths: [String] { touched.map(\.path) }

  /// Returns the path of a backup.
  private func backup(_ number: Int) -> String { store.local.temporary("old-\(number)") }

  /// Writes the files. The old ones become backups.
  mutating func apply(_ files: [String: [UInt8]?]) throws {
    var folders: Set<String> = []
    for path in files.keys.sorted() {
      let file = "\(store.path)/\(path)"
      guard let content = files[path] ?? nil, !kept.contains(path) else { continue }
      let folder = DurableFile.parent(of: file)
      if folders.insert(folder).inserted { try DurableFile.makeFolder(folder, syncing: false) }
      touched.append((path, try DurableFile.keep(file, as: backup(touched.count))))
      written[path] = try DurableFile.write(
        content, to: file, temporary: store.local.temporary("record"), syncing: false)
    }
  }

  /// Restores the old files. Returns false if one could not be restored.
  func rollBack() -> Bool {
    var isComplete = true
    for (number, (path, hadFile)) in touched.enumerated() {
      let file = "\(store.path)/\(path)"
      if hadFile {
        if !restore(backup(number), file) { isComplete = false }
        // `rename` does nothing if both paths are links to the same file, which means that it was not replaced yet.
        _ = unlink(backup(number))
      } else if unlink(file) != 0, errno != ENOENT {
        isComplete = false
      }
    }
    return isComplete
  }

  private func restore(_ backup: String, _ file: String) -> Bool {
    if rename(backup, file) == 0 { return true }
    guard errno == EXDEV, let old = (try? DurableFile.read(backup)) ?? nil else { return false }
    let temporary = store.local.temporary("record")
    return (try? DurableFile.write(old.bytes, to: file, temporary: temporary, syncing: false))
      != nil
  }

  /// The number of files above which the removal of the backups takes longer than the start of a thread.
  private static let maxBackupsAtOnce = 64

  /// Removes the backups while a closure runs.
  func removeBackups(during body: () -> Void) {
    guard touched.count > WorkTreeTransaction.maxBackupsAtOnce else {
      removeBackups()
      return body()
    }
    let removal = BackgroundWork { () throws(Never) in self.removeBackups() }
    body()
    removal.wait()
  }

  /// Removes the backups.
  func removeBackups() {
    for (number, (_, hadFile)) in touched.enumerated() where hadFile { _ = unlink(backup(number)) }
  }
}
