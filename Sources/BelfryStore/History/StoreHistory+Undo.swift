import BelfryCore
import Git

/// The result of an undo.
public struct Undone: Sendable {
  /// The subject of the undone commit, such as `Done: Rent reminder (2026-11-23 09:00)`.
  public var subject: String
  /// The time of the undone commit.
  public var acted: Instant
  /// The changed alarms.
  public var alarms: [Alarm]
  /// The same alarms as they were before the undo.
  public var earlier: [Alarm] = []
  /// The settings that have their earlier values again.
  public var settings: [Setting]
  /// The values of these settings before the undo and after it, in the same order; nil for a default.
  public var values: [(before: Setting.Value?, after: Setting.Value?)] = []
  /// The names of the holiday calendars that have their earlier holidays again.
  public var calendars: [String] = []
  /// The occurrence that the action applied to; nil if it applied to none.
  public var occurrence: CivilDateTime?
  /// The devices that this device no longer replaces.
  public var devices: [Identifier] = []
  /// True if one of the alarms was already ringing before the undo.
  public var rangBefore = false
}

extension StoreHistory {
  /// Undoes the user's latest action on this device that is not yet undone, as a new commit. The action can already be
  /// synced.
  ///
  /// - Parameters:
  ///   - skipping: The number of latest actions to skip.
  ///   - isDryRun: True to return the result without recording anything.
  /// - Returns: The result.
  /// - Throws: `StoreError.nothingToUndo`, `.cannotBeUndone` if the action is final, `.notUndone` if an alarm has
  ///   changed since the action, or `.alarmLimit` if the tier doesn't allow another active alarm.
  public func undo(skipping: Int = 0, isDryRun: Bool = false) throws -> Undone {
    try store.write(reconciling: .records) { writer in
      guard let action = try lastAction(writer, skipping: skipping) else {
        throw StoreError.nothingToUndo
      }
      let trailers = CommitMessage.trailers(of: action.message)
      if trailers[CommitMessage.final] != nil {
        throw StoreError.cannotBeUndone(
          subject: CommitMessage.subject(of: action.message),
          isMerge: trailers["Action"] == CommitMessage.merge)
      }
      let undone = Undone(
        subject: CommitMessage.subject(of: action.message),
        acted: Instant(seconds: action.time), alarms: [], settings: [],
        occurrence: trailers["Occurrence"].flatMap { CivilDateTime($0) })
      guard
        let reverted = try revert(action, undone, writer, .init("Undo", [:]), isDryRun: isDryRun)
      else { throw StoreError.nothingToUndo }
      return reverted
    }
  }

  /// Takes back the user's latest undo on this device, as a new commit. After another action there is nothing to redo.
  ///
  /// - Parameter isDryRun: True to return the result without recording anything.
  /// - Returns: The result. Its subject is that of the action that counts again.
  /// - Throws: `StoreError.nothingToRedo`, `.notUndone` if an alarm has changed since the undo, or `.alarmLimit`.
  public func redo(isDryRun: Bool = false) throws -> Undone {
    try store.write(reconciling: .records) { writer in
      guard let undo = try lastUndo(writer) else { throw StoreError.nothingToRedo }
      let trailers = CommitMessage.trailers(of: undo.message)
      let subject = CommitMessage.subject(of: undo.message)
      let prefix = "Undo: "
      let action = trailers[CommitMessage.undoes] ?? ""
      let redone = Undone(
        subject: subject.hasPrefix(prefix) ? String(subject.dropFirst(prefix.count)) : subject,
        acted: Instant(seconds: undo.time), alarms: [], settings: [],
        occurrence: occurrence(ofAction: action, writer.repository))
      guard
        let reverted = try revert(
          undo, redone, writer, .init("Redo", [CommitMessage.redoes: action]), isDryRun: isDryRun)
      else { throw StoreError.nothingToRedo }
      return reverted
    }
  }

  /// Returns the occurrence that an action was about; nil for none, or if its commit cannot be read.
  private func occurrence(ofAction id: String, _ repository: Repository) -> CivilDateTime? {
    guard let commit = ObjectID(hexadecimal: id).flatMap({ try? repository.commit($0) }) else {
      return nil
    }
    return CommitMessage.trailers(of: commit.message)[CommitMessage.occurrence]
      .flatMap { CivilDateTime($0) }
  }

  /// The message of a commit that takes back another one.
  private struct Reversal {
    /// The first word of the subject.
    let name: String
    /// The trailers beside those of each reversal.
    let trailers: [String: String]

    init(_ name: String, _ trailers: [String: String]) {
      self.name = name
      self.trailers = trailers
    }
  }

