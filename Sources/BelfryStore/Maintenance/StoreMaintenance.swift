import BelfryCore
import Files
import Git
import Glibc

/// The regular maintenance of a store.
public struct StoreMaintenance: StorePart {
  let store: Store

  /// True if a merge of git has left conflicts.
  public var hasMergeConflicts: Bool {
    guard Repository.mayBeUnmerged(local.gitDirectory),
      let conflicts = try? repository().conflicts()
    else { return false }
    return !conflicts.isEmpty
  }

  /// Resolves the conflicts that a merge of git has left, if there are any. Every command that writes calls it.
  ///
  /// - Throws: `StoreError`, `GitError`, `FileError`.
  public func resolveMergeConflicts() throws {
    guard Repository.mayBeUnmerged(local.gitDirectory) else { return }
    try store.locked { try MergeConflictResolver(store, repository()).resolve() }
  }

  /// The interval between two runs, in seconds.
  private static let interval: Int64 = 86_400

  /// Compares the work tree with the branch once a day for records that the alarm index doesn't cover: restores log
  /// entries, devices and settings that were removed, with a notice, and commits log entries and devices that were
  /// written without Belfry.
  ///
  /// The cost is that of `git status`, which runs without the lock.
  ///
  /// - Throws: `StoreError`, `GitError`.
  public func runDaily() async throws {
    let now = context.now
    if let last = local.last(.maintenance),
      (0..<StoreMaintenance.interval).contains(now.seconds(since: last))
    {
      return
    }
    guard store.branch.detachedHead == nil, !store.branch.isRebasing else { return }
    let changes = try await WorkTreeChanges(store)
    // Other records are imported with stamps.
    let written = changes.uncommitted.filter { RecordPath($0)?.hasOneWriter == true }
    if !changes.removed.isEmpty || !written.isEmpty {
      try store.write(reconciling: .branch) { writer in
        let restored = try writer.reconcile(MissingRecordRestoration(changes.removed))
        if !restored.isEmpty { context.report(.restored(restored)) }
        try writer.reconcile(UncommittedRecordImport(written))
      }
    }
    LogIndex(store: store).update()
    local.note(.maintenance, at: now)
  }

  /// The number of loose objects above which a background command packs them: about one month of use.
  private static let backgroundLimit = 2_000
  /// The number of loose objects above which a command that somebody waits for starts to pack them. It is the limit of
  /// git's `gc.auto`.
  private static let interactiveLimit = 6_700

  /// Packs the loose objects if there are many, and waits for it.
  ///
  /// The sizes of the packs form a geometric series, so packing is cheap and the packs stay few. It keeps every object,
  /// referenced or not. It needs no lock, because objects that are written in the meantime stay as they are.
  ///
  /// - Returns: True if objects were packed.
  /// - Throws: `StoreError.gitNotFound`, `GitError` if git fails, `FileError`.
  @discardableResult
  public func pack() async throws -> Bool {
    try await pack(above: StoreMaintenance.backgroundLimit)
  }

  private func pack(above limit: Int) async throws -> Bool {
    guard let lock = try packLock(above: limit) else { return false }
    do {
      let outcome = try await GitCommand.run(StoreMaintenance.repack, in: path)
      withExtendedLifetime(lock) {}
      guard outcome.status == 0 else {
        throw GitError(.generic, "pack the objects", GitCommand.reason(outcome))
      }
    } catch is GitCommand.NotFound {
      throw StoreError.gitNotFound
    }
    return true
  }

  /// Starts to pack the loose objects if there are many, in a process that outlives this one.
  ///
  /// Nobody sees its errors. If there are twice as many objects, earlier attempts have failed: this process then packs
  /// them, waits for it, and throws the error.
  ///
  /// - Throws: The same errors as `pack()`.
  public func startPacking() async throws {
    let limit = StoreMaintenance.interactiveLimit
    if try await pack(above: 2 * limit) { return }
    guard let lock = try packLock(above: limit) else { return }
    defer { withExtendedLifetime(lock) {} }
    do {
      try GitCommand.start(StoreMaintenance.repack, in: path, holding: lock.descriptor)
    } catch is GitCommand.NotFound {
      throw StoreError.gitNotFound
    }
  }

  private static let repack = ["-c", "pack.threads=1", "repack", "-d", "-q", "--geometric=2"]

  /// Returns the lock for packing, or nil if there are few objects to pack, or another process packs them.
  private func packLock(above limit: Int) throws -> FileLock? {
    guard Repository.looseObjectEstimate(in: local.objects) > limit else { return nil }
    do {
      return try FileLock(local.packLock, holder: context.process, timeout: 0)
    } catch StoreError.locked {
      return nil
    }
  }
}

extension Store {
  /// The maintenance of this store.
  public var maintenance: StoreMaintenance { StoreMaintenance(store: self) }
}
