import BelfryCore
import Git

/// What a merge set aside of somebody's edit.
public struct MergeDecision: Hashable, Sendable {
  public let alarm: Identifier
  public let title: String
  /// The field; `deleted` where a deletion stood over an edit.
  public let field: String
  public let kept: String
  public let discarded: String
  /// The devices behind the two edits, where they are stamped.
  public let keptBy: Identifier?
  public let discardedBy: Identifier?
}

/// A record of a remote that was left out, and why.
public struct MergeRefusal: Hashable, Sendable {
  public let path: String
  public let reason: String
}

/// The join of two trees, record by record.
///
/// For a path on which the trees differ:
///
/// 1. Only one has it: it stays, as absence never means deletion.
/// 2. Both have it: alarms and settings are joined by their rules; of a log entry or a device, which
///    nobody rewrites, the greater bytes stand.
/// 3. What is not valid gives way to what is, and to nothing; it stays in the history.
/// 4. A path that no record has: it is in neither's joined tree. The file stays in its owner's work tree.
///
/// Symmetric: both sides come to the same tree, byte by byte.
struct TreeJoin {
  private let writer: StoreWriter
  private var repository: Repository { writer.repository }
  /// The alarms of the common ancestor.
  private let base: [Identifier: ObjectID]
  /// A record written by hand may lack progress; it then starts here, on every device alike.
  private static let start = Instant(seconds: 0)
  /// What differs from our tree; nil: tracked no longer.
  private(set) var files: [String: [UInt8]?] = [:]
  /// What our tree has at the paths of `files`.
  private(set) var before: [String: ObjectID] = [:]
  private(set) var decisions: [MergeDecision] = []
  /// What the other side has that was left out.
  private(set) var refusals: [MergeRefusal] = []
  /// How many records came in or changed.
  private(set) var merged = 0

  /// - Parameter base: the tree of the common ancestor, to tell which edits are set aside.
  init(_ writer: StoreWriter, ours: ObjectID?, theirs: ObjectID, base: ObjectID?) throws {
    self.writer = writer
    self.base = try base.map { try Store.alarms(writer.repository, in: $0) } ?? [:]
    try walk(ours, theirs, prefix: "")
    decisions.sort { ($0.alarm, $0.field) < ($1.alarm, $1.field) }
  }

  private mutating func walk(_ ours: ObjectID?, _ theirs: ObjectID?, prefix: String) throws {
    if ours == theirs { return }
    let (mine, other) = (try repository.entries(of: ours), try repository.entries(of: theirs))
    for name in Set(mine.keys).union(other.keys).sorted() {
      let (a, b) = (mine[name], other[name])
      if a == b { continue }
      let path = prefix + name
      let folders = [a, b].compactMap { $0?.mode == .folder ? $0 : nil }
      if !folders.isEmpty, TreeJoin.isFolder(path) {
        try walk(
          a?.mode == .folder ? a?.id : nil, b?.mode == .folder ? b?.id : nil, prefix: path + "/")
      } else {
        try join(path, a?.mode == .file ? a?.id : nil, b, isOurs: a != nil)
      }
    }
  }

  /// Whether records lie in or below a folder.
  private static func isFolder(_ path: String) -> Bool {
    let parts = path.split(separator: "/")
    switch parts.first {
    case "alarms", "devices": return parts.count == 1
    case "log": return parts.count <= 4
    default: return false
    }
  }

