import BelfryCore
import Git

/// What a sync with one remote would do.
public struct SyncPlan: Sendable {
  /// A record that would come in or change here.
  public struct Change: Hashable, Sendable {
    public let path: String
    /// The alarm's title; nil for other records.
    public let title: String?
    public let isNew: Bool
  }
  public let remote: Remote
  /// Commits that would come in, and go out.
  public var incoming = 0
  public var outgoing = 0
  public var changes: [Change] = []
  public var decisions: [MergeDecision] = []
  public var refusals: [MergeRefusal] = []
  /// Why the remote could not be looked at.
  public var failure: (any Error)?
}

extension Store {
  /// Fetches, and finds out what a sync would do; changes nothing but what is known of the remotes.
  ///
  /// What was written by hand and not taken up yet is not part of it.
  public func plan(_ names: [String] = []) async throws -> [SyncPlan] {
    let repository = try repository()
    var plans: [SyncPlan] = []
    for remote in try remotes(named: names) {
      var plan = SyncPlan(remote: remote)
      do {
        let transport = try GitTransport(repository, remote, context: context)
        let theirs = try await transport.fetchStore(at: remote.url, into: repository)
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
      var title: String?
      if let kind = RecordPath(path), case .alarm(let alarm)? = try? kind.value(in: bytes) {
        title = alarm.title
      }
      return SyncPlan.Change(path: path, title: title, isNew: join.before[path] == nil)
    }
  }
}
