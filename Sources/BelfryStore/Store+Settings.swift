import BelfryCore
import Git

extension Store {
  /// Changes one of the settings that all devices share, as one commit; nil is its default.
  ///
  /// A tier without pending completes all pending occurrences in the same commit. Throws
  /// `StoreError.badRecord` when the file holds something that must not be lost.
  ///
  /// - Returns: what a downgrade has completed.
  @discardableResult
  public func set(
    _ setting: Setting, to value: Setting.Value?
  ) throws -> [(alarm: Alarm, occurrence: CivilDateTime)] {
    try locked {
      let writer = try StoreWriter(self)
      try SettingsHandEditImport(writer).absorb()
      var record = try settingsRecord()
      var settings = try self.settings().settings
      let value = value ?? Settings()[keyPath: setting.value]
      if settings[keyPath: setting.value] == value { return [] }
      settings[keyPath: setting.value] = value
      let stamp = Stamp.next(after: record.stamps.values.max(), now: context.now, device: device)
      SettingsFile.set(setting, to: value, stamp: stamp, in: &record)
      var files: [String: [UInt8]?] = [SettingsFile.path: SettingsFile.encode(record)]
      let completed =
        settings.tier.confirmsCompletion ? [] : try completePending(writer, into: &files)
      try writer.commit(
        files,
        message: CommitMessage(
          "Set \(setting.name) to \(value)", trailers: [("Action", CommitMessage.settings)],
          device: device))
      try settleSettings()
      return completed
    }
  }

  /// The record behind the settings; an empty one where there is none. Throws `StoreError.badRecord`.
  func settingsRecord() throws -> SettingsRecord {
    try settingsRecordIfAny() ?? SettingsRecord()
  }

  /// The record behind the settings; nil where there is none. Throws `StoreError.badRecord`.
  public func settingsRecordIfAny() throws -> SettingsRecord? {
    do {
      return try DurableFile.read(
        "\(path)/\(SettingsFile.path)", limit: SettingsFile.largest
      ).map { try SettingsFile.decode($0.bytes) }
    } catch let error as RecordError {
      throw StoreError.badRecord(path: SettingsFile.path, error)
    } catch let error as FileError where !Store.isOurs(error) {
      let reason = Store.reason(error, limit: SettingsFile.largest)
      throw StoreError.badRecord(path: SettingsFile.path, RecordError(reason))
    }
  }

  private func completePending(
    _ writer: StoreWriter, into files: inout [String: [UInt8]?]
  ) throws -> [(alarm: Alarm, occurrence: CivilDateTime)] {
    let view = try AlarmIndex(self)
    try HandEditImport(writer).absorb(view.unsettled)
    var completed: [(alarm: Alarm, occurrence: CivilDateTime)] = []
    for summary in try AlarmIndex(self).summaries()
    where !summary.status.pending.isEmpty && !view.broken.contains(summary.id) {
      guard let alarm = try alarm(summary.id) else { continue }
      let transition = timeline(alarm).completingPending(at: context.now)
      guard let change = change(transition) else { continue }
      files.merge(change.files) { $1 }
      completed += transition.events.compactMap { event in
        event.occurrence.map { (transition.alarm, $0) }
      }
    }
    return completed
  }
}