  private mutating func join(
    _ path: String, _ ours: ObjectID?, _ other: TreeData.Entry?, isOurs: Bool
  ) throws {
    let theirs = other?.mode == .file ? other?.id : nil
    let kind = RecordPath(path)
    if let other, kind == nil || other.mode != .file {
      let reason = kind == nil ? "no record has this path" : "it is not a regular file"
      refusals.append(MergeRefusal(path: path, reason: reason))
    }
    before[path] = ours
    guard let kind else {
      if isOurs { files[path] = .some(nil) }
      return
    }
    let mine = try ours.map { try version($0, kind) }
    let hers = try theirs.map { try version($0, kind) }
    if case .failure(let error) = hers {
      if case .newerFormat(let format) = error.kind {
        throw StoreError.newerFormat(path: path, format)
      }
      refusals.append(MergeRefusal(path: path, reason: error.reason))
    }
    let result: [UInt8]? =
      switch (try? mine?.get(), try? hers?.get()) {
      case (let a?, let b?): joined(kind, a, b)
      case (let a?, nil): a.bytes
      case (nil, let b?): b.bytes
      case (nil, nil): nil
      }
    if let result {
      guard Repository.blobID(result) != ours else { return }
      files[path] = .some(result)
      merged += 1
    } else if isOurs {
      files[path] = .some(nil)
    }
  }

  // MARK: Records

  private struct Version {
    let bytes: [UInt8]
    var alarm: Alarm?
    var settings: SettingsRecord?
  }

  private func version(_ blob: ObjectID, _ kind: RecordPath) throws -> Result<Version, RecordError>
  {
    let bytes: [UInt8]
    do {
      bytes = try repository.blob(blob, limit: kind.largest)
    } catch {
      return .failure(RecordError(error.message))
    }
    var version = Version(bytes: bytes)
    do throws(RecordError) {
      switch kind {
      case .alarm(let id):
        version.alarm = try AlarmRecord.decode(bytes, id: id, now: TreeJoin.start)
      case .settings: version.settings = try SettingsFile.decode(bytes)
      case .log, .device, .attributes:
        if let error = kind.error(in: bytes) { return .failure(error) }
      }
      return .success(version)
    } catch {
      return .failure(error)
    }
  }

  private mutating func joined(
    _ kind: RecordPath, _ ours: Version, _ theirs: Version
  ) -> [UInt8] {
    if let a = ours.alarm, let b = theirs.alarm {
      let result = Alarm.join(a, b)
      note(a, b, result, ancestor(a.id))
      return AlarmRecord.encode(result)
    }
    if let a = ours.settings, let b = theirs.settings {
      return SettingsFile.encode(SettingsRecord.join(a, b))
    }
    return ours.bytes.lexicographicallyPrecedes(theirs.bytes) ? theirs.bytes : ours.bytes
  }

  /// The version that both came from; nil when there is none, or none that is good.
  private func ancestor(_ id: Identifier) -> Alarm? {
    guard let blob = base[id], let bytes = try? repository.blob(blob, limit: AlarmRecord.largest)
    else { return nil }
    return try? AlarmRecord.decode(bytes, id: id, now: TreeJoin.start)
  }

  /// Notes the edits of one side that the other side's edit of the same field set aside.
  private mutating func note(_ a: Alarm, _ b: Alarm, _ result: Alarm, _ base: Alarm?) {
    for field in Alarm.Field.allCases {
      let (one, two) = (a.text(of: field), b.text(of: field))
      guard one != two, base?.text(of: field) != one, base?.text(of: field) != two else { continue }
      let (winner, loser) = result.text(of: field) == one ? (a, b) : (b, a)
      decisions.append(
        MergeDecision(
          alarm: a.id, title: result.title, field: field.rawValue, kept: winner.text(of: field),
          discarded: loser.text(of: field), keptBy: winner.stamps[field]?.device,
          discardedBy: loser.stamps[field]?.device))
    }
    guard a.isDeleted != b.isDeleted, let base else { return }
    let alive = a.isDeleted ? b : a
    let edits = alive.changedFields(from: base).map(\.rawValue).joined(separator: ", ")
    if edits.isEmpty { return }
    let (kept, discarded) = result.isDeleted ? ("deleted", edits) : (edits, "deleted")
    let editor = alive.latestStamp?.device
    decisions.append(
      MergeDecision(
        alarm: a.id, title: result.title, field: "deleted", kept: kept, discarded: discarded,
        keptBy: result.isDeleted ? nil : editor, discardedBy: result.isDeleted ? editor : nil))
  }
}
