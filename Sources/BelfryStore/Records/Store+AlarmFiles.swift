import BelfryCore
import Files
import Git
import Glibc

/// The files of records, and their last valid versions.
extension Store {
  /// The result of reading a record's file.
  enum RecordFile<Value> {
    case good(Value, DurableFileContent)
    case bad(RecordError)
    case missing

    /// Returns the value, or nil if the file is missing.
    ///
    /// - Throws: `StoreError.badRecord`.
    func value(at path: RecordPath) throws(StoreError) -> Value? {
      switch self {
      case .good(let value, _): value
      case .bad(let error): throw .badRecord(path: path.text, error)
      case .missing: nil
      }
    }
  }
  /// The result of reading an alarm's file.
  typealias AlarmFile = RecordFile<Alarm>

  /// The content of a file, with its status.
  struct DurableFileContent {
    let bytes: [UInt8]
    let status: stat
  }

  /// Reads a record's file.
  ///
  /// - Throws: `FileError` if the process is out of file descriptors or memory. Other errors make the file `bad`.
  func read<Kind: Record>(
    _: Kind.Type, at record: RecordPath
  ) throws -> RecordFile<Kind.Value> {
    do {
      guard let file = try DurableFile.read("\(path)/\(record.text)", limit: Kind.largest)
      else { return .missing }
      let value = try Kind.decode(file.bytes, at: record, now: context.now)
      return .good(value, DurableFileContent(bytes: file.bytes, status: file.status))
    } catch let error as RecordError {
      return .bad(error)
    } catch let error as FileError where !Store.isOutOfResources(error) {
      return .bad(RecordError(Store.reason(error, limit: Kind.largest)))
    }
  }

  /// Reads an alarm's file.
  func readAlarm(_ id: Identifier) throws -> AlarmFile {
    try read(AlarmRecord.self, at: .alarm(id))
  }

  /// Returns true if a file could not be read because the process is out of file descriptors or memory. The file itself
  /// can be valid.
  static func isOutOfResources(_ error: FileError) -> Bool {
    [EMFILE, ENFILE, ENOMEM].contains(error.number)
  }

  /// Returns the reason that a record's file cannot be read.
  static func reason(_ error: FileError, limit: Int) -> String {
    switch error.number {
    case EISDIR: "it is a folder"
    case ELOOP: "it is a symbolic link"
    case EINVAL: "it is not a regular file"
    case EFBIG: "it is larger than any record: the limit is \(limit >> 10) KiB"
    case EACCES: "this user has no permission to read it"
    default: "it cannot be read: \(String(cString: strerror(error.number)))"
    }
  }

  /// Returns the last valid version of an alarm: the join of the one in the alarm index and the latest one in the
  /// history, either of which can be older than the other.
  func lastGood(_ id: Identifier) throws -> Alarm? {
    let repository = try repository()
    let known = alarmIndexCache.rows(of: [id])[id]?.blob
    let path = AlarmRecord.path(id)
    guard let good = try lastGoodVersion(of: path, repository, known: known) else { return nil }
    let alarm = try AlarmRecord.decode(good.bytes, id: id, now: context.now)
    guard good.blob == known, let latest = try lastGoodVersion(of: path, repository),
      latest.blob != known
    else { return alarm }
    return Alarm.join(alarm, try AlarmRecord.decode(latest.bytes, id: id, now: context.now))
  }

  /// The maximum number of commits to search for a valid version.
  private static let maxDepth = 5_000

  /// Returns the last valid version of a record: the one in HEAD, or an earlier one if another program has committed an
  /// invalid version.
  ///
  /// - Parameters:
  ///   - path: The path of the record.
  ///   - repository: The store's repository.
  ///   - known: A version to try first.
  func lastGoodVersion(
    of path: String, _ repository: Repository, known: ObjectID? = nil
  ) throws -> (bytes: [UInt8], blob: ObjectID)? {
    guard let kind = RecordPath(path) else { return nil }
    var tried: Set<ObjectID> = []
    func version(_ blob: ObjectID) -> [UInt8]? {
      // A missing or invalid version is skipped.
      guard tried.insert(blob).inserted,
        let bytes = try? repository.blob(blob, limit: kind.largest), kind.error(in: bytes) == nil
      else { return nil }
      return bytes
    }
    if let known, let bytes = version(known) { return (bytes, known) }
    guard let head = (try? repository.commit(of: "HEAD")) ?? nil else { return nil }
    var found: (bytes: [UInt8], blob: ObjectID)?
    var count = 0
    // The search ends at a damaged commit.
    try? repository.visitHistory(from: head) { commit in
      count += 1
      let blob = (try? repository.blob(at: path, in: commit.tree)) ?? nil
      if let blob, let bytes = version(blob) {
        found = (bytes, blob)
        return false
      }
      // A record that HEAD lacks was never committed, or another program has removed it, which `BranchRestoration`
      // handles.
      return (blob != nil || commit.id != head) && count < Store.maxDepth
    }
    return found
  }

  /// Returns the blobs of the alarms in HEAD.
  static func committedAlarms(_ repository: Repository) throws -> [Identifier: ObjectID] {
    guard let head = try repository.commit(of: "HEAD") else { return [:] }
    return try alarms(repository, in: try repository.commit(head).tree)
  }

  /// Returns the blobs of the alarms in a tree.
  static func alarms(
    _ repository: Repository, in tree: ObjectID
  ) throws -> [Identifier: ObjectID] {
    let root = try repository.tree(tree)
    guard let folder = try root.entry(named: "alarms"), folder.mode == .folder else { return [:] }
    var result: [Identifier: ObjectID] = [:]
    for entry in try repository.tree(folder.id).entries()
    where entry.mode == .file && entry.name.hasSuffix(".json") {
      if let id = Identifier(entry.name.dropLast(5)) { result[id] = entry.id }
    }
    return result
  }
}
