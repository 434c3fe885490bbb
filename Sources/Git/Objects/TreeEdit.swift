/// A tree as the difference from an earlier one: a folder of 100,000 records that gets one more is six megabytes, and the
/// difference is a hundred bytes.
public struct TreeEdit: Hashable, Sendable {
  /// The id of the tree.
  public let id: ObjectID
  /// The id of the earlier tree.
  public let base: ObjectID
  /// The entries by name that were replaced or added; nil for a removed entry.
  public let entries: [String: TreeData.Entry?]

  /// Creates a difference from its parts.
  public init(id: ObjectID, base: ObjectID, entries: [String: TreeData.Entry?]) {
    self.id = id
    self.base = base
    self.entries = entries
  }

  /// The approximate size of the difference in bytes.
  var size: Int {
    entries.reduce(2 * ObjectID.byteCount) { $0 + $1.key.utf8.count + ObjectID.byteCount + 16 }
  }

  /// Returns the tree.
  ///
  /// - Parameter base: The content of the earlier tree.
  /// - Throws: `GitError` with `malformed` if the result has another id.
  func applied(to base: TreeData) throws(GitError) -> TreeData {
    let tree = try base.replacing(entries)
    guard LooseObjects.name(.tree, tree.bytes) == id else {
      throw GitError(.malformed, "restore the tree \(id.short)", "its content doesn't match its id")
    }
    return tree
  }
}

extension Repository {
  /// Writes a tree that was made from an earlier one, and returns its id.
  ///
  /// - Parameters:
  ///   - tree: The tree.
  ///   - base: The id of the earlier tree.
  ///   - entries: The entries that were replaced, added or (nil) removed.
  public func writeTree(
    _ tree: TreeData, from base: ObjectID, replacing entries: [String: TreeData.Entry?]
  ) throws -> ObjectID {
    let id = try writeTree(tree)
    let edit = TreeEdit(id: id, base: base, entries: entries)
    if 2 * edit.size < tree.bytes.count { loose.held.insert(edit) }
    return id
  }

  /// The trees in memory whose earlier tree is in the repository.
  public var heldEdits: [TreeEdit] { loose.held.edits }

  /// Keeps trees in memory for reads, as differences from earlier ones.
  public func hold(_ edits: [TreeEdit]) {
    for edit in edits { loose.held.insert(lazily: edit) }
  }

  /// Writes a tree's file unless an intact one exists. It is not durable.
  ///
  /// - Parameters:
  ///   - edit: The tree.
  ///   - acceptsPacks: True if a tree in a pack needs no file.
  /// - Returns: True if the file was written.
  /// - Throws: `GitError` if the earlier tree is missing or damaged.
  @discardableResult
  public func restore(_ edit: TreeEdit, acceptsPacks: Bool = false) throws -> Bool {
    if loose.isIntact(edit.id) { return false }
    if acceptsPacks, try isPacked(edit.id) { return false }
    let tree = try edit.applied(to: try tree(edit.base))
    return try restore(
      EncodedObject(id: edit.id, bytes: try LooseObjects.deflated(.tree, tree.bytes)))
  }
}
