import BelfryCore
import Git

extension StoreHistory {
  /// A commit as people read it.
  public struct CommitSummary: Sendable {
    /// The commit.
    public let id: ObjectID
    /// The subject.
    public let subject: String
    /// The occurrence that the subject names; nil if it names none.
    public let occurrence: CivilDateTime?
    /// The time of the commit.
    public let at: Instant
    /// The device that made the commit; nil for a commit of another program.
    public let device: Identifier?
    /// The name of the author, which is that of the device at the time.
    public let author: String
    /// True if the commit merges histories.
    public let isMerge: Bool
    /// False if no remote has the commit, as of the last sync. True without remotes, and before the first sync.
    public let isSynced: Bool

    init(_ commit: Commit, isSynced: Bool) {
      let trailers = CommitMessage.trailers(of: commit.message)
      id = commit.id
      subject = CommitMessage.subject(of: commit.message)
      occurrence = trailers[CommitMessage.occurrence].flatMap { CivilDateTime($0) }
      at = Instant(seconds: commit.time)
      device = trailers["Device"].flatMap { Identifier($0) }
      author = commit.author
      isMerge = commit.parents.count > 1
      self.isSynced = isSynced
    }
  }

  /// Returns the latest commits, newest first.
  ///
  /// - Parameter count: The maximum number of them.
  public func commits(count: Int) throws -> [CommitSummary] {
    let repository = try repository()
    guard let head = try repository.commit(of: "HEAD") else { return [] }
    let unsynced = unsynced(repository, head: head, limit: count)
    var commits: [CommitSummary] = []
    try repository.visitHistory(from: head) { commit in
      commits.append(CommitSummary(commit, isSynced: !unsynced.contains(commit.id)))
      return commits.count < count
    }
    return commits
  }

  /// Returns the commits of a history that no remote has, as of the last sync; none without remotes, and before the first sync.
  func unsynced(_ repository: Repository, head: ObjectID, limit: Int) -> Set<ObjectID> {
    let known = ((try? repository.remotes()) ?? []).compactMap {
      (try? repository.commit(of: "refs/remotes/\($0.name)/\(Repository.defaultBranch)")) ?? nil
    }
    if known.isEmpty { return [] }
    // The commit of a remote can be missing, as after a repair.
    return (try? repository.commits(of: head, lackedBy: known, limit: limit)) ?? []
  }

  /// The number of records that were edited by hand and are not committed yet.
  public var handEdits: Int {
    get throws { try AlarmIndex(store).edited.count + store.editedKinds.count }
  }
}
