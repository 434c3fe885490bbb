import Git
import Glibc

/// Record files on their way into the work tree, with what they replace kept aside.
struct WorkTreeTransaction {
  private let store: Store
  private let kept: Set<String>
  /// The files that may have been replaced, and whether there was one before.
  private var touched: [(path: String, hadFile: Bool)] = []
  /// The status of each file that was written.
  private(set) var written: [String: stat] = [:]
  /// Whether git's index follows already.
  var isIndexed = false

  /// More files than this are made durable together.
  private static let batch = 16

  /// - Parameter kept: files that are left as they lie.
  init(_ store: Store, keeping kept: Set<String>) {
    self.store = store
    self.kept = kept
  }

  var paths: [String] { touched.map(\.path) }

  private func aside(_ number: Int) -> String { store.local.temporary("old-\(number)") }

  mutating func place(_ files: [String: [UInt8]?]) throws {
    let together = files.count > WorkTreeTransaction.batch
    var folders: Set<String> = []
    for path in files.keys.sorted() {
      let file = "\(store.path)/\(path)"
      guard let content = files[path] ?? nil, !kept.contains(path) else { continue }
      let folder = DurableFile.parent(of: file)
      if folders.insert(folder).inserted { try DurableFile.makeFolder(folder) }
      touched.append((path, try DurableFile.keep(file, as: aside(touched.count))))
      written[path] = try DurableFile.write(
        content, to: file, temporary: store.local.temporary("record"), syncing: !together)
    }
    if together { try DurableFile.syncFileSystem(of: store.path) }
  }

  /// Puts the old files back; false when one could not be.
  func putBack() -> Bool {
    var isWhole = true
    for (number, (path, hadFile)) in touched.enumerated() {
      let file = "\(store.path)/\(path)"
      if hadFile {
        if !restore(aside(number), file) { isWhole = false }
        // Of two names of one file nothing was renamed: it had not been replaced yet.
        _ = unlink(aside(number))
      } else if unlink(file) != 0, errno != ENOENT {
        isWhole = false
      }
    }
    return isWhole
  }

  private func restore(_ aside: String, _ file: String) -> Bool {
    if rename(aside, file) == 0 { return true }
    guard errno == EXDEV, let old = (try? DurableFile.read(aside)) ?? nil else { return false }
    let temporary = store.local.temporary("record")
    return (try? DurableFile.write(old.bytes, to: file, temporary: temporary)) != nil
  }

  /// Lets go of what was kept aside.
  func forget() {
    for (number, (_, hadFile)) in touched.enumerated() where hadFile { _ = unlink(aside(number)) }
  }
}
