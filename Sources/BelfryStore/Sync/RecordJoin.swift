import BelfryCore
import Git

/// The join of two versions of one record, as bytes: what a sync, the merge driver and the mending of a merge that
/// git could not finish all come to.
///
/// 1. Only one side has the record: it stays, as absence never means deletion.
/// 2. Both have it: they are joined by the rules of their kind (`Alarm.join`, `SettingsRecord.join`, `Device.join`,
///    `LogEntry.join`).
/// 3. What is not valid gives way to what is, and to nothing.
/// 4. A value that somebody has changed by hand, and committed without a stamp, stands over the one that it changed.
struct RecordJoin {
  /// Nil when neither side is a record.
  let bytes: [UInt8]?
  let decisions: [MergeDecision]
  /// Why a side was left out, when it was.
  let refusals: (ours: RecordError?, theirs: RecordError?)

  /// - Parameter base: the version that both came from: it tells which edits are set aside, and which were made
  ///   by hand without a stamp. The rules of the kinds themselves need none.
  init(
    _ kind: RecordPath, ours: Result<[UInt8], RecordError>?,
    theirs: Result<[UInt8], RecordError>?, base: () -> [UInt8]? = { nil }
  ) {
    let (mine, hers) = (ours.map { Version($0, kind) }, theirs.map { Version($0, kind) })
    refusals = (mine?.error, hers?.error)
    var decisions: [MergeDecision] = []
    switch (mine?.record, hers?.record) {
    case (let a?, let b?):
      bytes = RecordJoin.joined(a, b, base: base, &decisions)
    case (let a?, nil): bytes = a.bytes
    case (nil, let b?): bytes = b.bytes
    case (nil, nil): bytes = nil
    }
    self.decisions = decisions.sorted { $0.subject < $1.subject }
  }

  /// Who edited a setting that nobody had stamped before.
  private static let nobody = Identifier(high: 0, low: 0)

  private static func joined(
    _ a: Record, _ b: Record, base: () -> [UInt8]?, _ decisions: inout [MergeDecision]
  ) -> [UInt8] {
    if a.bytes == b.bytes { return a.bytes }
    switch (a.value, b.value) {
    case (.alarm(var one), .alarm(var two)):
      let before = base().flatMap { try? AlarmRecord.decode($0, id: one.id, now: RecordPath.start) }
      if let before {
        one = one.stamped(asDescendantOf: before)
        two = two.stamped(asDescendantOf: before)
      }
      let joined = Alarm.join(one, two)
      decisions = MergeDecision.all(one, two, joined: joined, base: before)
      return AlarmRecord.encode(joined)
    case (.settings(var one), .settings(var two)):
      let before = base().flatMap { try? SettingsFile.decode($0) }
      if let before {
        one = one.stamped(asDescendantOf: before, owner: RecordJoin.nobody)
        two = two.stamped(asDescendantOf: before, owner: RecordJoin.nobody)
      }
      let joined = SettingsRecord.join(one, two)
      decisions = MergeDecision.all(one, two, joined: joined, base: before)
      return SettingsFile.encode(joined)
    case (.device(let one), .device(let two)): return DeviceRecord.encode(Device.join(one, two))
    case (.log(let one), .log(let two)): return LogRecord.encode(LogEntry.join(one, two))
    default: return a.bytes.lexicographicallyPrecedes(b.bytes) ? b.bytes : a.bytes
    }
  }

  // MARK: Sides

  private struct Record {
    let bytes: [UInt8]
    let value: RecordValue
  }

  private struct Version {
    var record: Record?
    var error: RecordError?

    init(_ bytes: Result<[UInt8], RecordError>, _ kind: RecordPath) {
      do throws(RecordError) {
        let bytes = try bytes.get()
        record = Record(bytes: bytes, value: try kind.value(in: bytes))
      } catch {
        self.error = error
      }
    }
  }
}

extension Repository {
  /// The bytes of a record of a kind, or why they are no record's: too many, not a file's.
  ///
  /// Throws `StoreError.unreadableObject` for a blob that is missing or damaged here: it may well hold a record.
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
