import BelfryCore
import Files
import Git

/// The merge of fetched commits into the store's branch: in the history, the work tree and the index.
struct BranchJoin {
  private let writer: StoreWriter
  private var store: Store { writer.store }
  private var repository: Repository { writer.repository }

  init(_ writer: StoreWriter) {
    self.writer = writer
  }

  /// The result of merging a commit.
  struct Outcome {
    /// The number of commits that were added to the branch.
    var fetched = 0
    /// The number of records that were added or changed.
    var merged = 0
    /// The conflicting edits that the merge resolved.
    var decisions: [MergeDecision] = []
    /// The files of the commit that the merge left out.
    var refusals: [MergeRefusal] = []
  }

  /// The maximum number of refusals whose origin is searched.
  private static let maxLocated = 100
  /// The maximum number of commits in which origins are searched.
  private static let maxDepth = 1_000

  /// Throws unless a commit belongs to a store. A merge with another project would remove its files.
  ///
  /// - Throws: `StoreError.remoteIsNoStore`, or `.unreadableObject` if the commit cannot be read here.
  static func expectStore(
    _ commit: ObjectID, at url: String, _ repository: Repository
  ) throws(StoreError) {
    do throws(GitError) {
      let tree = try repository.commit(commit).tree
      if try repository.tree(tree).entry(named: "devices")?.mode == .folder { return }
    } catch {
      if error.isUnreadable { throw .unreadableObject(reason: error.description) }
    }
    throw .remoteIsNoStore(url: URLMask.masked(url: url))
  }

  /// Merges a commit into the branch.
  ///
  /// 1. The branch contains the commit: nothing changes.
  /// 2. The merged tree is the commit's, and the commit contains the branch: the branch is fast-forwarded.
  /// 3. Otherwise: a merge commit that depends only on its parents, so that every device creates the same one.
  ///
  /// - Throws: `StoreError.unreadableObject` if a commit, a tree or a record is missing or damaged here.
  func join(_ theirs: ObjectID) throws -> Outcome {
    do {
      return try joined(theirs)
    } catch let error as GitError where error.isUnreadable {
      throw StoreError.unreadableObject(reason: error.description)
    }
  }

  private func joined(_ theirs: ObjectID) throws -> Outcome {
    var outcome = Outcome()
    for _ in 0..<StoreWriter.maxAttempts {
      let ours = try writer.head()
      if let ours, try repository.isAncestor(theirs, of: ours) { return outcome }
      // git may not have flushed the fetched objects, on which the journal's entries build.
      let checkpoint = store.checkpoint
      let flush = BackgroundJob { Result { () throws(FileError) in try checkpoint.flush() } }
      let joined = Result {
        (
          mine: try ours.map { try repository.commit($0) }, other: try repository.commit(theirs),
          join: try TreeJoin(repository, commit: ours, with: theirs)
        )
      }
      try flush.wait().get()
      let (mine, other, join) = try joined.get()
      let isBehind = join.ancestor == ours
      let kept = store.edited(
        Dictionary(uniqueKeysWithValues: join.files.keys.map { ($0, join.before[$0]) }))
      writer.read.merge(join.before) { $1 }
      do {
        try writer.write(join.files, keeping: kept, known: join.taken) { blobs in
          let tree = try writer.tree(from: mine?.tree, blobs)
          let target =
            isBehind && tree == other.tree
            ? theirs
            : try writeMerge(
              [mine, other].compactMap { $0 }, tree: tree, isBehind: isBehind,
              decisions: join.decisions)
          return StoreWriter.Move(from: ours, to: target)
        }
      } catch is StoreWriter.MovedElsewhere {
        continue
      }
      outcome.fetched =
        try ours.map { try repository.aheadBehind(theirs, $0).ahead } ?? repository.count(theirs)
      outcome.merged = join.merged
      outcome.decisions = join.decisions
      outcome.refusals = located(join.refusals, in: theirs)
      return outcome
    }
    throw StoreError.gitBusy(path: writer.branch, by: nil)
  }

  /// Returns refusals with the commits and devices that they come from.
  private func located(_ refusals: [MergeRefusal], in commit: ObjectID) -> [MergeRefusal] {
    let first = refusals.prefix(BranchJoin.maxLocated)
    let folders = Dictionary(grouping: first) { $0.folder }.mapValues { Set($0.map(\.name)) }
    // Without a readable history the origins stay unknown.
    let origins =
      (try? repository.origins(of: folders, in: commit, limit: BranchJoin.maxDepth)) ?? [:]
    return refusals.map { refusal in
      guard let origin = origins[refusal.path] else { return refusal }
      var refusal = refusal
      refusal.commit = origin.id
      refusal.device = CommitMessage.device(of: origin.message)
      return refusal
    }
  }

  /// Writes a merge commit that depends only on its parents, so that devices that merge the same two histories create
  /// the same commit.
  private func writeMerge(
    _ parents: [Commit], tree: ObjectID, isBehind: Bool, decisions: [MergeDecision]
  ) throws -> ObjectID {
    // The last parent's history contains the other parent.
    let named = isBehind ? Array(parents.suffix(1)) : parents.sorted { $0.id < $1.id }
    assert(!named.isEmpty && Set(named.map(\.id)).count == named.count, "each parent occurs once")
    let message = CommitMessage(
      "Merge \(named.map(\.id.short).joined(separator: " and "))", body: decisions.map(\.line),
      trailers: [(CommitMessage.decisions, "\(decisions.count)")], device: nil)
    return try repository.writeCommit(
      tree: tree, parents: named.map(\.id),
      signature: Repository.Signature(
        name: "Belfry", email: "belfry@localhost", time: parents.map(\.time).max() ?? 0),
      message: message.text)
  }
}
