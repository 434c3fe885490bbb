import BelfryCore
import Synchronization

extension Store {
  /// Changes a setting that all devices share, as one commit.
  ///
  /// A value that the setting has already is stamped again, so that it wins over an earlier change of another device.
  /// A change to a tier without pending completes all pending occurrences in the same commit.
  ///
  /// - Parameters:
  ///   - setting: The setting.
  ///   - value: The new value; nil for the default.
  ///   - isDryRun: True to return the result without recording anything.
  /// - Returns: The occurrences that the change of the tier completed.
  /// - Throws: `StoreError.badRecord` if the settings file is not valid, because its content must not be lost.
  @discardableResult
  public func set(
    _ setting: Setting, to value: Setting.Value?, isDryRun: Bool = false
  ) throws -> [(alarm: Alarm, occurrence: CivilDateTime)] {
    // On the tier free, edited alarms can have pending occurrences to complete.
    let completes = try setting == .tier || !settings().settings.tier.confirmsCompletion
    return try write(reconciling: completes ? .records : .settings) { writer in
      var record = try writer.readSettings()
      var settings = try self.settings().settings
      let value = value ?? Settings()[keyPath: setting.value]
      settings[keyPath: setting.value] = value
      let stamp = Stamp.next(after: record.stamps.values.max(), now: context.now, device: device)
      SettingsFile.set(setting, to: value, stamp: stamp, in: &record)
      var files: [String: [UInt8]?] = [SettingsFile.path: SettingsFile.encode(record)]
      let completed =
        settings.tier.confirmsCompletion ? [] : try completePending(writer, into: &files)
      if isDryRun { return completed }
      try writer.commit(
        files,
        message: CommitMessage(
          "Set \(setting.name) to \(value)", trailers: [("Action", CommitMessage.settings)],
          device: device))
      return completed
    }
  }

  /// Returns the record of the settings, or an empty one if the file is missing.
  ///
  /// - Throws: `StoreError.badRecord`.
  func settingsRecord() throws -> SettingsRecord {
    try settingsRecordIfAny() ?? SettingsRecord()
  }

  /// Returns the record of the settings, or nil if the file is missing.
  ///
  /// - Throws: `StoreError.badRecord`.
  public func settingsRecordIfAny() throws -> SettingsRecord? {
    try read(SettingsFile.self, at: .settings).value(at: .settings)
  }

  private func completePending(
    _ writer: StoreWriter, into files: inout [String: [UInt8]?]
  ) throws -> [(alarm: Alarm, occurrence: CivilDateTime)] {
    let invalid = writer.checkedAlarms?.invalid ?? []
    var completed: [(alarm: Alarm, occurrence: CivilDateTime)] = []
    for summary in try AlarmIndex(self).summaries()
    where !summary.status.pending.isEmpty && !invalid.contains(summary.id) {
      guard case .good(let alarm, _) = try writer.readAlarm(summary.id) else { continue }
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

/// A cache of the settings with their stamps.
final class StampedSettingsCache: Sendable {
  private let known = Mutex<(signature: String?, settings: StampedSettings)?>(nil)

  /// Returns the settings for the signature of the settings file, or reads them.
  func value(
    for signature: String?, _ read: () -> StampedSettings
  ) -> StampedSettings {
    known.withLock { known in
      if let known, known.signature == signature { return known.settings }
      let settings = read()
      known = (signature, settings)
      return settings
    }
  }
}

extension Store {
  /// The settings with their stamps, which automatic outcomes name. Cached until the file changes.
  var stampedSettings: StampedSettings {
    stampedSettingsCache.value(for: SettingsFile.signature(of: self)) {
      // Settings that are not valid count as the defaults, which have no stamps.
      let record = (try? settingsRecord()) ?? SettingsRecord()
      var values = Settings()
      try? SettingsFile.apply(record, local: false, to: &values)
      return StampedSettings(
        values,
        stamps: Dictionary(
          uniqueKeysWithValues: record.stamps.compactMap { key, stamp in
            Setting(rawValue: key).map { ($0, stamp) }
          }))
    }
  }
}
