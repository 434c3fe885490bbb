import BelfryCore
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

  /// The interval between two audits, in seconds.
  private static let auditInterval: Int64 = 86_400

  /// Compares the work tree with the branch once a day for records that the alarm index doesn't cover: restores log
  /// entries, devices and settings that were removed, with a notice, and commits log entries and devices that were
  /// written without Belfry.
  ///
  /// The cost is that of `git status`, which runs without the lock.
  ///
  /// - Throws: `StoreError`, `GitError`.
  public func auditDaily() async throws {
    let now = context.now
    if let last = local.last(.tidying),
      (0..<StoreMaintenance.auditInterval).contains(now.seconds(since: last))
    {
      return
    }
    guard store.branch.detachedHead == nil, !store.branch.isRebasing else { return }
    let changes = try await WorkTreeChanges(store)
    let written = changes.uncommitted.filter { path in
      // Alarms and settings are imported with stamps.
      switch RecordPath(path) {
      case .log, .device: true
      default: false
      }
    }
    if !changes.removed.isEmpty || !written.isEmpty {
      try store.write(reconciling: .branch) { writer in
        let restored = try writer.reconcile(MissingRecordRestoration(changes.removed))
        if !restored.isEmpty { context.report(.restored(restored)) }
        try writer.reconcile(UncommittedRecordImport(written))
      }
    }
    LogIndex(store: store).update()
    local.note(.tidying, at: now)
  }

  /// The number of loose objects above which a command packs them.
  public enum LooseObjectLimit: Int, Sendable {
    /// About one month of use, for commands that nobody waits for.
    case background = 2_000
    /// The limit of git's `gc.auto`, for a command that somebody waits for.
    case interactive = 6_700
  }

  /// Packs the loose objects if there are many.
  ///
  /// The sizes of the packs form a geometric series, so packing is cheap and the packs stay few. It keeps every object,
  /// referenced or not. It needs no lock, because objects that are written in the meantime stay as they are.
  ///
  /// - Parameter limit: The number of loose objects above which they are many.
  /// - Returns: True if objects were packed.
  /// - Throws: `GitError` if git fails.
  @discardableResult
  public func pack(above limit: LooseObjectLimit = .background) async throws -> Bool {
    guard Repository.looseObjectEstimate(in: local.objects) > limit.rawValue else { return false }
    // If another process is packing, there is nothing left to do.
    guard
      let lock = try? StoreLock(local.packLock, holder: context.process, timeout: 0)
    else { return false }
    let outcome = try await GitCommand.run(
      ["-c", "pack.threads=1", "repack", "-d", "-q", "--geometric=2"], in: path)
    withExtendedLifetime(lock) {}
    guard outcome.status == 0 else {
      throw GitError(.generic, "pack the objects", GitCommand.reason(outcome))
    }
    return true
  }
}

extension Store {
  /// The maintenance of this store.
  public var maintenance: StoreMaintenance { StoreMaintenance(store: self) }
}
