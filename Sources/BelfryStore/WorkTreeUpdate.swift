import BelfryCore
import Git
import Glibc

/// Brings the work tree in line with a branch that something other than Belfry has moved, and puts back what was taken
/// from the branch.
///
/// ```
/// seen ──────────── the commit that the work tree was last in line with
///   └─ … ── head    where the branch stands now
/// ```
///
/// For each record that differs between the two:
///
/// 1. Head lacks it, or has a version that loses something: see `BranchRestoration`.
/// 2. The file is as in `seen`, or neither has one: head's version is written. If head's version is a hand edit that
///    somebody has committed without a stamp, it is taken up as one.
/// 3. Head's version is no record: the file's version is committed again.
/// 4. Somebody has edited or removed the file: that is left to `HandEditImport` and `DailyAudit`.
///
/// Without a known `seen`, all of head is compared with the work tree: missing files are written, and records that
/// head lacks are committed.
struct WorkTreeUpdate {
  private let writer: StoreWriter
  private let head: ObjectID
  private var store: Store { writer.store }
  private var repository: Repository { writer.repository }
  /// Files to be written as head has them.
  private var missing: [String: [UInt8]] = [:]
  private var blobs: [String: ObjectID] = [:]
  /// Files to be committed, and written.
  private var lost: [String: [UInt8]] = [:]
  /// Hand edits that another git has committed.
  private var edits: [RecordPath: [UInt8]] = [:]
  /// False when something was left out because it could not be read.
  private(set) var isComplete = true

  init(_ writer: StoreWriter, head: ObjectID) {
    self.writer = writer
    self.head = head
  }

  // MARK: From a known commit

  /// Updates the work tree from the commit that it was last in line with.
  mutating func run(from seen: ObjectID) throws {
    let tree = try repository.commit(head).tree
    let changes = try repository.changedFiles(from: repository.commit(seen).tree, to: tree)
    let healing = try BranchRestoration(repository).files(seen: seen, head: head)
    isComplete = healing.isComplete
    lost = healing.files
    var unedited: Set<String> = []
    for change in changes {
      guard let kind = RecordPath(change.path), lyingBlob(change.path) == .some(change.before)
      else { continue }
      unedited.insert(change.path)
      guard let after = change.after, lost[change.path] == nil,
        let bytes = content(after, kind)
      else { continue }
      if kind.error(in: bytes) != nil {
        if let before = change.before { lost[change.path] = content(before, kind) }
      } else if let before = change.before, isEdit(kind, bytes, since: before) {
        edits[kind] = bytes
      } else {
        missing[change.path] = bytes
        blobs[change.path] = after
      }
    }
    for (kind, bytes) in edits { try place(bytes, kind) }
    if lost.isEmpty {
      if !missing.isEmpty { try writer.write(missing.mapValues { $0 }, known: blobs) { _ in head } }
    } else {
      let committed = Dictionary(
        uniqueKeysWithValues: try lost.keys.map { ($0, try repository.blob(at: $0, in: tree)) })
      let paths = lost.keys.sorted()
      try writer.commit(
        lost.merging(missing) { one, _ in one }.mapValues { $0 },
        keeping: store.edited(committed).subtracting(unedited),
        message: CommitMessage(
          "Put back what another git dropped", body: paths, device: store.device))
      store.context.report(.healed(paths))
    }
    try absorbEdits()
  }

  /// The blob that the file at a path would be; an inner nil where there is no file, an outer one where it cannot be
  /// read.
  private func lyingBlob(_ path: String) -> ObjectID?? {
    do {
      let file = try DurableFile.read("\(store.path)/\(path)", limit: AlarmRecord.largest)
      return .some(file.map { Repository.blobID($0.bytes) })
    } catch {
      return nil
    }
  }

  /// The bytes of a blob; nil when there are too many, or it cannot be read.
  private mutating func content(_ blob: ObjectID, _ kind: RecordPath) -> [UInt8]? {
    do throws(GitError) {
      return try repository.blob(blob, limit: kind.largest)
    } catch {
      if error.isUnreadable { isComplete = false }
      return nil
    }
  }

