import BelfryCore
import Files
import Git
import Glibc

/// An update of the work tree after another program has moved the branch. It also restores records that the branch
/// lost.
///
/// ```
/// seen ──────────── the commit with which the work tree last agreed
///   └─ … ── head    the current commit of the branch
/// ```
///
/// For each record that differs between the two:
///
/// 1. Head lacks the record, or has a version that loses something: see `BranchRestoration`.
/// 2. The file is as in `seen`, or neither has one: head's version is written.
/// 3. Head's version is a hand edit that was committed without a stamp: it is imported as one, and joined with the
///    version in `seen`.
/// 4. Head's version is not valid: the file's version is committed again. One of a newer format counts as valid.
/// 5. The user has edited or removed the file: this is left to `HandEdits` and `MissingRecordRestoration`.
///
/// If `seen` is unknown, all records of head are compared with the work tree: missing files are written, and records
/// that head lacks are committed.
///
/// - Precondition: No interrupted write is left, so that the work tree agrees with `seen`, apart from hand edits.
/// - Effect: The work tree agrees with head, apart from hand edits, and `seen` is head. One commit if head lost
///   something, and one if another program committed hand edits. A file that cannot be read now is compared again by the
///   next reconciliation.
/// - Cost: Reads the branch's commit. If it has moved, in proportion to the changed records; if `seen` is unknown, to the
///   size of the store.
struct WorkTreeUpdate: ReconcileStep {
  static let stage = ReconcileStage.movedBranch

  func run(_ writer: StoreWriter, _ permit: ReconcilePermit) throws {
    guard let head = try writer.head(), head != writer.reconciled else { return }
    // git may not have flushed its commit, on which the journal's entries build.
    try writer.store.checkpoint.flush()
    let seen = writer.reconciled
    writer.reconciled = head
    writer.isReconciling = true
    defer { writer.isReconciling = false }
    var moved = MovedRecords(writer, permit, head: head)
    var isComplete = true
    do {
      // A garbage-collected commit counts as unknown.
      if let seen, (try? writer.repository.commit(seen)) != nil {
        try moved.update(from: seen)
      } else {
        try moved.update()
      }
      isComplete = moved.isComplete
    } catch is GitError {
      // A history that cannot be compared must not prevent writes.
      isComplete = false
    }
    if !isComplete { writer.reconciled = seen }
    writer.isReconciling = false
    writer.noteReconciled()
  }
}

/// The records that differ between the work tree and a branch that another program has moved.
private struct MovedRecords {
  private let writer: StoreWriter
  private let permit: ReconcilePermit
  private let head: ObjectID
  private var store: Store { writer.store }
  private var repository: Repository { writer.repository }
  /// The files to write, with head's versions.
  private var filesToWrite: [String: [UInt8]] = [:]
  /// The blobs of the files to write.
  private var blobs: [String: ObjectID] = [:]
  /// The files to commit and write.
  private var filesToCommit: [String: [UInt8]] = [:]
  /// The hand edits that another program has committed. Those without content are in the work tree already, or the file
  /// has been edited further.
  private var edits: [RecordPath: [UInt8]?] = [:]
  /// False if something could not be read, and was left out.
  private(set) var isComplete = true

  init(_ writer: StoreWriter, _ permit: ReconcilePermit, head: ObjectID) {
    self.writer = writer
    self.permit = permit
    self.head = head
  }

  // MARK: From a known commit

  /// Updates the work tree from the commit with which it last agreed.
  mutating func update(from seen: ObjectID) throws {
    let tree = try repository.commit(head).tree
    let changes = try repository.changedFiles(from: repository.commit(seen).tree, to: tree)
    var commits = try writer.acknowledgedCommits()
    if commits.isEmpty { commits = [seen] }
    let restoration = try BranchRestoration(repository).result(seen: commits, head: head)
    isComplete = restoration.isComplete
    filesToCommit = restoration.files
    var unedited: Set<String> = []
    for change in changes {
      guard let kind = RecordPath(carried: change.path) else { continue }
      guard workTreeBlob(change.path) == .some(change.before) else {
        if restoration.edited.contains(change.path) { edits[kind] = .some(nil) }
        continue
      }
      unedited.insert(change.path)
      writer.read[change.path] = change.before
      guard let after = change.after, filesToCommit[change.path] == nil,
        let bytes = content(after, kind)
      else { continue }
      if isUnusable(bytes, kind) {
        if case .other = kind { continue }
        if let before = change.before { filesToCommit[change.path] = content(before, kind) }
      } else if restoration.edited.contains(change.path) {
        edits[kind] = bytes
      } else {
        filesToWrite[change.path] = bytes
        blobs[change.path] = after
      }
    }
    for case (let path, let bytes?) in edits { try write(bytes, at: path) }
    if filesToCommit.isEmpty {
      if !filesToWrite.isEmpty {
        try writer.checkOut(filesToWrite.mapValues { $0 }, known: blobs, of: head)
      }
    } else {
      let committed = Dictionary(
        uniqueKeysWithValues: try filesToCommit.keys.map {
          ($0, try repository.blob(at: $0, in: tree))
        })
      let paths = filesToCommit.keys.sorted()
      try writer.commit(
        filesToCommit.merging(filesToWrite) { one, _ in one }.mapValues { $0 },
        keeping: store.edited(committed).subtracting(unedited),
        message: CommitMessage(
          "Restore records that another program removed", body: paths, device: store.device))
      store.context.report(.healed(paths))
    }
    try importEdits()
  }

