import CLibgit2

/// Relations between commits, computed by libgit2.
extension Repository {
  /// Returns the best common ancestor of two commits, or nil if their histories are unrelated.
  public func mergeBase(_ a: ObjectID, _ b: ObjectID) throws(GitError) -> ObjectID? {
    try withLooseObjects { repository throws(GitError) in
      var result = git_oid()
      var (one, two) = (a.oid, b.oid)
      let code = git_merge_base(&result, repository, &one, &two)
      if code == GIT_ENOTFOUND.rawValue { return nil }
      try GitError.check(code, "find the common ancestor")
      return ObjectID(result)
    }
  }

  /// Returns true if `ancestor` is `commit` or in its history.
  public func isAncestor(_ ancestor: ObjectID, of commit: ObjectID) throws(GitError) -> Bool {
    if ancestor == commit { return true }
    return try withLooseObjects { repository throws(GitError) in
      var (one, two) = (commit.oid, ancestor.oid)
      let code = git_graph_descendant_of(repository, &one, &two)
      try GitError.check(code, "compare two histories")
      return code == 1
    }
  }

  /// Returns the number of commits that only `one` has, and the number that only `other` has.
  public func aheadBehind(
    _ one: ObjectID, _ other: ObjectID
  ) throws(GitError) -> (ahead: Int, behind: Int) {
    let counts: [Int] = try withLooseObjects { repository throws(GitError) in
      var (ahead, behind) = (0, 0)
      var (a, b) = (one.oid, other.oid)
      try GitError.check(
        git_graph_ahead_behind(&ahead, &behind, repository, &a, &b), "compare two histories")
      return [ahead, behind]
    }
    return (counts[0], counts[1])
  }

  /// Returns the commits of a history that the histories of other commits lack.
  ///
  /// - Parameter limit: The maximum number of commits.
  public func commits(
    of commit: ObjectID, lackedBy others: [ObjectID], limit: Int
  ) throws(GitError) -> Set<ObjectID> {
    if limit <= 0 { return [] }
    var found: Set<ObjectID> = []
    try walk(from: commit, hiding: others) {
      found.insert($0)
      return found.count < limit
    }
    return found
  }

  /// Returns the number of commits in a history.
  public func count(_ commit: ObjectID) throws(GitError) -> Int {
    var count = 0
    try walk(from: commit) { _ in
      count += 1
      return true
    }
    return count
  }

  /// Visits the commits of a history, without those of other histories, until `visit` returns false.
  private func walk(
    from commit: ObjectID, hiding others: [ObjectID] = [], _ visit: (ObjectID) -> Bool
  ) throws(GitError) {
    try withLooseObjects { repository throws(GitError) in
      var walk: OpaquePointer?
      try GitError.check(git_revwalk_new(&walk, repository), "walk the history")
      defer { git_revwalk_free(walk) }
      var oid = commit.oid
      try GitError.check(git_revwalk_push(walk, &oid), "walk the history")
      for other in others {
        var oid = other.oid
        try GitError.check(git_revwalk_hide(walk, &oid), "walk the history")
      }
      var code = git_revwalk_next(&oid, walk)
      while code == 0, visit(ObjectID(oid)) { code = git_revwalk_next(&oid, walk) }
      // Zero means that the visitor has ended the walk.
      if code != 0, code != GIT_ITEROVER.rawValue { try GitError.check(code, "walk the history") }
    }
  }
}
