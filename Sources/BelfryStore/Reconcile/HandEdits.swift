import BelfryCore
import Files
import Git
import Glibc

/// The hand edits of records of one kind: changes that an editor, a script or another git made in the work tree.
///
/// 1. A valid file: parts that differ from the version with the same stamps get a new stamp. This is the last known
///    version, or an earlier one that the user's editor held meanwhile. The result is joined with the known versions,
///    so that an outdated file reverts nothing. The changes are committed as the user's edit.
/// 2. An invalid file stays as it is. The last valid version stays in use.
/// 3. A missing file is restored, unless the kind can be missing: only a command deletes.
struct HandEdits<Kind: EditableRecord> {
  private let writer: StoreWriter
  /// The versions that are known to have no hand edits without a stamp, by path.
  private let bases: [String: ObjectID]
  /// The versions in HEAD, by path.
  private let committed: [String: ObjectID]
  /// The versions that the branch must not lose (see `StoreWriter.acknowledgedCommits`), by path.
  private let acknowledged: [String: Set<ObjectID>]
  /// True if another program has moved the branch.
  private let isBranchMoved: Bool
  private var origin: EditOrigin

  /// The contents to write, by path.
  private(set) var files: [String: [UInt8]?] = [:]
  /// The edited records, with the versions before.
  private(set) var edits: [(value: Kind.Value, base: Kind.Value?)] = []
  /// The records whose files are the versions in HEAD, with the status of these files.
  private(set) var unchanged: [(value: Kind.Value, blob: ObjectID, status: stat)] = []
  /// The paths of the missing files to restore.
  private(set) var restored: [String] = []
  /// The records whose files are not valid, and were left out.
  private(set) var invalid: Set<RecordPath> = []

  /// Finds the edits of some records.
  ///
  /// - Parameters:
  ///   - writer: The writer.
  ///   - paths: The records.
  ///   - bases: The versions without hand edits by path, as far as they are known.
  init(_ writer: StoreWriter, _ paths: [RecordPath], bases: [String: ObjectID]) throws {
    self.writer = writer
    self.bases = bases
    let (repository, names) = (writer.repository, paths.map(\.text))
    let head = try writer.head()
    committed = try repository.blobs(at: names, in: head)
    origin = EditOrigin(repository, from: writer.seen ?? head)
    // A commit that cannot be read has no versions.
    let commits = try writer.acknowledgedCommits().filter { (try? repository.commit($0)) != nil }
    isBranchMoved = !commits.isEmpty
    // This device's commits have what another program has committed before them, too.
    acknowledged = commits.reduce(into: [:]) { result, commit in
      let parent = commit == writer.seen ? nil : try? repository.commit(commit).parents.first
      let before = (try? repository.blobs(at: names, in: parent ?? nil)) ?? [:]
      for (name, blob) in (try? repository.blobs(at: names, in: commit)) ?? [:]
      where before[name] != blob {
        result[name, default: []].insert(blob)
      }
    }
    for path in paths { try add(path) }
  }

  private mutating func add(_ path: RecordPath) throws {
    switch try writer.store.read(Kind.self, at: path) {
    case .bad: invalid.insert(path)
    case .missing: if Kind.isRestored { try restore(path) }
    case .good(let written, let content): add(written, content, at: path)
    }
  }

  private mutating func add(
    _ written: Kind.Value, _ content: Store.DurableFileContent, at path: RecordPath
  ) {
    let (name, store) = (path.text, writer.store)
    let blob = Repository.blobID(content.bytes)
    writer.read[name] = blob
    let head = committed[name]
    let latest = lastValid(at: path)
    let base = version(bases[name], path) ?? version(latest, path)
    let known = acknowledged[name] ?? []
    // The base can be an earlier version than the branch's, and another program can have committed an earlier one.
    let others = versions(known.union([latest].compactMap { $0 }), path).filter { $0 != base }
    let own = isBranchMoved ? versions(known, path) : others
    let stamped = written.stamped(
      against: origin(of: written, [base].compactMap { $0 } + own, at: path),
      at: store.context.now, device: store.device,
      after: ([base].compactMap { $0 } + others).compactMap(\.latestStamp).max())
    var joined = base.map { Kind.Value.join(stamped, $0) } ?? stamped
    for other in others { joined = Kind.Value.join(joined, other) }
    let bytes = Kind.encode(joined)
    if bytes == content.bytes, blob == head {
      unchanged.append((joined, blob, content.status))
    } else {
      files[name] = bytes
    }
    if stamped != written { edits.append((joined, base)) }
  }

