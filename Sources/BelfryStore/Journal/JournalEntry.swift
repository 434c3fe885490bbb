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
  /// The commit of the branch after the write. It equals `head` if the write changes only the work tree. Nil in a
  /// journal of version 0.1, which was written before the commit was made.
  var target: ObjectID?
  /// The message of the commit that is made if there is no target; nil if it is unknown.
  var message: String?
  /// The files, sorted by path.
  var files: [File]
  /// The new objects, apart from those that were durable before.
  var objects: [EncodedObject]

  /// The blobs of the files by path; nil for a file that the write removes from the branch.
  var blobs: [String: ObjectID?] {
    Dictionary(uniqueKeysWithValues: files.map { ($0.path, $0.blob) })
  }
}

extension JournalEntry {
  private static let version: UInt8 = 1

  /// The entry as bytes.
  var bytes: [UInt8] {
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
    append(Array((message ?? "").utf8))
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
    return bytes
  }

  /// Creates an entry from its bytes. Returns nil for another version, or for bytes that are no entry.
  init?(_ bytes: [UInt8]) {
    var reader = CacheReader(bytes)
    guard reader.number(as: UInt8.self) == JournalEntry.version, let head = reader.optionalID(),
      let target = reader.optionalID(), let message = reader.text(), let fileCount = reader.count()
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
    self.init(
      head: head, target: target, message: message.isEmpty ? nil : message, files: files,
      objects: objects)
  }
}

extension CacheReader {
  /// Returns an object's id, nil inside if the bytes say that there is none.
  fileprivate mutating func optionalID() -> ObjectID?? {
    guard let isPresent = number(as: UInt8.self) else { return nil }
    return isPresent == 0 ? .some(nil) : take(ObjectID.byteCount).map { ObjectID($0) }
  }
}

extension JournalEntry {
  /// Creates an entry from the journal of version 0.1: lines with the commit of the branch, each file's blob and path,
  /// and, after an empty line, the message.
  init(version01 text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let files = lines.dropFirst().prefix { !$0.isEmpty }
    let message = lines.dropFirst(files.count + 2).joined(separator: "\n")
    self.init(
      head: lines.first.flatMap { ObjectID(hexadecimal: $0) }, target: nil,
      message: message.isEmpty ? nil : message,
      files: files.compactMap { line in
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        return parts.count == 2
          ? File(path: parts[1], blob: ObjectID(hexadecimal: parts[0])) : nil
      }, objects: [])
  }
}
