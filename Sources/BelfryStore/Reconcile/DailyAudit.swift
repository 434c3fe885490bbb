import BelfryCore
import Git

extension Store {
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
      (0..<Store.auditInterval).contains(now.seconds(since: last))
    {
      return
    }
    guard branch.detachedHead == nil, !branch.isRebasing else { return }
    let changes = try await WorkTreeChanges(self)
    let written = changes.uncommitted.filter { path in
      // Alarms and settings are imported with stamps.
      switch RecordPath(path) {
      case .log, .device: true
      default: false
      }
    }
    if !changes.removed.isEmpty || !written.isEmpty {
      try write(reconciling: .branch) { writer in
        let restored = try writer.reconcile(MissingRecordRestoration(changes.removed))
        if !restored.isEmpty { context.report(.restored(restored)) }
        try writer.reconcile(UncommittedRecordImport(written))
      }
    }
    local.note(.tidying, at: now)
  }
}
