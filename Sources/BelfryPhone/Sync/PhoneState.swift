import BelfryCore
import BelfryStore
import Files

/// The local knowledge about the folder, `phone-tasks` in the local state of the store: the files that Belfry has written or
/// looked at, the deletions that were noticed, and the answers that are being recorded.
///
/// One line for each, with tabs between the fields. Without the file, Belfry reads every task again: a missing task is
/// then written again instead of counting as deleted.
struct PhoneState: Hashable, Sendable {
  /// A file that was written or read.
  struct Entry: Hashable, Sendable {
    /// The content that was read or written; nil for a file that was about to be placed.
    var signature: FileSignature?
    /// True for a file that was about to be placed and did not exist before.
    var isNew = false
    /// The occurrence; nil for a file that Belfry ignores.
    var id: OccurrenceID?
    /// The revision in the file; empty for a file that Belfry ignores.
    var revision = ""
    /// The time since which the task is closed; nil for an open one.
    var closed: Instant?
    /// The reason why a file is ignored; empty for a task.
    var problem = ""
  }

  /// A task that the phone has deleted.
  struct Deletion: Hashable, Sendable {
    /// The effect of a deletion.
    enum State: String, Sendable {
      /// More may follow.
      case noticed
      /// The occurrence was skipped.
      case applied
      /// There were too many at once: nothing happens until the person has decided.
      case held
    }
    var id: OccurrenceID
    /// The time at which Belfry has noticed it.
    var noticed: Instant
    var state: State
  }

  /// An answer that is being recorded. After a crash, the log tells whether it was.
  struct Intent: Hashable, Sendable {
    /// The name of the file.
    var name: String
    /// The content with the answer; nil for a deleted file.
    var signature: FileSignature?
    var id: OccurrenceID
    /// The time of the log entry.
    var at: Instant
  }

  var entries: [String: Entry] = [:]
  var deletions: [Deletion] = []
  var intents: [Intent] = []
  /// The time of the latest answer that was recorded; nil for none.
  var lastAnswer: Instant?
  /// The names of files that were changed, and that the repository of Xandikos may not have yet.
  var uncommitted: Set<String> = []

  /// The deletions that wait for a decision.
  var held: [Deletion] { deletions.filter { $0.state == .held } }

  /// The files that Belfry ignores, by their names. Those from before the setup are no problem.
  var problems: [PhoneReport.Problem] {
    entries.filter { !$0.value.problem.isEmpty && $0.value.problem != PhoneState.earlier }
      .sorted { $0.key < $1.key }
      .map { PhoneReport.Problem(name: $0.key, reason: $0.value.problem) }
  }

  /// The problem of a file that was in the folder before it was set up.
  static let earlier = "it was here before"
  /// The maximum size of the file in bytes.
  private static let maxSize = 32 << 20
  private static let header = "belfry phone 1"
  private static let new = "new"

  /// The file of a store.
  static func file(of store: Store) -> LocalFile<PhoneState> {
    LocalFile(
      path: store.localFolder + "/phone-tasks",
      format: .init(
        empty: PhoneState(), maxSize: maxSize, decode: { PhoneState($0) }, encode: { $0.bytes }),
      exclusion: .none, isDurable: false)
  }

  /// The time to wait for another holder of the lock, in milliseconds.
  private static let lockTimeout = 20_000

  /// Waits for the lock, which everything that changes the folder or the state holds.
  ///
  /// - Throws: `PhoneError.busy` if another process holds it.
  static func lock(of store: Store) throws -> FileLock {
    let lock = try FileLock(store.localFolder + "/phone.lock", mode: 0o600)
    guard try lock.lock(timeout: lockTimeout) else { throw PhoneError.busy }
    return lock
  }

  init() {}

  // MARK: Coding

  private init?(_ bytes: [UInt8]) {
    var lines = bytes.split(separator: UInt8(ascii: "\n"))[...]
    guard let first = lines.popFirst(), first.elementsEqual(PhoneState.header.utf8) else {
      return nil
    }
    for line in lines {
      let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
      guard let kind = fields.first else { return nil }
      switch (kind, fields.count) {
      case ("file", 7):
        entries[fields[1]] = Entry(
          signature: PhoneState.signature(fields[2]), isNew: fields[2] == PhoneState.new,
          id: PhoneState.occurrence(fields[3]),
          revision: fields[4], closed: PhoneState.instant(fields[5]), problem: fields[6])
      case ("deleted", 4):
        guard let id = PhoneState.occurrence(fields[1]),
          let noticed = PhoneState.instant(fields[2]),
          let state = Deletion.State(rawValue: fields[3])
        else { return nil }
        deletions.append(Deletion(id: id, noticed: noticed, state: state))
      case ("answer", 5):
        guard let id = PhoneState.occurrence(fields[3]), let at = PhoneState.instant(fields[4])
        else {
          return nil
        }
        intents.append(
          Intent(name: fields[1], signature: PhoneState.signature(fields[2]), id: id, at: at))
      case ("last", 2): lastAnswer = PhoneState.instant(fields[1])
      case ("uncommitted", 2): uncommitted.insert(fields[1])
      default: return nil
      }
    }
  }

  private var bytes: [UInt8] {
    var text = PhoneState.header + "\n"
    for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
      text +=
        "file\t\(name)\t\(entry.isNew ? PhoneState.new : PhoneState.text(entry.signature))\t\(PhoneState.text(entry.id))\t"
        + "\(entry.revision)\t\(PhoneState.text(entry.closed))\t\(entry.problem)\n"
    }
    for deletion in deletions {
      text += "deleted\t\(PhoneState.text(deletion.id))\t\(PhoneState.text(deletion.noticed))\t"
      text += "\(deletion.state.rawValue)\n"
    }
    for intent in intents {
      text += "answer\t\(intent.name)\t\(PhoneState.text(intent.signature))\t"
      text += "\(PhoneState.text(intent.id))\t\(PhoneState.text(intent.at))\n"
    }
    if let lastAnswer { text += "last\t\(PhoneState.text(lastAnswer))\n" }
    for name in uncommitted.sorted() { text += "uncommitted\t\(name)\n" }
    return Array(text.utf8)
  }

  private static func text(_ signature: FileSignature?) -> String {
    signature.map { "\($0.size) \($0.modified) \($0.inode)" } ?? ""
  }

  private static func signature(_ text: String) -> FileSignature? {
    let parts = text.split(separator: " ")
    guard parts.count == 3, let size = Int64(parts[0]), let modified = Int64(parts[1]),
      let inode = UInt64(parts[2])
    else { return nil }
    return FileSignature(size: size, modified: modified, changed: 0, inode: inode)
  }

  private static func text(_ id: OccurrenceID?) -> String {
    id.map { "\($0.alarm.text) \($0.occurrence)" } ?? ""
  }

  private static func occurrence(_ text: String) -> OccurrenceID? {
    let parts = text.split(separator: " ")
    guard parts.count == 2, let alarm = Identifier(parts[0]),
      let civil = CivilDateTime(String(parts[1]))
    else { return nil }
    return OccurrenceID(alarm: alarm, occurrence: civil)
  }

  private static func text(_ instant: Instant?) -> String {
    instant.map { "\($0.milliseconds)" } ?? ""
  }

  private static func instant(_ text: String) -> Instant? {
    Int64(text).map { Instant(milliseconds: $0) }
  }
}
