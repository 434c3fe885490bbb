import Git

/// The commits that the watches of the remotes have reported, and whether a sync has to fetch them.
struct RemoteNews {
  /// The reported commits, by remote.
  private var reported: [String: ObjectID] = [:]
  /// The reported commits at the start of the last sync, which fetched them or newer ones.
  private var requested: [String: ObjectID] = [:]
  /// True if a remote has a commit that no sync has requested.
  private(set) var isPending = false

  /// Records a report.
  ///
  /// - Parameters:
  ///   - commit: The commit of the remote's branch; nil if it has none.
  ///   - remote: The name of the remote.
  ///   - fetched: The commit that the last sync has fetched from the remote, or pushed to it.
  mutating func record(_ commit: ObjectID?, of remote: String, fetched: ObjectID?) {
    reported[remote] = commit
    if let commit, commit != fetched, commit != requested[remote] { isPending = true }
  }

  /// Records the start of a sync.
  mutating func begin() {
    requested = reported
    isPending = false
  }

  /// Records the end of a sync. A commit that was reported meanwhile may be the one that the sync pushed.
  ///
  /// - Parameter fetched: Returns the commit that the sync has fetched from a remote, or pushed to it.
  mutating func end(fetched: (String) -> ObjectID?) {
    isPending = reported.contains { $1 != requested[$0] && $1 != fetched($0) }
  }
}
