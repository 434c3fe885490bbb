import BelfryCore
import Git
import Glibc

/// The alarm index on disk: its reads, and the updates of its rows.
struct AlarmIndexCache: StorePart {
  let store: Store

  /// Returns the alarm index, or nil if it is missing or damaged.
  func read() -> AlarmIndexFile? {
    // An unreadable index is rebuilt.
    (try? DurableFile.read(local.alarmIndex, limit: 1 << 30)).flatMap { $0 }.flatMap {
      AlarmIndexFile($0.bytes, written: FileSignature($0.status).modified)
    }
  }

  /// A text that changes with the inputs of the alarm index other than the records.
  var fingerprint: String {
    "\(context.zones.fingerprint) \(store.settingsSignature ?? "-") \(store.calendars.signature)"
  }

  /// Returns the row and the summary of an alarm whose file matches its blob.
  func row(
    _ alarm: Alarm, blob: ObjectID, status file: stat, settings: Settings
  ) -> (row: AlarmIndexFile.Row, summary: AlarmSummary) {
    // The ledger affects only statuses that are not cached, except through advance warnings.
    let ledger = alarm.delivery.warnings == nil ? DeliveryLedger() : store.ledger.read()
    let summary = AlarmSummary(
      alarm,
      status: store.timeline(alarm).status(at: context.now, settings: settings, ledger: ledger))
    return (
      AlarmIndexFile.Row(
        id: alarm.id, signature: FileSignature(file), blob: blob, validFrom: context.now,
        validUntil: context.zones.isKnown(alarm.zone) ? summary.status.validUntil : context.now),
      summary
    )
  }

  /// Updates the alarm index with files that this process has just written and committed.
  func update(
    files: [String: [UInt8]?], blobs: [String: ObjectID?], written: [String: stat]
  ) {
    guard let file = read(), file.fingerprint == fingerprint,
      let settings = try? store.settings().settings
    else {
      // A missing index is rebuilt now, because a removed record is detected only with an index.
      try? AlarmIndex(store).save()
      return
    }
    var changes: [Identifier: (row: AlarmIndexFile.Row, summary: AlarmSummary)?] = [:]
    for (path, content) in files {
      guard case .alarm(let id) = RecordPath(path) else { continue }
      // The row of a file that was not written keeps the previous version, so the next read finds the difference.
      guard let content, let blob = blobs[path] ?? nil, let status = written[path],
        let alarm = try? AlarmRecord.decode(content, id: id, now: context.now)
      else { continue }
      changes[id] = row(alarm, blob: blob, status: status, settings: settings)
    }
    replace(changes)
  }

  /// Replaces rows of the alarm index, if it exists.
  func replace(_ changes: [Identifier: (row: AlarmIndexFile.Row, summary: AlarmSummary)?]) {
    guard !changes.isEmpty, let file = read() else { return }
    write(
      AlarmIndexFile.bytes(
        from: file, replacing: changes, folder: file.folder, fingerprint: file.fingerprint))
  }

  /// Writes the alarm index.
  func write(_ bytes: [UInt8]) {
    // A write error is ignored: the next reader rebuilds the index.
    _ = try? DurableFile.write(
      bytes, to: local.alarmIndex, temporary: local.temporaryIndex, syncing: false)
  }
}

extension Store {
  /// The alarm index of this store on disk.
  var alarmIndexCache: AlarmIndexCache { AlarmIndexCache(store: self) }
}
