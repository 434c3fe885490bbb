import BelfryCore
import Git

extension Store {
  /// What a change of the shared settings came to.
  public struct SettingsChange: Sendable {
    public var before: Settings
    public var after: Settings
    /// The occurrences that a downgrade has completed.
    public var completed: [(alarm: Alarm, occurrence: CivilDateTime)] = []
  }

  /// Changes one of the settings that all devices share, as one commit; nil is its default.
  ///
  /// A tier without pending completes all pending occurrences in the same commit. Throws
  /// `StoreError.badRecord` when the file holds something that must not be lost.
  public func set(_ setting: Setting, to value: Setting.Value?) throws -> SettingsChange {
    try locked {
      let writer = try StoreWriter(self)
      try SettingsAbsorption(writer).absorb()
      let (before, problem) = try settings()
      if case .invalid(let error, _)? = problem?.kind {
        throw StoreError.badRecord(path: SettingsFile.path, error)
      }
      var change = SettingsChange(before: before, after: before)
      let value = value ?? Settings()[keyPath: setting.value]
      change.after[keyPath: setting.value] = value
      if change.after == before { return change }
      var record = try settingsRecord()
      let stamp = Stamp.next(after: record.stamps.values.max(), now: context.now, device: device)
      SettingsFile.set(setting, to: value, stamp: stamp, in: &record)
      var files: [String: [UInt8]?] = [SettingsFile.path: SettingsFile.encode(record)]
      if !change.after.tier.confirmsCompletion {
        change.completed = try completePending(writer, into: &files)
      }
      try writer.commit(
        files,
        message: CommitMessage(
          "Set \(setting.name) to \(value)", trailers: [("Action", CommitMessage.settings)],
          device: device))
      try settleSettings()
      return change
    }
  }

  func settingsRecord() throws -> SettingsRecord {
    guard
      let file = try DurableFile.read("\(path)/\(SettingsFile.path)", limit: SettingsFile.largest)
    else { return SettingsRecord() }
    do throws(RecordError) {
      return try SettingsFile.decode(file.bytes)
    } catch {
      throw StoreError.badRecord(path: SettingsFile.path, error)
    }
  }

  private func completePending(
    _ writer: StoreWriter, into files: inout [String: [UInt8]?]
  ) throws -> [(alarm: Alarm, occurrence: CivilDateTime)] {
    let view = try CardView(self)
    try Absorption(writer).absorb(view.unsettled)
    var completed: [(alarm: Alarm, occurrence: CivilDateTime)] = []
    for card in try CardView(self).cards()
    where !card.status.pending.isEmpty && !view.broken.contains(card.id) {
      guard let alarm = try alarm(card.id) else { continue }
      let transition = timeline(alarm).completingPending(at: context.now)
      guard let change = change(transition) else { continue }
      for alarm in change.alarms { files[AlarmRecord.path(alarm.id)] = AlarmRecord.encode(alarm) }
      for entry in change.entries { files[LogRecord.path(entry)] = LogRecord.encode(entry) }
      completed += transition.events.compactMap { event in
        event.occurrence.map { (transition.alarm, $0) }
      }
    }
    return completed
  }
}
