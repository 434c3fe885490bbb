import CLibgit2
import Files
import Glibc

/// The parts of a commit that Belfry uses.
public struct Commit: Hashable, Sendable {
  /// The commit's id.
  public let id: ObjectID
  /// The root tree.
  public let tree: ObjectID
  /// The parents, in the commit's order.
  public let parents: [ObjectID]
  /// The author's name.
  public let author: String
  /// The committer's time in seconds since the epoch, clamped to the years 1970 to 9999.
  public let time: Int64
  /// The message, including the subject.
  public let message: String

  private static let latest: Int64 = 253_402_300_799

  /// Parses a commit object. Returns nil if the bytes are not a commit.
  init?(_ id: ObjectID, _ bytes: [UInt8]) {
    var tree: ObjectID?
    var parents: [ObjectID] = []
    var time: Int64?
    var author = ""
    var position = 0
    while position < bytes.count {
      let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      let line = String(decoding: bytes[position..<end], as: UTF8.self)
      position = end + 1
      if line.isEmpty { break }
      let words = line.split(separator: " ")
      switch words.first {
      case "tree": tree = words.last.flatMap { ObjectID(hexadecimal: $0) }
      case "parent":
        guard let parent = words.last.flatMap({ ObjectID(hexadecimal: $0) }) else { return nil }
        parents.append(parent)
      case "author":
        author = String(line.dropFirst("author ".count).prefix { $0 != "<" })
        while author.last == " " { author.removeLast() }
      case "committer":
        time = words.dropLast().last.flatMap { Int64($0) }.map { min(max($0, 0), Commit.latest) }
      default: break
      }
    }
    guard let tree, let time else { return nil }
    self.init(
      id: id, tree: tree, parents: parents, author: author, time: time,
      message: String(decoding: bytes[min(position, bytes.count)...], as: UTF8.self))
  }

  /// The greatest size of a commit that is read without a repository, in bytes.
  private static let maxSize = 1 << 20

  /// Reads a commit that is a loose object, as the latest ones mostly are. libgit2, which takes some milliseconds to load, is
  /// not used. Returns nil if the commit is in a pack, or cannot be read.
  ///
  /// - Parameter folder: The repository's folder, without a slash at its end.
  public static func loose(_ id: ObjectID, in folder: String) -> Commit? {
    let objects = LooseObjects(folder: folder + "/objects", scratch: folder)
    guard let object = try? objects.read(id, limit: maxSize), object.kind == .commit else {
      return nil
    }
    return Commit(id, object.bytes)
  }

  init(
    id: ObjectID, tree: ObjectID, parents: [ObjectID], author: String = "", time: Int64,
    message: String
  ) {
    self.author = author
    self.id = id
    self.tree = tree
    self.parents = parents
    self.time = time
    self.message = message
  }
}

extension Repository {
  /// Returns the content of an object, loose or packed.
  ///
  /// Once an object was read from a pack, the known packs are searched before the loose objects: a fetch or a packing
  /// puts many objects into one pack, and a lookup in it needs no system call.
  ///
  /// - Throws: `GitError`: `malformed` if the object is of another kind, `tooLarge` if it has more than `limit`
  ///   bytes.
  func read(
    _ id: ObjectID, _ kind: LooseObjects.Kind, limit: Int
  ) throws(GitError) -> [UInt8] {
    let operation = "read the object \(id.short)"
    // If the packed copy is damaged, there may be an intact loose one.
    if let packed = try? readPacked(id, kind, limit: limit, onlyIfKnown: true) { return packed }
    do {
      guard let object = try loose.read(id, limit: limit) else {
        if let packed = try? readPacked(id, kind, limit: limit) { return packed }
        return try readAnywhere(id, kind, limit: limit)
      }
      guard object.kind == kind else {
        throw GitError(.malformed, operation, "it has another type")
      }
      return object.bytes
    } catch let error as GitError {
      throw error
    } catch let error as LooseObjects.Damage {
      // A pack may contain an intact copy.
      if let packed = try? readPacked(id, kind, limit: limit) { return packed }
      throw GitError(error.isTooLarge ? .tooLarge : .damaged, operation, error.reason)
    } catch let error as FileError where error.number == EFBIG {
      throw GitError(.tooLarge, operation, "it is too large")
    } catch {
      throw GitError(.generic, operation, "\(error)")
    }
  }

