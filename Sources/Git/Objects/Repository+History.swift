/// A file that differs between two trees. A version is nil if that tree has no such file.
public struct ChangedFile: Hashable, Sendable {
  /// The path within the trees.
  public let path: String
  /// The blob in the old tree.
  public let before: ObjectID?
  /// The blob in the new tree.
  public let after: ObjectID?
}

extension Repository {
  /// Walks a history from the latest commit to the first, until `visit` returns false.
  ///
  /// A commit is visited after at least one of its children. Commits of the same second are visited in the order of
  /// their discovery.
  public func visitHistory(
    from commit: ObjectID, _ visit: (Commit) throws -> Bool
  ) throws {
    var seen: Set<ObjectID> = [commit]
    var waiting = [try self.commit(commit)]
    while let index = waiting.indices.max(by: {
      (waiting[$0].time, -$0) < (waiting[$1].time, -$1)
    }) {
      let current = waiting.remove(at: index)
      guard try visit(current) else { return }
      for parent in current.parents where seen.insert(parent).inserted {
        waiting.append(try self.commit(parent))
      }
    }
  }

  /// Returns the files that differ between two trees; nil stands for the empty tree.
  ///
  /// - Parameter prefix: The folder of the trees, with a trailing slash, which the paths start with.
  public func changedFiles(
    from before: ObjectID?, to after: ObjectID?, under prefix: String = ""
  ) throws(GitError) -> [ChangedFile] {
    if before == after { return [] }
    let (old, new) = (try before.map(tree) ?? TreeData(), try after.map(tree) ?? TreeData())
    var result: [ChangedFile] = []
    for change in try old.differences(to: new) {
      let (a, b) = (change.before, change.after)
      let folders = (a?.mode == .folder ? a?.id : nil, b?.mode == .folder ? b?.id : nil)
      if folders.0 != nil || folders.1 != nil {
        result += try changedFiles(
          from: folders.0, to: folders.1, under: prefix + change.name + "/")
      }
      let files = (a?.mode == .file ? a?.id : nil, b?.mode == .file ? b?.id : nil)
      if files.0 != files.1 {
        result.append(ChangedFile(path: prefix + change.name, before: files.0, after: files.1))
      }
    }
    return result
  }

  /// Returns a tree's entries by name, or none if `tree` is nil.
  ///
  /// If a malformed tree repeats a name, the last entry counts.
  public func entries(of tree: ObjectID?) throws(GitError) -> [String: TreeData.Entry] {
    guard let tree else { return [:] }
    return Dictionary(try self.tree(tree).entries().map { ($0.name, $0) }) { $1 }
  }

  /// Returns the entry at a path of a tree, or nil if there is none.
  public func entry(at path: String, in tree: ObjectID) throws(GitError) -> TreeData.Entry? {
    var current = tree
    let parts = path.split(separator: "/").map(String.init)
    for (index, part) in parts.enumerated() {
      guard let entry = try self.tree(current).entry(named: part) else { return nil }
      if index == parts.count - 1 { return entry }
      guard entry.mode == .folder else { return nil }
      current = entry.id
    }
    return nil
  }

  /// Returns the blob at a path of a tree, or nil if there is no file.
  public func blob(at path: String, in tree: ObjectID) throws(GitError) -> ObjectID? {
    try entry(at: path, in: tree).flatMap { $0.mode == .file ? $0.id : nil }
  }

  /// Returns the latest commit that introduced the present version at a path: none of its parents has that version.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - commit: The start of the history.
  ///   - limit: The maximum number of visited commits.
  ///   - value: A function that maps an entry, or nil for no entry, to the value that identifies its version.
  /// - Returns: The commit, or nil if it isn't within the limit.
  public func origin<Value: Equatable>(
    of path: String, in commit: ObjectID, limit: Int,
    comparing value: (TreeData.Entry?) -> Value
  ) throws -> Commit? {
    // Most commits are needed twice: as themselves and as a parent.
    var known: [ObjectID: Value] = [:]
    func version(_ tree: ObjectID) throws -> Value {
      if let version = known[tree] { return version }
      let version = value(try entry(at: path, in: tree))
      known[tree] = version
      return version
    }
    let wanted = try version(try self.commit(commit).tree)
    var (found, count): (Commit?, Int) = (nil, 0)
    try visitHistory(from: commit) { commit in
      count += 1
      if try version(commit.tree) == wanted,
        try !commit.parents.contains(where: { try version(self.commit($0).tree) == wanted })
      {
        found = commit
      }
      return found == nil && count < limit
    }
    return found
  }
}

extension Repository {
  /// Returns the commits that introduced the present version of each path, in one walk.
  ///
  /// A path that isn't in the tree of `commit`, because its name is not valid, gets the last commit that changed its
  /// folder.
  ///
  /// - Parameters:
  ///   - folders: The names by their folder (`alarms`; empty for the root).
  ///   - commit: The start of the history.
  ///   - limit: The maximum number of visited commits.
  /// - Returns: The commits by path. Paths whose commit isn't within the limit are missing.
  public func origins(
    of folders: [String: Set<String>], in commit: ObjectID, limit: Int
  ) throws -> [String: Commit] {
    var known: [ObjectID: [String: TreeData]] = [:]
    /// Returns the folders of a commit's tree.
    func content(_ tree: ObjectID) throws -> [String: TreeData] {
      if let content = known[tree] { return content }
      var content: [String: TreeData] = [:]
      for folder in folders.keys {
        let entry = folder.isEmpty ? nil : try entry(at: folder, in: tree)
        let id = folder.isEmpty ? tree : entry?.mode == .folder ? entry?.id : nil
        content[folder] = try id.map { try self.tree($0) } ?? TreeData()
      }
      if known.count > 64 { known = [:] }
      known[tree] = content
      return content
    }
    let top = try content(try self.commit(commit).tree)
    let wanted = Dictionary(
      uniqueKeysWithValues: try folders.map { folder, names in
        (folder, try top[folder]?.entries(named: names) ?? [:])
      })
    var result: [String: Commit] = [:]
    var count = 0
    try visitHistory(from: commit) { commit in
      count += 1
      let here = try content(commit.tree)
      let before = try commit.parents.map { try content(try self.commit($0).tree) }
      for (folder, names) in folders {
        let open = names.filter { result[folder.isEmpty ? $0 : "\(folder)/\($0)"] == nil }
        // A parent with the same folder means that this commit changed nothing in it.
        if open.isEmpty || before.contains(where: { $0[folder] == here[folder] }) { continue }
        let changed = try before.map { parent in
          Set(
            try (parent[folder] ?? TreeData()).differences(to: here[folder] ?? TreeData()).map(
              \.name))
        }
        let candidates = open.filter { name in changed.allSatisfy { $0.contains(name) } }
        let mine = try here[folder]?.entries(named: candidates) ?? [:]
        for name in candidates {
          // A name that is not valid has no entry to compare, so any change of its folder counts.
          if let entry = wanted[folder]?[name], mine[name] != entry { continue }
          result[folder.isEmpty ? name : "\(folder)/\(name)"] = commit
        }
      }
      return count < limit && result.count < folders.values.reduce(0) { $0 + $1.count }
    }
    return result
  }
}