  /// Takes back a commit, and returns the completed result; nil if it has changed nothing that can be taken back.
  private func revert(
    _ action: Commit, _ result: Undone, _ writer: StoreWriter, _ reversal: Reversal,
    isDryRun: Bool
  ) throws -> Undone? {
    var result = result
    let repository = writer.repository
    let parent = try action.parents.first.map { try repository.commit($0).tree }
    let changed = try repository.changedFiles(from: parent, to: action.tree)
    var files: [String: [UInt8]?] = [:]
    try revertAlarms(action, changed, writer, &result, &files)
    try store.requireRoom(for: result.alarms)
    try revertSettings(action, changed, writer, &result, &files)
    try revertCalendars(action, changed, writer, &result, &files)
    result.devices = try store.devices.revertAdoption(action, changed, repository, &files)
    guard !files.isEmpty else { return nil }
    if isDryRun { return result }
    var own: [(key: String, value: String)] = [
      ("Action", LogEntry.Action.undone.rawValue),
      (CommitMessage.undoes, action.id.description),
    ]
    own += reversal.trailers.map { ($0.key, $0.value) }
    if result.alarms.count == 1 { own.insert(("Alarm", result.alarms[0].id.text), at: 0) }
    try writer.commit(
      files,
      message: CommitMessage("\(reversal.name): \(result.subject)", trailers: own, device: device))
    return result
  }

  /// An action of this device's user.
  public struct UserAction: Sendable {
    /// The subject of its commit.
    public let subject: String
    /// The time of its commit.
    public let acted: Instant
    /// False if the action is final.
    public let isUndoable: Bool
    /// The occurrence that the subject names; nil if it names none.
    public let occurrence: CivilDateTime?
  }

  /// Returns the latest actions of this device's user that are not undone, newest first.
  ///
  /// - Parameter count: The maximum number of them.
  public func userActions(count: Int) throws -> [UserAction] {
    let repository = try repository()
    guard let head = try repository.commit(of: "HEAD") else { return [] }
    return try actions(repository, from: head, count: count).map {
      let trailers = CommitMessage.trailers(of: $0.message)
      return UserAction(
        subject: CommitMessage.subject(of: $0.message), acted: Instant(seconds: $0.time),
        isUndoable: trailers[CommitMessage.final] == nil,
        occurrence: trailers[CommitMessage.occurrence].flatMap { CivilDateTime($0) })
    }
  }

  /// Returns the commit of the latest action of this device's user that is not undone.
  private func lastAction(_ writer: StoreWriter, skipping: Int) throws -> Commit? {
    guard let head = try writer.head() else { return nil }
    let actions = try actions(writer.repository, from: head, count: skipping + 1)
    return actions.count > skipping ? actions[skipping] : nil
  }

  private func actions(
    _ repository: Repository, from head: ObjectID, count: Int
  ) throws -> [Commit] {
    var undone: Set<String> = []
    var found: [Commit] = []
    try repository.visitHistory(from: head) { entry in
      guard entry.parents.count == 1 else { return true }
      let trailers = CommitMessage.trailers(of: entry.message)
      guard trailers["Device"] == device.text, let action = trailers["Action"] else { return true }
      if let earlier = trailers[CommitMessage.undoes] {
        // An undo that was taken back undoes nothing.
        if !undone.contains(entry.id.description) { undone.insert(earlier) }
        return true
      }
      guard CommitMessage.isUndoable(action), trailers[CommitMessage.auto] == nil,
        !undone.contains(entry.id.description)
      else { return true }
      found.append(entry)
      return found.count < count
    }
    return found
  }

  /// Returns the latest undo of this device's user that is not taken back, if no action follows it.
  private func lastUndo(_ writer: StoreWriter) throws -> Commit? {
    guard let head = try writer.head() else { return nil }
    var takenBack: Set<String> = []
    var found: Commit?
    try writer.repository.visitHistory(from: head) { entry in
      guard entry.parents.count == 1 else { return true }
      let trailers = CommitMessage.trailers(of: entry.message)
      guard trailers["Device"] == device.text, let action = trailers["Action"] else { return true }
      if let earlier = trailers[CommitMessage.undoes] {
        if trailers[CommitMessage.redoes] != nil {
          takenBack.insert(earlier)
          return true
        }
        if takenBack.contains(entry.id.description) { return true }
        found = entry
        return false
      }
      return !CommitMessage.isUndoable(action) || trailers[CommitMessage.auto] != nil
    }
    return found
  }

