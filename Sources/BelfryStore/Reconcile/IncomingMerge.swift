import BelfryCore

/// The merge of the commits that other devices have left here because they could not move this store's checked-out
/// branch.
///
/// - Precondition: The work tree agrees with the branch, apart from hand edits, which the merge leaves in the work tree.
/// - Effect: A fast-forward or a merge commit for each incoming commit, whose reference is then removed. A commit that
///   belongs to no store is discarded. A commit whose objects cannot be read, or that is too large, stays.
/// - Cost: Lists a folder that is usually empty. Otherwise in proportion to the changed records.
struct IncomingMerge: ReconcileStep {
  static let stage = ReconcileStage.incomingCommits

  func run(_ writer: StoreWriter) throws {
    if writer.store.sync.hasIncoming { _ = try mergeAll(writer) }
  }

  /// Merges the commits, and returns the outcomes.
  ///
  /// A sync calls it directly, after the import of hand edits, because the outcomes belong to the sync's result. It also
  /// finds packed references.
  func mergeAll(_ writer: StoreWriter) throws -> [BranchJoin.Outcome] {
    let repository = writer.repository
    var outcomes: [BranchJoin.Outcome] = []
    for (name, commit) in try repository.references(under: StoreSync.incoming).sorted(by: {
      $0.key < $1.key
    }) {
      do {
        try BranchJoin.expectStore(commit, at: name, repository)
        outcomes.append(try BranchJoin(writer).join(commit))
      } catch StoreError.remoteIsNoStore {
        // A commit that doesn't belong to a store is discarded.
      } catch StoreError.unreadableObject {
        // The commit stays until its objects can be read, because the device that left it relies on it.
        continue
      } catch StoreError.tooLarge {
        // The commit must not block other devices or this one.
        continue
      }
      try repository.removeReference(name, at: commit)
    }
    return outcomes
  }
}
