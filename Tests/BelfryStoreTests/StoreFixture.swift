import BelfryCore
import Files
import Foundation
import Git
import Synchronization
import TestSupport
import Testing

@testable import BelfryStore

/// A store in a temporary folder, used in this process and by the user's git.
struct StoreFixture {
  /// The notices that a store has reported.
  final class Notices: Sendable {
    private let list = Mutex<[StoreNotice]>([])
    var all: [StoreNotice] { list.withLock { $0 } }
    func add(_ notice: StoreNotice) { list.withLock { $0.append(notice) } }
  }

  let sandbox: Sandbox
  let store: Store
  let notices = Notices()

  /// Creates a store with the given alarms, which ring daily at 08:00.
  init(
    _ titles: String..., now: String = "2026-11-20T22:41:00Z", lockTimeout: Int = 3_000
  ) async throws {
    sandbox = try Sandbox()
    store = try Store.open(
      sandbox.store,
      context: StoreFixture.context(now: now, notices: notices, lockTimeout: lockTimeout)
    ).store
    _ = try await git("config", "user.name", "Ada")
    _ = try await git("config", "user.email", "ada@example.org")
    for title in titles { try store.commit(change(title)) }
  }

  static func context(
    now: String, zone: String = "UTC", notices: Notices, device: String = "laptop",
    lockTimeout: Int = 3_000
  ) -> StoreContext {
    StoreContext(
      now: Instant(rfc3339: now)!, zones: ZoneLibrary(variable: zone), deviceName: device,
      user: geteuid(),
      makeIdentifier: {
        var generator = SystemRandomNumberGenerator()
        return .random(using: &generator)
      },
      // A child process of another test holds a copy of the lock between fork and exec.
      random: { $0.lowerBound }, lockTimeout: lockTimeout, report: { notices.add($0) })
  }

  /// Returns the same store at another time, or in another zone.
  func reopened(now: String = "2026-11-20T22:50:00Z", zone: String = "UTC") -> Store {
    Store(
      path: store.path, context: StoreFixture.context(now: now, zone: zone, notices: notices),
      device: store.device, local: store.local)
  }

  /// Returns a clone of the store that is a device of its own.
  func clone() async throws -> Store {
    let path = sandbox.root + "/other"
    _ = try await sandbox.git("clone", "-q", sandbox.store, path, in: sandbox.root)
    _ = try await sandbox.git("config", "user.name", "Eve", in: path)
    _ = try await sandbox.git("config", "user.email", "eve@example.org", in: path)
    return try Store.open(
      path,
      context: StoreFixture.context(
        now: "2026-11-20T22:45:00Z", notices: notices, device: "server")
    ).store
  }

  /// Returns a writer without a reconciliation, for a single step.
  func writer() throws -> StoreWriter {
    let repository = try store.repository()
    return StoreWriter(
      store, repository, branch: "refs/heads/main", signature: try store.signature(repository),
      hold: try CollectionHold(repository), seen: store.local.readSeen())
  }

  /// Commits files as another program does, without the work tree and the index.
  func commitElsewhere(_ files: [String: [UInt8]]) throws {
    let writer = try writer()
    let repository = writer.repository
    let head = try #require(try writer.head())
    let tree = try writer.tree(
      from: repository.commit(head).tree, files.mapValues { try repository.writeBlob($0) })
    let signature = try store.signature(repository)
    let commit = try repository.writeCommit(
      tree: tree, parents: [head], signature: signature, message: "Commit files")
    _ = try repository.moveReference(
      "refs/heads/main", from: head, to: commit, signature: signature, message: "commit",
      isDurable: false)
  }

  // MARK: Alarms

