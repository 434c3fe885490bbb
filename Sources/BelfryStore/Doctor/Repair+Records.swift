import BelfryCore

extension Repair {
  /// Repairs the records: runs the steps of a reconciliation, including those that are too expensive for each write.
  func repairRecords(_ quarantine: Quarantine) async throws {
    let writer: StoreWriter
    do {
      writer = try store.reconciledWriter(.branch)
    } catch StoreError.operationInProgress, StoreError.detachedHead {
      // Nothing is written during an operation of the user's own git. The examination reports it.
      return
    }
    let dropped = try await DroppedRecords(store).files()
    reportRestored(try writer.reconcile(DroppedRecordRestoration(dropped)))
    try writer.reconcile(UnusableFileQuarantine(quarantine, report: report))
    reportRestored(try writer.reconcile(HandEditImport(.edited)).restored)
    for kind in RecordPath.trackedKinds { try importEdits(of: kind, writer) }
    let changes = try await WorkTreeChanges(store)
    reportRestored(try writer.reconcile(MissingRecordRestoration(changes.removed)))
    let committed = try writer.reconcile(UncommittedRecordImport(changes.uncommitted))
    if !committed.isEmpty { report(.committed(committed)) }
    try writer.reconcile(FutureOutcomeRemoval(report: report))
    try writer.reconcile(LostAnswerRestoration(report: report))
    try AlarmIndex(store).save()
    LogIndex(store: store).update()
  }

  private func importEdits<Kind: TrackedRecord>(of _: Kind.Type, _ writer: StoreWriter) throws {
    try writer.reconcile(TrackedRecordImport<Kind>())
  }

  private func reportRestored(_ paths: [String]) {
    if !paths.isEmpty { report(.restored(paths)) }
  }
}