  /// Returns the content of an object in the repository's own packs, or nil if they don't contain it.
  ///
  /// - Parameter onlyIfKnown: True to search only packs that are open already.
  private func readPacked(
    _ id: ObjectID, _ kind: LooseObjects.Kind, limit: Int, onlyIfKnown: Bool = false
  ) throws(GitError) -> [UInt8]? {
    let lookup = onlyIfKnown ? GIT_ODB_LOOKUP_NO_REFRESH.rawValue : 0
    return try withPacks(opening: !onlyIfKnown) { packs throws(GitError) in
      var oid = id.oid
      guard git_odb_exists_ext(packs, &oid, lookup) == 1 else { return nil }
      return try Repository.read(id, kind, limit: limit, from: packs)
    }
  }

  /// Returns the content of an object from any place, such as an alternate, or throws the reason that there is none.
  private func readAnywhere(
    _ id: ObjectID, _ kind: LooseObjects.Kind, limit: Int
  ) throws(GitError) -> [UInt8] {
    return try with { repository throws(GitError) in
      var database: OpaquePointer?
      try GitError.check(git_repository_odb(&database, repository), "open the object database")
      defer { git_odb_free(database) }
      return try Repository.read(id, kind, limit: limit, from: database)
    }
  }

  private static func read(
    _ id: ObjectID, _ kind: LooseObjects.Kind, limit: Int, from database: OpaquePointer?
  ) throws(GitError) -> [UInt8] {
    // The size comes first: a small pack can inflate to more than the available memory.
    var size = 0
    var found = GIT_OBJECT_INVALID
    var oid = id.oid
    try GitError.check(
      git_odb_read_header(&size, &found, database, &oid), "find the object \(id.short)")
    guard found == kind.code else {
      throw GitError(.malformed, "read the object \(id.short)", "it has another type")
    }
    guard size <= limit else {
      throw GitError(.tooLarge, "read the object \(id.short)", "it is too large: \(size) bytes")
    }
    var object: OpaquePointer?
    try GitError.check(git_odb_read(&object, database, &oid), "read the object \(id.short)")
    defer { git_odb_object_free(object) }
    let data = UnsafeRawBufferPointer(
      start: git_odb_object_data(object), count: git_odb_object_size(object))
    return Array(data)
  }

  /// Returns the content of a blob.
  ///
  /// - Throws: `GitError` with `tooLarge` if the blob has more than `limit` bytes.
  public func blob(_ id: ObjectID, limit: Int) throws(GitError) -> [UInt8] {
    try read(id, .blob, limit: limit)
  }

  /// Returns a tree.
  ///
  /// - Throws: `GitError` with `tooLarge` above 64 MiB, about a million entries.
  public func tree(_ id: ObjectID) throws(GitError) -> TreeData {
    TreeData(try read(id, .tree, limit: Repository.maxTree))
  }

  /// The maximum size of a tree in bytes.
  private static let maxTree = 64 << 20

  /// Writes an object unless a pack contains it. It becomes durable when a reference moves.
  ///
  /// - Precondition: In a store, the caller holds the store's lock, like every writer of objects.
  private func write(_ bytes: [UInt8], _ kind: LooseObjects.Kind) throws -> ObjectID {
    let id = LooseObjects.name(kind, bytes)
    // libgit2 finds a loose object first, even if it is damaged.
    if try isPacked(id) { return id }
    if loose.held.insert(id, LooseObjects.Object(kind: kind, bytes: bytes)) { return id }
    let written = try loose.write(kind, bytes)
    unsynced.insert(written.file)
    if written.isNew { created.withLock { _ = $0.insert(id) } }
    return id
  }

  // MARK: New objects in memory

  /// Keeps new objects in memory from now on. Reads find them, and nothing else does.
  public func holdNewObjects() { loose.held.keep(true) }

  /// Keeps objects in memory for reads. Those that are damaged are left out.
  public func hold(_ objects: [EncodedObject]) {
    if !objects.isEmpty { loose.hold(objects) }
  }

  /// Writes new objects at once from now on. Those in memory are dropped.
  public func dropHeldObjects() { loose.held.keep(false) }

  /// Returns the objects in memory as the contents of their files.
  ///
  /// - Throws: `FileError` if there is not enough memory.
  public func heldObjects() throws -> [EncodedObject] { try loose.held.encoded() }

  /// Writes an object's file unless an intact one exists. It is not durable: the caller keeps the object elsewhere.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - acceptsPacks: True if an object in a pack needs no file. After a power failure, packs can be damaged.
  /// - Returns: True if the file was written.
  @discardableResult
  public func restore(_ object: EncodedObject, acceptsPacks: Bool = false) throws -> Bool {
    if acceptsPacks, try isPacked(object.id) { return false }
    return try loose.restore(object)
  }

  /// Returns true if a pack contains an object that has no file.
  func isPacked(_ id: ObjectID) throws(GitError) -> Bool {
    if access(loose.path(id), F_OK) == 0 { return false }
    return try with { repository throws(GitError) in
      var database: OpaquePointer?
      try GitError.check(git_repository_odb(&database, repository), "open the object database")
      defer { git_odb_free(database) }
      var oid = id.oid
      return git_odb_exists_ext(database, &oid, GIT_ODB_LOOKUP_NO_REFRESH.rawValue) == 1
    }
  }