  /// Returns the change that adds an alarm.
  func change(_ title: String, to store: Store? = nil) throws -> Store.Change {
    let store = store ?? self.store
    let id = store.context.makeIdentifier()
    let text = """
      {"format": 1, "id": "\(id)", "title": "\(title)", "schedule":
       {"kind": "daily", "start": "2026-11-20", "times": ["08:00"]}}
      """
    let alarm = try AlarmRecord.decode(Array(text.utf8), id: id, now: store.context.now)
    return Store.Change(
      alarms: [alarm.stamped(against: nil, at: store.context.now, device: store.device)],
      entries: [], message: CommitMessage("Add \(title)", device: store.device))
  }

  /// Returns the alarm with a title, from any version that a read finds.
  func alarm(_ title: String) throws -> Alarm {
    try #require(try store.allAlarms().alarms.first { $0.title == title }, "no alarm \(title)")
  }

  /// The path of an alarm's file.
  func file(_ alarm: Alarm) -> String { "\(store.path)/\(AlarmRecord.path(alarm.id))" }

  /// Returns the encoded alarm with another title and a new stamp.
  func renamed(_ alarm: Alarm, _ title: String) -> [UInt8] {
    var after = alarm
    after.title = title
    return AlarmRecord.encode(
      after.stamped(
        against: alarm, at: store.context.now.adding(seconds: 60), device: store.device))
  }

  /// Returns an alarm with a note, as an edit by a command.
  func noted(_ alarm: Alarm, _ note: String) -> Alarm {
    var after = alarm
    after.note = note
    return after.stamped(against: alarm, at: store.context.now, device: store.device)
  }

  /// Replaces a text in a file, as an editor does.
  func edit(_ file: String, _ old: String, _ new: String) throws {
    let text = try sandbox.read(file)
    try #require(text.contains(old))
    try sandbox.write(text.replacing(old, with: new), to: file)
  }

  // MARK: The repository

  @discardableResult
  func git(_ arguments: String..., in folder: String? = nil) async throws -> Sandbox.Output {
    try await sandbox.run("/usr/bin/git", ["-C", folder ?? store.path] + arguments)
  }

  /// The commit of the branch.
  func head() throws -> ObjectID {
    try #require(try store.repository().commit(of: "refs/heads/main"))
  }

  /// Returns the subjects of the commits since one, the oldest first.
  func subjects(since commit: ObjectID) async throws -> [String] {
    try await git("log", "--reverse", "--first-parent", "--format=%s", "\(commit)..main").out
      .split(separator: "\n").map(String.init)
  }

  /// The lines of `git status`: none if the work tree, the index and the branch agree.
  func status() async throws -> String { try await git("status", "--porcelain").out }

  /// The path of a loose object's file.
  func object(_ id: ObjectID) -> String {
    "\(store.path)/.git/objects/\(id.description.prefix(2))/\(id.description.dropFirst(2))"
  }

  /// The names of the temporary files and backups in the local state.
  func leftovers() -> [String] {
    DurableFile.names(in: store.local.folder).filter { $0.hasPrefix("new-") }
  }

  /// Leaves the journal of a process that was killed before it wrote an object or a file.
  ///
  /// - Parameter head: The commit on which the write builds; nil for the present one.
  func leaveJournal(
    _ files: [String: [UInt8]], head: ObjectID? = nil,
    message: String = "Write\n\nDevice: laptop\n"
  ) throws {
    let repository = try store.repository()
    let head = try head ?? self.head()
    repository.holdNewObjects()
    var blobs: [String: ObjectID?] = [:]
    for (path, bytes) in files { blobs[path] = .some(try repository.writeBlob(bytes)) }
    let writer = StoreWriter(
      store, repository, branch: "refs/heads/main", signature: try store.signature(repository),
      hold: try CollectionHold(repository), seen: head)
    let commit = try repository.writeCommit(
      tree: writer.tree(from: repository.commit(head).tree, blobs), parents: [head],
      signature: store.signature(repository), message: message)
    let entry = JournalEntry(
      head: head, target: commit,
      files: blobs.keys.sorted().map { .init(path: $0, blob: blobs[$0] ?? nil) },
      objects: try repository.heldObjects())
    _ = try store.local.log.append(entry.bytes, session: store.local.session)
  }
}
