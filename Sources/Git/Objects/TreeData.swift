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
    /// The places where an entry is added or removed. An entry that was a folder and becomes a file has two.
    var stops: [(key: [UInt8], name: [UInt8], addition: Entry?)] = []
    for (name, entry) in changes {
      let name = Array(name.utf8)
      for isFolder in [false, true] {
        // git sorts a folder as if its name ended with a slash.
        let key = isFolder ? name + [UInt8(ascii: "/")] : name
        let isAdded = entry.map { ($0.mode == .folder) == isFolder } ?? false
        stops.append((key, name, isAdded ? entry : nil))
      }
    }
    stops.sort { $0.key.lexicographicallyPrecedes($1.key) }

    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + changes.count * 64)
    var position = 0
    var copied = 0
    for stop in stops {
      position = try place(of: stop.key, from: position)
      result.append(contentsOf: bytes[copied..<position])
      copied = position
      if let entry = stop.addition {
        result.append(contentsOf: entry.mode == .folder ? "40000 ".utf8 : "100644 ".utf8)
        result.append(contentsOf: entry.name.utf8)
        result.append(0)
        result.append(contentsOf: entry.id.bytes)
      }
      guard position < bytes.count else { continue }
      let slot = try slot(at: position)
      if bytes[slot.nameStart..<slot.nameEnd].elementsEqual(stop.name) {
        position = slot.end
        copied = position
      }
    }
    result.append(contentsOf: bytes[copied...])
    return TreeData(result)
  }

  /// Returns the offset of the first entry that doesn't come before a sort key, or of the end.
  ///
  /// - Parameter start: The offset of the first entry to compare.
  private func place(of key: [UInt8], from start: Int) throws(GitError) -> Int {
    let place = bytes.withUnsafeBufferPointer { all in
      key.withUnsafeBufferPointer { key in TreeData.place(of: key, in: all, from: start) }
    }
    guard let place else { throw GitError(.malformed, "read a tree", "its entries are truncated") }
    return place
  }

  /// Returns nil if the entries are truncated. A folder of 100,000 records takes a millisecond.
  private static func place(
    of key: UnsafeBufferPointer<UInt8>, in all: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> Int? {
    guard let base = all.baseAddress, let wanted = key.baseAddress else { return start }
    func find(_ byte: UInt8, from index: Int) -> Int? {
      guard index < all.count,
        let match = memchr(base + index, Int32(byte), all.count - index)
      else { return nil }
      return UnsafeRawPointer(match) - UnsafeRawPointer(base)
    }
    var position = start
    while position < all.count {
      guard let space = find(UInt8(ascii: " "), from: position),
        let nul = find(0, from: space + 1), nul + 1 + ObjectID.byteCount <= all.count
      else { return nil }
      let length = nul - space - 1
      let order = memcmp(base + space + 1, wanted, min(length, key.count))
      if order > 0 { return position }
      if order == 0 {
        // The name begins with the key, or the key with the name.
        if length >= key.count { return position }
        let isFolder = base[position] == UInt8(ascii: "4")
        if isFolder, wanted[length] <= UInt8(ascii: "/") { return position }
      }
      position = nul + 1 + ObjectID.byteCount
    }
    return position
  }
}
