import BelfryCore
import Files
import Git
import Glibc

/// The repair of the repository after a power failure, which may have kept any part of the writes that were not flushed.
///
/// - Precondition: The store's lock is held.
/// - Effect: The objects of all writes since the last checkpoint exist. No damaged object, no reference to a missing
///   object and no stale lock is left. A damaged index of git is removed, and the caches are built again.
///   `JournalRecovery` then completes the writes.
/// - Cost: Reads every loose object.
struct PowerFailureRecovery {
  private let store: Store
  private var local: LocalState { store.local }

  init(_ store: Store) {
    self.store = store
  }

  /// Repairs the repository if the journal is of an earlier session.
  func run(_ repository: Repository) throws {
    guard local.hasLostPower else { return }
    let writes = try local.interruptedWrites()
    for entry in writes.entries { try entry.restoreObjects(in: repository) }
    try repository.removeTornFiles(temporary: local.temporary("references"))
    let index = repository.gitDirectory + "index"
    if !repository.isIndexIntact, unlink(index) != 0, errno != ENOENT {
      throw FileError("remove", index)
    }
    store.cache.remove()
    for name in DurableFile.names(in: local.folder) where name.hasPrefix("new-") {
      _ = unlink("\(local.folder)/\(name)")
    }
  }
}

extension Store {
  /// Completes the writes that a power failure has interrupted, if there are any.
  ///
  /// An error is ignored: the alarms are then read as they are, together with the journal, and the next write reports
  /// the error.
  func recoverFromPowerFailure() {
    guard adoptionFailure == nil, local.hasLostPower else { return }
    try? write(reconciling: .branch) { _ in }
  }
}
