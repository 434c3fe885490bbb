import CLibgit2
import Files
import Glibc

/// A path with an unresolved merge conflict in the index. A version is nil if that side has no such file.
public struct IndexConflict: Hashable, Sendable {
  /// The path within the work tree.
  public let path: String
  /// The blob in the common ancestor.
  public let base: ObjectID?
  /// The blob on the current branch.
  public let ours: ObjectID?
  /// The blob on the merged branch.
  public let theirs: ObjectID?
}

extension Repository {
  /// Returns true if git may have left an unfinished merge. Checks for a few files only.
  ///
  /// - Parameter folder: The `.git` folder.
  public static func mayBeUnmerged(_ folder: String) -> Bool {
    [
      "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE", "rebase-merge",
      "rebase-apply",
    ].contains { access("\(folder)/\($0)", F_OK) == 0 }
  }

  /// Returns the paths of which the index holds several versions.
  ///
  /// - Throws: `IndexFile.Failure.busy` if the index is split and another git holds it.
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
          // Records are regular files.
          entry.flatMap { $0.pointee.mode == 0o100644 ? ObjectID($0.pointee.id) : nil }
        }
        result.append(
          IndexConflict(
            path: String(cString: path), base: blob(base), ours: blob(ours), theirs: blob(theirs)))
      }
      return result
    }
  }

  /// Replaces the conflicting versions of paths with one entry each; nil removes the path.
  ///
  /// - Throws: `IndexFile.Failure.busy` if another git holds the index.
  public func resolve(_ paths: [String: IndexFile.Entry?]) throws {
    let code = try with { repository throws(GitError) in
      var index: OpaquePointer?
      var code = git_repository_index(&index, repository)
      guard code == 0 else { return code }
      defer { git_index_free(index) }
      code = git_index_read(index, 1)
      for (path, entry) in paths where code == 0 {
        // The call fails for a path without a conflict, which is fine.
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

  /// Writes the content of the index as a tree and returns its id.
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

  /// Returns the parents and the message of the commit that ends an unfinished merge, cherry-pick or revert.
  ///
  /// - Returns: The parents besides the current commit and the message that git has prepared; nil if no operation is
  ///   unfinished, or if it needs more than one commit.
  public func unfinishedCommit() -> (parents: [ObjectID], message: String)? {
    func read(_ name: String) -> String? {
      // An unreadable file counts as missing.
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

  /// Removes git's state of a finished merge, cherry-pick or revert.
  public func endOperation() throws(GitError) {
    try with { repository throws(GitError) in
      try GitError.check(git_repository_state_cleanup(repository), "end the merge")
    }
    _ = unlink(gitDirectory + "AUTO_MERGE")
  }
}
