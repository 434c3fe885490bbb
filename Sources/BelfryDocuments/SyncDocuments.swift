import BelfryCore
import BelfryStore
import Git

/// The result of a sync: the document of `sync`.
package struct SyncDocument: JSONDocument {
  /// The number of commits that were merged from all remotes.
  let fetched: Int
  /// The number of commits that were pushed to all remotes.
  let pushed: Int
  /// The number of records that were added or changed.
  let merged: Int
  /// The conflicts that the merges resolved.
  let decisions: [MergeDecisionDocument]
  /// The files that the merges left out.
  let refusals: [MergeRefusalDocument]
  /// The exchange with each remote.
  let remotes: [Remote]

  /// The exchange with one remote.
  package struct Remote: Encodable {
    /// The name of the remote.
    let name: String
    /// The number of commits that were merged from it.
    let fetched: Int
    /// The number of commits that were pushed to it.
    let pushed: Int
    /// The branch that was merged, if the remote has no `main`.
    let branch: String?
    /// True if the remote's branch no longer contained the commit of the last sync; absent otherwise.
    let rewound: Bool?
    /// True if the remote merges the pushed commits only in its next tick or sync; absent otherwise.
    let mergePending: Bool?
    /// The error, as text; absent if the exchange succeeded.
    let error: String?
  }

  /// - Parameter text: returns the text of an error.
  package init(_ result: SyncResult, zones: ZoneLibrary, text: (any Error) -> String) {
    fetched = result.fetched
    pushed = result.pushed
    merged = result.merged
    decisions = result.decisions.map { MergeDecisionDocument($0, zones) }
    refusals = result.refusals.map(MergeRefusalDocument.init)
    remotes = result.exchanges.map { exchange in
      Remote(
        name: exchange.remote.name, fetched: exchange.fetched, pushed: exchange.pushed,
        branch: exchange.branch, rewound: exchange.wasRewound ? true : nil,
        mergePending: exchange.isLeft ? true : nil,
        error: exchange.failure.map { text($0) })
    }
  }
}

/// A dry run of a sync with one remote: an element of `sync --dry-run`.
package struct SyncPlanDocument: JSONDocument {
  /// The name of the remote.
  let remote: String
  /// The number of commits to merge.
  let incoming: Int
  /// The number of commits to push.
  let outgoing: Int
  /// The records that would change here.
  let changes: [Change]
  /// The conflicts that the merge would resolve.
  let decisions: [MergeDecisionDocument]
  /// The files that the merge would leave out.
  let refusals: [MergeRefusalDocument]
  /// The error, as text; absent if the remote could be fetched.
  let error: String?

  /// A record that would change.
  package struct Change: Encodable {
    /// The path in the store.
    let path: String
    /// The title of the alarm; absent for other records.
    let title: String?
    /// True if the store lacks the record.
    let new: Bool
  }

  /// - Parameter text: returns the text of an error.
  package init(_ plan: SyncPlan, zones: ZoneLibrary, text: (any Error) -> String) {
    remote = plan.remote.name
    incoming = plan.incoming
    outgoing = plan.outgoing
    changes = plan.changes.map { Change(path: $0.path, title: $0.title, new: $0.isNew) }
    decisions = plan.decisions.map { MergeDecisionDocument($0, zones) }
    refusals = plan.refusals.map(MergeRefusalDocument.init)
    error = plan.failure.map { text($0) }
  }
}

/// A conflict that a merge resolved.
package struct MergeDecisionDocument: Encodable {
  /// The id of the alarm; absent for a setting.
  let alarm: String?
  /// The title of the alarm.
  let title: String
  /// The field, the occurrence or the name of the setting.
  let field: String
  /// The value that the merge kept, as text.
  let kept: String
  /// The value that the merge discarded, as text.
  let discarded: String
  /// The id of the device that set the kept value.
  var keptBy: String?
  /// The id of the device that set the discarded value.
  var discardedBy: String?
  /// The time at which the kept value was set.
  var keptAt: String?
  /// The time at which the discarded value was set.
  var discardedAt: String?
  /// The name of the merge rule.
  let rule: String

  package init(_ decision: MergeDecision, _ zones: ZoneLibrary) {
    alarm = decision.alarm?.text
    title = decision.title
    field = decision.subject.name
    kept = decision.kept
    discarded = decision.discarded
    keptBy = decision.keptStamp?.device.text
    discardedBy = decision.discardedStamp?.device.text
    keptAt = decision.keptStamp.map { zones.text($0.time) }
    discardedAt = decision.discardedStamp.map { zones.text($0.time) }
    rule = decision.rule.rawValue
  }
}

/// A file that a merge left out.
package struct MergeRefusalDocument: Encodable {
  /// The path in the store.
  let path: String
  /// The reason, as text.
  let reason: String
  /// The commit that changed the file.
  let commit: String?
  /// The id of the device that made the commit.
  let device: String?

  package init(_ refusal: MergeRefusal) {
    path = refusal.path
    reason = refusal.reason
    commit = refusal.commit?.description
    device = refusal.device?.text
  }
}

/// A new store: the document of `clone`.
package struct CloneDocument: JSONDocument {
  /// The path of the store.
  let store: String
  /// The id of this device.
  let device: String
  /// The number of alarms.
  let alarms: Int

  package init(store: String, device: String, alarms: Int) {
    self.store = store
    self.device = device
    self.alarms = alarms
  }
}

/// A remote: the document of `remote add`, and an element of `remote list`.
package struct RemoteDocument: JSONDocument {
  /// The name.
  let name: String
  /// The path or URL, with credentials masked.
  let url: String
  /// True if `remote add` has created the repository; absent otherwise.
  let created: Bool?

  package init(_ remote: Remote) { self.init(remote, isCreated: false) }

  package init(_ remote: Remote, isCreated: Bool) {
    created = isCreated ? true : nil
    name = remote.name
    url = URLMask.masked(url: remote.url)
  }
}

/// A removed remote: the document of `remote remove`.
package struct RemovedRemoteDocument: JSONDocument {
  /// The name.
  let name: String

  package init(name: String) {
    self.name = name
  }
}
