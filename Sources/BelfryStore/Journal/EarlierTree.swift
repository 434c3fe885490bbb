import Git

/// A tree in a journal that version 1.0 has left: the difference from an earlier tree, which is durable or made by an
/// earlier entry.
///
/// Later versions write whole trees. These are still read, because a power failure after an update, and before the next
/// checkpoint, leaves the trees of acknowledged writes nowhere else.
struct EarlierTree: Hashable {
  /// The id of the tree.
  let id: ObjectID
  /// The id of the earlier tree.
  let base: ObjectID
  /// The entries by name that were replaced or added; nil for a removed entry.
  let entries: [String: TreeData.Entry?]

  /// Returns the tree's object.
  ///
  /// - Throws: `GitError` if the earlier tree is missing or damaged, or the result has another id.
  func object(in repository: Repository) throws -> EncodedObject {
    let object = try EncodedObject(repository.tree(base).replacing(entries))
    guard object.id == id else {
      throw GitError(.malformed, "restore the tree \(id.short)", "its content doesn't match its id")
    }
    return object
  }
}

extension CacheReader {
  /// Returns a tree as the difference from an earlier one.
  mutating func earlierTree() -> EarlierTree? {
    guard let id = take(ObjectID.byteCount), let base = take(ObjectID.byteCount),
      let count = count()
    else { return nil }
    var entries: [String: TreeData.Entry?] = [:]
    for _ in 0..<count {
      guard let name = text(), let id = optionalID(), let isFolder = number(as: UInt8.self) else {
        return nil
      }
      entries[name] = .some(
        id.map { TreeData.Entry(name: name, mode: isFolder == 1 ? .folder : .file, id: $0) })
    }
    return EarlierTree(id: ObjectID(id), base: ObjectID(base), entries: entries)
  }
}