  /// Returns the blob id of the file at a path. The inner optional is nil if there is no file, the outer one if it
  /// cannot be read.
  private func workTreeBlob(_ path: String) -> ObjectID?? {
    do {
      let file = try DurableFile.read("\(store.path)/\(path)", limit: AlarmRecord.largest)
      return .some(file.map { Repository.blobID($0.bytes) })
    } catch {
      return nil
    }
  }

  /// Returns the content of a blob, or nil if it is too large or cannot be read.
  private mutating func content(_ blob: ObjectID, _ kind: RecordPath) -> [UInt8]? {
    do throws(GitError) {
      return try repository.blob(blob, limit: kind.largest)
    } catch {
      if error.isUnreadable { isComplete = false }
      return nil
    }
  }

  /// Returns true if a version can be read neither by this version of Belfry nor by a newer one.
  private func isUnusable(_ bytes: [UInt8], _ kind: RecordPath) -> Bool {
    kind.error(in: bytes) != nil && kind.newerFormat(of: bytes) == nil
  }

  /// Writes a hand edit to the work tree, where the alarm index or the signature of its kind reveals it.
  private func write(_ bytes: [UInt8], at path: RecordPath) throws {
    var transaction = WorkTreeTransaction(store, keeping: [])
    try transaction.apply([path.text: bytes]) { writer.read[$0] == $1 }
    transaction.removeBackups()
  }

  private mutating func importEdits() throws {
    let alarms = edits.keys.compactMap { path -> Identifier? in
      if case .alarm(let id) = path { id } else { nil }
    }
    let result = try HandEditImport(.alarms(alarms.sorted())).run(writer, permit)
    // An invalid file is compared again with what Belfry had committed.
    if !result.invalid.isEmpty { isComplete = false }
    for kind in RecordPath.trackedKinds where edits.keys.contains(where: { $0.kind == kind }) {
      try importEdits(of: kind)
    }
  }

  private func importEdits<Kind: TrackedRecord>(
    of _: Kind.Type, isBranchUnknown: Bool = false
  ) throws {
    try TrackedRecordImport<Kind>(isBranchUnknown: isBranchUnknown).run(writer, permit)
  }

  // MARK: From an unknown commit

  /// Updates the work tree if the commit with which it last agreed is unknown.
  mutating func update() throws {
    let index = try AlarmIndex(store)
    let cached = store.alarmIndexCache.read()
    let committed = try repository.changedFiles(from: nil, to: repository.commit(head).tree)
    for change in committed {
      guard let kind = RecordPath(carried: change.path), let blob = change.after,
        access("\(store.path)/\(change.path)", F_OK) != 0
      else { continue }
      // An alarm in the index had a file, so the user has removed it.
      if case .alarm(let id) = kind, cached?[id] != nil { continue }
      guard let bytes = content(blob, kind), !isUnusable(bytes, kind) else { continue }
      filesToWrite[change.path] = bytes
      blobs[change.path] = blob
    }
    if !filesToWrite.isEmpty {
      try writer.checkOut(filesToWrite.mapValues { $0 }, known: blobs, of: head)
    }
    try HandEditImport(.alarms(index.edited), isBranchUnknown: true).run(writer, permit)
    let tracked = Set(committed.map(\.path))
    let untracked = store.recordFiles().filter {
      !tracked.contains($0) && RecordPath($0)?.hasOneWriter == true
    }
    try UncommittedRecordImport(untracked).run(writer, permit)
    for kind in RecordPath.trackedKinds { try importEdits(of: kind, isBranchUnknown: true) }
  }
}
