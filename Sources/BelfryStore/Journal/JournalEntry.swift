import Git

/// One write to a store, as the journal keeps it: everything that is needed to do it again.
struct JournalEntry: Hashable {
  /// A file of a write.
  struct File: Hashable {
    /// The path in the work tree.
    var path: String
    /// The blob of the new version; nil if the write removes the file from the branch.
    var blob: ObjectID?
    /// True if the new version is committed only, and the file in the work tree stays as it is.
    var isKept = false
  }

  /// The commit of the branch before the write; nil before the first commit.
  var head: ObjectID?
  /// The commit of the branch after the write. It equals `head` if the write changes only the work tree.
  var target: ObjectID
  /// The files, sorted by path.
  var files: [File]
  /// The new objects, apart from those that were durable before and from `trees`.
  var objects: [EncodedObject]
  /// Further trees, in an entry of version 1.0 only.
  var trees: [EarlierTree] = []

  /// The blobs of the files by path; nil for a file that the write removes from the branch.
  var blobs: [String: ObjectID?] {
    Dictionary(uniqueKeysWithValues: files.map { ($0.path, $0.blob) })
  }
}

extension JournalEntry {
  /// Writes the objects that the repository lacks, or that are damaged there. They are not durable.
  ///
  /// A tree whose earlier version is missing is left out: no journal can bring it back.
  ///
  /// - Parameters:
  ///   - repository: The repository.
  ///   - acceptsPacks: True if objects in packs need no files. After a power failure, packs can be damaged.
  /// - Returns: The objects that were written.
  @discardableResult
  func restoreObjects(
    in repository: Repository, acceptsPacks: Bool = false
  ) throws -> [ObjectID] {
    var restored: [ObjectID] = []
    for object in objects where try repository.restore(object, acceptsPacks: acceptsPacks) {
      restored.append(object.id)
    }
    for tree in trees {
      do {
        let object = try tree.object(in: repository)
        if try repository.restore(object, acceptsPacks: acceptsPacks) { restored.append(tree.id) }
      } catch is GitError {}
    }
    return restored
  }
}

extension JournalEntry {
  private static let version: UInt8 = 1
  /// The version of an entry with `trees`, which follow the objects. It is only read.
  private static let versionWithTrees: UInt8 = 2

  /// The entry as bytes.
  var bytes: [UInt8] {
    assert(trees.isEmpty, "only an entry of version 1.0 has differences of trees")
    assert(
      zip(files, files.dropFirst()).allSatisfy { $0.path < $1.path },
      "the files are sorted by path, each once")
    var bytes: [UInt8] = [JournalEntry.version]
    func append(_ number: Int) { CacheCoding.append(UInt64(number), to: &bytes) }
    func append(_ content: [UInt8]) {
      append(content.count)
      bytes += content
    }
    func append(_ id: ObjectID?) {
      bytes.append(id == nil ? 0 : 1)
      if let id { bytes += id.bytes }
    }
    append(head)
    append(target)
    // The place of a message, which no version of the format has used.
    append(0)
    append(files.count)
    for file in files {
      append(Array(file.path.utf8))
      append(file.blob)
      bytes.append(file.isKept ? 1 : 0)
    }
    append(objects.count)
    for object in objects {
      bytes += object.id.bytes
      append(object.bytes)
    }
    assert(JournalEntry(bytes) == self, "an entry is read as it was written")
    return bytes
  }

  /// Creates an entry from its bytes. Returns nil for another version, or for bytes that are no entry.
  init?(_ bytes: [UInt8]) {
    var reader = CacheReader(bytes)
    guard let version = reader.number(as: UInt8.self),
      version == JournalEntry.version || version == JournalEntry.versionWithTrees,
      let head = reader.optionalID(),
      let target = reader.optionalID() ?? nil, reader.text() != nil, let fileCount = reader.count()
    else { return nil }
    var files: [File] = []
    for _ in 0..<fileCount {
      guard let path = reader.text(), let blob = reader.optionalID(),
        let isKept = reader.number(as: UInt8.self)
      else { return nil }
      files.append(File(path: path, blob: blob, isKept: isKept == 1))
    }
    var objects: [EncodedObject] = []
    guard let objectCount = reader.count() else { return nil }
    for _ in 0..<objectCount {
      guard let id = reader.take(ObjectID.byteCount), let content = reader.content() else {
        return nil
      }
      objects.append(EncodedObject(id: ObjectID(id), bytes: Array(content)))
    }
    var trees: [EarlierTree] = []
    if version == JournalEntry.versionWithTrees {
      guard let treeCount = reader.count() else { return nil }
      for _ in 0..<treeCount {
        guard let tree = reader.earlierTree() else { return nil }
        trees.append(tree)
      }
    }
    self.init(
      head: head, target: target, files: files, objects: objects, trees: trees)
  }
}

extension CacheReader {
  /// Returns an object's id, nil inside if the bytes say that there is none.
  mutating func optionalID() -> ObjectID?? {
    guard let isPresent = number(as: UInt8.self) else { return nil }
    return isPresent == 0 ? .some(nil) : take(ObjectID.byteCount).map { ObjectID($0) }
  }
}
