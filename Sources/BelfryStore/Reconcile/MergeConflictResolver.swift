import BelfryCore
import Git
import Glibc

/// Finishes what a merge of git's left behind in a store that has no merge driver: records with both sides in
/// the index and markers in the file.
///
/// 1. Both sides of each record are taken from the index and joined, as a sync would.
/// 2. A merge, a cherry-pick or a revert of one commit is then committed, as `git commit` would do it. Of a rebase, or
///    of several, the joined records are staged: how it goes on is the user's. Of a stash they are left in the work
///    tree, as a hand edit.
/// 3. A file that is valid, and neither side as it was, has been edited by somebody: that edit stands over both.
/// 4. A path that is no record is left to the user, and so is the merge then.
public struct MergeConflictResolver {
  /// What is left to do after records were joined.
  public enum Rest: Hashable, Sendable {
    case nothing
    /// `git rebase --continue`, or whatever was begun.
    case operation(Repository.Operation)
  }

  private let store: Store
  private let repository: Repository

  init(_ store: Store, _ repository: Repository) {
    self.store = store
    self.repository = repository
  }

  func mend() throws {
    let conflicts = try repository.conflicts()
    let operation = try repository.operation()
    if conflicts.isEmpty, operation == .none { forgetAutoMerge() }
    guard !conflicts.isEmpty, conflicts.allSatisfy({ RecordPath($0.path) != nil }) else { return }
    let head = try repository.commit(of: "HEAD").map { try repository.commit($0).tree }
    var settled: [String: IndexFile.Entry?] = [:]
    var notes: [DecisionNotes.Note] = []
    for conflict in conflicts {
      guard let kind = RecordPath(conflict.path) else { return }
      let ours = try conflict.ours.map { try repository.content($0, kind) }
      let theirs = try conflict.theirs.map { try repository.content($0, kind) }
      let base = conflict.base.flatMap { try? repository.content($0, kind).get() }
      let join = RecordJoin(kind, ours: ours, theirs: theirs, base: { base })
      var bytes = join.bytes
      // What is no record, or is not there, has no edits to tell of.
      if let ours = try? ours?.get(), let theirs = try? theirs?.get() {
        notes += DecisionNotes.Note.all(
          join.decisions, ours: ours, theirs: theirs, base: base, at: store.context.now)
        bytes = withEdits(bytes, kind, path: conflict.path, ours: ours, theirs: theirs)
      }
      let status = try place(bytes, at: conflict.path)
      if operation == .none {
        // The index has HEAD's version, and the file is taken up as an edit.
        let known = try head.flatMap { try repository.blob(at: conflict.path, in: $0) }
        settled[conflict.path] = .some(known.map { IndexFile.Entry(id: $0, status: stat()) })
      } else {
        settled[conflict.path] = .some(
          try bytes.map { IndexFile.Entry(id: try repository.writeBlob($0), status: status) })
      }
    }
    try repository.settle(settled)
    DecisionNotes(store.local).add(notes)
    var isOver = operation == .none
    switch operation {
    case .none: forgetAutoMerge()
    case .merge, .other: isOver = try commit()
    case .rebase: break
    }
    store.context.report(
      .joined(settled.keys.sorted(), isOver ? .nothing : .operation(operation)))
  }

