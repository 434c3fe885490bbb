// Edits git's index without libgit2, which parses and rewrites a whole index: a quarter of a second at 100,000 files.
// Splicing the changed entries costs a look at each entry, and a write of the file with its checksum. No other library
// writes the format.

import Files
import Glibc

/// git's index, edited as raw bytes to match a commit, so that `git status` stays clean.
///
/// Versions 2 and 3 of the format are supported (gitformat-index(5)).
public struct IndexFile: Sendable {
  /// A file in the index.
  public struct Entry: Sendable {
    /// The id of the file's blob.
    public let id: ObjectID
    /// The file's status, by which git detects changes.
    public let status: stat

    /// Creates an entry for a regular file.
    public init(id: ObjectID, status: stat) {
      self.id = id
      self.status = status
    }
  }

  /// The reason that an index was not updated.
  public enum Failure: Error, Equatable, Sendable {
    /// Another git holds `index.lock`.
    case busy
    /// The index holds several versions of a path, from a merge that git could not finish.
    case unmerged
    /// The version or an extension cannot be spliced.
    case unsupported
  }

  private static let headerSize = 12
  /// The size of the stat data, object id and flags before an entry's path.
  private static let fixedSize = 62

  /// Returns an index with entries replaced, added or removed, without its checksum.
  ///
  /// - Parameters:
  ///   - changes: The entries by path; nil removes an entry.
  ///   - bytes: The present index; empty if there is none.
  /// - Throws: `Failure.unmerged` or `Failure.unsupported`.
  /// - Complexity: O(*n*) in the number of entries.
  static func replacing(_ changes: [String: Entry?], in bytes: [UInt8]) throws -> SplicedFile {
    var count = 0
    var version: UInt32 = 2
    var end = bytes.count
    if !bytes.isEmpty {
      guard bytes.count >= headerSize + ObjectID.byteCount, bytes[0..<4].elementsEqual("DIRC".utf8)
      else { throw Failure.unsupported }
      version = word(bytes, 4)
      guard version == 2 || version == 3 else { throw Failure.unsupported }
      count = Int(word(bytes, 8))
      end -= ObjectID.byteCount
    }
    let sorted = changes.map { (path: Array($0.key.utf8), entry: $0.value) }
      .sorted { $0.path.lexicographicallyPrecedes($1.path) }

    var result = SplicedFile(from: bytes)
    var total = count

    var position = min(headerSize, bytes.count)
    var copied = position
    var left = count
    for change in sorted {
      try skip(&position, &left, in: bytes, to: end, before: change.path)
      result.append(copied..<position)
      copied = position
      if let entry = change.entry {
        result.append(encoded(entry, change.path))
        total += 1
      }
      guard left > 0 else { continue }
      let (start, length, next) = try entry(in: bytes, at: position, end: end)
      if bytes[start..<(start + length)].elementsEqual(change.path) {
        position = next
        copied = next
        left -= 1
        total -= 1
      }
    }
    try skip(&position, &left, in: bytes, to: end, before: nil)
    result.append(copied..<position)
    try appendExtensions(of: bytes, from: position, to: end, changed: sorted.map(\.path), &result)
    result.header = Array("DIRC".utf8)
    append(version, to: &result.header)
    append(UInt32(total), to: &result.header)
    return result
  }

  /// Returns the ids of the blobs in an index, or nil for a format that is not supported.
  static func blobs(in bytes: [UInt8]) -> [ObjectID]? {
    guard bytes.count >= headerSize + ObjectID.byteCount, bytes[0..<4].elementsEqual("DIRC".utf8),
      case let version = word(bytes, 4), version == 2 || version == 3
    else { return nil }
    var blobs: [ObjectID] = []
    var position = headerSize
    for _ in 0..<Int(word(bytes, 8)) {
      guard
        let found = try? entry(in: bytes, at: position, end: bytes.count - ObjectID.byteCount)
      else { return nil }
      blobs.append(ObjectID(bytes[(position + 40)..<(position + 60)]))
      position = found.next
    }
    return blobs
  }

  /// Skips the entries before a path, or all entries.
  ///
  /// - Parameters:
  ///   - position: The position of the next entry.
  ///   - left: The number of entries from there on.
  private static func skip(
    _ position: inout Int, _ left: inout Int, in bytes: [UInt8], to end: Int, before path: [UInt8]?
  ) throws {
    try bytes.withUnsafeBufferPointer { all in
      while left > 0 {
        let (start, length, next) = try entry(in: all, at: position, end: end)
        if let path, let base = all.baseAddress {
          let order = memcmp(base + start, path, min(length, path.count))
          if order > 0 || order == 0 && length >= path.count { return }
        }
        position = next
        left -= 1
      }
    }
  }

  private static func entry(
    in bytes: [UInt8], at position: Int, end: Int
  ) throws -> (start: Int, length: Int, next: Int) {
    try bytes.withUnsafeBufferPointer { try entry(in: $0, at: position, end: end) }
  }

