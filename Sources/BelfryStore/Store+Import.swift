import BelfryCore
import Git

extension Store {
  /// Merges foreign records into this store as one commit, by the rules of a sync.
  ///
  /// Records that are here already change nothing, and no record here is lost.
  ///
  /// - Parameters:
  ///   - files: Valid records by their paths.
  ///   - subject: The subject of the commit.
  /// - Throws: `StoreError`, `GitError`.
  public func take(_ files: [String: [UInt8]], subject: String) throws -> SyncResult {
    try write(reconciling: .records) { writer in
      let ours = try writer.head().map { try writer.repository.commit($0).tree }
      let theirs = try writer.tree(
        from: nil, try files.mapValues { .some(try writer.repository.writeBlob($0)) })
      let join = try TreeJoin(writer.repository, ours: ours, theirs: theirs, base: nil)
      var result = SyncResult()
      result.merged = join.merged
      result.refusals = join.refusals
      let changed = join.files.filter { $0.value != nil }
      if changed.isEmpty { return result }
      let before = Dictionary(uniqueKeysWithValues: changed.keys.map { ($0, join.before[$0]) })
      try writer.commit(
        changed, keeping: edited(before), message: CommitMessage(subject, device: device))
      return result
    }
  }
}
