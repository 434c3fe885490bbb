import BelfryCore
import Git
import Glibc

/// Versions of alarms that the work tree lacks:
///
/// - those of a branch that something other than Belfry has moved while the work tree stayed behind: a mixed or soft
///   `git reset`, a push into the checked-out branch, a commit in another work tree of the repository;
/// - those of a write that was interrupted, which the next write finishes.
///
/// Reads join each alarm's file with them in memory. The next write brings the work tree in line (see `recover` and
/// `WorkTreeUpdate`).
struct PendingVersions {
  private let repository: Repository
  private let now: Instant
  /// The blobs of the versions, by alarm.
  private let blobs: [Identifier: [ObjectID]]
  /// The alarms of the commit that the work tree was last in line with; nil when that commit is not known or cannot
  /// be read.
  private let earlier: [Identifier: ObjectID]?
  /// All alarms of a moved branch; nil when the branch was not moved.
  private let branch: Set<Identifier>?

  /// - Parameters:
  ///   - head: the commit that the branch was moved to; nil when it was not.
  ///   - seen: the commit that the work tree was last in line with.
  ///   - interrupted: the versions that an interrupted write was to bring.
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

  /// The alarms of which there are such versions.
  var alarms: Set<Identifier> { Set(blobs.keys) }

  /// Returns true when there is a version that is not the one of a blob.
  func differs(_ id: Identifier, from blob: ObjectID?) -> Bool {
    blobs[id]?.contains { $0 != blob } ?? false
  }

  /// Returns true when the work tree never had an alarm of which there is a version, as far as that is known.
  func isNew(_ id: Identifier) -> Bool { blobs[id] != nil && earlier?[id] == nil }

  /// Returns true for an alarm that a moved branch lacks when it is not known what the branch had before: nothing shows
  /// that the alarm's file was ever committed.
  func isUntracked(_ id: Identifier) -> Bool {
    earlier == nil && branch?.contains(id) == false
  }

  /// An alarm without a usable file, as these versions have it; nil when none of them can be used.
  func version(_ id: Identifier) -> Alarm? {
    (blobs[id] ?? []).compactMap { blob in
      guard let bytes = try? repository.blob(blob, limit: AlarmRecord.largest) else { return nil }
      return try? AlarmRecord.decode(bytes, id: id, now: now)
    }.reduce(nil) { joined, next in joined.map { Alarm.join($0, next) } ?? next }
  }

  /// An alarm's file joined with these versions; nil when they add nothing to the file.
  func joined(_ id: Identifier, with file: [UInt8]) -> Alarm? {
    guard differs(id, from: Repository.blobID(file)), let blobs = blobs[id] else { return nil }
    let kind = RecordPath.alarm(id)
    var result = file
    for blob in blobs {
      // The file stands as it is beside a version that cannot be read.
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
  /// The commit of the checked-out branch if something other than Belfry has moved it there; nil otherwise, and while a
  /// commit of the past is checked out. Costs a look at three small files.
  public var movedHead: String? {
    guard let head = local.readHead(), head != local.readSeen() else { return nil }
    return head.description
  }

  /// The versions that the work tree lacks; nil when there are none.
  ///
  /// Nil also when the history cannot be read: the files are then taken as they are.
  func pendingVersions() -> PendingVersions? {
    guard let head = local.readHead() else { return nil }
    let seen = local.readSeen()
    let interrupted = interruptedAlarms()
    guard head != seen || !interrupted.isEmpty, let repository = try? repository() else {
      return nil
    }
    return try? PendingVersions(
      repository, head: head == seen ? nil : head, seen: seen, interrupted: interrupted,
      now: context.now)
  }

  /// The blobs of the alarms that a write was to bring, and has not brought to its end.
  ///
  /// None of a write that is to be taken back.
  private func interruptedAlarms() -> [Identifier: ObjectID] {
    // A journal that cannot be read is reported by whoever writes.
    guard let journal = (try? local.readJournal()) ?? nil, !journal.isRefused else { return [:] }
    var alarms: [Identifier: ObjectID] = [:]
    for (path, blob) in journal.files {
      if case .alarm(let id)? = RecordPath(path), let blob { alarms[id] = blob }
    }
    return alarms
  }

  /// An alarm as it is in its file and in the versions that the work tree lacks.
  func alarm(_ id: Identifier, _ pending: PendingVersions?) throws -> Alarm? {
    switch try readAlarm(id) {
    case .good(let alarm, let content): return pending?.joined(id, with: content.bytes) ?? alarm
    case .bad, .missing: return try lastGood(id, pending)
    }
  }

  /// The last valid version of an alarm without a usable file, joined with those that the work tree lacks.
  func lastGood(_ id: Identifier, _ pending: PendingVersions?) throws -> Alarm? {
    let good = try lastGood(id)?.alarm
    guard let version = pending?.version(id) else { return good }
    return good.map { Alarm.join($0, version) } ?? version
  }
}

extension LocalState {
  /// The folder that the references of branches are in.
  var commonDirectory: String {
    guard let common = DurableFile.firstLine(of: gitDirectory + "/commondir") else {
      return gitDirectory
    }
    return common.hasPrefix("/") ? common : "\(gitDirectory)/\(common)"
  }

  /// The commit at which the checked-out branch stands, read without libgit2, whose start costs more than most
  /// commands; nil when no branch is checked out, or its files cannot be read.
  func readHead() -> ObjectID? {
    guard let head = DurableFile.firstLine(of: gitDirectory + "/HEAD"), head.hasPrefix("ref: ")
    else { return nil }
    return readReference(String(head.dropFirst(5)))
  }

  /// The commit that a branch's reference names, in its own file or among the packed ones.
  func readReference(_ name: String) -> ObjectID? {
    let folder = commonDirectory
    if let line = DurableFile.firstLine(of: "\(folder)/\(name)") {
      return ObjectID(hexadecimal: line)
    }
    guard let packed = (try? DurableFile.read("\(folder)/packed-refs", limit: 64 << 20)) ?? nil
    else { return nil }
    // `<40 digits> refs/heads/main`, a line each.
    let digits = 2 * ObjectID.byteCount
    let ending = Array(" \(name)".utf8)
    return packed.bytes.withUnsafeBufferPointer { bytes -> ObjectID? in
      guard let start = bytes.baseAddress else { return nil }
      var position = 0
      while position < bytes.count {
        let found = memchr(start + position, Int32(UInt8(ascii: "\n")), bytes.count - position)
        let end = found.map { UnsafeRawPointer($0) - UnsafeRawPointer(start) } ?? bytes.count
        if end - position == digits + ending.count,
          memcmp(start + position + digits, ending, ending.count) == 0
        {
          return ObjectID(
            hexadecimal: String(decoding: bytes[position..<(position + digits)], as: UTF8.self))
        }
        position = end + 1
      }
      return nil
    }
  }
}