  /// Returns the position of an entry's path and the position of the next entry.
  private static func entry(
    in bytes: UnsafeBufferPointer<UInt8>, at position: Int, end: Int
  ) throws -> (start: Int, length: Int, next: Int) {
    guard position + fixedSize < end else { throw Failure.unsupported }
    let flags = Int(bytes[position + 60]) << 8 | Int(bytes[position + 61])
    let start = position + fixedSize + (flags & 0x4000 != 0 ? 2 : 0)
    var length = flags & 0xFFF
    if length == 0xFFF {
      while start + length < end, bytes[start + length] != 0 { length += 1 }
    }
    // Stages above 0 are the versions of an unfinished merge.
    guard flags & 0x3000 == 0 else { throw Failure.unmerged }
    let next = position + (start - position + length + 8) / 8 * 8
    guard start + length < end, next <= end else { throw Failure.unsupported }
    return (start, length, next)
  }

  /// Returns the bytes of an entry.
  private static func encoded(_ entry: Entry, _ path: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(fixedSize + path.count + 8)
    let status = entry.status
    for value in [
      UInt32(truncatingIfNeeded: status.st_ctim.tv_sec),
      UInt32(truncatingIfNeeded: status.st_ctim.tv_nsec),
      UInt32(truncatingIfNeeded: status.st_mtim.tv_sec),
      UInt32(truncatingIfNeeded: status.st_mtim.tv_nsec),
      UInt32(truncatingIfNeeded: status.st_dev), UInt32(truncatingIfNeeded: status.st_ino),
      0o100644, status.st_uid, status.st_gid, UInt32(truncatingIfNeeded: status.st_size),
    ] {
      append(value, to: &result)
    }
    result.append(contentsOf: entry.id.bytes)
    let flags = UInt16(min(path.count, 0xFFF))
    result.append(UInt8(flags >> 8))
    result.append(UInt8(flags & 0xFF))
    result.append(contentsOf: path)
    result.append(contentsOf: repeatElement(0, count: 8 - result.count % 8))
    return result
  }

  /// Copies the cached trees except those that the changes touch, and drops other optional extensions, which git
  /// regenerates.
  ///
  /// - Throws: `Failure.unsupported` for an extension that git must not ignore.
  private static func appendExtensions(
    of bytes: [UInt8], from start: Int, to end: Int, changed: [[UInt8]],
    _ result: inout SplicedFile
  ) throws {
    var position = start
    while position + 8 <= end {
      let name = bytes[position..<(position + 4)]
      let size = Int(word(bytes, position + 4))
      guard position + 8 + size <= end else { throw Failure.unsupported }
      if bytes[position] >= UInt8(ascii: "a") { throw Failure.unsupported }
      if name.elementsEqual("TREE".utf8),
        let trees = CachedTrees.invalidating(
          changed, in: bytes[(position + 8)..<(position + 8 + size)])
      {
        var header = Array(name)
        append(UInt32(trees.count), to: &header)
        result.append(header + trees)
      }
      position += 8 + size
    }
  }

  private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func append(_ value: UInt32, to result: inout [UInt8]) {
    withUnsafeBytes(of: value.bigEndian) { result.append(contentsOf: $0) }
  }
}

/// The `TREE` extension: ids of trees that git need not compute again.
private enum CachedTrees {
  /// Returns the extension with the folders of changed files marked as invalid.
  ///
  /// Returns nil for an unexpected format. git then computes the trees again, which costs a little time.
  static func invalidating(_ paths: [[UInt8]], in bytes: ArraySlice<UInt8>) -> [UInt8]? {
    var folders: Set<[UInt8]> = [[]]
    for path in paths {
      for (index, byte) in path.enumerated() where byte == UInt8(ascii: "/") {
        folders.insert(Array(path[..<index]))
      }
    }
    var result: [UInt8] = []
    var position = bytes.startIndex
    func line(upTo terminator: UInt8) -> ArraySlice<UInt8>? {
      guard let end = bytes[position...].firstIndex(of: terminator) else { return nil }
      defer { position = end + 1 }
      return bytes[position..<end]
    }
    func tree(_ parent: [UInt8], isRoot: Bool) -> Bool {
      guard let name = line(upTo: 0), let files = line(upTo: UInt8(ascii: " ")),
        let folderCount = line(upTo: UInt8(ascii: "\n")),
        let subtrees = Int(String(decoding: folderCount, as: UTF8.self)), subtrees >= 0
      else { return false }
      let path = isRoot ? [] : parent + (parent.isEmpty ? [] : [UInt8(ascii: "/")]) + name
      let known = !files.elementsEqual("-1".utf8)
      let id = known ? bytes[position...].prefix(ObjectID.byteCount) : []
      position += id.count
      let keep = known && !folders.contains(path)
      result.append(contentsOf: name)
      result.append(0)
      result.append(contentsOf: keep ? Array(files) : Array("-1".utf8))
      result.append(UInt8(ascii: " "))
      result.append(contentsOf: folderCount)
      result.append(UInt8(ascii: "\n"))
      if keep { result.append(contentsOf: id) }
      for _ in 0..<subtrees where !tree(path, isRoot: false) { return false }
      return true
    }
    return tree([], isRoot: true) && position == bytes.endIndex ? result : nil
  }
}
