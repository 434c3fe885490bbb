import BelfryCore
import Git

/// A dry run of a sync with one remote.
public struct SyncPlan: Sendable {
  /// A record that the sync would add or change here.
  public struct Change: Hashable, Sendable {
    /// The path within the store.
    public let path: String
    /// The alarm's title; nil for other records.
    public let title: String?
    /// True if the store doesn't have the record.
    public let isNew: Bool
  }
  /// The remote.
  public let remote: Remote
  /// The number of commits to merge.
  public var incoming = 0
  /// The number of commits to push.
  public var outgoing = 0
  /// The records that would change here.
  public var changes: [Change] = []
  /// The conflicting edits that the merge would resolve.
  public var decisions: [MergeDecision] = []
  /// The files that the merge would leave out.
  public var refusals: [MergeRefusal] = []
  /// The error if the remote could not be fetched; nil if it was.
  public var failure: (any Error)?
}

extension StoreSync {
  /// Fetches from remotes and returns what a sync would change. Only the remote-tracking references change.
  ///
  /// The result doesn't include hand edits that are not committed yet.
  ///
  /// - Parameter names: The names of the remotes; empty for all.
  /// - Throws: The failure if there is only one remote.
  public func plan(_ names: [String] = []) async throws -> [SyncPlan] {
    let repository = try repository()
    var plans: [SyncPlan] = []
    for remote in try remotes(named: names) {
      var plan = SyncPlan(remote: remote)
      do {
        let transport = try GitTransport(repository, remote, context: context)
        let theirs = try await StoreSync.fetchStore(
          over: transport, at: remote.url, into: repository)
        try fill(&plan, with: theirs?.commit, repository)
      } catch {
        plan.failure = error
      }
      plans.append(plan)
    }
    if plans.count == 1, let failure = plans[0].failure { throw failure }
    return plans
  }

  private func fill(
    _ plan: inout SyncPlan, with theirs: ObjectID?, _ repository: Repository
  ) throws {
    guard let ours = try repository.commit(of: repository.currentBranch()) else { return }
    guard let theirs else {
      plan.outgoing = try repository.count(ours)
      return
    }
    (plan.outgoing, plan.incoming) = try repository.aheadBehind(ours, theirs)
    if plan.incoming == 0 { return }
    let join = try TreeJoin(repository, commit: ours, with: theirs)
    plan.decisions = join.decisions
    plan.refusals = join.refusals
    plan.changes = join.files.sorted { $0.key < $1.key }.compactMap { path, bytes in
      guard let bytes else { return nil }
      let title = RecordPath(path).flatMap { try? $0.value(in: bytes) as? Alarm }?.title
      return SyncPlan.Change(path: path, title: title, isNew: join.before[path] == nil)
    }
  }
}