  /// Returns a record of a commit; nil without a blob. The error names both.
  private func version<Kind: Record>(
    _: Kind.Type, _ blob: ObjectID?, at path: RecordPath, of commit: Commit,
    _ repository: Repository, now: Instant = Instant(seconds: 0)
  ) throws -> Kind.Value? {
    guard let blob else { return nil }
    let bytes = try repository.blob(blob, limit: Kind.largest)
    do throws(RecordError) {
      return try Kind.decode(bytes, at: path, now: now)
    } catch {
      throw StoreError.badRecord(path: "\(commit.id.short):\(path.text)", error)
    }
  }

  private func revertAlarms(
    _ action: Commit, _ changed: [ChangedFile], _ writer: StoreWriter, _ undone: inout Undone,
    _ files: inout [String: [UInt8]?]
  ) throws {
    let repository = writer.repository
    let logged = try changed.compactMap { file -> LogEntry? in
      guard let path = RecordPath(file.path), case .log = path, file.before == nil else {
        return nil
      }
      return try version(LogRecord.self, file.after, at: path, of: action, repository)
    }
    for file in changed {
      guard let path = RecordPath(file.path), case .alarm(let id) = path else { continue }
      func alarm(_ blob: ObjectID?) throws -> Alarm? {
        try version(AlarmRecord.self, blob, at: path, of: action, repository, now: undone.acted)
      }
      guard let after = try alarm(file.after) else { continue }
      let before = try alarm(file.before)
      guard let current = try writer.readAlarm(id).value(at: path) else {
        throw StoreError.noSuchAlarm(id.text)
      }
      let restored: Alarm
      do throws(UndoError) {
        restored = try store.timeline(current).undoing(
          after, before: before, acted: undone.acted,
          takesBackOutcomes: changed.contains { $0.path == SettingsFile.path }, at: context.now,
          device: device)
      } catch {
        throw StoreError.notUndone(subject: undone.subject, title: current.title, error)
      }
      if try store.status(current).state == .ringing { undone.rangBefore = true }
      files[file.path] = AlarmRecord.encode(restored)
      undone.alarms.append(restored)
      undone.earlier.append(current)
      let events = logged.filter { $0.alarm == id }.map {
        Event(undoing: $0, in: restored, at: context.now)
      }
      for entry in store.entries(events, of: restored) {
        files[LogRecord.path(entry)] = LogRecord.encode(entry)
      }
    }
  }

  private func revertCalendars(
    _ action: Commit, _ changed: [ChangedFile], _ writer: StoreWriter, _ undone: inout Undone,
    _ files: inout [String: [UInt8]?]
  ) throws {
    for file in changed {
      guard let path = RecordPath(file.path), case .calendar(let name) = path else { continue }
      func calendar(_ blob: ObjectID?) throws -> HolidayCalendar? {
        try version(CalendarRecord.self, blob, at: path, of: action, writer.repository)
      }
      guard let after = try calendar(file.after) else { continue }
      let before = try calendar(file.before) ?? HolidayCalendar(name: name)
      guard
        let restored = try writer.read(CalendarRecord.self, at: path).value(at: path)?.undoing(
          after, before: before, at: context.now, device: device)
      else { throw StoreError.calendarChangedSince(subject: undone.subject, name: name) }
      files[file.path] = CalendarRecord.encode(restored)
      undone.calendars.append(name)
    }
  }

  private func revertSettings(
    _ action: Commit, _ changed: [ChangedFile], _ writer: StoreWriter, _ undone: inout Undone,
    _ files: inout [String: [UInt8]?]
  ) throws {
    guard let file = changed.first(where: { $0.path == SettingsFile.path }) else { return }
    func settings(_ blob: ObjectID?) throws -> SettingsRecord? {
      try version(SettingsFile.self, blob, at: .settings, of: action, writer.repository)
    }
    guard let after = try settings(file.after) else { return }
    let before = try settings(file.before) ?? SettingsRecord()
    var record = try writer.readSettings()
    let stamp = Stamp.next(after: record.stamps.values.max(), now: context.now, device: device)
    for setting in Setting.allCases where !setting.isLocal {
      let (old, new) = (before.values[setting.rawValue], after.values[setting.rawValue])
      // A value that was set again has only a new stamp.
      let key = setting.rawValue
      guard old != new || before.stamps[key] != after.stamps[key] else { continue }
      guard record.values[setting.rawValue] == new else {
        throw StoreError.settingChangedSince(subject: undone.subject, setting)
      }
      let value = try SettingsFile.value(of: setting, in: before)
      undone.values.append((try SettingsFile.value(of: setting, in: record), value))
      SettingsFile.set(setting, to: value, stamp: stamp, in: &record)
      undone.settings.append(setting)
    }
    if !undone.settings.isEmpty { files[file.path] = SettingsFile.encode(record) }
  }
}
