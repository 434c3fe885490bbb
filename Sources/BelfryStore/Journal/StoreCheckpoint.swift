import Files
import Git
import Glibc

/// The check and the flush of everything that was written to a store, after which the journal is emptied.
///
/// As long as the journal has a write, its objects can be rebuilt from there, whatever has damaged them.
struct StoreCheckpoint: StorePart {
  let store: Store

  /// The size of the journal in bytes above which a write ends with a checkpoint.
  private static let maxJournal = 8 << 20

  /// Makes everything that any program has written to the store durable.
  func flush() throws(FileError) {
    try DurableFile.syncFileSystem(of: path)
    var (tree, git) = (stat(), stat())
    if stat(path, &tree) != 0 || stat(local.commonDirectory, &git) != 0
      || tree.st_dev != git.st_dev
    {
      try DurableFile.syncFileSystem(of: local.commonDirectory)
    }
    var own = stat()
    if stat(local.folder, &own) == 0, own.st_dev != git.st_dev {
      try DurableFile.syncFileSystem(of: local.folder)
    }
  }

  /// Verifies the objects of the journal, flushes the store and empties the journal. The caller holds the store's lock,
  /// and no write is interrupted.
  ///
  /// - Parameter repository: The store's repository; nil to open it.
  /// - Complexity: Reads every object of the journal.
  func run(_ repository: Repository? = nil) throws {
    guard let state = try local.log.state(), state.isApplied,
      case let session = local.session, !state.isEmpty || state.session != session
    else { return }
    if !state.isEmpty {
      let repository = try repository ?? store.repository()
      for entry in try local.recentWrites() {
        try entry.restoreObjects(in: repository, acceptsPacks: true)
      }
      repository.removeTemporaryObjects()
    }
    let head = local.readHead()
    let backup = local.ledgerBackup.path
    let isKept = (try? DurableFile.keep(local.ledger.path, as: backup + ".new")) ?? false
    try flush()
    try local.log.empty(session: session, mark: head?.bytes)
    // The backup that it replaces was flushed by an earlier checkpoint, so that one of the two survives.
    if isKept { _ = rename(backup + ".new", backup) }
  }

  /// Makes a checkpoint at the end of a write if the journal is large. An error is ignored: the journal then grows.
  ///
  /// - Parameter repository: The store's repository.
  func runIfLarge(_ repository: Repository) {
    guard let state = (try? local.log.state()) ?? nil, state.size > StoreCheckpoint.maxJournal
    else { return }
    try? run(repository)
  }

  /// Makes a checkpoint if nothing else is being done: no other process writes, and no write is interrupted.
  func runIfIdle() {
    guard store.adoptionFailure == nil, let state = (try? local.log.state()) ?? nil,
      !state.isEmpty, state.isApplied, state.session == local.session,
      let lock = try? FileLock(local.lock, holder: context.process, timeout: 0)
    else { return }
    try? run()
    withExtendedLifetime(lock) {}
  }
}

extension Store {
  /// The checkpoint of this store.
  var checkpoint: StoreCheckpoint { StoreCheckpoint(store: self) }
}
