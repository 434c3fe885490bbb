import BelfryCore
import Git

/// The join of two trees, record by record, as far as they differ.
///
/// For a path on which the trees differ:
///
/// 1. A path that records have: see `RecordJoin`. What only one side has stays; what is not valid gives way.
/// 2. A path that no record has, or anything but a regular file: it is in neither's joined tree. The file stays in
///    its owner's work tree.
///
/// Symmetric: both sides come to the same tree, byte by byte. Nothing of a tree is trusted: a path is looked at
/// before the object behind it, and the object's size before its content.
struct TreeJoin {
  private let repository: Repository
  /// What differs from our tree; nil: tracked no longer.
  private(set) var files: [String: [UInt8]?] = [:]
  /// What our tree has at the paths of `files`.
  private(set) var before: [String: ObjectID] = [:]
  /// What the other side has at those of them where its version was taken as it is.
  private(set) var taken: [String: ObjectID] = [:]
  private(set) var decisions: [MergeDecision] = []
  /// What the other side has that was left out: the first of it.
  private(set) var refusals: [MergeRefusal] = []
  /// How many records came in or changed.
  private(set) var merged = 0

  /// More entries than any store has: whoever sends more wants us to come to no end.
  private static let mostEntries = 2_000_000
  private static let mostRefused = 50_000
  /// So many refusals are told.
  private static let mostRefusals = 1_000
  private var entries = 0
  private var refused = 0

  /// The commit that both sides came from; nil when there is none, or the sides are no commits.
  private(set) var ancestor: ObjectID?

  /// The join of two commits' trees; nil is one without records.
  init(_ repository: Repository, commit ours: ObjectID?, with theirs: ObjectID) throws {
    let ancestor = try ours.flatMap { try repository.mergeBase($0, theirs) }
    try self.init(
      repository, ours: ours.map { try repository.commit($0).tree },
      theirs: repository.commit(theirs).tree,
      base: ancestor.map { try repository.commit($0).tree })
    self.ancestor = ancestor
  }

  /// - Parameter base: the tree of the common ancestor: see `RecordJoin`.
  /// - Throws: `StoreError.tooLarge` for a tree that is larger than any store; `.unreadableObject` when a tree or a record
  ///   is missing or damaged here.
  init(_ repository: Repository, ours: ObjectID?, theirs: ObjectID, base: ObjectID?) throws {
    self.repository = repository
    do {
      try walk(ours, theirs, base, prefix: "")
    } catch let error as GitError where error.isUnreadable {
      throw StoreError.unreadableObject(reason: error.description)
    }
    decisions.sort { ($0.path, $0.subject) < ($1.path, $1.subject) }
  }

  private mutating func walk(
    _ ours: ObjectID?, _ theirs: ObjectID?, _ base: ObjectID?, prefix: String
  ) throws {
    if ours == theirs { return }
    let mine = try ours.map { try repository.tree($0) } ?? TreeData()
    let other = try theirs.map { try repository.tree($0) } ?? TreeData()
    let differences = try mine.differences(to: other)
    for name in try other.repeatedNames() {
      refuse(prefix, name, "it is there more than once; the last counts")
    }
    entries += differences.count
    guard entries <= TreeJoin.mostEntries else { throw StoreError.tooLarge }
    // Of the ancestor only a record's own version matters, and that only where both sides have one.
    let names = Set(differences.filter { $0.before != nil && $0.after != nil }.map(\.name))
    let ancestors =
      names.isEmpty
      ? [:] : base.flatMap { try? repository.tree($0).entries(named: names) } ?? [:]
    for difference in differences {
      guard refused <= TreeJoin.mostRefused else { throw StoreError.tooLarge }
      let (a, b) = (difference.before, difference.after)
      let path = prefix + difference.name
      // A name that pretends to be a path.
      if difference.name.contains("/") {
        if b != nil { refuse(prefix, difference.name, "no record has this path") }
        continue
      }
      if a?.mode == .folder || b?.mode == .folder, TreeJoin.isFolder(path) {
        func folder(_ entry: TreeData.Entry?) -> ObjectID? {
          entry?.mode == .folder ? entry?.id : nil
        }
        try walk(folder(a), folder(b), folder(ancestors[difference.name]), prefix: path + "/")
        // A file in a folder's place, on the other side, is no record.
        if let b, b.mode != .folder { refuse(prefix, difference.name, "it is not a folder") }
      } else {
        try join(prefix, difference.name, a, b, ancestors[difference.name])
      }
    }
  }

  /// Whether records lie in or below a folder.
  private static func isFolder(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    switch parts.first {
    case "alarms", "devices": return parts.count == 1
    case "log":
      // No more days than there are.
      return parts.count <= 4
        && zip(parts.dropFirst(), [4, 2, 2]).allSatisfy { part, digits in
          part.utf8.count == digits
            && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
    default: return false
    }
  }

  private mutating func join(
    _ prefix: String, _ name: String, _ ours: TreeData.Entry?, _ theirs: TreeData.Entry?,
    _ base: TreeData.Entry?
  ) throws {
    func file(_ entry: TreeData.Entry?) -> ObjectID? { entry?.mode == .file ? entry?.id : nil }
    let path = prefix + name
    let kind = RecordPath(path)
    if let theirs, kind == nil || theirs.mode != .file {
      refuse(
        prefix, name, kind == nil ? "no record has this path" : "it is not a regular file")
    }
    before[path] = file(ours)
    guard let kind else {
      if ours != nil { files[path] = .some(nil) }
      return
    }
    let join = RecordJoin(
      kind, ours: try file(ours).map { try repository.content($0, kind) },
      theirs: try file(theirs).map { try repository.content($0, kind) },
      // The join stands without it: nobody is kept from syncing because an old version is gone.
      base: { file(base).flatMap { try? repository.blob($0, limit: kind.largest) } })
    if let error = join.refusals.theirs { refuse(prefix, name, error.reason) }
    decisions += join.decisions
    if let result = join.bytes {
      if ours == nil, let blob = file(theirs) {
        taken[path] = blob
      } else {
        let blob = Repository.blobID(result)
        if blob == file(ours) { return }
        if blob == file(theirs) { taken[path] = blob }
      }
      files[path] = .some(result)
      merged += 1
    } else if ours != nil {
      files[path] = .some(nil)
    }
  }

  private mutating func refuse(_ prefix: String, _ name: String, _ reason: String) {
    refused += 1
    guard refusals.count < TreeJoin.mostRefusals else { return }
    refusals.append(
      MergeRefusal(folder: String(prefix.dropLast()), name: name, reason: reason))
  }
}
