import Git

extension StoreWriter {
  /// Merges the commits that other devices have left here into the checked-out branch, and returns the outcomes.
  ///
  /// A sync does it after the import of hand edits, because the outcomes belong to the sync's result. It also finds packed
  /// references.
  func mergeIncoming() throws -> [BranchJoin.Outcome] {
    var outcomes: [BranchJoin.Outcome] = []
    let incoming = try repository.references(under: StoreSync.incoming)
    for (name, commit) in incoming.sorted(by: { $0.key < $1.key }) {
      do {
        try BranchJoin.expectStore(commit, at: name, repository)
        outcomes.append(try BranchJoin(self).join(commit))
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
