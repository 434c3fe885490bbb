import BelfryCore
import Git
import Glibc

/// The local state of this clone on this machine, in `.git/belfry`: never committed, never synced.
struct LocalState: Sendable {
  /// The folder `.git/belfry`.
  let folder: String
  /// The `.git` folder, without a trailing slash.
  let gitDirectory: String

  init(gitDirectory: String) {
    self.gitDirectory = gitDirectory.hasSuffix("/") ? String(gitDirectory.dropLast()) : gitDirectory
    folder = self.gitDirectory + "/belfry"
  }

  /// True if something other than a folder is in its place.
  var isReplaced: Bool {
    var status = stat()
    guard lstat(folder, &status) == 0 else { return false }
    return stat(folder, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR
  }

  /// The folder of the objects. A linked work tree shares it with its main repository.
  var objects: String { commonDirectory + "/objects" }

  /// Returns the commit that is checked out instead of a branch, or nil if a branch is checked out.
  ///
  /// A commit is checked out during a rebase, or while the user inspects an earlier commit.
  func readDetachedHead() -> String? {
    guard let head = DurableFile.firstLine(of: gitDirectory + "/HEAD") else { return nil }
    return head.hasPrefix("ref: ") ? nil : head
  }

  /// The lock for writes to the store.
  var lock: String { folder + "/lock" }
  /// The lock for writes to the delivery ledger and the call notes.
  var ledgerLock: String { folder + "/ledger.lock" }
  /// The lock that the daemon holds while it runs.
  var daemonLock: String { folder + "/daemon.lock" }
  /// The named pipe that wakes the daemon when something is written to it.
  var poke: String { folder + "/poke" }
  /// The lock for packing objects.
  var packLock: String { folder + "/pack.lock" }
  /// The alarm index.
  var summaries: String { folder + "/cards" }
  /// The journal of the present write.
  var journal: String { folder + "/journal" }
  /// The signature of the settings when they were last committed.
  var settings: String { folder + "/settings" }
  private var seen: String { folder + "/seen" }
  private var device: String { folder + "/device.json" }
  /// The delivery ledger.
  var ledger: String { folder + "/ledger.json" }

  /// Returns the path of a temporary file that is renamed into the store, for a holder of a lock. A file that a dead
  /// process left is overwritten.
  func temporary(_ purpose: String) -> String { "\(folder)/new-\(purpose)" }

  /// The path of a temporary file for the alarm index, for processes without a lock.
  var temporaryIndex: String { "\(folder)/new-cards-\(getpid())" }

  // MARK: Identity

  /// Returns the device of this clone, or nil for a clone that isn't on the machine and in the folder that it was
  /// made in.
  ///
  /// A copy of the folder is another clone. Two clones with one identity could not distinguish their edits.
  func identity(machine: String) throws -> Identifier? {
    let file: (bytes: [UInt8], status: stat)?
    do {
      file = try DurableFile.read(device, limit: 4096)
    } catch  where [EISDIR, ENOTDIR, ELOOP, EINVAL, EFBIG].contains(error.number) {
      // Anything but a regular file contains no identity.
      return nil
    }
    guard let file else { return nil }
    guard let json = try? JSON(parsing: file.bytes), let id = json["id"]?.identifier,
      json["machine"]?.string == machine, json["folder"]?.integer == folderNumber
    else { return nil }
    return id
  }

  /// The device of this folder before it was copied or moved to another machine; nil for a new clone.
  var formerIdentity: Identifier? {
    ((try? DurableFile.read(device, limit: 4096)) ?? nil).flatMap { try? JSON(parsing: $0.bytes) }
      .flatMap { $0["id"]?.identifier }
  }

  /// Saves the identity of this clone, durably.
  func setIdentity(_ id: Identifier, machine: String) throws {
    let json = JSON.object(omittingNil: [
      "id": JSON(id), "machine": .string(machine), "folder": folderNumber.map { .integer($0) },
    ])
    try DurableFile.write(json.document, to: device, temporary: temporary("device"))
  }

  /// The folder's inode. A copied folder gets another inode, a moved one keeps it.
  private var folderNumber: Int64? {
    var status = stat()
    return stat(folder, &status) == 0 ? Int64(bitPattern: UInt64(status.st_ino)) : nil
  }

  // MARK: Delivery ledger

  /// Returns the delivery ledger. An unreadable file counts as empty, because ringing twice is better than not at
  /// all.
  func readLedger(_ path: String) -> DeliveryLedger {
    guard let file = try? DurableFile.read(path, limit: 64 << 20),
      let list = (try? JSON(parsing: file.bytes))?.array
    else { return DeliveryLedger() }
    return DeliveryLedger(json: list)
  }

  /// Replaces the delivery ledger, durably.
  func write(_ value: DeliveryLedger, to path: String) throws {
    try DurableFile.write(
      JSON.array(value.json).document, to: path,
      temporary: path == ledger ? temporary("ledger") : "\(path).new")
  }

  // MARK: Battery warnings

  private var batteryWarnings: String { folder + "/battery-warnings.json" }

  /// Returns the history of battery warnings. An unreadable file counts as empty, because a repeated warning is
  /// better than none.
  func readBatteryWarnings() -> BatteryWarningHistory {
    guard let file = try? DurableFile.read(batteryWarnings, limit: 1 << 20),
      let list = (try? JSON(parsing: file.bytes))?.array
    else { return BatteryWarningHistory() }
    var told: [OccurrenceID: BatteryWarningHistory.Told] = [:]
    for item in list {
      guard let alarm = item["alarm"]?.identifier, let occurrence = item["occurrence"]?.occurrence,
        let risk = item["risk"]?.string.flatMap({ BatteryPrediction.Risk(rawValue: $0) }),
        let at = item["at"]?.instant
      else { continue }
      told[OccurrenceID(alarm: alarm, occurrence: occurrence)] =
        BatteryWarningHistory.Told(
          risk: risk, at: at, isOver: item["over"]?.bool ?? false)
    }
    return BatteryWarningHistory(told)
  }

  /// Replaces the history of battery warnings.
  func write(_ notes: BatteryWarningHistory) throws {
    let list = notes.told.map { key, told in
      JSON.object([
        "alarm": JSON(key.alarm), "occurrence": JSON(key.occurrence),
        "risk": .string(told.risk.rawValue), "at": JSON(told.at), "over": .bool(told.isOver),
      ])
    }
    try DurableFile.write(
      JSON.array(list).document, to: batteryWarnings,
      temporary: "\(batteryWarnings).new-\(getpid())",
      syncing: false)
  }

  // MARK: Heartbeats

  /// The file of the known heartbeats.
  var alive: String { folder + "/alive.json" }

  /// Returns the known heartbeats of the other devices. An unreadable file counts as empty.
  func readHeartbeats() -> DeviceHeartbeats {
    guard let file = try? DurableFile.read(alive, limit: 1 << 20),
      let json = try? JSON(parsing: file.bytes)
    else { return DeviceHeartbeats() }
    let seen = (json["seen"]?.object ?? [:]).compactMap { key, value in
      Identifier(key).flatMap { id in value.instant.map { (id, $0) } }
    }
    return DeviceHeartbeats(
      asked: json["asked"]?.instant, silent: json["silent"]?.instant,
      seen: Dictionary(seen) { max($0, $1) },
      has: (json["has"]?.object ?? [:]).reduce(into: [:]) { result, item in
        if let id = Identifier(item.key) { result[id] = item.value.string }
      }, told: json["told"]?.instant, toldHead: json["toldHead"]?.string,
      every: (json["every"]?.object ?? [:]).reduce(into: [:]) { result, item in
        guard let id = Identifier(item.key), let seconds = item.value.integer,
          DeviceHeartbeats.promises.contains(seconds)
        else { return }
        result[id] = seconds
      }, exchanges: (json["exchanges"]?.array ?? []).compactMap(\.instant).sorted())
  }

  /// Replaces the known heartbeats.
  func write(_ heartbeats: DeviceHeartbeats) throws {
    let seen = heartbeats.seen.map { ($0.key.text, JSON($0.value)) }
    let has = heartbeats.has.map { ($0.key.text, JSON.string($0.value)) }
    let every = heartbeats.every.map { ($0.key.text, JSON.integer($0.value)) }
    try DurableFile.write(
      JSON.object(omittingNil: [
        "asked": heartbeats.asked.map { JSON($0) }, "silent": heartbeats.silent.map { JSON($0) },
        "told": heartbeats.told.map { JSON($0) },
        "toldHead": heartbeats.toldHead.map { .string($0) },
        "has": .object(Dictionary(has) { one, _ in one }),
        "every": .object(Dictionary(every) { one, _ in one }),
        "exchanges": .array(heartbeats.exchanges.map { JSON($0) }),
        "seen": .object(Dictionary(seen) { one, _ in one }),
      ]).document, to: alive, temporary: "\(alive).new-\(getpid())", syncing: false)
  }

  // MARK: Routine work

  /// Work that a device does again and again.
  enum Routine: String {
    case tick, sync, tidying
  }

  /// Returns the time when routine work was last completed, or nil if it is unknown.
  func last(_ routine: Routine) -> Instant? {
    (try? DurableFile.read("\(folder)/last-\(routine.rawValue)", limit: 4096)).flatMap { $0 }
      .flatMap { Instant(rfc3339: String(decoding: $0.bytes, as: UTF8.self)) }
  }

  /// Records that routine work was completed. A write error is ignored, because the time is informative only.
  func note(_ routine: Routine, at now: Instant) {
    _ = try? DurableFile.write(
      Array(now.description.utf8), to: "\(folder)/last-\(routine.rawValue)",
      temporary: temporary("\(routine.rawValue)-\(getpid())"), syncing: false)
  }

  // MARK: The branch

  /// Returns the commit at which Belfry left the branch, or nil if it is unknown.
  func readSeen() -> ObjectID? {
    (try? DurableFile.read(seen, limit: 4096)).flatMap { $0 }.flatMap {
      ObjectID(hexadecimal: String(decoding: $0.bytes, as: UTF8.self))
    }
  }

  /// Records the commit at which Belfry left the branch. A write error is ignored: the branch is then not restored.
  func noteSeen(_ commit: ObjectID) {
    _ = try? DurableFile.write(
      Array(commit.description.utf8), to: seen, temporary: temporary("seen"), syncing: false)
  }

  // MARK: Journal

  /// The content of the journal: the intent of a write that has not ended.
  struct Journal {
    /// The paths, each with the blob to write; nil removes the file from the tree.
    var files: [(path: String, blob: ObjectID?)]
    /// The commit of the branch before the write; nil before the first commit.
    var head: ObjectID?
    /// The message of the commit; nil if the write doesn't make its own commit.
    var message: String?
    /// True if the write failed and could not be rolled back completely.
    var isRefused: Bool
  }

  /// Writes the journal before a write begins.
  ///
  /// The journal must survive a crash of the process, but not a power failure, whose effects are found by comparison
  /// with HEAD.
  func beginJournal(
    _ files: [(path: String, blob: ObjectID?)], head: ObjectID?, message: String?
  ) throws {
    let lines =
      [head?.description ?? ""] + files.map { "\($0.blob?.description ?? "-") \($0.path)" }
      + (message.map { ["", $0] } ?? [])
    try DurableFile.write(
      Array(lines.joined(separator: "\n").utf8), to: journal,
      temporary: temporary("journal"), syncing: false)
  }

  /// Removes the journal at the end of a write.
  func endJournal() { _ = unlink(journal) }

  /// Marks the write as failed, by the file's mode, which can be changed even on a full disk.
  func refuseJournal() {
    // Without a journal the write is not completed later.
    if chmod(journal, 0o400) != 0 { endJournal() }
  }

  /// Returns the journal, or nil if there is none.
  func readJournal() throws -> Journal? {
    guard let file = try DurableFile.read(journal, limit: 64 << 20) else { return nil }
    let lines = String(decoding: file.bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let files = lines.dropFirst().prefix { !$0.isEmpty }
    let message = lines.dropFirst(files.count + 2).joined(separator: "\n")
    return Journal(
      files: files.compactMap { line in
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        return parts.count == 2 ? (parts[1], ObjectID(hexadecimal: parts[0])) : nil
      }, head: lines.first.flatMap { ObjectID(hexadecimal: $0) },
      message: message.isEmpty ? nil : message,
      isRefused: file.status.st_mode & 0o200 == 0)
  }

  /// True during a write, or after an interrupted one.
  var hasJournal: Bool { access(journal, F_OK) == 0 }
}
