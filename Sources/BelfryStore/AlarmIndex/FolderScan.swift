import BelfryCore
import Files
import Glibc

/// A comparison of the files in the `alarms` folder with the alarm index.
struct FolderScan: Sendable {
  /// The positions of the rows of the index whose file has the row's signature.
  private(set) var unchanged: [Int] = []
  /// The new and changed records.
  private(set) var changed: [Identifier] = []
  /// The records whose file is missing.
  private(set) var removed: [Identifier] = []
  /// The names of files that end in `.json` but don't belong to a record.
  private(set) var strays: [String] = []

  /// The state of the file of a row.
  private enum FileState {
    case unchanged, changed, removed
  }

  /// Compares the files with their rows.
  ///
  /// - Parameters:
  ///   - path: The `alarms` folder.
  ///   - rows: The rows of the index; empty if there is none.
  /// - Returns: The comparison, or nil if there is no folder.
  static func scan(_ path: String, rows: [CachedAlarm]) throws -> FolderScan? {
    guard let stream = opendir(path) else {
      if errno == ENOENT { return nil }
      throw FileError("open", path)
    }
    defer { closedir(stream) }
    let folder = dirfd(stream)
    var scan = FolderScan()
    scan.unchanged.reserveCapacity(rows.count)
    // A folder with as many records as were found has no new one.
    var count = 0
    var strays: [String] = []
    var states: [FileState] = []
    Chunks.both(of: rows.count) {
      states = Chunks.map(rows.count, parallelFrom: Chunks.lightWork) { range in
        range.map { state(of: rows[$0], in: folder) }
      }
    } and: {
      strays = list(stream) { _ in count += 1 }
    }
    scan.strays = strays
    for (position, state) in states.enumerated() {
      switch state {
      case .unchanged: scan.unchanged.append(position)
      case .changed: scan.changed.append(rows[position].id)
      case .removed: scan.removed.append(rows[position].id)
      }
    }
    assert(
      scan.unchanged.count + scan.changed.count + scan.removed.count == rows.count,
      "each row has the state of its file")
    if count != rows.count - scan.removed.count {
      let known = Set(rows.map(\.id))
      rewinddir(stream)
      scan.strays = list(stream) { name in
        if let id = Identifier(Array(name)[...]), !known.contains(id) { scan.changed.append(id) }
      }
    }
    return scan
  }

  private static func state(of row: CachedAlarm, in folder: Int32) -> FileState {
    var status = stat()
    let result = row.withFileName { fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) }
    if result != 0 { return errno == ENOENT ? .removed : .changed }
    return row.vouches(for: FileSignature(status)) ? .unchanged : .changed
  }

  /// Calls a closure with the id in the name of each record, and returns the strays.
  private static func list(
    _ stream: OpaquePointer, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) -> [String] {
    var strays: [String] = []
    while let entry = readdir(stream) {
      let name = FolderEntry.name(entry)
      guard isRecord(name) else { continue }
      let id = UnsafeBufferPointer(rebasing: name.dropLast(suffix.count))
      if isIdentifier(id) {
        body(id)
      } else {
        strays.append(String(decoding: name, as: UTF8.self))
      }
    }
    return strays
  }

  private static let suffix = Array(".json".utf8)

  /// Returns true if a name is that of a visible file that ends in `.json`. This and `isIdentifier` are loops, because
  /// they check each name of the folder.
  private static func isRecord(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    let start = name.count - suffix.count
    guard start >= 0, name[0] != UInt8(ascii: ".") else { return false }
    for offset in suffix.indices where name[start + offset] != suffix[offset] { return false }
    return true
  }

  private static func isIdentifier(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard name.count == Identifier.length else { return false }
    for byte in name where !Identifier.isCharacter(byte) { return false }
    return true
  }
}
