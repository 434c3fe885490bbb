import CLibgit2

/// A file that differs between two trees; nil where a side has none.
public struct ChangedFile: Hashable, Sendable {
  public let path: String
  public let before: ObjectID?
  public let after: ObjectID?
}

extension Repository {
  /// Walks a history, the latest first and each commit before its parents, until `visit` returns false.
  ///
  /// - Parameter visit: must not use the repository.
  public func visitHistory(
    from commit: ObjectID, _ visit: (Commit) -> Bool
  ) throws(GitError) {
    try with { repository throws(GitError) in
      var walk: OpaquePointer?
      try GitError.check(git_revwalk_new(&walk, repository), "walk the history")
      defer { git_revwalk_free(walk) }
      git_revwalk_sorting(walk, GIT_SORT_TIME.rawValue)
      var oid = commit.oid
      try GitError.check(git_revwalk_push(walk, &oid), "walk the history")
      while true {
        let code = git_revwalk_next(&oid, walk)
        if code == GIT_ITEROVER.rawValue { return }
        try GitError.check(code, "walk the history")
        if !visit(try Repository.commit(ObjectID(oid), in: repository)) { return }
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

  private func entries(of tree: ObjectID?) throws(GitError) -> [String: TreeData.Entry] {
    guard let tree else { return [:] }
    return Dictionary(try self.tree(tree).entries().map { ($0.name, $0) }) { $1 }
  }
}