  /// Writes a blob and returns its id. It becomes durable when a reference moves.
  public func writeBlob(_ bytes: [UInt8]) throws -> ObjectID { try write(bytes, .blob) }

  /// Writes a tree and returns its id. It becomes durable when a reference moves.
  public func writeTree(_ tree: TreeData) throws -> ObjectID { try write(tree.bytes, .tree) }

  /// Returns the id of a blob with the given content, without writing it and without libgit2, whose initialization
  /// takes longer than most commands.
  public static func blobID(_ bytes: [UInt8]) -> ObjectID {
    LooseObjects.name(.blob, bytes)
  }

  // MARK: Commits

  /// Returns a commit.
  ///
  /// - Throws: `GitError`: `tooLarge` above 16 MiB, `malformed` if the object is not a commit.
  public func commit(_ id: ObjectID) throws(GitError) -> Commit {
    let bytes = try read(id, .commit, limit: 16 << 20)
    guard let commit = Commit(id, bytes) else {
      throw GitError(.malformed, "read the commit \(id.short)", "it is not a commit")
    }
    return commit
  }

  /// The author and the time of a commit.
  public struct Signature: Hashable, Sendable {
    /// The author's name.
    public var name: String
    /// The author's email address.
    public var email: String
    /// The time in seconds since the epoch.
    public var time: Int64

    /// Creates a signature from its parts.
    public init(name: String, email: String, time: Int64) {
      self.name = name
      self.email = email
      self.time = time
    }
  }

  /// Returns the user's name and email address from git's configuration, or nil if either is missing.
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

  /// Writes a commit object and returns its id. No reference moves.
  public func writeCommit(
    tree: ObjectID, parents: [ObjectID], signature: Signature, message: String
  ) throws -> ObjectID {
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
    return try write(Array(text.utf8), .commit)
  }

  // MARK: References

  /// The result of moving a reference.
  public enum Move: Sendable {
    /// The reference has the new value.
    case moved
    /// The reference didn't have the expected value. Nothing has changed.
    case elsewhere
    /// Another git holds the reference's lock. Nothing has changed.
    case locked
  }

  /// Moves a reference, after making all objects written before durable.
  ///
  /// The reference is read back to confirm the move.
  ///
  /// - Parameters:
  ///   - name: The full name of the reference.
  ///   - from: The expected value; nil to create the reference.
  ///   - to: The new value.
  ///   - signature: The author of the reflog entry.
  ///   - message: The message of the reflog entry.
  ///   - isDurable: False if a power failure may undo the move.
  public func moveReference(
    _ name: String, from: ObjectID?, to: ObjectID, signature: Signature, message: String,
    isDurable: Bool = true
  ) throws -> Move {
    try unsynced.flush()
    let move = try moveReference(name, from: from, to: to, signature, message)
    if isDurable, case .moved = move { try syncReference(name) }
    return move
  }

  /// Makes a reference and its reflogs durable.
  private func syncReference(_ name: String) throws(FileError) {
    for path in [
      commonDirectory + name, "\(commonDirectory)logs/\(name)", gitDirectory + "logs/HEAD",
    ] where access(path, F_OK) == 0 {
      try DurableFile.sync(path)
      try DurableFile.syncFolder(of: path)
    }
  }

  private func moveReference(
    _ name: String, from: ObjectID?, to: ObjectID, _ signature: Signature, _ message: String
  ) throws(GitError) -> Move {
    return try with { repository throws(GitError) in
      var reference: OpaquePointer?
      defer { git_reference_free(reference) }
      var target = to.oid
      // The reflog needs an author. libgit2 uses this one if none is configured.
      git_repository_set_ident(repository, signature.name, signature.email)
      let code: Int32
      if var current = from?.oid {
        code = git_reference_create_matching(
          &reference, repository, name, &target, 1, &current, message)
      } else {
        code = git_reference_create(&reference, repository, name, &target, 0, message)
      }
      // Must come before the reference is read back, which clears the error.
      let failure = GitError.last(code, "move \(name)")
      switch GitError.Code(rawValue: code) {
      case .modified, .exists: return .elsewhere
      case .notFound where from != nil: return .elsewhere
      case .locked: return .locked
      default: break
      }
      var now = git_oid()
      let isMoved = git_reference_name_to_id(&now, repository, name) == 0 && ObjectID(now) == to
      if let failure, !isMoved { throw failure }
      return isMoved ? .moved : .elsewhere
    }
  }
}
