import BelfryCore
import Files
import Git
import Glibc

/// An import of hand edits of alarms: changes that an editor, a script or another git made in the work tree.
///
/// 1. A valid file: fields that differ from the version with the same stamps get a new stamp. This is the last known
///    version, or an earlier one that the user's editor held meanwhile. The result is joined with the known versions, so
///    that an outdated file reverts nothing. The changes are committed as the user's edit.
/// 2. An invalid file stays as it is. The last valid version stays in use.
/// 3. A missing file is restored: only `belfry delete` deletes.
///
/// - Precondition: The work tree agrees with the branch, apart from hand edits.
/// - Effect: At most one commit, with one log entry for each edited alarm.
/// - Cost: For one alarm whose file matches the alarm index, the status of one file. For several alarms, the branch's
///   folder of alarms and the named files. For all alarms, the status of every file.
struct HandEditImport: ReconcileStep {
  static let stage = ReconcileStage.alarms

  /// The alarms to import.
  enum Selection {
    /// The given alarms.
    case alarms([Identifier])
    /// All alarms whose files have changed, appeared or disappeared since Belfry last committed them.
    case unsettled
  }

  private let selection: Selection
  private let isBranchUnknown: Bool

  /// Creates an import.
  ///
  /// - Parameters:
  ///   - selection: The alarms.
  ///   - isBranchUnknown: True if the branch may lack alarms whose files match the index, so that all files are
  ///     compared with the branch.
  init(_ selection: Selection, isBranchUnknown: Bool = false) {
    self.selection = selection
    self.isBranchUnknown = isBranchUnknown
  }

  /// The result of an import.
  struct Result {
    /// The paths of the missing files that were restored.
    var restored: [String] = []
    /// The alarms whose files are not valid, and were left out.
    var invalid: Set<Identifier> = []
  }

  /// Imports the edits. If all alarms are checked, the writer keeps the alarm index as it was before.
  @discardableResult
  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws -> Result {
    let ids: [Identifier]
    switch selection {
    case .alarms(let named): ids = named
    case .unsettled:
      let index = try AlarmIndex(writer.store)
      index.save()
      writer.checkedAlarms = index
      ids = index.unsettled
    }
    if ids.isEmpty { return Result() }
    let rows = writer.store.alarmIndexCache.rows(of: ids)
    guard let committed = try committedVersions(ids, rows, writer) else { return Result() }
    var edits = try AlarmEdits(writer, rows, committed)
    for id in ids { try edits.add(id) }
    try edits.commit()
    return edits.result
  }

  /// Returns the blobs of the alarms in HEAD, or nil if nothing is to be imported.
  private func committedVersions(
    _ ids: [Identifier], _ rows: [Identifier: CachedAlarm], _ writer: StoreWriter
  ) throws -> [Identifier: ObjectID]? {
    guard ids.count == 1, let id = ids.first, !isBranchUnknown else {
      return try Store.committedAlarms(writer.repository)
    }
    // This avoids the history in the common case of an unchanged alarm.
    if let row = rows[id] {
      var status = stat()
      if lstat("\(writer.store.path)/\(AlarmRecord.path(id))", &status) == 0,
        FileSignature(status) == row.signature
      {
        writer.read[AlarmRecord.path(id)] = row.blob
        return nil
      }
    }
    return try Store.committedAlarms(writer.repository, only: id)
  }
}

/// The edits of one import.
private struct AlarmEdits {
  private let writer: StoreWriter
  /// The rows of the alarms in the alarm index.
  private let rows: [Identifier: CachedAlarm]
  private let committed: [Identifier: ObjectID]
  /// The versions of alarms that the branch must not lose (see `StoreWriter.acknowledgedCommits`).
  private let acknowledged: [Identifier: Set<ObjectID>]
  private let settings: Settings
  private var origin: EditOrigin
  private var files: [String: [UInt8]?] = [:]
  private var unchanged: [AlarmIndexCache.Change] = []
  private var edits: [(alarm: Alarm, fields: [Alarm.Field], isNew: Bool)] = []
  private(set) var result = HandEditImport.Result()
  private var store: Store { writer.store }

  init(
    _ writer: StoreWriter, _ rows: [Identifier: CachedAlarm], _ committed: [Identifier: ObjectID]
  ) throws {
    self.writer = writer
    self.rows = rows
    self.committed = committed
    settings = try writer.store.settings().settings
    acknowledged = try AlarmEdits.acknowledgedVersions(writer)
    origin = EditOrigin(writer.repository, from: try writer.seen ?? writer.head())
  }

  /// Returns the versions of alarms in the commit at which Belfry left the branch, and those that this device has
  /// committed since then. Its commits have what another program has committed before them, too.
  private static func acknowledgedVersions(
    _ writer: StoreWriter
  ) throws -> [Identifier: Set<ObjectID>] {
    // A commit that cannot be read has no versions.
    func versions(_ commit: ObjectID?) -> [Identifier: ObjectID] {
      let tree = commit.flatMap { try? writer.repository.commit($0).tree }
      return tree.flatMap { try? Store.alarms(writer.repository, in: $0) } ?? [:]
    }
    return try writer.acknowledgedCommits().reduce(into: [:]) { result, commit in
      let parent = commit == writer.seen ? nil : try? writer.repository.commit(commit).parents.first
      let before = versions(parent ?? nil)
      for (id, blob) in versions(commit) where before[id] != blob {
        result[id, default: []].insert(blob)
      }
    }
  }

