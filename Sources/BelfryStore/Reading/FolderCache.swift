import Git

/// The folders of a commit, each of which is read once, for the lookup of several files.
struct FolderCache {
  private let repository: Repository
  private let commit: ObjectID?
  private var folders: [String: TreeData?] = [:]

  /// Creates a cache.
  ///
  /// - Parameter commit: The commit; nil for an empty one.
  init(_ repository: Repository, commit: ObjectID?) {
    self.repository = repository
    self.commit = commit
  }

  /// Returns the blob of a file, or nil if the commit has no such file.
  ///
  /// - Complexity: O(*n*) in the number of files in the folder.
  mutating func blob(at path: String) throws(GitError) -> ObjectID? {
    let (folder, name) =
      path.lastIndex(of: "/").map { (String(path[..<$0]), String(path[path.index(after: $0)...])) }
      ?? ("", path)
    let entry = try tree(folder)?.entry(named: name)
    return entry.flatMap { $0.mode == .file ? $0.id : nil }
  }

  private mutating func tree(_ folder: String) throws(GitError) -> TreeData? {
    if let known = folders[folder] { return known }
    let tree = try repository.folder(folder, in: commit)
    folders[folder] = .some(tree)
    return tree
  }
}

extension Repository {
  /// Returns a folder of a commit, or nil if the commit has no such folder.
  ///
  /// - Parameters:
  ///   - path: The path of the folder; empty for the root.
  ///   - commit: The commit; nil for an empty one.
  func folder(_ path: String, in commit: ObjectID?) throws(GitError) -> TreeData? {
    guard let commit else { return nil }
    let root = try self.commit(commit).tree
    if path.isEmpty { return try tree(root) }
    guard let entry = try entry(at: path, in: root), entry.mode == .folder else { return nil }
    return try tree(entry.id)
  }

  /// Returns the blobs of some files in a commit by path; the result lacks those that it doesn't have.
  ///
  /// - Parameters:
  ///   - paths: The files, which are all in one folder.
  ///   - commit: The commit; nil for an empty one.
  func blobs(at paths: [String], in commit: ObjectID?) throws(GitError) -> [String: ObjectID] {
    guard let first = paths.first else { return [:] }
    let prefix = first.lastIndex(of: "/").map { String(first[...$0]) } ?? ""
    guard let folder = try folder(String(prefix.dropLast()), in: commit) else { return [:] }
    let names = Set(paths.map { String($0.dropFirst(prefix.count)) })
    let entries = try folder.entries(named: names).filter { $1.mode == .file }
    return Dictionary(uniqueKeysWithValues: entries.map { (prefix + $0.key, $0.value.id) })
  }
}
