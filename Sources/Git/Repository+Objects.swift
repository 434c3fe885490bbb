import CLibgit2
import Crypto
import Glibc

/// A commit, as far as Belfry looks at it.
public struct Commit: Hashable, Sendable {
  public let id: ObjectID
  public let tree: ObjectID
  public let parents: [ObjectID]
  /// Seconds since the epoch, as the committer's clock said.
  public let time: Int64
  public let message: String
}

extension Repository {
  /// An object's kind and size, without reading its content.
  private static func header(
    _ database: OpaquePointer?, _ id: ObjectID, _ kind: git_object_t, limit: Int
  ) throws(GitError) {
    var size = 0
    var found = GIT_OBJECT_INVALID
    var oid = id.oid
    try GitError.check(
      git_odb_read_header(&size, &found, database, &oid), "find the object \(id.short)")
    guard found == kind else {
      throw GitError(.generic, "read the object \(id.short)", "it is of another kind")
    }
    guard size <= limit else {
      throw GitError(.generic, "read the object \(id.short)", "it is too large: \(size) bytes")
    }
  }

  private func read(
    _ id: ObjectID, _ kind: git_object_t, limit: Int
  ) throws(GitError) -> [UInt8] {
    try with { repository throws(GitError) in
      var database: OpaquePointer?
      try GitError.check(git_repository_odb(&database, repository), "open the object database")
      defer { git_odb_free(database) }
      // The size first: a small pack can unfold to more than there is memory.
      try Repository.header(database, id, kind, limit: limit)
      var object: OpaquePointer?
      var oid = id.oid
      try GitError.check(git_odb_read(&object, database, &oid), "read the object \(id.short)")
      defer { git_odb_object_free(object) }
      let data = UnsafeRawBufferPointer(
        start: git_odb_object_data(object), count: git_odb_object_size(object))
      return Array(data)
    }
  }

  /// The content of a blob. Throws when it is larger than `limit` bytes.
  public func blob(_ id: ObjectID, limit: Int) throws(GitError) -> [UInt8] {
    try read(id, GIT_OBJECT_BLOB, limit: limit)
  }

  /// A tree. Throws when it is larger than 64 MiB, a million entries.
  public func tree(_ id: ObjectID) throws(GitError) -> TreeData {
    TreeData(try read(id, GIT_OBJECT_TREE, limit: 64 << 20))
  }

  /// Writes an object durably; one that is there already costs no more than looking.
  private func write(_ bytes: [UInt8], _ kind: git_object_t) throws(GitError) -> ObjectID {
    try with { repository throws(GitError) in
      var database: OpaquePointer?
      try GitError.check(git_repository_odb(&database, repository), "open the object database")
      defer { git_odb_free(database) }
      var oid = git_oid()
      let result = bytes.withUnsafeBytes {
        git_odb_write(&oid, database, $0.baseAddress, $0.count, kind)
      }
      try GitError.check(result, "write an object")
      return ObjectID(oid)
    }
  }

  public func writeBlob(_ bytes: [UInt8]) throws(GitError) -> ObjectID {
    try write(bytes, GIT_OBJECT_BLOB)
  }

  public func writeTree(_ tree: TreeData) throws(GitError) -> ObjectID {
    try write(tree.bytes, GIT_OBJECT_TREE)
  }

  /// The name that a blob of these bytes has, without writing it and without libgit2, whose start
  /// costs more than most commands.
  public static func blobID(_ bytes: [UInt8]) -> ObjectID {
    var hash = Insecure.SHA1()
    hash.update(data: Array("blob \(bytes.count)\0".utf8))
    hash.update(data: bytes)
    return ObjectID(Array(hash.finalize()))
  }

  // MARK: Commits

  public func commit(_ id: ObjectID) throws(GitError) -> Commit {
    try with { repository throws(GitError) in
      var commit: OpaquePointer?
      var oid = id.oid
      try GitError.check(
        git_commit_lookup(&commit, repository, &oid), "read the commit \(id.short)")
      defer { git_commit_free(commit) }
      let parents = (0..<git_commit_parentcount(commit)).compactMap {
        git_commit_parent_id(commit, $0).map { ObjectID($0.pointee) }
      }
      guard let tree = git_commit_tree_id(commit) else {
        throw GitError(.generic, "read the commit \(id.short)", "it names no tree")
      }
      return Commit(
        id: id, tree: ObjectID(tree.pointee), parents: parents, time: git_commit_time(commit),
        message: git_commit_message(commit).map { String(cString: $0) } ?? "")
    }
  }

  /// Who commits, and when.
  public struct Signature: Hashable, Sendable {
    public var name: String
    public var email: String
    /// Seconds since the epoch.
    public var time: Int64

    public init(name: String, email: String, time: Int64) {
      self.name = name
      self.email = email
      self.time = time
    }
  }

  /// The user's own name and address from git's configuration; nil when either is missing.
  public func configuredUser() throws(GitError) -> (name: String, email: String)? {
    let user: [String]? = try with { repository throws(GitError) in
      var config: OpaquePointer?
      try GitError.check(
        git_repository_config_snapshot(&config, repository), "read git's configuration")
      defer { git_config_free(config) }
      var values: [String] = []
      for key in ["user.name", "user.email"] {
        var value: UnsafePointer<CChar>?
        guard git_config_get_string(&value, config, key) == 0, let value else { return nil }
        values.append(String(cString: value))
      }
      return values
    }
    return user.map { ($0[0], $0[1]) }
  }

