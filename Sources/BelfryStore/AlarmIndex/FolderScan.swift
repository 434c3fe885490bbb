import BelfryCore
import Git
import Glibc

/// The `alarms` folder compared with the summaries: which records are as they were.
struct FolderScan: Sendable {
  /// The folder's own signature, from before its entries were looked at.
  let folder: FileSignature
  /// Rows whose file has the same signature as ever.
  var unchanged: [Bool]
  /// Records that are new or have changed.
  var changed: [Identifier]
  /// Records whose file is gone.
  var removed: [Identifier]
  /// Files that end in `.json` but are no record's name.
  var strays: [String]

  /// Looks at every file.
  ///
  /// - Parameter cards: what is known; nil when nothing is.
  static func scan(_ path: String, summaries: AlarmIndexFile?) throws -> FolderScan? {
    var status = stat()
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw FileError("open", path)
    }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0 else { throw FileError("look at", path) }
    var scan = FolderScan(
      folder: FileSignature(status), unchanged: [], changed: [], removed: [], strays: [])

    if let summaries {
      // 0: gone, 1: changed, 2: unchanged.
      let states = look(at: summaries, in: descriptor)
      scan.unchanged = states.map { $0 == 2 }
      var found = 0
      for (index, state) in states.enumerated() where state != 2 {
        guard let id = summaries.identifier(index) else { continue }
        if state == 1 { scan.changed.append(id) } else { scan.removed.append(id) }
      }
      found = states.reduce(0) { $0 + ($1 > 0 ? 1 : 0) }
      // The names are as they were when the folder is, or when there are as many.
      if scan.folder == summaries.folder, summaries.vouches(for: scan.folder) { return scan }
      if try names(in: path, each: { _ in }) == found { return scan }
    }
    let known = summaries
    _ = try names(in: path) { name in
      guard let id = Identifier(name.dropLast(5)) else {
        scan.strays.append(String(name))
        return
      }
      if known?.index(of: id) == nil { scan.changed.append(id) }
    }
    return scan
  }

  /// Looks at the files of all rows: a look costs a system call.
  private static func look(at summaries: AlarmIndexFile, in folder: Int32) -> [UInt8] {
    Chunks.map(summaries.count) { range in
      range.map { index -> UInt8 in
        var status = stat()
        let result = summaries.withName(index) {
          fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW)
        }
        if result != 0, errno == ENOENT { return 0 }
        let signature = FileSignature(status)
        let same =
          result == 0 && signature == summaries.signature(index)
          && summaries.vouches(for: signature)
        return same ? 2 : 1
      }
    }
  }

  /// Calls `each` for the names that end in `.json`, and counts them.
  private static func names(in path: String, each: (Substring) -> Void) throws -> Int {
    guard let stream = opendir(path) else { throw FileError("list", path) }
    defer { closedir(stream) }
    var count = 0
    while let entry = readdir(stream) {
      let length = Int(entry.pointee.d_reclen)
      withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: UInt8.self, capacity: length) { bytes in
          let size = strlen(UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self))
          let name = UnsafeBufferPointer(start: bytes, count: size)
          guard name.suffix(5).elementsEqual(".json".utf8), name.first != UInt8(ascii: ".") else {
            return
          }
          count += 1
          each(Substring(decoding: name, as: UTF8.self))
        }
      }
    }
    return count
  }
}
