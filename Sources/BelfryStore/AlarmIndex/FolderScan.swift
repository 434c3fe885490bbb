import BelfryCore
import Git
import Glibc

/// A comparison of the `alarms` folder with the index.
///
/// It looks at every file, unless the daemon's file watch knows which ones have changed since the index was written.
struct FolderScan: Sendable {
  /// The folder's signature, from before its entries were read.
  let folder: FileSignature
  /// The rows of the index whose file has the row's signature.
  private(set) var unchanged: UnchangedRows
  /// The new and changed records.
  var changed: [Identifier]
  /// The records whose file is missing.
  var removed: [Identifier]
  /// The names of files that end in `.json` but don't belong to a record.
  var strays: [String]

  /// The moment of the comparison in the daemon's file watch; nil without one.
  private(set) var token: FolderChangeToken?
  /// The number of files that were looked at because of the watch; nil if all were.
  private(set) var watchedCount: Int?

  /// Compares the files with their rows.
  ///
  /// - Parameters:
  ///   - path: The `alarms` folder.
  ///   - summaries: The index; nil if there is none.
  ///   - ask: Returns the daemon's answer about the folder since a moment; nil without one.
  /// - Returns: The comparison, or nil if there is no folder.
  static func scan(
    _ path: String, summaries: AlarmIndexFile?,
    asking ask: (FolderIdentity, FolderChangeToken?) -> FolderChanges? = { _, _ in nil }
  ) throws -> FolderScan? {
    var status = stat()
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw FileError("open", path)
    }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0 else { throw FileError("stat", path) }
    var scan = FolderScan(
      folder: FileSignature(status), unchanged: .listed([]), changed: [], removed: [], strays: [])

    // Before the files are looked at.
    let changes = ask(FolderIdentity(status), summaries?.folder.token)
    scan.token = changes?.token
    if let summaries, let names = changes?.names {
      scan.compare(names, with: summaries, in: descriptor)
      return scan
    }
    if let summaries {
      let states = compareFiles(with: summaries, in: descriptor)
      scan.unchanged = .listed(states.map { $0 == .unchanged })
      var found = 0
      for (index, state) in states.enumerated() where state == .changed || state == .missing {
        guard let id = summaries.identifier(index) else { continue }
        if state == .changed { scan.changed.append(id) } else { scan.removed.append(id) }
      }
      found = states.count { $0 == .changed || $0 == .unchanged }
      // The set of names is the same if the folder's signature is, or if the number of names is.
      if summaries.vouches(forFolder: scan.folder) { return scan }
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

  /// Compares the files with some names. All others are as their rows describe them.
  private mutating func compare(
    _ names: Set<String>, with summaries: AlarmIndexFile, in folder: Int32
  ) {
    watchedCount = names.count
    var others: Set<Int> = []
    for name in names.sorted() {
      let id = name.hasSuffix(".json") ? Identifier(name.dropLast(5)) : nil
      if let index = id.flatMap({ summaries.index(of: $0) }), let id {
        let state = FolderScan.compareFile(of: index, with: summaries, in: folder)
        if state != .unchanged { others.insert(index) }
        if state == .changed { changed.append(id) }
        if state == .missing { removed.append(id) }
        continue
      }
      var status = stat()
      guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
      if let id { changed.append(id) } else { strays.append(name) }
    }
    unchanged = .allBut(others)
  }

  /// The rows of an index whose files are as the rows describe them.
  enum UnchangedRows: Sendable {
    /// For each row, true if it is one of them. Empty without an index.
    case listed([Bool])
    /// All rows in use, apart from a few.
    case allBut(Set<Int>)

    /// Returns true if a row is one of them.
    func contains(_ index: Int, in summaries: AlarmIndexFile) -> Bool {
      switch self {
      case .listed(let rows): index < rows.count && rows[index]
      case .allBut(let others):
        summaries.isUsed(index) && (others.isEmpty || !others.contains(index))
      }
    }
  }

  private enum FileState {
    case missing, changed, unchanged
    /// The row is not in use.
    case unused
  }

  /// Returns the state of each row's file, with one system call per file.
  private static func compareFiles(
    with summaries: AlarmIndexFile, in folder: Int32
  ) -> [FileState] {
    Chunks.map(summaries.count, parallelFrom: Chunks.lightWork) { range in
      range.map { index -> FileState in
        summaries.isUsed(index) ? compareFile(of: index, with: summaries, in: folder) : .unused
      }
    }
  }

  /// Returns the state of a row's file.
  private static func compareFile(
    of index: Int, with summaries: AlarmIndexFile, in folder: Int32
  ) -> FileState {
    var status = stat()
    let result = summaries.withName(index) {
      fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW)
    }
    if result != 0, errno == ENOENT { return .missing }
    let same = result == 0 && summaries.vouches(index, for: FileSignature(status))
    return same ? .unchanged : .changed
  }

  /// Calls `each` with every name that ends in `.json`, and returns their number.
  private static func names(in path: String, each: (Substring) -> Void) throws -> Int {
    guard let stream = opendir(path) else { throw FileError("list", path) }
    defer { closedir(stream) }
    var count = 0
    while let entry = readdir(stream) {
      let name = FolderEntry.name(entry)
      guard name.suffix(5).elementsEqual(".json".utf8), name.first != UInt8(ascii: ".") else {
        continue
      }
      count += 1
      each(Substring(decoding: name, as: UTF8.self))
    }
    return count
  }
}
