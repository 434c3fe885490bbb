/// A name whose entries differ between two trees.
public struct TreeDifference: Sendable {
  /// The name.
  public let name: String
  /// The entry in the old tree; nil if it has none of that name.
  public let before: TreeData.Entry?
  /// The entry in the new tree; nil if it has none of that name.
  public let after: TreeData.Entry?
}

extension TreeData {
  /// Returns the differences between two trees, sorted by name.
  ///
  /// If a malformed tree repeats a name, the last entry counts.
  ///
  /// - Throws: `GitError` with `malformed` if the bytes are not a tree.
  /// - Complexity: O(*n*) in the size of the trees. Equal entries cost only a comparison of their bytes.
  public func differences(to other: TreeData) throws(GitError) -> [TreeDifference] {
    if bytes == other.bytes { return [] }
    guard let (old, new) = try TreeData.differing(self, other) else {
      return TreeData.differences(try entries(), try other.entries())
    }
    return TreeData.differences(old, new)
  }

  private static func differences(_ old: [Entry], _ new: [Entry]) -> [TreeDifference] {
    let old = Dictionary(old.map { ($0.name, $0) }) { $1 }
    let new = Dictionary(new.map { ($0.name, $0) }) { $1 }
    return Set(old.keys).union(new.keys).sorted().compactMap { name in
      old[name] == new[name]
        ? nil : TreeDifference(name: name, before: old[name], after: new[name])
    }
  }

  /// Returns the entries that only one of two trees has, or nil if a tree isn't sorted as git requires.
  private static func differing(
    _ a: TreeData, _ b: TreeData
  ) throws(GitError) -> (old: [Entry], new: [Entry])? {
    var (old, new): ([Entry], [Entry]) = ([], [])
    var (one, two) = (Cursor(a), Cursor(b))
    while one.isSorted, two.isSorted {
      switch (try one.current(), try two.current()) {
      case (nil, nil): return (old, new)
      case (let slot?, nil):
        old.append(a.entry(slot))
        one.advance(over: slot)
      case (nil, let slot?):
        new.append(b.entry(slot))
        two.advance(over: slot)
      case (let mine?, let theirs?):
        if a.isSame(mine, b, theirs) {
          one.advance(over: mine)
          two.advance(over: theirs)
          continue
        }
        let order = a.order(mine, b, theirs)
        if order <= 0 {
          old.append(a.entry(mine))
          one.advance(over: mine)
        }
        if order >= 0 {
          new.append(b.entry(theirs))
          two.advance(over: theirs)
        }
      }
    }
    return nil
  }

  /// A position in a tree that advances from entry to entry.
  private struct Cursor {
    private let tree: TreeData
    private var position = 0
    private var previous: Slot?
    private(set) var isSorted = true

    init(_ tree: TreeData) {
      self.tree = tree
    }

    func current() throws(GitError) -> Slot? {
      position < tree.bytes.count ? try tree.slot(at: position) : nil
    }

    mutating func advance(over slot: Slot) {
      if let previous, tree.order(previous, tree, slot) >= 0 { isSorted = false }
      previous = slot
      position = slot.end
    }
  }

  /// Returns a negative number, zero or a positive number if git sorts an entry before, with or after another.
  private func order(_ slot: Slot, _ other: TreeData, _ otherSlot: Slot) -> Int {
    func byte(_ tree: TreeData, _ slot: Slot, _ index: Int) -> Int {
      let position = slot.nameStart + index
      if position < slot.nameEnd { return Int(tree.bytes[position]) }
      // A folder sorts as if its name ended with a slash.
      return position == slot.nameEnd && tree.isFolder(slot)
        ? Int(UInt8(ascii: "/")) : -1
    }
    var index = 0
    while true {
      let (one, two) = (byte(self, slot, index), byte(other, otherSlot, index))
      if one != two || one < 0 { return one - two }
      index += 1
    }
  }

  private func isFolder(_ slot: Slot) -> Bool { bytes[slot.start] == UInt8(ascii: "4") }

  /// Returns the names that have more than one entry. git itself never writes such a tree.
  public func repeatedNames() throws(GitError) -> [String] {
    // A sorted tree without folders, which sort apart from files of the same name, has no repeated names. No name
    // needs to be decoded.
    var cursor = Cursor(self)
    var hasFolders = false
    while cursor.isSorted, !hasFolders, let slot = try cursor.current() {
      hasFolders = isFolder(slot)
      cursor.advance(over: slot)
    }
    if cursor.isSorted, !hasFolders { return [] }
    var (seen, repeated): (Set<String>, Set<String>) = ([], [])
    for entry in try entries() where !seen.insert(entry.name).inserted {
      repeated.insert(entry.name)
    }
    return repeated.sorted()
  }

  /// Returns the entries with the given names, by name, in one pass over the tree.
  public func entries(named names: Set<String>) throws(GitError) -> [String: Entry] {
    var result: [String: Entry] = [:]
    var position = 0
    while position < bytes.count {
      let slot = try slot(at: position)
      let entry = entry(slot)
      if names.contains(entry.name) { result[entry.name] = entry }
      position = slot.end
    }
    return result
  }
}
