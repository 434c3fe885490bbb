import BelfryCore

/// Values of `settings.json` that are no settings of the user. All devices of the store share them, and each merges by
/// its stamp.
extension Store {
  /// Returns the shared values whose keys begin with a prefix; none if the file is missing or not valid.
  public func sharedValues(_ prefix: String) -> [String: JSON] {
    // A read of the settings reports an invalid file.
    guard let record = try? settingsRecordIfAny() else { return [:] }
    return record.values.filter { $0.key.hasPrefix(prefix) }
      .compactMapValues { JSON(fragment: $0) }
  }

  /// Sets shared values, as one commit that `belfry undo` leaves out.
  ///
  /// - Parameters:
  ///   - values: The values by key. A key consists of ASCII letters, digits and hyphens.
  ///   - subject: The subject of the commit.
  /// - Throws: `StoreError.badRecord` if the settings file is not valid, because its content must not be lost.
  public func setSharedValues(_ values: [String: JSON], subject: String) throws {
    try write(reconciling: .settings) { writer in
      var record = try writer.readSettings()
      let stamp = Stamp.next(after: record.stamps.values.max(), now: context.now, device: device)
      for (key, value) in values {
        record.values[key] = value.line
        record.stamps[key] = stamp
      }
      try writer.commit(
        [SettingsFile.path: SettingsFile.encode(record)],
        message: CommitMessage(subject, device: device))
    }
  }
}
