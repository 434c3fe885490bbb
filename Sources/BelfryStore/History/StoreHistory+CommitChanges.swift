import BelfryCore
import Git

/// The records that a commit changed. Versions that are not valid are left out; `files` names all files.
public struct CommitChanges: Sendable {
  /// Two versions of a record; nil for none.
  public struct Change<Value: Sendable>: Sendable {
    /// The version before the commit; nil if the commit added the record.
    public let before: Value?
    /// The version of the commit; nil if the commit removed the record.
    public let after: Value?
  }

  /// The commit.
  public let commit: StoreHistory.CommitSummary
  /// The lines of the message between the subject and the trailers.
  public let body: [String]
  /// The alarms.
  public private(set) var alarms: [Change<Alarm>] = []
  /// The new entries of the log, in the order of their times.
  public private(set) var entries: [LogEntry] = []
  /// The devices.
  public private(set) var devices: [Change<Device>] = []
  /// The shared settings that differ.
  public private(set) var settings:
    [(setting: Setting, before: Setting.Value?, after: Setting.Value?)] = []
  /// The paths of all files, and whether the commit added or removed them.
  public private(set) var files: [(path: String, change: FileChange)] = []

  /// The change of a file.
  public enum FileChange: String, Sendable {
    /// The kinds of changes.
    case added, changed, removed
  }

  fileprivate init(
    _ commit: Commit, _ summary: StoreHistory.CommitSummary, _ repository: Repository
  ) throws {
    self.commit = summary
    let lines = commit.message.split(separator: "\n", omittingEmptySubsequences: false)
    let trailers = CommitMessage.trailers(of: commit.message)
    body = lines.dropFirst().map(String.init).filter { line in
      guard !line.isEmpty else { return false }
      return trailers[line.firstRange(of: ": ").map { String(line[..<$0.lowerBound]) } ?? ""] == nil
    }
    let parent = try commit.parents.first.map { try repository.commit($0).tree }
    for file in try repository.changedFiles(from: parent, to: commit.tree) {
      files.append(
        (file.path, file.before == nil ? .added : file.after == nil ? .removed : .changed))
      guard let path = RecordPath(file.path) else { continue }
      func versions<Kind: Record>(_: Kind.Type) -> Change<Kind.Value> {
        func version(_ blob: ObjectID?) -> Kind.Value? {
          guard let blob, let bytes = try? repository.blob(blob, limit: Kind.largest) else {
            return nil
          }
          return try? Kind.decode(bytes, at: path, now: summary.at)
        }
        return Change(before: version(file.before), after: version(file.after))
      }
      switch path {
      case .alarm: alarms.append(versions(AlarmRecord.self))
      case .log: entries += [versions(LogRecord.self).after].compactMap { $0 }
      case .device: devices.append(versions(DeviceRecord.self))
      case .settings:
        let records = versions(SettingsFile.self)
        for setting in Setting.allCases where !setting.isLocal {
          let before = records.before.flatMap { try? SettingsFile.value(of: setting, in: $0) }
          let after = records.after.flatMap { try? SettingsFile.value(of: setting, in: $0) }
          if before != after { settings.append((setting, before, after)) }
        }
      case .calendar, .attributes, .other: break
      }
    }
    entries.sort { ($0.at, $0.id) < ($1.at, $1.id) }
  }
}

extension StoreHistory {
  /// Returns the changes of a commit, in comparison with its first parent; nil if the history has no such commit, or several.
  ///
  /// - Parameter prefix: `HEAD`, the id of the commit, or the start of one with at least four digits.
  public func changes(ofCommit prefix: String) throws -> CommitChanges? {
    let repository = try repository()
    let wanted = prefix.lowercased()
    guard wanted.count >= 4, let head = try repository.commit(of: "HEAD") else { return nil }
    var found: [Commit] = []
    if wanted == "head" {
      found = [try repository.commit(head)]
    } else if let id = ObjectID(hexadecimal: wanted) {
      found = [try? repository.commit(id)].compactMap { $0 }
    } else {
      try repository.visitHistory(from: head) { commit in
        if commit.id.description.hasPrefix(wanted) { found.append(commit) }
        return found.count < 2
      }
    }
    guard found.count == 1 else { return nil }
    let unsynced = unsynced(repository, head: found[0].id, limit: 1)
    return try CommitChanges(
      found[0], CommitSummary(found[0], isSynced: !unsynced.contains(found[0].id)), repository)
  }
}
