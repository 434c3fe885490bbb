import BelfryCore
import Git
import Glibc

/// The repair of invalid and missing records, and of outcomes that only the log contains.
extension Repair {
  /// Repairs the records.
  func repairRecords(_ quarantine: Quarantine) async throws {
    let writer: StoreWriter
    do {
      writer = try StoreWriter(store)
    } catch StoreError.operationInProgress, StoreError.detachedHead {
      // Nothing is written during an operation of the user's own git. The examination reports it.
      return
    }
    let dropped = try await DroppedRecords(store).files()
    if !dropped.isEmpty {
      try writer.commit(
        dropped.mapValues { $0 }, keeping: store.edited(dropped.mapValues { _ in nil }),
        message: CommitMessage("Restore dropped records", device: store.device))
      report(.restored(dropped.keys.sorted()))
    }
    try removeUnusable(quarantine, writer)
    let unsettled = try AlarmIndex(store).unsettled
    let missing = unsettled.map(AlarmRecord.path)
      .filter { access("\(store.path)/\($0)", F_OK) != 0 }
    try HandEditImport(writer).absorb(unsettled)
    let restored = missing.filter { access("\(store.path)/\($0)", F_OK) == 0 }
    if !restored.isEmpty { report(.restored(restored)) }
    try SettingsHandEditImport(writer).absorb()

    let changes = try await WorkTreeChanges(store)
    try restore(changes.removed, writer)
    let committed = try DailyAudit(writer).commit(changes.uncommitted)
    if !committed.isEmpty { report(.committed(committed)) }
    try rearm(writer)
    try restoreAnswers(writer)
    try AlarmIndex(store).save()
  }

  /// Moves invalid files at the paths of records to the quarantine, and restores their last valid versions.
  private func removeUnusable(_ quarantine: Quarantine, _ writer: StoreWriter) throws {
    var restorable: [String] = []
    for folder in ["alarms", "devices", "log"] {
      var status = stat()
      guard lstat("\(store.path)/\(folder)", &status) == 0, status.st_mode & S_IFMT != S_IFDIR
      else { continue }
      try put(folder, into: quarantine)
    }
    for path in store.recordFiles() {
      let error: RecordError?
      if let kind = RecordPath(path) {
        do {
          let file = try DurableFile.read("\(store.path)/\(path)", limit: kind.largest)
          error = file.flatMap { kind.error(in: $0.bytes) }
        } catch {
          try put(path, into: quarantine)
          restorable.append(path)
          continue
        }
      } else {
        error = RecordError("no record has this name")
      }
      guard let error else { continue }
      // A later version of Belfry can read it.
      if case .newerFormat = error.kind { continue }
      // git reads attributes of any form.
      if path == Store.attributesPath { continue }
      try put(path, into: quarantine)
      restorable.append(path)
    }
    try restore(restorable, writer)
  }

  private func put(_ path: String, into quarantine: Quarantine) throws {
    let destination = try quarantine.take("\(store.path)/\(path)", as: path)
    report(.quarantined(path: path, to: destination))
  }

  private func restore(_ paths: [String], _ writer: StoreWriter) throws {
    let restored = try DailyAudit(writer).restore(paths)
    if !restored.isEmpty { report(.restored(restored)) }
  }

  /// Re-arms alarms whose future occurrences were settled by a clock that was ahead.
  private func rearm(_ writer: StoreWriter) throws {
    for summary in try AlarmIndex(store).summaries() where !summary.isDeleted {
      guard case .good(let alarm, _) = try store.readAlarm(summary.id), alarm.enabled,
        let rearmed = store.timeline(alarm).rearmed(alarm, at: store.context.now)
      else { continue }
      try writer.commit(
        [AlarmRecord.path(alarm.id): AlarmRecord.encode(rearmed)],
        message: CommitMessage(
          "Re-armed: \(alarm.title) (a clock was ahead)", device: store.device))
      report(.rearmed(title: alarm.title))
    }
  }

  /// Adds outcomes that only the log contains to the alarms' records.
  private func restoreAnswers(_ writer: StoreWriter) throws {
    let entries = Dictionary(grouping: store.log(), by: \.alarm)
    for (id, logged) in entries.sorted(by: { $0.key < $1.key }) {
      guard case .good(let alarm, _) = try store.readAlarm(id) else { continue }
      let lost = LostAnswer.all(alarm, logged, at: store.context.now)
      if alarm.isDeleted || lost.isEmpty { continue }
      let repaired = LostAnswer.repaired(alarm, logged, at: store.context.now)
      try writer.commit(
        [AlarmRecord.path(id): AlarmRecord.encode(repaired)],
        message: CommitMessage(
          "Restore \(lost.count) answer\(lost.count == 1 ? "" : "s") from the log: \(alarm.title)",
          device: store.device))
      report(.answers(title: alarm.title, lost.map(\.0)))
    }
  }
}
