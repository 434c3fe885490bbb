import BelfryCore
import Git

/// A search of the history for the versions from which the user made edited files.
///
/// An editor can hold an older version while Belfry writes a newer one. A value in the saved file that differs from the
/// newest version is then either the user's edit, or only as old as the file. The version with the file's stamps
/// decides. Only commits of Belfry and merges have such versions, apart from those that another program has committed
/// before them.
struct EditOrigin {
  private let repository: Repository
  private let start: ObjectID?
  private var searches = 0

  /// The maximum number of searches. Many outdated files come from a checkout of an old commit, not from editors.
  private static let maxSearches = 64
  /// The maximum number of commits of a search.
  private static let maxDepth = 1_000
  /// The time in seconds that a commit can be older than the stamps in it, when a clock was corrected in between.
  private static let maxClockError: Int64 = 3_600

  /// Creates a search.
  ///
  /// - Parameter start: The latest commit whose edits have stamps: the one at which Belfry left the branch. Nil for an
  ///   empty history.
  init(_ repository: Repository, from start: ObjectID?) {
    self.repository = repository
    self.start = start
  }

  /// Returns true if a version of a record contains values that were changed without a stamp since an earlier version;
  /// nil if the versions cannot be compared.
  mutating func isEdited(_ new: [UInt8], since old: [UInt8], at path: RecordPath) -> Bool? {
    guard let kind = path.kind as? any EditableRecord.Type else { return nil }
    return isEdited(kind, new, since: old, at: path)
  }

  private mutating func isEdited<Kind: EditableRecord>(
    _: Kind.Type, _ new: [UInt8], since old: [UInt8], at path: RecordPath
  ) -> Bool? {
    guard let new = try? Kind.decode(new, at: path), let old = try? Kind.decode(old, at: path)
    else { return nil }
    return new.isEditedByHand(since: version(Kind.self, of: new, base: old, at: path))
  }

  /// Returns the version from which a file was edited.
  ///
  /// - Parameter base: The last known version, which it is unless the file has earlier stamps.
  mutating func version<Kind: EditableRecord>(
    _: Kind.Type, of written: Kind.Value, base: Kind.Value, at path: RecordPath
  ) -> Kind.Value {
    let latest = written.latestStamp
    if written.hasStamps(of: base) || EditOrigin.isLater(latest, than: base.latestStamp) {
      return base
    }
    return find(path.text, since: latest) { bytes in
      guard let version = try? Kind.decode(bytes, at: path) else { return .other }
      if written.hasStamps(of: version) {
        return written.isEditedByHand(since: version) ? .origin(version) : .same(version)
      }
      return EditOrigin.isLater(latest, than: version.latestStamp) ? .earlier : .other
    } ?? base
  }

  /// The relation of a version to an edited file.
  private enum Relation<Value> {
    /// The file is this version without any edit.
    case same(Value)
    /// The file can have been made from this version.
    case origin(Value)
    /// The version is from before the file's stamps.
    case earlier
    /// The version has other stamps.
    case other
  }

  /// Returns true if a stamp is later than all stamps of the last known version. The file then comes from elsewhere.
  private static func isLater(_ stamp: Stamp?, than known: Stamp?) -> Bool {
    guard let stamp, let known else { return known == nil }
    return stamp > known
  }

  /// Returns the version that is the same as an edited file, or else the latest from which it can have been made; nil if
  /// none is found.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - latest: The latest stamp of the edited file. Earlier commits cannot contain it.
  ///   - relation: Returns the relation of a content to the edited file.
  /// - Complexity: Reads the file's folder in each commit since the stamp.
  private mutating func find<Value>(
    _ path: String, since latest: Stamp?, _ relation: ([UInt8]) -> Relation<Value>
  ) -> Value? {
    guard let latest, let start, searches < EditOrigin.maxSearches else { return nil }
    searches += 1
    let folder = path.split(separator: "/").first.map(String.init) ?? path
    var found: Value?
    var isComplete = false
    var count = 0
    var (tree, blob): (ObjectID?, ObjectID?) = (nil, nil)
    // The search ends at a damaged commit.
    try? repository.visitHistory(from: start) { commit in
      count += 1
      if commit.time + EditOrigin.maxClockError < latest.time.seconds { return false }
      // Another program can have committed the edit itself, without a stamp.
      let isTrusted =
        commit.parents.count > 1 || CommitMessage.device(of: commit.message) != nil
      guard isTrusted else { return count < EditOrigin.maxDepth }
      let entry = try repository.entry(at: folder, in: commit.tree)?.id
      if entry != tree {
        tree = entry
        let next = try repository.blob(at: path, in: commit.tree)
        if let next, next != blob,
          let bytes = try? repository.blob(next, limit: AlarmRecord.largest)
        {
          switch relation(bytes) {
          case .same where try repository.isFromOther(next, at: path, in: commit): break
          case .same(let version): (found, isComplete) = (version, true)
          case .origin(let version): found = found ?? version
          case .earlier: isComplete = true
          case .other: break
          }
        }
        blob = next
      }
      return !isComplete && count < EditOrigin.maxDepth
    }
    return found
  }
}

extension Repository {
  /// Returns true if a commit has a file from its parent, which another program has made.
  fileprivate func isFromOther(_ blob: ObjectID, at path: String, in commit: Commit) throws -> Bool
  {
    guard commit.parents.count == 1, var parent = commit.parents.first else { return false }
    // Several commits of Belfry can follow that of the other program.
    while true {
      let earlier = try self.commit(parent)
      guard try self.blob(at: path, in: earlier.tree) == blob else { return false }
      if CommitMessage.device(of: earlier.message) == nil { return earlier.parents.count == 1 }
      guard earlier.parents.count == 1, let next = earlier.parents.first else { return false }
      parent = next
    }
  }
}
