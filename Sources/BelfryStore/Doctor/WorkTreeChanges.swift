import Files
import Git
import Glibc

/// The differences between the work tree and HEAD according to git.
struct WorkTreeChanges {
  /// The new and changed records.
  var uncommitted: [String] = []
  /// The missing records except alarms, which the alarm index reports.
  var removed: [String] = []
  /// The files that are not records.
  var strays: [String] = []

  init(_ store: Store) async throws {
    let outcome = try await GitCommand.run(
      [
        "--no-optional-locks", "status", "--porcelain", "-z", "--untracked-files=all",
        "--no-renames", "--ignored=no",
      ], in: store.path)
    guard outcome.status == 0 else { return }
    for line in outcome.output.split(separator: "\0") where line.utf8.count > 3 {
      let path = String(line.dropFirst(3))
      var status = stat()
      let exists = lstat("\(store.path)/\(path)", &status) == 0
      switch RecordPath(path) {
      case nil: if exists { strays.append(path) }
      case .alarm? where !exists: break
      case _?: if exists { uncommitted.append(path) } else { removed.append(path) }
      }
    }
  }
}

/// The records that are in the history but not in HEAD. A missing file never means a deletion.
struct DroppedRecords {
  private let store: Store

  init(_ store: Store) {
    self.store = store
  }

  /// The maximum number of examined reflog entries.
  private static let maxReflogEntries = 100

  /// Returns the last valid versions of the dropped records, by path.
  func files() async throws -> [String: [UInt8]] {
    // If an earlier commit is checked out, nothing is dropped.
    guard store.branch.detachedHead == nil else { return [:] }
    let repository = try store.repository()
    let branch = try repository.headBranch() ?? "HEAD"
    guard let head = try repository.commit(of: branch), repository.isWhole(head) else { return [:] }
    var files: [String: [UInt8]] = [:]
    // Commits in the reflog from which another git has moved the branch away.
    for commit in repository.reflog(branch).prefix(DroppedRecords.maxReflogEntries) {
      guard
        let changes = try? BranchRestoration(repository).result(seen: [commit], head: head).files
      else { continue }
      for (path, content) in changes where files[path] == nil { files[path] = content }
    }
    // Records that a commit in the history of HEAD removed.
    let outcome = try await GitCommand.run(
      [
        "log", "--diff-filter=D", "--raw", "--no-abbrev", "--no-renames", "--format=", "-m",
        head.description, "--", "log", SettingsFile.path,
      ] + RecordPath.folders, in: store.path)
    let tree = try repository.commit(head).tree
    for line in outcome.output.split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
      let words = parts[0].split(separator: " ")
      guard parts.count == 2, words.count == 5, let blob = ObjectID(hexadecimal: words[2]),
        files[parts[1]] == nil, let kind = RecordPath(parts[1]),
        try repository.blob(at: parts[1], in: tree) == nil,
        let bytes = try? repository.blob(blob, limit: kind.largest), kind.error(in: bytes) == nil
      else { continue }
      files[parts[1]] = bytes
    }
    return files
  }
}

extension Store {
  /// Returns the paths of all files in the folders of records, valid or not, relative to the store.
  func recordFiles() -> [String] {
    func below(_ folder: String, depth: Int) -> [String] {
      DurableFile.names(in: "\(path)/\(folder)").sorted().flatMap { name -> [String] in
        let file = "\(folder)/\(name)"
        var status = stat()
        let isFolder =
          lstat("\(path)/\(file)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        return isFolder && depth > 0 ? below(file, depth: depth - 1) : [file]
      }
    }
    let root = [SettingsFile.path, Store.attributesPath]
      .filter { access("\(path)/\($0)", F_OK) == 0 }
    return root + RecordPath.folders.flatMap { below($0, depth: 0) }
      + below("log", depth: 3)
  }
}
