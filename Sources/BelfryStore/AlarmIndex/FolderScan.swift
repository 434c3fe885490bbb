import BelfryCore
import Files
import Glibc

/// A comparison of the files in the `alarms` folder with the alarm index.
struct FolderScan: Sendable {
  /// The rows of the index whose file has the row's signature.
  private(set) var unchanged: [CachedAlarm] = []
  /// The new and changed records.
  private(set) var changed: [Identifier] = []
  /// The records whose file is missing.
  private(set) var removed: [Identifier] = []
  /// The names of files that end in `.json` but don't belong to a record.
  private(set) var strays: [String] = []

  /// Compares the files with their rows.
  ///
  /// - Parameters:
  ///   - path: The `alarms` folder.
  ///   - rows: The rows of the index; empty if there is none.
  /// - Returns: The comparison, or nil if there is no folder.
  static func scan(_ path: String, rows: [Identifier: CachedAlarm]) throws -> FolderScan? {
    guard let stream = opendir(path) else {
      if errno == ENOENT { return nil }
      throw FileError("open", path)
    }
    defer { closedir(stream) }
    let folder = dirfd(stream)
    var scan = FolderScan()
    var found = 0
    while let entry = readdir(stream) {
      let name = FolderEntry.name(entry)
      guard name.suffix(5).elementsEqual(".json".utf8), name.first != UInt8(ascii: ".") else {
        continue
      }
      guard let id = Identifier(Array(name.dropLast(5))[...]) else {
        scan.strays.append(String(decoding: name, as: UTF8.self))
        continue
      }
      guard let row = rows[id] else {
        scan.changed.append(id)
        continue
      }
      found += 1
      name.withMemoryRebound(to: CChar.self) { name in
        if let name = name.baseAddress { scan.compare(row, name, in: folder) }
      }
    }
    if found == rows.count { return scan }
    // A file can also have appeared since, or the listing has ended early.
    let listed = Set(scan.unchanged.map(\.id) + scan.changed + scan.removed)
    for row in rows.values where !listed.contains(row.id) {
      scan.compare(row, "\(row.id).json", in: folder)
    }
    return scan
  }

  private mutating func compare(
    _ row: CachedAlarm, _ name: UnsafePointer<CChar>, in folder: Int32
  ) {
    var status = stat()
    let result = fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW)
    if result != 0, errno == ENOENT {
      removed.append(row.id)
    } else if result == 0, row.vouches(for: FileSignature(status)) {
      unchanged.append(row)
    } else {
      changed.append(row.id)
    }
  }
}
