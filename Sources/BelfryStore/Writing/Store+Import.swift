import BelfryCore

extension Store {
  /// Merges foreign records into this store as one commit, by the rules of a sync.
  ///
  /// Records that are here already change nothing, and no record here is lost.
  ///
  /// - Parameters:
  ///   - files: Valid records by their paths.
  ///   - subject: The subject of the commit.
  /// - Throws: `StoreError`, such as `.alarmLimit`; `GitError`.
  public func take(_ files: [String: [UInt8]], subject: String) throws -> SyncResult {
    try write(reconciling: .records) { writer in
      let ours = try writer.head().map { try writer.repository.commit($0).tree }
      let theirs = try writer.tree(
        from: nil, try files.mapValues { .some(try writer.repository.writeBlob($0)) })
      let join = try TreeJoin(writer.repository, ours: ours, theirs: theirs, base: nil)
      var result = SyncResult()
      result.merged = join.merged
      result.refusals = join.refusals
      let changed = join.files.filter { $0.value != nil }
      if changed.isEmpty { return result }
      try requireRoom(for: alarms(in: changed), tier: tier(in: changed))
      let before = Dictionary(uniqueKeysWithValues: changed.keys.map { ($0, join.before[$0]) })
      var message = CommitMessage(
        subject, trailers: [("Action", CommitMessage.merge)], device: device)
      message.isFinal = true
      try writer.commit(changed, keeping: edited(before), message: message)
      return result
    }
  }

  private func alarms(in files: [String: [UInt8]?]) throws -> [Alarm] {
    try files.compactMap { path, bytes in
      guard case .alarm(let id)? = RecordPath(path), let bytes else { return nil }
      return try AlarmRecord.decode(bytes, id: id, now: context.now)
    }
  }

  /// Returns the tier of the settings in records; nil without settings.
  private func tier(in files: [String: [UInt8]?]) throws -> Settings.Tier? {
    guard let bytes = files[SettingsFile.path] ?? nil else { return nil }
    var settings = Settings()
    try SettingsFile.apply(SettingsFile.decode(bytes), local: false, to: &settings)
    return settings.tier
  }
}
