import BelfryCore
import Git

extension Store {
  /// Joins records of elsewhere with this store's, by the rules of a sync, as one commit.
  ///
  /// What is here already changes nothing; nothing that is here is lost.
  ///
  /// - Parameter files: valid records by their paths.
  public func take(_ files: [String: [UInt8]], subject: String) throws -> SyncResult {
    try locked {
      let writer = try StoreWriter(self)
      try writer.absorb()
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
