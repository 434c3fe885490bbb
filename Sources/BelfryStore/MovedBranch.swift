import BelfryCore
import Git
import Glibc

/// A branch that something other than Belfry has moved while the work tree stayed behind: a mixed or soft
/// `git reset`, a push into the checked-out branch, a commit in another work tree of the repository.
///
/// Reads join each alarm's file with the branch's version in memory. The next write brings the work tree in line
/// (see `WorkTreeUpdate`).
struct MovedBranch {
  private let repository: Repository
  private let now: Instant
  /// The branch's versions that the work tree may lack, by alarm.
  let alarms: [Identifier: ObjectID]
  /// The alarms of the commit that the work tree was last in line with; nil when that commit is not known or cannot
  /// be read.
  private let earlier: [Identifier: ObjectID]?
  /// All alarms of the branch.
  private let all: Set<Identifier>

  init(_ repository: Repository, head: ObjectID, seen: ObjectID?, now: Instant) throws {
    self.repository = repository
    self.now = now
    let current = try Store.alarms(repository, in: try repository.commit(head).tree)
    let earlier = seen.flatMap { seen in
      try? Store.alarms(repository, in: repository.commit(seen).tree)
    }
    self.earlier = earlier
    alarms = current.filter { id, blob in earlier?[id] != blob }
    all = Set(current.keys)
  }

  /// Returns true when the work tree never had an alarm that the branch has, as far as that is known.
  func isNew(_ id: Identifier) -> Bool { alarms[id] != nil && earlier?[id] == nil }

  /// Returns true for an alarm that the branch lacks when it is not known what the branch had before: nothing shows
  /// that the alarm's file was ever committed.
  func isUntracked(_ id: Identifier) -> Bool { earlier == nil && !all.contains(id) }

  /// The branch's version of an alarm; nil when the work tree has it already, or it cannot be used.
  func version(_ id: Identifier) -> Alarm? {
    guard let blob = alarms[id],
      let bytes = try? repository.blob(blob, limit: AlarmRecord.largest)
    else { return nil }
    return try? AlarmRecord.decode(bytes, id: id, now: now)
  }

  /// An alarm's file joined with the branch's version; nil when the branch adds nothing to the file.
  func joined(_ id: Identifier, with file: [UInt8]) -> Alarm? {
    guard let blob = alarms[id], blob != Repository.blobID(file) else { return nil }
    let kind = RecordPath.alarm(id)
    // The file stands as it is beside a version that cannot be read.
    guard let theirs = try? repository.content(blob, kind) else { return nil }
    let join = RecordJoin(
      kind, ours: .success(file), theirs: theirs,
      base: { earlier?[id].flatMap { try? repository.blob($0, limit: kind.largest) } })
    return join.bytes.flatMap { try? AlarmRecord.decode($0, id: id, now: now) }
  }
}

extension Store {
  /// The commit of the checked-out branch if something other than Belfry has moved it there; nil otherwise, and while a
  /// commit of the past is checked out. Costs a look at three small files.
  public var movedHead: String? {
    guard let head = local.readHead(), head != local.readSeen() else { return nil }
    return head.description
  }

  /// The branch if something other than Belfry has moved it.
  ///
  /// Nil also when the history cannot be read: the files are then taken as they are.
  func movedBranch() -> MovedBranch? {
    let seen = local.readSeen()
    guard let head = local.readHead(), head != seen, let repository = try? repository() else {
      return nil
    }
    return try? MovedBranch(repository, head: head, seen: seen, now: context.now)
  }

  /// An alarm as it is in its file and in a branch that has been moved.
  func alarm(_ id: Identifier, _ moved: MovedBranch?) throws -> Alarm? {
    switch try readAlarm(id) {
    case .good(let alarm, let content): return moved?.joined(id, with: content.bytes) ?? alarm
    case .bad, .missing: return try lastGood(id, moved)
    }
  }

  /// The last valid version of an alarm without a usable file, joined with that of a branch that has been moved.
  func lastGood(_ id: Identifier, _ moved: MovedBranch?) throws -> Alarm? {
    let good = try lastGood(id)?.alarm
    guard let version = moved?.version(id) else { return good }
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