  /// Returns true when a version has values that were changed without a stamp.
  private mutating func isEdit(
    _ kind: RecordPath, _ bytes: [UInt8], since before: ObjectID
  ) -> Bool {
    // What cannot be compared is taken as it is.
    guard let earlier = content(before, kind), let new = try? kind.value(in: bytes),
      let old = try? kind.value(in: earlier)
    else { return false }
    return switch (new, old) {
    case (.alarm(let new), .alarm(let old)): !new.fieldsEditedByHand(since: old).isEmpty
    case (.settings(let new), .settings(let old)): !new.keysEditedByHand(since: old).isEmpty
    default: false
    }
  }

  /// Writes a hand edit into the work tree, where the cards and the settings' signature show it as one.
  private func place(_ bytes: [UInt8], _ kind: RecordPath) throws {
    let path: String
    switch kind {
    case .alarm(let id): path = AlarmRecord.path(id)
    case .settings: path = SettingsFile.path
    case .log, .device, .attributes: return
    }
    try DurableFile.write(
      bytes, to: "\(store.path)/\(path)", temporary: store.local.temporary("record"))
  }

  private func absorbEdits() throws {
    let alarms = edits.keys.compactMap { kind -> Identifier? in
      if case .alarm(let id) = kind { id } else { nil }
    }
    try HandEditImport(writer).absorb(alarms.sorted())
    if edits[.settings] != nil { try SettingsHandEditImport(writer).absorb() }
  }

  // MARK: From an unknown commit

  /// Updates the work tree when it is not known which commit it was last in line with.
  mutating func run() throws {
    let view = try AlarmIndex(store)
    let summaries = store.readCards()
    let committed = try repository.changedFiles(from: nil, to: repository.commit(head).tree)
    for change in committed {
      guard let kind = RecordPath(change.path), let blob = change.after,
        access("\(store.path)/\(change.path)", F_OK) != 0
      else { continue }
      // An alarm with a card had a file, which somebody has removed.
      if case .alarm(let id) = kind, summaries?.index(of: id) != nil { continue }
      guard let bytes = content(blob, kind), kind.error(in: bytes) == nil else { continue }
      missing[change.path] = bytes
      blobs[change.path] = blob
    }
    if !missing.isEmpty { try writer.write(missing.mapValues { $0 }, known: blobs) { _ in head } }
    try HandEditImport(writer).absorb(view.unsettled, isBranchUnknown: true)
    let tracked = Set(committed.map(\.path))
    let untracked = store.recordFiles().filter { path in
      switch RecordPath(path) {
      case .log, .device: !tracked.contains(path)
      case .alarm, .settings, .attributes, nil: false
      }
    }
    _ = try DailyAudit(writer).commit(untracked)
    try SettingsHandEditImport(writer).absorb(isBranchUnknown: true)
  }
}

extension StoreWriter {
  /// Brings the work tree in line with the branch if something other than Belfry has moved it, and puts back what that
  /// took away.
  ///
  /// A file that cannot be read now is compared again by the next writer.
  func reconcile() throws {
    guard let head = try head(), head != reconciled else { return }
    let seen = reconciled
    reconciled = head
    isReconciling = true
    defer { isReconciling = false }
    var update = WorkTreeUpdate(self, head: head)
    var isComplete = true
    do {
      // A commit that has been collected since is as good as unknown.
      if let seen, (try? repository.commit(seen)) != nil {
        try update.run(from: seen)
      } else {
        try update.run()
      }
      isComplete = update.isComplete
    } catch is GitError {
      // A history that cannot be compared keeps nobody from writing.
      isComplete = false
    }
    if !isComplete { reconciled = seen }
    isReconciling = false
    noteReconciled()
  }

  /// Notes the commit that the work tree is in line with.
  func noteReconciled() {
    if !isReconciling, let reconciled { store.local.noteSeen(reconciled) }
  }
}