  /// Adds an alarm.
  mutating func add(_ id: Identifier) throws {
    let path = AlarmRecord.path(id)
    let head = committed[id]
    switch try writer.readFile(of: id) {
    case .bad: result.invalid.insert(id)
    case .missing:
      if let commit = try writer.head(),
        let newer = try writer.newerVersion(of: path, in: writer.repository.commit(commit).tree)
      {
        files[path] = newer
        result.restored.append(path)
        return
      }
      guard let good = try store.lastGood(id) else { return }
      var alarm = good.alarm
      // The index can have an earlier version than the branch.
      if let head, head != good.blob, let theirs = try version(head, id) {
        alarm = Alarm.join(alarm, theirs)
      }
      files[path] = AlarmRecord.encode(alarm)
      result.restored.append(path)
    case .good(let written, let content):
      let base = try version(rows[id]?.blob, id) ?? version(head, id)
      // The index can have an earlier version than the branch, and another program can have committed an earlier one.
      let others = try versions(Set([head].compactMap { $0 }).union(acknowledged[id] ?? []), id)
        .filter { $0 != base }
      let stamped = written.stamped(
        against: try self.origin(of: written, base, committed: acknowledged.isEmpty ? head : nil),
        at: store.context.now, device: store.device,
        after: ([base].compactMap { $0 } + others).compactMap(\.latestStamp).max())
      var joined = base.map { Alarm.join(stamped, $0) } ?? stamped
      for other in others { joined = Alarm.join(joined, other) }
      let bytes = AlarmRecord.encode(joined)
      if let head, bytes == content.bytes, Repository.blobID(bytes) == head {
        // Another program has committed the file, so only the index is updated.
        unchanged.append(
          store.alarmIndexCache.row(
            joined, blob: head, status: content.status, settings: settings))
      } else {
        files[path] = bytes
      }
      if stamped != written {
        edits.append((joined, base.map { joined.changedFields(from: $0) } ?? [], base == nil))
      }
    }
  }

  /// Returns the version from which a file was edited; nil for a new alarm.
  ///
  /// It is one that Belfry has committed. Another program can have committed the edit itself.
  ///
  /// - Parameters:
  ///   - base: The version in the index or, without one, in the branch.
  ///   - head: The version in the branch if no other program has moved it, otherwise nil.
  private mutating func origin(
    of written: Alarm, _ base: Alarm?, committed head: ObjectID?
  ) throws -> Alarm? {
    let own = try versions(
      (acknowledged[written.id] ?? []).union([head].compactMap { $0 }), written.id)
    let known = [base].compactMap { $0 } + own
    if let same = known.first(where: { written.hasStamps(of: $0) }) { return same }
    let latest = known.max { one, other in
      guard let stamp = other.latestStamp else { return false }
      return one.latestStamp.map { $0 < stamp } ?? true
    }
    return latest.map { origin.version(of: written, base: $0) }
  }

  /// Returns versions of an alarm, in a fixed order. Invalid ones are left out.
  private func versions(_ blobs: Set<ObjectID>, _ id: Identifier) throws -> [Alarm] {
    try blobs.sorted { $0.description < $1.description }.compactMap { try version($0, id) }
  }

  /// Commits the edits if the files differ from HEAD. Otherwise only writes the files.
  mutating func commit() throws {
    store.alarmIndexCache.replace(unchanged)
    if files.isEmpty { return }
    let message = addEntries()
    let differs = files.contains { path, content in
      guard case .alarm(let id) = RecordPath(path), let content else { return true }
      return Repository.blobID(content) != committed[id]
    }
    if differs {
      try writer.commit(files, message: message)
    } else if let head = try writer.head() {
      try writer.checkOut(files, of: head)
    }
  }

  /// Adds a log entry for each edit, and returns the message of the commit.
  private mutating func addEntries() -> CommitMessage {
    var message = CommitMessage("Import records that another program wrote", device: store.device)
    for edit in edits {
      let event = Event(
        edit.isNew ? .created : .edited,
        payload: edit.fields.isEmpty ? nil : .fields(edit.fields))
      for entry in store.entries([event], of: edit.alarm) {
        files[LogRecord.path(entry)] = LogRecord.encode(entry)
      }
      if edits.count == 1 {
        message = CommitMessage(event, of: edit.alarm, device: store.device)
        message.subject = "Edited by hand: \(edit.alarm.title)"
      }
    }
    if edits.count > 1 {
      message = CommitMessage(
        "Edited by hand: \(edits.count) alarms",
        trailers: [("Action", LogEntry.Action.edited.rawValue)], device: store.device)
    }
    return message
  }

  /// Returns a version of an alarm. An invalid version counts as missing.
  private func version(_ blob: ObjectID?, _ id: Identifier) throws -> Alarm? {
    guard let blob, let bytes = try? writer.repository.blob(blob, limit: AlarmRecord.largest) else {
      return nil
    }
    return try? AlarmRecord.decode(bytes, id: id, now: store.context.now)
  }
}