  /// Returns the version from which a file was edited; nil for a new record.
  ///
  /// It is one that Belfry has committed. Another program can have committed the edit itself.
  ///
  /// - Parameter known: The known versions without hand edits.
  private mutating func origin(
    of written: Kind.Value, _ known: [Kind.Value], at path: RecordPath
  ) -> Kind.Value? {
    if let same = known.first(where: { written.hasStamps(of: $0) }) { return same }
    let latest = known.max { one, other in
      guard let stamp = other.latestStamp else { return false }
      return one.latestStamp.map { $0 < stamp } ?? true
    }
    return latest.map { origin.version(Kind.self, of: written, base: $0, at: path) }
  }

  private mutating func restore(_ path: RecordPath) throws {
    let name = path.text
    if let commit = try writer.head(),
      let newer = try writer.newerVersion(of: name, in: writer.repository.commit(commit).tree)
    {
      files[name] = newer
      restored.append(name)
      return
    }
    let store = writer.store
    guard
      let good = try store.lastGoodVersion(of: name, writer.repository, known: bases[name])
    else { return }
    var value = try Kind.decode(good.bytes, at: path, now: store.context.now)
    // The base can be an earlier version than the branch's.
    if let latest = lastValid(at: path), latest != good.blob, let theirs = version(latest, path) {
      value = Kind.Value.join(value, theirs)
    }
    files[name] = Kind.encode(value)
    restored.append(name)
  }

  /// Returns the last valid version of a record in the branch; nil if there is none.
  ///
  /// Another program can have committed an invalid version, for example a file that an editor was about to write.
  private func lastValid(at path: RecordPath) -> ObjectID? {
    guard let head = committed[path.text] else { return nil }
    if version(head, path) != nil { return head }
    return (try? writer.store.lastGoodVersion(of: path.text, writer.repository))?.blob
  }

  /// Returns versions of a record, in a fixed order. Invalid ones are left out.
  private func versions(_ blobs: Set<ObjectID>, _ path: RecordPath) -> [Kind.Value] {
    blobs.sorted { $0.description < $1.description }.compactMap { version($0, path) }
  }

  /// Returns a version of a record. An invalid version counts as missing.
  private func version(_ blob: ObjectID?, _ path: RecordPath) -> Kind.Value? {
    guard let blob, let bytes = try? writer.repository.blob(blob, limit: Kind.largest) else {
      return nil
    }
    return try? Kind.decode(bytes, at: path, now: writer.store.context.now)
  }

  /// Replaces the versions of edited records before they are committed.
  ///
  /// - Parameter change: Returns another version of an edited record, given the version before; nil to keep it.
  mutating func adjust(_ change: (Kind.Value, Kind.Value) -> (path: RecordPath, value: Kind.Value)?)
  {
    for (index, edit) in edits.enumerated() {
      guard let base = edit.base, let (path, value) = change(edit.value, base) else { continue }
      edits[index].value = value
      files[path.text] = Kind.encode(value)
    }
  }

  /// Commits the edits if the files differ from HEAD. Otherwise only writes the files.
  ///
  /// - Parameters:
  ///   - entries: The log entries of the edits.
  ///   - message: The message of the commit.
  func commit(_ entries: [LogEntry] = [], message: CommitMessage) throws {
    if files.isEmpty { return }
    let differs = files.contains { $1.map(Repository.blobID) != committed[$0] }
    if differs || !entries.isEmpty {
      var files = files
      for entry in entries { files[LogRecord.path(entry)] = LogRecord.encode(entry) }
      try writer.commit(files, message: message)
    } else if let head = try writer.head() {
      try writer.checkOut(files, of: head)
    }
  }
}
