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

  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws {
    if writer.store.sync.hasIncoming { _ = try writer.mergeIncoming() }
  }
}
