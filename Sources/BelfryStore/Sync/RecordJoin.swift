import BelfryCore
import Git

/// The merge of two versions of one record, as bytes, for sync, for the merge driver and for unfinished merges of
/// git.
///
/// 1. Only one side has the record: it stays, because a missing file never means a deletion.
/// 2. Both sides have it: the rules of its kind apply (`Joinable.join`).
/// 3. A side has a newer format: it stays byte for byte, because this version cannot read what it would lose. Of two such
///    sides, the one that was changed since the common version stays, else the newer format, and of equal formats the
///    greater bytes.
/// 4. A side is not valid: it loses against any other side, and counts as missing if there is none.
/// 5. A value that was edited by hand and committed without a stamp wins over the value that it replaced.
struct RecordJoin: Sendable {
  /// The merged record; nil if neither side is valid.
  let bytes: [UInt8]?
  /// True if the merged record has a newer format, which this version cannot read.
  let isNewer: Bool
  /// The conflicting edits.
  let decisions: [MergeDecision]
  /// The reasons that a side is not valid; nil if it is valid or missing.
  let refusals: (ours: RecordError?, theirs: RecordError?)

  /// Merges two versions.
  ///
  /// - Parameters:
  ///   - path: The path of the record.
  ///   - ours: The first version; nil if it is missing.
  ///   - theirs: The second version; nil if it is missing.
  ///   - base: A function that returns the common version. It identifies conflicting edits, edits by hand without a stamp,
  ///     and the later one of two versions that cannot be read. The other merge rules don't need it.
  init(
    _ path: RecordPath, ours: Result<[UInt8], RecordError>?,
    theirs: Result<[UInt8], RecordError>?, base: () -> [UInt8]? = { nil }
  ) {
    self.init(path.kind, path, ours: ours, theirs: theirs, base: base)
  }

  private init<Kind: Record>(
    _: Kind.Type, _ path: RecordPath, ours: Result<[UInt8], RecordError>?,
    theirs: Result<[UInt8], RecordError>?, base: () -> [UInt8]?
  ) {
    let mine = ours.map { Version<Kind>($0, path) }
    let other = theirs.map { Version<Kind>($0, path) }
    refusals = (mine?.error, other?.error)
    var decisions: [MergeDecision] = []
    if let newer = RecordJoin.newer(mine, other, base: base) {
      (bytes, self.decisions, isNewer) = (newer, [], true)
      return
    }
    isNewer = false
    switch (mine?.record, other?.record) {
    case (let a?, let b?):
      bytes = RecordJoin.joined(Kind.self, a, b, base: base, at: path, &decisions)
    case (let a?, nil): bytes = a.bytes
    case (nil, let b?): bytes = b.bytes
    case (nil, nil): bytes = nil
    }
    self.decisions = decisions.sorted { $0.subject < $1.subject }
    assert(
      decisions.allSatisfy { $0.kept != $0.discarded }, "a decision is between different values")
    assert(bytes != nil || mine?.record == nil && other?.record == nil, "a valid record stays")
  }

  /// Returns the content that stays if a side has a newer format; nil if none has.
  private static func newer<Kind: Record>(
    _ ours: Version<Kind>?, _ theirs: Version<Kind>?, base: () -> [UInt8]?
  ) -> [UInt8]? {
    guard let a = ours?.newer, let b = theirs?.newer else {
      return (ours?.newer ?? theirs?.newer)?.bytes
    }
    if a.bytes == b.bytes { return a.bytes }
    let before = base()
    if before == a.bytes { return b.bytes }
    if before == b.bytes { return a.bytes }
    if a.format != b.format { return a.format > b.format ? a.bytes : b.bytes }
    return a.bytes.lexicographicallyPrecedes(b.bytes) ? b.bytes : a.bytes
  }

  private static func joined<Kind: Record>(
    _: Kind.Type, _ a: (bytes: [UInt8], value: Kind.Value),
    _ b: (bytes: [UInt8], value: Kind.Value), base: () -> [UInt8]?, at path: RecordPath,
    _ decisions: inout [MergeDecision]
  ) -> [UInt8] {
    if a.bytes == b.bytes { return a.bytes }
    // Mostly only one side has changed the record since then.
    let before = base().flatMap { bytes in
      bytes == a.bytes
        ? a.value : bytes == b.bytes ? b.value : try? Kind.decode(bytes, at: path)
    }
    let one = before.map { a.value.stamped(asDescendantOf: $0) } ?? a.value
    let two = before.map { b.value.stamped(asDescendantOf: $0) } ?? b.value
    let joined = Kind.Value.join(one, two)
    decisions = Kind.decisions(one, two, joined: joined, base: before)
    return Kind.encode(joined)
  }

  /// A version of one side.
  private struct Version<Kind: Record> {
    /// The record; nil if it is not valid.
    var record: (bytes: [UInt8], value: Kind.Value)?
    var error: RecordError?
    /// The content of a record of a newer format; nil for any other one.
    var newer: (format: Int64, bytes: [UInt8])?

    init(_ content: Result<[UInt8], RecordError>, _ path: RecordPath) {
      do throws(RecordError) {
        let bytes = try content.get()
        record = (bytes, try Kind.decode(bytes, at: path))
      } catch {
        self.error = error
        if case .newerFormat(let format) = error.kind, case .success(let bytes) = content {
          newer = (format, bytes)
        }
      }
    }
  }
}

extension Repository {
  /// Returns the bytes of a record, or the reason that the blob cannot be a record, such as its size.
  ///
  /// - Throws: `StoreError.unreadableObject` for a blob that is missing or damaged here. It may contain a valid
  ///   record.
  func content(
    _ blob: ObjectID, _ kind: RecordPath
  ) throws(StoreError) -> Result<[UInt8], RecordError> {
    do throws(GitError) {
      return .success(try self.blob(blob, limit: kind.largest))
    } catch {
      if error.isUnreadable { throw .unreadableObject(reason: error.description) }
      return .failure(RecordError(error.message))
    }
  }
}