  /// Writes a commit object; no reference moves.
  ///
  /// `git_commit_create` would hide a failed write, so the object is made and written in two steps.
  public func writeCommit(
    tree: ObjectID, parents: [ObjectID], signature: Signature, message: String
  ) throws(GitError) -> ObjectID {
    func person(_ role: String) -> String {
      func clean(_ text: String) -> String {
        let kept = text.unicodeScalars.filter { $0.value >= 0x20 && $0 != "<" && $0 != ">" }
        return kept.isEmpty ? "unknown" : String(String.UnicodeScalarView(kept))
      }
      return
        "\(role) \(clean(signature.name)) <\(clean(signature.email))> \(signature.time) +0000\n"
    }
    var text = "tree \(tree)\n"
    for parent in parents { text += "parent \(parent)\n" }
    text += person("author") + person("committer") + "\n" + message
    return try write(Array(text.utf8), GIT_OBJECT_COMMIT)
  }

  /// The best common ancestor of two commits; nil when their histories are unrelated.
  public func mergeBase(_ a: ObjectID, _ b: ObjectID) throws(GitError) -> ObjectID? {
    try with { repository throws(GitError) in
      var result = git_oid()
      var (one, two) = (a.oid, b.oid)
      let code = git_merge_base(&result, repository, &one, &two)
      if code == GIT_ENOTFOUND.rawValue { return nil }
      try GitError.check(code, "find the common ancestor")
      return ObjectID(result)
    }
  }

  /// Whether `ancestor` is `commit` or in its history.
  public func isAncestor(_ ancestor: ObjectID, of commit: ObjectID) throws(GitError) -> Bool {
    if ancestor == commit { return true }
    return try with { repository throws(GitError) in
      var (one, two) = (commit.oid, ancestor.oid)
      let code = git_graph_descendant_of(repository, &one, &two)
      try GitError.check(code, "compare two histories")
      return code == 1
    }
  }

  /// How many commits `one` has that `other` lacks, and the other way round.
  public func aheadBehind(
    _ one: ObjectID, _ other: ObjectID
  ) throws(GitError) -> (ahead: Int, behind: Int) {
    let counts: [Int] = try with { repository throws(GitError) in
      var (ahead, behind) = (0, 0)
      var (a, b) = (one.oid, other.oid)
      try GitError.check(
        git_graph_ahead_behind(&ahead, &behind, repository, &a, &b), "compare two histories")
      return [ahead, behind]
    }
    return (counts[0], counts[1])
  }

  // MARK: References

  /// Takes away the lock of a reference that a process of ours left when it died while moving it.
  ///
  /// To be called only when one is known to have died in a write, by who keeps living ones out. A git at
  /// work on the reference holds its lock for a moment; one that stays as it is belongs to nobody.
  public func removeDeadLock(of reference: String) {
    let path = gitDirectory + reference + ".lock"
    var (before, after) = (stat(), stat())
    guard lstat(path, &before) == 0 else { return }
    usleep(300_000)
    guard lstat(path, &after) == 0, before.st_ino == after.st_ino,
      FileSignature(before) == FileSignature(after)
    else { return }
    _ = unlink(path)
  }

  /// Moves a reference from one commit to another, or makes it (`from` nil).
  ///
  /// Returns false when it did not stand at `from` any more; nothing has changed then. The reference
  /// is read back: only then has it moved.
  public func moveReference(
    _ name: String, from: ObjectID?, to: ObjectID, signature: Signature, message: String
  ) throws(GitError) -> Bool {
    try with { repository throws(GitError) in
      var reference: OpaquePointer?
      defer { git_reference_free(reference) }
      var target = to.oid
      // The reflog wants a person; without one configured libgit2 uses this.
      git_repository_set_ident(repository, signature.name, signature.email)
      let code: Int32
      if var current = from?.oid {
        code = git_reference_create_matching(
          &reference, repository, name, &target, 1, &current, message)
      } else {
        code = git_reference_create(&reference, repository, name, &target, 0, message)
      }
      if code == GIT_EMODIFIED.rawValue || code == GIT_EEXISTS.rawValue
        || (from != nil && code == GIT_ENOTFOUND.rawValue)
      {
        return false
      }
      var now = git_oid()
      let moved =
        git_reference_name_to_id(&now, repository, name) == 0 && ObjectID(now) == to
      if code < 0, !moved { try GitError.check(code, "move \(name)") }
      return moved
    }
  }
}

extension Repository {
  /// How many commits a history has.
  public func count(_ commit: ObjectID) throws(GitError) -> Int {
    try with { repository throws(GitError) in
      var walk: OpaquePointer?
      try GitError.check(git_revwalk_new(&walk, repository), "walk the history")
      defer { git_revwalk_free(walk) }
      var oid = commit.oid
      try GitError.check(git_revwalk_push(walk, &oid), "walk the history")
      var count = 0
      while git_revwalk_next(&oid, walk) == 0 { count += 1 }
      return count
    }
  }
}