  /// The join with what somebody has edited in the file since git gave up.
  private func withEdits(
    _ joined: [UInt8]?, _ kind: RecordPath, path: String, ours: [UInt8], theirs: [UInt8]
  ) -> [UInt8]? {
    // What cannot be read, or is not valid, is what git left.
    guard let joined,
      let file = (try? DurableFile.read("\(store.path)/\(path)", limit: kind.largest)) ?? nil,
      file.bytes != ours, file.bytes != theirs
    else { return joined }
    let (now, device) = (store.context.now, store.device)
    func value(_ bytes: [UInt8]) -> RecordValue? { try? kind.value(in: bytes) }
    switch (value(file.bytes), value(ours), value(theirs), value(joined)) {
    case (.alarm(let lying)?, .alarm(let a)?, .alarm(let b)?, .alarm(let result)?):
      // Of the side whose stamp a field has it is compared with the value.
      let edited = Alarm.Field.allCases.filter { field in
        if field == .cascade { return false }
        let sides = [a, b].filter { $0.stamps[field] == lying.stamps[field] }
        return !sides.contains { $0.text(of: field) == lying.text(of: field) }
      }
      let parts = Set([a, b, lying].flatMap { $0.cascade.map { Array($0.registers.keys) } ?? [] })
        .filter { part in
          let found = lying.cascade?.registers[part]
          let sides = [a, b].map { $0.cascade?.registers[part] }
            .filter { found == nil || $0?.stamp == found?.stamp }
          return !sides.contains { $0?.value == found?.value }
        }
      var mended =
        edited.isEmpty ? result : result.taking(edited, from: lying, at: now, device: device)
      if !parts.isEmpty {
        mended = mended.taking(Array(parts), from: lying, at: now, device: device)
      }
      return AlarmRecord.encode(mended)
    case (.settings(let lying)?, .settings(let a)?, .settings(let b)?, .settings(var result)?):
      for (key, text) in lying.values {
        let sides = [a, b].filter { $0.stamps[key] == lying.stamps[key] }
        if sides.contains(where: { $0.values[key] == text }) { continue }
        result.values[key] = text
        result.stamps[key] = .next(after: result.stamps.values.max(), now: now, device: device)
      }
      return SettingsFile.encode(result)
    default: return joined
    }
  }

  private func place(_ bytes: [UInt8]?, at path: String) throws -> stat {
    let file = "\(store.path)/\(path)"
    guard let bytes else {
      if unlink(file) != 0, errno != ENOENT { throw FileError("remove", file) }
      return stat()
    }
    try DurableFile.makeFolder(DurableFile.parent(of: file))
    return try DurableFile.write(bytes, to: file, temporary: store.local.temporary("record"))
  }

  /// git leaves it after merges that went well, too; then it tells nothing.
  private func forgetAutoMerge() { _ = unlink(repository.gitDirectory + "AUTO_MERGE") }

  /// Makes the commit that git had prepared; returns whether it could.
  private func commit() throws -> Bool {
    guard let prepared = repository.unfinishedCommit(),
      let head = try repository.commit(of: "HEAD"),
      let branch = try repository.headBranch()
    else { return false }
    let signature = try store.signature(repository)
    let commit = try repository.writeCommit(
      tree: repository.indexTree(), parents: [head] + prepared.parents, signature: signature,
      message: prepared.message)
    guard
      case .moved = try repository.moveReference(
        branch, from: head, to: commit, signature: signature, message: store.context.process)
    else { return false }
    try repository.endOperation()
    return true
  }
}

extension Store {
  /// Joins the records that a merge of git's could not settle, if there are any: any command does.
  public func mendMerge() throws {
    guard Repository.mayBeUnmerged(local.gitDirectory) else { return }
    try locked { try MergeConflictResolver(self, repository()).mend() }
  }
}

/// git's merge driver for records: what `git merge`, `pull`, `rebase`, `cherry-pick` and `stash pop` call.
public enum MergeDriver {
  /// What came of two versions of a record.
  public struct Outcome: Sendable {
    public let bytes: [UInt8]
    public let decisions: [MergeDecision]
    /// Why a side was left out.
    public let problems: [RecordError]
  }

  /// Joins two versions of the record at a path. When neither is a record, ours stays as it is.
  ///
  /// - Parameters:
  ///   - folder: the work tree, whose store takes note of what is decided; nil for none.
  ///   - now: when that is.
  /// Throws `StoreError.noRecord` for a path that no record has.
  public static func join(
    path: String, base: [UInt8]?, ours: [UInt8], theirs: [UInt8], in folder: String? = nil,
    at now: Instant
  ) throws -> Outcome {
    guard let kind = RecordPath(path) else { throw StoreError.noRecord(path: path) }
    let join = RecordJoin(
      kind, ours: .success(ours), theirs: .success(theirs), base: { base })
    let problems = [join.refusals.ours, join.refusals.theirs].compactMap { $0 }
    if let folder, let local = Store.localState(of: folder) {
      DecisionNotes(local).add(
        DecisionNotes.Note.all(
          join.decisions, ours: ours, theirs: theirs, base: base, at: now))
    }
    return Outcome(bytes: join.bytes ?? ours, decisions: join.decisions, problems: problems)
  }
}
