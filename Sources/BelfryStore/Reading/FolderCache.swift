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
    let tree = try read(folder)
    folders[folder] = .some(tree)
    return tree
  }

  private func read(_ folder: String) throws(GitError) -> TreeData? {
    guard let commit else { return nil }
    let root = try repository.commit(commit).tree
    if folder.isEmpty { return try repository.tree(root) }
    guard let entry = try repository.entry(at: folder, in: root), entry.mode == .folder else {
      return nil
    }
    return try repository.tree(entry.id)
  }
}
