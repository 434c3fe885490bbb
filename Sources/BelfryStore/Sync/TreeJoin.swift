import BelfryCore
import Git

/// The merge of two trees, for the paths on which they differ:
///
/// 1. The path of a record: see `RecordJoin`. A record that only one side has stays. An invalid record loses. One of a
///    newer format stays as it is, and is reported, also at a path that this version does not know.
/// 2. Any other path, or anything but a regular file: it is not in the merged tree. The file stays in its owner's
///    work tree.
///
/// The merge is symmetric: both sides create the same tree, byte by byte. No tree is trusted: the path is checked
/// before the object, and the object's size before its content.
struct TreeJoin {
  private let repository: Repository
  /// The differences of the merged tree from our tree, by path; nil removes the file from the tree.
  private(set) var files: [String: [UInt8]?] = [:]
  /// The blobs of our tree at the paths of `files`.
  private(set) var before: [String: ObjectID] = [:]
  /// The blobs of the other tree at the paths of `files`, where the other version was adopted unchanged.
  private(set) var taken: [String: ObjectID] = [:]
  /// The conflicting edits that the merge resolved.
  private(set) var decisions: [MergeDecision] = []
  /// The first of the files that the merge left out.
  private(set) var refusals: [MergeRefusal] = []
  /// The number of records that were added or changed.
  private(set) var merged = 0

  /// The maximum number of differing entries, more than any store has, so that a malicious tree cannot block the
  /// merge.
  private static let maxEntries = 2_000_000
  /// The maximum number of files that a merge leaves out.
  private static let maxRefused = 50_000
  /// The maximum number of files that are reported as left out.
  private static let maxRefusals = 1_000
  private var entries = 0
  private var refused = 0
  /// The outermost folder without known records that is being merged; nil if there is none. Its files are reported
  /// together, once.
  private var unknownFolder: (prefix: String, name: String, isReported: Bool)?

  /// The common ancestor of the two commits; nil if there is none, or if trees were merged.
  private(set) var ancestor: ObjectID?

  /// Merges the trees of two commits. A nil commit has an empty tree.
  init(_ repository: Repository, commit ours: ObjectID?, with theirs: ObjectID) throws {
    let ancestor = try ours.flatMap { try repository.mergeBase($0, theirs) }
    try self.init(
      repository, ours: ours.map { try repository.commit($0).tree },
      theirs: repository.commit(theirs).tree,
      base: ancestor.map { try repository.commit($0).tree })
    self.ancestor = ancestor
  }

  /// Merges two trees.
  ///
  /// - Parameters:
  ///   - repository: The repository.
  ///   - ours: Our tree; nil for an empty one.
  ///   - theirs: The other tree.
  ///   - base: The tree of the common ancestor, see `RecordJoin`; nil if there is none.
  /// - Throws: `StoreError.tooLarge` for a tree larger than that of any store; `.unreadableObject` if a tree or a
  ///   record is missing or damaged here.
  init(_ repository: Repository, ours: ObjectID?, theirs: ObjectID, base: ObjectID?) throws {
    self.repository = repository
    do {
      try walk(ours, theirs, base, prefix: "")
    } catch let error as GitError where error.isUnreadable {
      throw StoreError.unreadableObject(reason: error.description)
    }
    decisions.sort { ($0.path, $0.subject) < ($1.path, $1.subject) }
    assert(taken.keys.allSatisfy(files.keys.contains), "a version that was adopted is a change")
    assert(unknownFolder == nil, "the merge has left all folders")
    assert(refusals.count <= TreeJoin.maxRefusals, "a remote cannot fill the memory with refusals")
  }

  private mutating func walk(
    _ ours: ObjectID?, _ theirs: ObjectID?, _ base: ObjectID?, prefix: String
  ) throws {
    assert(prefix.isEmpty || prefix.hasSuffix("/"), "a prefix ends with a slash")
    if ours == theirs { return }
    let mine = try ours.map { try repository.tree($0) } ?? TreeData()
    let other = try theirs.map { try repository.tree($0) } ?? TreeData()
    let differences = try mine.differences(to: other)
    for name in try other.repeatedNames() {
      refuse(prefix, name, "it occurs more than once; the last entry is used")
    }
    entries += differences.count
    guard entries <= TreeJoin.maxEntries else { throw StoreError.tooLarge }
    // The ancestor matters only for records that both sides have.
    let names = Set(differences.filter { $0.before != nil && $0.after != nil }.map(\.name))
    let ancestors =
      names.isEmpty
      ? [:] : base.flatMap { try? repository.tree($0).entries(named: names) } ?? [:]
    var files: [File] = []
    for difference in differences {
      let (a, b) = (difference.before, difference.after)
      let path = prefix + difference.name
      if files.count == TreeJoin.batch { try join(&files, prefix: prefix) }
      guard refused <= TreeJoin.maxRefused else { throw StoreError.tooLarge }
      // A slash in a name could imitate a path.
      if difference.name.contains("/") {
        try join(&files, prefix: prefix)
        if b != nil { refuse(prefix, difference.name, "it is not the path of a record") }
        continue
      }
      let isKnown = TreeJoin.isFolder(path)
      if a?.mode == .folder || b?.mode == .folder, isKnown || RecordPath.isSimple(path) {
        func folder(_ entry: TreeData.Entry?) -> ObjectID? {
          entry?.mode == .folder ? entry?.id : nil
        }
        try join(&files, prefix: prefix)
        let isOutermost = !isKnown && unknownFolder == nil
        if isOutermost { unknownFolder = (prefix, difference.name, false) }
        defer { if isOutermost { unknownFolder = nil } }
        try walk(folder(a), folder(b), folder(ancestors[difference.name]), prefix: path + "/")
        // The other side has a file in place of the folder.
        if let b, b.mode != .folder { refuse(prefix, difference.name, "it is not a folder") }
      } else {
        files.append(
          File(name: difference.name, ours: a, theirs: b, base: ancestors[difference.name]))
      }
    }
    try join(&files, prefix: prefix)
  }

