import Glibc

/// A git tree as raw bytes, which can be edited without decoding it.
///
/// A folder of 10,000 records is a tree of half a megabyte. Splicing the changed entries costs little more than a
/// copy.
public struct TreeData: Sendable, Equatable {
  /// The content of the tree object.
  public let bytes: [UInt8]

  /// Creates a tree from the content of a tree object. The bytes are validated when they are read.
  public init(_ bytes: [UInt8] = []) {
    self.bytes = bytes
  }

  /// An entry of a tree.
  public struct Entry: Hashable, Sendable {
    /// The kind of an entry.
    public enum Mode: Hashable, Sendable {
      /// A regular file that is not executable.
      case file
      /// A folder.
      case folder
      /// An executable, a symbolic link or a submodule, none of which a store contains.
      case other
    }
    /// The name within the folder.
    public let name: String
    /// The kind.
    public let mode: Mode
    /// The id of the blob or tree.
    public let id: ObjectID

    /// Creates an entry from its parts.
    public init(name: String, mode: Mode, id: ObjectID) {
      self.name = name
      self.mode = mode
      self.id = id
    }
  }

  /// The position of one entry in the bytes.
  struct Slot {
    let start: Int
    let nameStart: Int
    let nameEnd: Int
    var end: Int { nameEnd + 1 + ObjectID.byteCount }
  }

  /// Returns the position of the entry that starts at an offset.
  func slot(at start: Int) throws(GitError) -> Slot {
    let found = bytes.withUnsafeBufferPointer { all -> Slot? in
      func find(_ byte: UInt8, from index: Int) -> Int? {
        guard let base = all.baseAddress, index < all.count,
          let match = memchr(base + index, Int32(byte), all.count - index)
        else { return nil }
        return UnsafeRawPointer(match) - UnsafeRawPointer(base)
      }
      guard let space = find(UInt8(ascii: " "), from: start), let nul = find(0, from: space + 1),
        nul + 1 + ObjectID.byteCount <= all.count
      else { return nil }
      return Slot(start: start, nameStart: space + 1, nameEnd: nul)
    }
    guard let found else { throw GitError(.malformed, "read a tree", "its entries are truncated") }
    return found
  }

  /// Returns true if two entries have the same bytes.
  func isSame(_ slot: Slot, _ other: TreeData, _ otherSlot: Slot) -> Bool {
    let count = slot.end - slot.start
    guard otherSlot.end - otherSlot.start == count else { return false }
    return bytes.withUnsafeBufferPointer { mine in
      other.bytes.withUnsafeBufferPointer { theirs in
        guard let a = mine.baseAddress, let b = theirs.baseAddress else { return false }
        return memcmp(a + slot.start, b + otherSlot.start, count) == 0
      }
    }
  }

  /// Returns the entry at a position.
  func entry(_ slot: Slot) -> Entry {
    let mode: Entry.Mode
    if bytes[slot.start..<(slot.nameStart - 1)].elementsEqual("100644".utf8) {
      mode = .file
    } else if bytes[slot.start..<(slot.nameStart - 1)].elementsEqual("40000".utf8) {
      mode = .folder
    } else {
      mode = .other
    }
    return Entry(
      name: String(decoding: bytes[slot.nameStart..<slot.nameEnd], as: UTF8.self), mode: mode,
      id: ObjectID(bytes[(slot.nameEnd + 1)..<slot.end]))
  }

  /// Returns all entries, in the tree's order.
  ///
  /// - Throws: `GitError` with `malformed` if the bytes are not a tree.
  public func entries() throws(GitError) -> [Entry] {
    var result: [Entry] = []
    var position = 0
    while position < bytes.count {
      let slot = try slot(at: position)
      result.append(entry(slot))
      position = slot.end
    }
    return result
  }

  /// Returns the entry with a name, or nil if there is none.
  public func entry(named name: String) throws(GitError) -> Entry? {
    var position = 0
    while position < bytes.count {
      let slot = try slot(at: position)
      if bytes[slot.nameStart..<slot.nameEnd].elementsEqual(name.utf8) { return entry(slot) }
      position = slot.end
    }
    return nil
  }

  /// Returns the tree with entries replaced, added or removed. The bytes of all other entries stay the same.
  ///
  /// - Parameter changes: The entries by name; nil removes an entry.
  public func replacing(_ changes: [String: Entry?]) throws(GitError) -> TreeData {
    /// Returns the sort key of a name: git sorts a folder as if its name ended with a slash.
    func key(_ name: some Collection<UInt8>, isFolder: Bool) -> [UInt8] {
      Array(name) + (isFolder ? [UInt8(ascii: "/")] : [])
    }
    let additions = changes.values.compactMap { $0 }
      .map { (key: key($0.name.utf8, isFolder: $0.mode == .folder), entry: $0) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    let names = Set(changes.keys.map { Array($0.utf8) })

    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + additions.count * 64)
    var pending = additions[...]
    func emit(_ entry: Entry) {
      result.append(contentsOf: entry.mode == .folder ? "40000 ".utf8 : "100644 ".utf8)
      result.append(contentsOf: entry.name.utf8)
      result.append(0)
      result.append(contentsOf: entry.id.bytes)
    }
    var position = 0
    var copied = 0
    while position < bytes.count {
      let slot = try slot(at: position)
      let name = bytes[slot.nameStart..<slot.nameEnd]
      let isFolder = bytes[slot.start] == UInt8(ascii: "4")
      while let next = pending.first, !precedes(name, isFolder, next.key) {
        result.append(contentsOf: bytes[copied..<slot.start])
        copied = slot.start
        emit(next.entry)
        pending.removeFirst()
      }
      if names.count < 4
        ? names.contains(where: { $0.elementsEqual(name) }) : names.contains(Array(name))
      {
        result.append(contentsOf: bytes[copied..<slot.start])
        copied = slot.end
      }
      position = slot.end
    }
    result.append(contentsOf: bytes[copied...])
    for addition in pending { emit(addition.entry) }
    return TreeData(result)
  }

  private func precedes(_ name: ArraySlice<UInt8>, _ isFolder: Bool, _ key: [UInt8]) -> Bool {
    var index = 0
    for byte in name {
      if index == key.count { return false }
      if byte != key[index] { return byte < key[index] }
      index += 1
    }
    if index == key.count { return false }
    return isFolder ? UInt8(ascii: "/") < key[index] : true
  }
}
