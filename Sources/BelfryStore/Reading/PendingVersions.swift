import BelfryCore
import Git

/// The versions of alarms that the work tree lacks:
///
/// - Versions of a branch that another program has moved without the work tree: a mixed or soft `git reset`, a push to
///   the checked-out branch, or a commit in another work tree of the repository.
/// - Versions of an interrupted write, which the next write completes.
///
/// Reads join them with each alarm's file in memory. The next write updates the work tree (see `JournalRecovery` and
/// `WorkTreeUpdate`).
struct PendingVersions {
  private let repository: Repository
  private let now: Instant
  /// The blobs of the versions, by alarm.
  private let blobs: [Identifier: [ObjectID]]
  /// The alarms of the commit with which the work tree last agreed; nil if that commit is unknown or unreadable.
  private let earlier: [Identifier: ObjectID]?
  /// All alarms of the branch if it was moved, otherwise nil.
  private let branch: Set<Identifier>?

  /// Reads the versions.
  ///
  /// - Parameters:
  ///   - repository: The store's repository.
  ///   - head: The commit to which the branch was moved; nil if it was not moved.
  ///   - seen: The commit with which the work tree last agreed.
  ///   - interrupted: The versions of an interrupted write.
  ///   - now: The current time.
  init(
    _ repository: Repository, head: ObjectID?, seen: ObjectID?,
    interrupted: [Identifier: ObjectID], now: Instant
  ) throws {
    self.repository = repository
    self.now = now
    var blobs = interrupted.mapValues { [$0] }
    if let head {
      let current = try Store.alarms(repository, in: try repository.commit(head).tree)
      let earlier = seen.flatMap { seen in
        try? Store.alarms(repository, in: repository.commit(seen).tree)
      }
      for (id, blob) in current where earlier?[id] != blob { blobs[id, default: []].append(blob) }
      self.earlier = earlier
      branch = Set(current.keys)
    } else {
      earlier = [:]
      branch = nil
    }
    self.blobs = blobs
  }

  /// The alarms that have a pending version.
  var alarms: Set<Identifier> { Set(blobs.keys) }

  /// Returns true if an alarm has a version other than `blob`.
  func differs(_ id: Identifier, from blob: ObjectID?) -> Bool {
    blobs[id]?.contains { $0 != blob } ?? false
  }

  /// Returns true if an alarm has a version and, as far as is known, never had a file in the work tree.
  func isNew(_ id: Identifier) -> Bool { blobs[id] != nil && earlier?[id] == nil }

  /// Returns true if a moved branch lacks an alarm and its earlier commit is unknown. The alarm's file may then never
  /// have been committed.
  func isUntracked(_ id: Identifier) -> Bool {
    earlier == nil && branch?.contains(id) == false
  }

  /// Returns the join of an alarm's versions, for an alarm without a valid file. Returns nil if no version is valid.
  func version(_ id: Identifier) -> Alarm? {
    (blobs[id] ?? []).compactMap { blob in
      guard let bytes = try? repository.blob(blob, limit: AlarmRecord.largest) else { return nil }
      return try? AlarmRecord.decode(bytes, id: id, now: now)
    }.reduce(nil) { joined, next in joined.map { Alarm.join($0, next) } ?? next }
  }

  /// Returns the join of an alarm's file and its versions, or nil if the versions add nothing to the file.
  func joined(_ id: Identifier, with file: [UInt8]) -> Alarm? {
    guard differs(id, from: Repository.blobID(file)), let blobs = blobs[id] else { return nil }
    let kind = RecordPath.alarm(id)
    var result = file
    for blob in blobs {
      // An unreadable version changes nothing.
      guard let theirs = try? repository.content(blob, kind) else { continue }
      let join = RecordJoin(
        kind, ours: .success(result), theirs: theirs,
        base: { earlier?[id].flatMap { try? repository.blob($0, limit: kind.largest) } })
      result = join.bytes ?? result
    }
    return try? AlarmRecord.decode(result, id: id, now: now)
  }
}

extension Store {
  /// Returns the versions that the work tree lacks, or nil if there are none, or if the history cannot be read. In the
  /// latter case, the files count as they are.
  func pendingVersions() -> PendingVersions? {
    guard let head = local.readHead() else { return nil }
    let seen = local.readSeen()
    // An unreadable journal is reported by the next write.
    let writes = local.hasJournal ? (try? local.interruptedWrites())?.entries ?? [] : []
    guard head != seen || !writes.isEmpty, let repository = try? repository() else { return nil }
    repository.hold(writes.flatMap(\.objects))
    for tree in writes.flatMap(\.trees) {
      // Without the tree, the files count as they are.
      _ = try? repository.writeTree(repository.tree(tree.base).replacing(tree.entries))
    }
    let interrupted = interruptedAlarms(writes)
    return try? PendingVersions(
      repository, head: head == seen ? nil : head, seen: seen, interrupted: interrupted,
      now: context.now)
  }

  /// Returns the blobs of the alarms of interrupted writes.
  private func interruptedAlarms(_ writes: [JournalEntry]) -> [Identifier: ObjectID] {
    var alarms: [Identifier: ObjectID] = [:]
    for file in writes.flatMap(\.files) {
      if case .alarm(let id)? = RecordPath(file.path), let blob = file.blob { alarms[id] = blob }
    }
    return alarms
  }

  /// Returns the join of an alarm's file and the versions that the work tree lacks.
  func alarm(_ id: Identifier, _ pending: PendingVersions?) throws -> Alarm? {
    try alarm(id, pending, in: readAlarm(id))
  }

  /// Returns the join of an alarm's file, which was read already, and the versions that the work tree lacks.
  func alarm(
    _ id: Identifier, _ pending: PendingVersions?, in file: AlarmFile
  ) throws -> Alarm? {
    switch file {
    case .good(let alarm, let content): return pending?.joined(id, with: content.bytes) ?? alarm
    case .bad, .missing: return try lastGood(id, pending)
    }
  }

  /// Returns the join of the last valid version of an alarm and the versions that the work tree lacks, for an alarm
  /// without a valid file.
  func lastGood(_ id: Identifier, _ pending: PendingVersions?) throws -> Alarm? {
    let good = try lastGood(id)
    guard let version = pending?.version(id) else { return good }
    return good.map { Alarm.join($0, version) } ?? version
  }
}