  /// Returns true if a folder contains records, directly or in subfolders.
  private static func isFolder(_ path: String) -> Bool {
    if RecordPath.folders.contains(path) { return true }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    // Limits the folders of the log to valid dates.
    return parts.first == "log" && parts.count <= 4
      && zip(parts.dropFirst(), [4, 2, 2]).allSatisfy { part, digits in
        part.utf8.count == digits
          && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      }
  }

  /// The number of files that are merged at once, on several cores.
  private static let batch = 1_024

  /// A file of a folder that differs between the two trees.
  private struct File: Sendable {
    let name: String
    let ours: TreeData.Entry?
    let theirs: TreeData.Entry?
    let base: TreeData.Entry?

    /// The blob of a regular file; nil for anything else.
    static func blob(_ entry: TreeData.Entry?) -> ObjectID? {
      entry?.mode == .file ? entry?.id : nil
    }
  }

  /// The merge of a file.
  private struct MergedFile: Sendable {
    let join: RecordJoin
    /// The blob of the merged record; nil if neither side is valid.
    let blob: ObjectID?
  }

  /// Merges files of a folder, and removes them from the list.
  private mutating func join(_ files: inout [File], prefix: String) throws {
    if files.isEmpty { return }
    let (repository, batch) = (repository, files)
    let merged = Chunks.map(batch.count) { range in
      batch[range].map { file in
        Result { try TreeJoin.merge(file, prefix + file.name, in: repository) }
      }
    }
    assert(merged.count == batch.count, "each file has a result")
    for (file, result) in zip(batch, merged) { try add(file, try result.get(), prefix: prefix) }
    files = []
  }

  /// Returns the merge of a file; nil if its path is not that of a record.
  private static func merge(
    _ file: File, _ path: String, in repository: Repository
  ) throws -> MergedFile? {
    guard let kind = RecordPath(carried: path) else { return nil }
    let (mine, other) = (File.blob(file.ours), File.blob(file.theirs))
    let base = File.blob(file.base)
    let ours = try mine.map { try repository.content($0, kind) }
    let theirs = try other.map { try repository.content($0, kind) }
    let join = RecordJoin(kind, ours: ours, theirs: theirs) {
      // Mostly only one side has changed the record.
      if base == mine { return try? ours?.get() }
      if base == other { return try? theirs?.get() }
      // The merge works without the common version, so a missing one must not prevent a sync.
      return base.flatMap { try? repository.blob($0, limit: kind.largest) }
    }
    return MergedFile(join: join, blob: join.bytes.map(Repository.blobID))
  }

  /// Adds the merge of a file to the result.
  private mutating func add(_ file: File, _ result: MergedFile?, prefix: String) throws {
    let path = prefix + file.name
    let (ours, theirs) = (File.blob(file.ours), File.blob(file.theirs))
    if let entry = file.theirs, result == nil || entry.mode != .file {
      refuse(
        prefix, file.name,
        result == nil ? "it is not the path of a record" : "it is not a regular file")
    }
    before[path] = ours
    guard let result else {
      if file.ours != nil { files[path] = .some(nil) }
      return
    }
    if let error = result.join.refusals.theirs {
      let isKept = result.join.isNewer && result.blob == theirs
      refuse(prefix, file.name, error.reason, isKept: isKept)
    }
    decisions += result.join.decisions
    if let bytes = result.join.bytes {
      assert(RecordPath(carried: path) != nil, "a merged tree gets records only")
      if let ours, result.blob == ours { return }
      if result.blob == theirs { taken[path] = theirs }
      files[path] = .some(bytes)
      merged += 1
    } else if file.ours != nil {
      files[path] = .some(nil)
    }
  }

  private mutating func refuse(
    _ prefix: String, _ name: String, _ reason: String, isKept: Bool = false
  ) {
    var (prefix, name, reason) = (prefix, name, reason)
    if let folder = unknownFolder, !isKept {
      if folder.isReported { return }
      unknownFolder?.isReported = true
      (prefix, name, reason) = (folder.prefix, folder.name, "it is not a folder of records")
    }
    refused += 1
    guard refusals.count < TreeJoin.maxRefusals else { return }
    refusals.append(
      MergeRefusal(
        folder: String(prefix.dropLast()), name: name, reason: reason, isKept: isKept))
  }
}
