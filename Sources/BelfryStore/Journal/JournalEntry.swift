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
}

extension JournalEntry {
  private static let version: UInt8 = 1

  /// The entry as bytes.
  var bytes: [UInt8] {
    var bytes: [UInt8] = [JournalEntry.version]
    func append(_ number: Int) {
      withUnsafeBytes(of: UInt64(number).littleEndian) { bytes.append(contentsOf: $0) }
    }
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
    var reader = Reader(rest: bytes[...])
    do {
      guard try reader.byte() == JournalEntry.version else { return nil }
      head = try reader.id()
      target = try reader.id()
      let text = String(decoding: try reader.content(), as: UTF8.self)
      message = text.isEmpty ? nil : text
      files = try (0..<(try reader.count())).map { _ in
        File(
          path: String(decoding: try reader.content(), as: UTF8.self), blob: try reader.id(),
          isKept: try reader.byte() == 1)
      }
      objects = try (0..<(try reader.count())).map { _ in
        EncodedObject(
          id: ObjectID(try reader.take(ObjectID.byteCount)), bytes: Array(try reader.content()))
      }
    } catch {
      return nil
    }
  }

  /// A reader of an entry's bytes.
  private struct Reader {
    struct Truncated: Error {}

    var rest: ArraySlice<UInt8>

    mutating func take(_ count: Int) throws(Truncated) -> ArraySlice<UInt8> {
      guard count >= 0, rest.count >= count else { throw Truncated() }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }

    mutating func byte() throws(Truncated) -> UInt8 { try take(1).first ?? 0 }

    /// Returns a number that counts bytes or elements, of which each takes at least a byte.
    mutating func count() throws(Truncated) -> Int {
      let number = try take(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      guard number <= UInt64(rest.count) else { throw Truncated() }
      return Int(number)
    }

    mutating func content() throws(Truncated) -> ArraySlice<UInt8> { try take(count()) }

    mutating func id() throws(Truncated) -> ObjectID? {
      try byte() == 0 ? nil : ObjectID(take(ObjectID.byteCount))
    }
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
