import BelfryCore
import Files
import Git
import Glibc

/// A resolver of the conflicts that git leaves in a store without Belfry's merge driver: both sides of a record in the
/// index, and conflict markers in the file.
///
/// 1. Both sides of each record are read from the index and joined, as in a sync.
/// 2. A merge, or a cherry-pick or revert of one commit, is then committed, as `git commit` would do it. In a rebase,
///    or with several commits, the joined records are staged, and the user continues the operation. After a stash, they
///    are left in the work tree as hand edits.
/// 3. A valid file that differs from both sides contains the user's edit, which overrides both. An invalid file that was
///    edited after the conflict moves to the quarantine.
/// 4. If a path is not that of a record, the merge is left to the user.
///
/// This is the first step of a reconciliation. It also runs alone at the start of every command, and when git's index
/// gets conflicts during a write.
///
/// - Precondition: The store's lock is held. Another program may be in the middle of a merge or a rebase, so a writer
///   cannot exist yet.
/// - Effect: No record in git's index has conflicts, and the merge is committed if git's operation allows it.
/// - Cost: Checks for a few files if git has no conflicts. Otherwise in proportion to the conflicts.
public struct MergeConflictResolver {
  /// The work that remains after the records were joined.
  public enum Rest: Hashable, Sendable {
    /// Nothing.
    case nothing
    /// The user must continue the git operation, for example with `git rebase --continue`.
    case operation(Repository.Operation)
  }

  private let store: Store
  private let repository: Repository

  init(_ store: Store, _ repository: Repository) {
    self.store = store
    self.repository = repository
  }

  /// Resolves the conflicts, if there are any.
  func resolve() throws {
    let conflicts = try repository.conflicts()
    let operation = try repository.operation()
    if conflicts.isEmpty, operation == .none { removeAutoMerge() }
    guard !conflicts.isEmpty, conflicts.allSatisfy(isRecord) else { return }
    let head = try repository.commit(of: "HEAD").map { try repository.commit($0).tree }
    var resolved: [String: IndexFile.Entry?] = [:]
    var notes: [DecisionNotes.Note] = []
    for conflict in conflicts {
      guard let kind = RecordPath(carried: conflict.path) else { return }
      let ours = try conflict.ours.map { try repository.content($0, kind) }
      let theirs = try conflict.theirs.map { try repository.content($0, kind) }
      let base = conflict.base.flatMap { try? repository.content($0, kind).get() }
      let join = RecordJoin(kind, ours: ours, theirs: theirs, base: { base })
      var bytes = join.bytes
      // A missing or invalid side has no decisions and no edits.
      if let ours = try? ours?.get(), let theirs = try? theirs?.get() {
        notes += DecisionNotes.Note.all(
          join.decisions, ours: ours, theirs: theirs, base: base, at: store.context.now)
        bytes = addingEdits(bytes, kind, ours: ours, theirs: theirs)
      }
      try setAsideEdit(conflict.path, kind)
      let status = try write(bytes, at: conflict.path)
      if operation == .none {
        // The index gets HEAD's version, and the file is imported as an edit.
        let known = try head.flatMap { try repository.blob(at: conflict.path, in: $0) }
        resolved[conflict.path] = .some(known.map { IndexFile.Entry(id: $0, status: stat()) })
      } else {
        resolved[conflict.path] = .some(
          try bytes.map { IndexFile.Entry(id: try repository.writeBlob($0), status: status) })
      }
    }
    try repository.resolve(resolved)
    DecisionNotes(store.local).add(notes)
    var isFinished = operation == .none
    switch operation {
    case .none: removeAutoMerge()
    case .merge, .other: isFinished = try commit()
    case .rebase: break
    }
    store.context.report(
      .joined(resolved.keys.sorted(), isFinished ? .nothing : .operation(operation)))
  }

  /// Returns true if a conflict is that of a record, which may be of a newer version of Belfry.
  private func isRecord(_ conflict: IndexConflict) -> Bool {
    guard let kind = RecordPath(carried: conflict.path) else { return false }
    guard case .other = kind else { return true }
    return [conflict.ours, conflict.theirs].contains { side in
      let bytes = side.flatMap { try? repository.blob($0, limit: kind.largest) }
      return bytes.flatMap { kind.newerFormat(of: $0) } != nil
    }
  }

  /// Returns the join, with the edits that the user made in the file after the conflict.
  private func addingEdits(
    _ joined: [UInt8]?, _ path: RecordPath, ours: [UInt8], theirs: [UInt8]
  ) -> [UInt8]? {
    // An unreadable or invalid file is the one that git left.
    guard let joined,
      let file = (try? DurableFile.read("\(store.path)/\(path.text)", limit: path.largest)) ?? nil,
      file.bytes != ours, file.bytes != theirs
    else { return joined }
    return addingEdits(path.kind, joined, path, file: file.bytes, sides: [ours, theirs])
  }

  private func addingEdits<Kind: Record>(
    _: Kind.Type, _ joined: [UInt8], _ path: RecordPath, file: [UInt8], sides: [[UInt8]]
  ) -> [UInt8] {
    let versions = sides.compactMap { try? Kind.decode($0, at: path) }
    guard versions.count == sides.count, let file = try? Kind.decode(file, at: path),
      let result = try? Kind.decode(joined, at: path)
    else { return joined }
    return Kind.encode(
      result.takingEdits(
        from: file, since: versions, at: store.context.now, device: store.device))
  }

  /// Moves an invalid file to the quarantine if it was edited after the conflict. git writes the files of a conflict
  /// before its index.
  private func setAsideEdit(_ path: String, _ kind: RecordPath) throws {
    var index = stat()
    guard stat(repository.gitDirectory + "index", &index) == 0,
      let file = (try? DurableFile.read("\(store.path)/\(path)", limit: kind.largest)) ?? nil,
      FileSignature(file.status).modified > FileSignature(index).modified,
      kind.error(in: file.bytes) != nil
    else { return }
    let destination = try Quarantine(store).take("\(store.path)/\(path)", as: path)
    store.context.report(.setAside(path: path, to: destination))
  }

  /// Writes a file, or removes it if `bytes` is nil. Returns its status.
  private func write(_ bytes: [UInt8]?, at path: String) throws -> stat {
    let file = "\(store.path)/\(path)"
    guard let bytes else {
      if unlink(file) != 0, errno != ENOENT { throw FileError("remove", file) }
      return stat()
    }
    try DurableFile.makeFolder(DurableFile.parent(of: file))
    return try DurableFile.write(bytes, to: file, temporary: store.local.temporary("record"))
  }

  /// Removes `AUTO_MERGE`. git leaves it even after a successful merge, when it means nothing.
  private func removeAutoMerge() { _ = unlink(repository.gitDirectory + "AUTO_MERGE") }

  /// Creates the commit that git has prepared. Returns false if that is not possible.
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
