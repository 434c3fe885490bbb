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
    let (old, new) = (try entries(of: before), try entries(of: after))
    var result: [ChangedFile] = []
    for name in Set(old.keys).union(new.keys).sorted() {
      let (a, b) = (old[name], new[name])
      if a == b { continue }
      let folders = (a?.mode == .folder ? a?.id : nil, b?.mode == .folder ? b?.id : nil)
      if folders.0 != nil || folders.1 != nil {
        result += try changedFiles(from: folders.0, to: folders.1, under: prefix + name + "/")
      }
      let files = (a?.mode == .file ? a?.id : nil, b?.mode == .file ? b?.id : nil)
      if files.0 != files.1 {
        result.append(ChangedFile(path: prefix + name, before: files.0, after: files.1))
      }
    }
    return result
  }

  /// A tree's entries by name; none of nil. Of two of one name, which git itself never writes, the last.
  public func entries(of tree: ObjectID?) throws(GitError) -> [String: TreeData.Entry] {
    guard let tree else { return [:] }
    return Dictionary(try self.tree(tree).entries().map { ($0.name, $0) }) { $1 }
  }

  /// The blob at a path of a tree; nil when there is none.
  public func blob(at path: String, in tree: ObjectID) throws(GitError) -> ObjectID? {
    var current = tree
    let parts = path.split(separator: "/").map(String.init)
    for (index, part) in parts.enumerated() {
      guard let entry = try self.tree(current).entry(named: part) else { return nil }
      if index == parts.count - 1 { return entry.mode == .file ? entry.id : nil }
      guard entry.mode == .folder else { return nil }
      current = entry.id
    }
    return nil
  }
}
