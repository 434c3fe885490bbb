import Git
import Glibc

/// How the work tree differs from HEAD, as git sees it.
struct WorkTreeChanges {
  /// Records that are new or changed.
  var uncommitted: [String] = []
  /// Records other than alarms that are gone; of alarms the cards tell.
  var removed: [String] = []
  /// Files that are no records.
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
      let isThere = lstat("\(store.path)/\(path)", &status) == 0
      switch RecordPath(path) {
      case nil: if isThere { strays.append(path) }
      case .alarm? where !isThere: break
      case _?: if isThere { uncommitted.append(path) } else { removed.append(path) }
      }
    }
  }
}

/// Records that the history has and HEAD lacks: absence never means deletion.
struct Dropped {
  private let store: Store

  init(_ store: Store) {
    self.store = store
  }

  /// How many of the places at which the branch has stood are looked at.
  private static let places = 100

  /// The files as they last were, by path.
  func files() async throws -> [String: [UInt8]] {
    // What a look at the past leaves out is not dropped.
    guard store.past == nil else { return [:] }
    let repository = try store.repository()
    let branch = try repository.headBranch() ?? "HEAD"
    guard let head = try repository.commit(of: branch), repository.isWhole(head) else { return [:] }
    var files: [String: [UInt8]] = [:]
    // Where the branch has stood, and somebody has moved it away from.
    for place in repository.reflog(branch).prefix(Dropped.places) {
      guard let changes = try? BranchRestoration(repository).files(seen: place, head: head).files
      else { continue }
      for (path, content) in changes where files[path] == nil { files[path] = content }
    }
    // What a commit in the history of HEAD has removed.
    let outcome = try await GitCommand.run(
      [
        "log", "--diff-filter=D", "--raw", "--no-abbrev", "--no-renames", "--format=", "-m",
        head.description, "--", "alarms", "log", "devices", SettingsFile.path,
      ], in: store.path)
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
  /// The paths of all files in the records' places, whatever they are, relative to the store.
  func recordFiles() -> [String] {
    func below(_ folder: String, depth: Int) -> [String] {
      DurableFile.names(in: "\(path)/\(folder)").sorted().flatMap { name -> [String] in
        let place = "\(folder)/\(name)"
        var status = stat()
        let isFolder =
          lstat("\(path)/\(place)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        return isFolder && depth > 0 ? below(place, depth: depth - 1) : [place]
      }
    }
    let root = [SettingsFile.path, Store.attributesPath]
      .filter { access("\(path)/\($0)", F_OK) == 0 }
    return root + below("alarms", depth: 0) + below("devices", depth: 0) + below("log", depth: 3)
  }
}
