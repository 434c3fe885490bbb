import CLibgit2
import Glibc

/// A path that a merge of git's could not settle: what the index holds of it. Nil where a side has none.
public struct IndexConflict: Hashable, Sendable {
  public let path: String
  public let base: ObjectID?
  public let ours: ObjectID?
  public let theirs: ObjectID?
}

extension Repository {
  /// Whether git may have left a merge that it could not finish: a look at a few files.
  ///
  /// - Parameter folder: the `.git` folder.
  public static func mayBeUnmerged(_ folder: String) -> Bool {
    [
      "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE", "rebase-merge",
      "rebase-apply",
    ].contains { access("\(folder)/\($0)", F_OK) == 0 }
  }

  /// The paths that the index holds several sides of.
  ///
  /// Throws `IndexFile.Failure.busy` while another git holds an index that has to be rewritten for that.
  public func conflicts() throws -> [IndexConflict] {
    try joinIndex()
    return try with { repository throws(GitError) in
      var index: OpaquePointer?
      try GitError.check(git_repository_index(&index, repository), "read git's index")
      defer { git_index_free(index) }
      try GitError.check(git_index_read(index, 1), "read git's index")
      guard git_index_has_conflicts(index) == 1 else { return [] }
      var iterator: OpaquePointer?
      try GitError.check(git_index_conflict_iterator_new(&iterator, index), "read git's index")
      defer { git_index_conflict_iterator_free(iterator) }
      var result: [IndexConflict] = []
      var (base, ours, theirs): (UnsafePointer<git_index_entry>?, _, _) = (
        nil, UnsafePointer<git_index_entry>?.none, UnsafePointer<git_index_entry>?.none
      )
      while git_index_conflict_next(&base, &ours, &theirs, iterator) == 0 {
        guard let path = (ours ?? theirs ?? base)?.pointee.path else { continue }
        func blob(_ entry: UnsafePointer<git_index_entry>?) -> ObjectID? {
          // Only regular files are records.
          entry.flatMap { $0.pointee.mode == 0o100644 ? ObjectID($0.pointee.id) : nil }
        }
        result.append(
          IndexConflict(
            path: String(cString: path), base: blob(base), ours: blob(ours), theirs: blob(theirs)))
      }
      return result
    }
  }

  /// Puts one version in the place of the several sides of some paths; nil removes the path.
  ///
  /// Throws `IndexFile.Failure.busy` while another git holds the index.
  public func settle(_ paths: [String: IndexFile.Entry?]) throws {
    let code = try with { repository throws(GitError) in
      var index: OpaquePointer?
      var code = git_repository_index(&index, repository)
      guard code == 0 else { return code }
      defer { git_index_free(index) }
      code = git_index_read(index, 1)
      for (path, entry) in paths where code == 0 {
        // One that has no sides any more has nothing to remove.
        _ = git_index_conflict_remove(index, path)
        guard let entry else {
          _ = git_index_remove(index, path, 0)
          continue
        }
        var raw = Repository.indexEntry(entry)
        code = path.withCString { name in
          raw.path = name
          return git_index_add(index, &raw)
        }
      }
      return code == 0 ? git_index_write(index) : code
    }
    if code == GIT_ELOCKED.rawValue { throw IndexFile.Failure.busy }
    try GitError.check(code, "write git's index")
  }

  /// The tree that the index stands for.
  public func indexTree() throws(GitError) -> ObjectID {
    try with { repository throws(GitError) in
      var index: OpaquePointer?
      try GitError.check(git_repository_index(&index, repository), "read git's index")
      defer { git_index_free(index) }
      try GitError.check(git_index_read(index, 1), "read git's index")
      var oid = git_oid()
      try GitError.check(
        git_index_write_tree_to(&oid, index, repository), "write the tree of git's index")
      return ObjectID(oid)
    }
  }

  /// What the commit is to be that ends an unfinished merge, cherry-pick or revert: its further parents, and the
  /// message that git has prepared. Nil when there is none, or more than one commit is to come.
  public func unfinishedCommit() -> (parents: [ObjectID], message: String)? {
    func read(_ name: String) -> String? {
      // What cannot be read is not there.
      ((try? DurableFile.read(gitDirectory + name, limit: 1 << 20)) ?? nil)
        .map { String(decoding: $0.bytes, as: UTF8.self) }
    }
    let heads = read("MERGE_HEAD").map {
      $0.split(separator: "\n").compactMap { ObjectID(hexadecimal: $0) }
    }
    let isPick = read("CHERRY_PICK_HEAD") != nil || read("REVERT_HEAD") != nil
    guard heads != nil || isPick, access(gitDirectory + "sequencer", F_OK) != 0 else { return nil }
    let text = (read("MERGE_MSG") ?? "")
      .split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("#") }
      .joined(separator: "\n")
    return (heads ?? [], text.isEmpty ? "Merge\n" : text)
  }

  /// Takes away what git keeps of a merge, a cherry-pick or a revert that is over.
  public func endOperation() throws(GitError) {
    try with { repository throws(GitError) in
      try GitError.check(git_repository_state_cleanup(repository), "end the merge")
    }
    _ = unlink(gitDirectory + "AUTO_MERGE")
  }
}
