import BelfryCore
import Git
import Glibc

/// Records that cannot be used, are gone, or are known to the log alone.
extension Repair {
  func mendRecords(_ quarantine: Quarantine) async throws {
    let writer: StoreWriter
    do {
      writer = try StoreWriter(store)
    } catch StoreError.operationInProgress, StoreError.detachedHead {
      // Nothing is written into what a person has begun; the examination tells of it.
      return
    }
    let dropped = try await Dropped(store).files()
    if !dropped.isEmpty {
      try writer.commit(
        dropped.mapValues { $0 }, keeping: store.edited(dropped.mapValues { _ in nil }),
        message: CommitMessage("Put back what was dropped", device: store.device))
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

  /// Moves what lies in a record's place and is none out of the way; what was good before comes back.
  private func removeUnusable(_ quarantine: Quarantine, _ writer: StoreWriter) throws {
    var back: [String] = []
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
          back.append(path)
          continue
        }
      } else {
        error = RecordError("no record has this name")
      }
      guard let error else { continue }
      // A later Belfry will read it.
      if case .newerFormat = error.kind { continue }
      // Of the attributes every form is git's to read.
      if path == Store.attributesPath { continue }
      try put(path, into: quarantine)
      back.append(path)
    }
    try restore(back, writer)
  }

  private func put(_ path: String, into quarantine: Quarantine) throws {
    let place = try quarantine.take("\(store.path)/\(path)", as: path)
    report(.quarantined(path: path, to: place))
  }

  private func restore(_ paths: [String], _ writer: StoreWriter) throws {
    let restored = try DailyAudit(writer).restore(paths)
    if !restored.isEmpty { report(.restored(restored)) }
  }

  /// Arms alarms again for which a clock that was ahead has settled what has not come.
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

  /// Brings answers that only the log knows into the alarms' records.
  private func restoreAnswers(_ writer: StoreWriter) throws {
    let entries = Dictionary(grouping: store.log(), by: \.alarm)
    for (id, told) in entries.sorted(by: { $0.key < $1.key }) {
      guard case .good(let alarm, _) = try store.readAlarm(id) else { continue }
      let lost = LostAnswer.all(alarm, told, at: store.context.now)
      if alarm.isDeleted || lost.isEmpty { continue }
      let mended = LostAnswer.mended(alarm, told, at: store.context.now)
      try writer.commit(
        [AlarmRecord.path(id): AlarmRecord.encode(mended)],
        message: CommitMessage(
          "Restore \(lost.count) answer\(lost.count == 1 ? "" : "s") from the log: \(alarm.title)",
          device: store.device))
      report(.answers(title: alarm.title, lost.map(\.0)))
    }
  }
}
