import BelfryCore
import Git

/// Joins commits of elsewhere into the store's branch: in the history, in the work tree, in the index.
struct BranchJoin {
  private let writer: StoreWriter
  private var store: Store { writer.store }
  private var repository: Repository { writer.repository }

  init(_ writer: StoreWriter) {
    self.writer = writer
  }

  /// What joining a commit came to.
  struct Outcome {
    /// Commits that came in.
    var fetched = 0
    /// Records that came in or changed.
    var merged = 0
    var decisions: [MergeDecision] = []
    var refusals: [MergeRefusal] = []
  }

  private struct Race: Error {}

  /// Of so many refusals the origin is looked for, and so many commits back.
  private static let mostLocated = 100
  private static let farBack = 1_000

  /// Throws unless a commit is one of a store: merging would strip another project of its files.
  ///
  /// Throws `StoreError.remoteIsNoStore`, or `.unreadableObject` when that cannot be told here.
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

  /// Joins a commit into the branch.
  ///
  /// 1. It is in our history: nothing to do.
  /// 2. The joined tree is the commit's, and our history is in its own: fast-forward.
  /// 3. Else a merge commit, made of nothing but its parents: every device makes the same one.
  ///
  /// Throws `StoreError.unreadableObject` when a commit, a tree or a record is missing or damaged here.
  func join(_ theirs: ObjectID) throws -> Outcome {
    do {
      return try joined(theirs)
    } catch let error as GitError where error.isUnreadable {
      throw StoreError.unreadableObject(reason: error.description)
    }
  }

  private func joined(_ theirs: ObjectID) throws -> Outcome {
    var outcome = Outcome()
    for _ in 0..<20 {
      let ours = try writer.head()
      if let ours, try repository.isAncestor(theirs, of: ours) { return outcome }
      let other = try repository.commit(theirs)
      let mine = try ours.map { try repository.commit($0) }
      let join = try TreeJoin(repository, commit: ours, with: theirs)
      let isBehind = join.ancestor == ours
      let kept = store.edited(
        Dictionary(uniqueKeysWithValues: join.files.keys.map { ($0, join.before[$0]) }))
      do {
        try writer.write(join.files, keeping: kept, known: join.taken) { blobs in
          let tree = try writer.tree(from: mine?.tree, blobs)
          let target =
            isBehind && tree == other.tree
            ? theirs
            : try writeMerge(
              [mine, other].compactMap { $0 }, tree: tree, isBehind: isBehind,
              decisions: join.decisions)
          guard try writer.move(from: ours, to: target) else { throw Race() }
          return target
        }
      } catch is Race {
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

  /// Refusals with the commits and the devices that they come from.
  private func located(_ refusals: [MergeRefusal], in commit: ObjectID) -> [MergeRefusal] {
    let first = refusals.prefix(BranchJoin.mostLocated)
    let folders = Dictionary(grouping: first) { $0.folder }.mapValues { Set($0.map(\.name)) }
    // A history that cannot be walked tells nothing.
    let origins =
      (try? repository.origins(of: folders, in: commit, limit: BranchJoin.farBack)) ?? [:]
    return refusals.map { refusal in
      guard let origin = origins[refusal.path] else { return refusal }
      var refusal = refusal
      refusal.commit = origin.id
      refusal.device = CommitMessage.device(of: origin.message)
      return refusal
    }
  }

  /// A merge commit that depends on its parents alone, so that devices which merge the same two
  /// histories make the same commit.
  private func writeMerge(
    _ parents: [Commit], tree: ObjectID, isBehind: Bool, decisions: [MergeDecision]
  ) throws -> ObjectID {
    // What is in the history of the last parent needs no mention.
    let named = isBehind ? Array(parents.suffix(1)) : parents.sorted { $0.id < $1.id }
    let message = CommitMessage(
      "Merge \(named.map(\.id.short).joined(separator: " and "))", body: decisions.map(\.line),
      device: nil)
    return try repository.writeCommit(
      tree: tree, parents: named.map(\.id),
      signature: Repository.Signature(
        name: "Belfry", email: "belfry@localhost", time: parents.map(\.time).max() ?? 0),
      message: message.text)
  }
}

extension StoreWriter {
  /// Takes in what devices have left here that could not move this store's branch themselves.
  func takeIncoming() throws -> [BranchJoin.Outcome] {
    var outcomes: [BranchJoin.Outcome] = []
    for (name, commit) in try repository.references(under: Store.incoming).sorted(by: {
      $0.key < $1.key
    }) {
      do {
        try BranchJoin.expectStore(commit, at: name, repository)
        outcomes.append(try BranchJoin(self).join(commit))
      } catch StoreError.remoteIsNoStore {
        // Of no use to anybody.
      } catch StoreError.unreadableObject {
        // It stays until its objects can be read: the device that left it counts on it.
        continue
      } catch StoreError.tooLarge {
        // It holds up neither other devices nor this one.
        continue
      }
      try repository.removeReference(name, at: commit)
    }
    return outcomes
  }
}
