/// A file that differs between two trees; nil where a side has none.
public struct ChangedFile: Hashable, Sendable {
  public let path: String
  public let before: ObjectID?
  public let after: ObjectID?
}

extension Repository {
  /// Walks a history, the latest first, until `visit` returns false.
  ///
  /// A commit comes after one of its children at least, and of those that are as late, which a clock that
  /// counts seconds cannot tell apart, the one that was come by first.
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

  /// The files that differ between two trees; nil is the empty one.
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

  /// A tree's entries by name; none of nil. Of two of one name, which git itself never writes, the last.
  public func entries(of tree: ObjectID?) throws(GitError) -> [String: TreeData.Entry] {
    guard let tree else { return [:] }
    return Dictionary(try self.tree(tree).entries().map { ($0.name, $0) }) { $1 }
  }

  /// The entry at a path of a tree; nil when there is none.
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

  /// The blob at a path of a tree; nil when there is none.
  public func blob(at path: String, in tree: ObjectID) throws(GitError) -> ObjectID? {
    try entry(at: path, in: tree).flatMap { $0.mode == .file ? $0.id : nil }
  }

  /// The commit of a history that brought what it has at a path: none of its parents has it so.
  ///
  /// - Parameters:
  ///   - limit: how many commits are looked at.
  ///   - value: what makes two entries the same; nil for no entry.
  public func origin<Value: Equatable>(
    of path: String, in commit: ObjectID, limit: Int,
    comparing value: (TreeData.Entry?) -> Value
  ) throws -> Commit? {
    // A commit is looked at as itself, and as the parent of others.
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
  /// For each of some paths the commit of a history that brought what it has there: each in one walk.
  ///
  /// Where a path cannot be followed, as its name is none, the commit counts that brought its folder as it is.
  ///
  /// - Parameters:
  ///   - folders: the paths, as names, by the folder that they are in (`alarms`; empty for the top).
  ///   - limit: how many commits are looked at.
  public func origins(
    of folders: [String: Set<String>], in commit: ObjectID, limit: Int
  ) throws -> [String: Commit] {
    var known: [ObjectID: [String: TreeData]] = [:]
    /// The folders as a commit's tree has them.
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
        // Nothing in it changed here, as far as one of the parents goes.
        if open.isEmpty || before.contains(where: { $0[folder] == here[folder] }) { continue }
        let changed = try before.map { parent in
          Set(
            try (parent[folder] ?? TreeData()).differences(to: here[folder] ?? TreeData()).map(
              \.name))
        }
        let candidates = open.filter { name in changed.allSatisfy { $0.contains(name) } }
        let mine = try here[folder]?.entries(named: candidates) ?? [:]
        for name in candidates {
          // A name that is none cannot be followed: what changed its folder counts.
          if let entry = wanted[folder]?[name], mine[name] != entry { continue }
          result[folder.isEmpty ? name : "\(folder)/\(name)"] = commit
        }
      }
      return count < limit && result.count < folders.values.reduce(0) { $0 + $1.count }
    }
    return result
  }
}
