import BelfryCore

/// The merge driver for records, which git calls in `git merge`, `pull`, `rebase`, `cherry-pick` and `stash pop`.
public enum MergeDriver {
  /// The result of a merge of two versions of a record.
  public struct Outcome: Sendable {
    /// The merged record.
    public let bytes: [UInt8]
    /// The decisions of the merge.
    public let decisions: [MergeDecision]
    /// The errors of the sides that were left out.
    public let problems: [RecordError]
  }

  /// Merges two versions of a record. If neither is valid, ours stays as it is.
  ///
  /// - Parameters:
  ///   - path: The path of the record.
  ///   - base: The common ancestor; nil if there is none.
  ///   - ours: Our version.
  ///   - theirs: Their version.
  ///   - folder: The work tree whose store records the decisions; nil for none.
  ///   - now: The time of the decisions.
  /// - Throws: `StoreError.noRecord` if the path is not that of a record.
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
