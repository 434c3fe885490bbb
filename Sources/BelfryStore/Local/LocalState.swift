import BelfryCore
import Git
import Glibc

/// What is local to this clone on this machine, in `.git/belfry`: never in a commit, never synced.
struct LocalState: Sendable {
  let folder: String
  /// The `.git` folder, without a slash at the end.
  let gitDirectory: String

  init(gitDirectory: String) {
    self.gitDirectory = gitDirectory.hasSuffix("/") ? String(gitDirectory.dropLast()) : gitDirectory
    folder = self.gitDirectory + "/belfry"
  }

  /// True when something other than a folder lies in its place.
  var isReplaced: Bool {
    var status = stat()
    guard lstat(folder, &status) == 0 else { return false }
    return stat(folder, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR
  }

  /// The folder of the objects; that of a linked work tree is in the repository that it belongs to.
  var objects: String { commonDirectory + "/objects" }

  /// The commit that is checked out instead of a branch; nil when a branch is, as always but when a
  /// person looks at the past, or rebases.
  func readDetachedHead() -> String? {
    guard let head = DurableFile.firstLine(of: gitDirectory + "/HEAD") else { return nil }
    return head.hasPrefix("ref: ") ? nil : head
  }

  var lock: String { folder + "/lock" }
  var firingsLock: String { folder + "/firings.lock" }
  /// Held by the daemon as long as it runs.
  var daemonLock: String { folder + "/daemon.lock" }
  /// A named pipe: what is written to it wakes the daemon.
  var poke: String { folder + "/poke" }
  var packLock: String { folder + "/pack.lock" }
  var summaries: String { folder + "/cards" }
  /// The paths of a write that has begun and not ended.
  var journal: String { folder + "/journal" }
  /// The signature of the settings as they were last committed.
  var settings: String { folder + "/settings" }
  private var seen: String { folder + "/seen" }
  private var device: String { folder + "/device.json" }
  var ledger: String { folder + "/firings.json" }

  /// A place for a file that is about to be renamed into the store, for holders of a lock: what a process
  /// that died left there is overwritten.
  func temporary(_ purpose: String) -> String { "\(folder)/new-\(purpose)" }

  /// The same for anybody at any time.
  var temporaryCards: String { "\(folder)/new-cards-\(getpid())" }

  // MARK: Identity

  /// This clone's device, as long as the clone is the one on the machine that it was made on: a copy
  /// of the folder is another clone, and two with one identity could not tell their edits apart.
  func identity(machine: String) throws -> Identifier? {
    let file: (bytes: [UInt8], status: stat)?
    do {
      file = try DurableFile.read(device, limit: 4096)
    } catch  where [EISDIR, ENOTDIR, ELOOP, EINVAL, EFBIG].contains(error.number) {
      // Something else in its place says nothing.
      return nil
    }
    guard let file else { return nil }
    guard let json = try? JSON(parsing: file.bytes), let id = json["id"]?.identifier,
      json["machine"]?.string == machine, json["folder"]?.integer == folderNumber
    else { return nil }
    return id
  }

  /// The device that this folder belonged to before it was copied or moved to another machine; nil for a new clone.
  var formerIdentity: Identifier? {
    ((try? DurableFile.read(device, limit: 4096)) ?? nil).flatMap { try? JSON(parsing: $0.bytes) }
      .flatMap { $0["id"]?.identifier }
  }

  func setIdentity(_ id: Identifier, machine: String) throws {
    let json = JSON.object(omittingNil: [
      "id": JSON(id), "machine": .string(machine), "folder": folderNumber.map { .integer($0) },
    ])
    try DurableFile.write(json.document, to: device, temporary: temporary("device"))
  }

  /// A copied folder has another inode than the one it was copied from; a moved one keeps it.
  private var folderNumber: Int64? {
    var status = stat()
    return stat(folder, &status) == 0 ? Int64(bitPattern: UInt64(status.st_ino)) : nil
  }

  // MARK: DeliveryLedger

  /// What this device has rung for. A file that cannot be read counts as none: rather ring twice.
  func readFirings(_ path: String) -> DeliveryLedger {
    guard let file = try? DurableFile.read(path, limit: 64 << 20),
      let list = (try? JSON(parsing: file.bytes))?.array
    else { return DeliveryLedger() }
    var result = DeliveryLedger()
    for item in list {
      guard let alarm = item["alarm"]?.identifier, let occurrence = item["occurrence"]?.occurrence,
        let due = item["due"]?.instant, let at = item["at"]?.instant
      else { continue }
      result[DeliveryLedger.Key(alarm: alarm, occurrence: occurrence)] = DeliveryLedger.Firing(
        LocalState.kind(item), due: due, at: at, attempts: Int(item["attempts"]?.integer ?? 1),
        standing: item["standing"]?.string.flatMap {
          DeliveryLedger.Firing.DeliveryState(rawValue: $0)
        }
          ?? .delivered,
        leaseOwner: item["keeper"]?.string, isLogged: item["logged"]?.bool ?? true)
    }
    return result
  }

  private static func kind(_ item: JSON) -> DeliveryLedger.Firing.Kind {
    if item["warning"]?.bool == true { return .warning }
    if item["rehearsal"]?.bool == true { return .rehearsal }
    return item["followUp"]?.integer.map { .followUp(Int($0)) } ?? .ringing
  }

  private static func members(_ kind: DeliveryLedger.Firing.Kind) -> [String: JSON?] {
    switch kind {
    case .ringing: [:]
    case .followUp(let number): ["followUp": .integer(Int64(number))]
    case .warning: ["warning": true]
    case .rehearsal: ["rehearsal": true]
    }
  }

  func write(_ value: DeliveryLedger, to path: String) throws {
    let list = value.ledger.sorted { $0.key < $1.key }.map { key, firing in
      JSON.object(
        omittingNil: [
          "alarm": JSON(key.alarm), "occurrence": JSON(key.occurrence), "due": JSON(firing.due),
          "at": JSON(firing.at), "standing": .string(firing.standing.rawValue),
          "attempts": firing.attempts == 1 ? nil : .integer(Int64(firing.attempts)),
          "keeper": firing.leaseOwner.map { .string($0) }, "logged": firing.isLogged ? nil : false,
        ].merging(LocalState.members(firing.kind)) { $1 })
    }
    try DurableFile.write(
      JSON.array(list).document, to: path,
      temporary: path == ledger ? temporary("firings") : "\(path).new")
  }

  // MARK: BatteryWarnings

  private var batteryWarnings: String { folder + "/nudges.json" }

  /// What was told of the battery. A file that cannot be read counts as none: rather told twice.
  func readBatteryWarnings() -> BatteryWarningHistory {
    guard let file = try? DurableFile.read(batteryWarnings, limit: 1 << 20),
      let list = (try? JSON(parsing: file.bytes))?.array
    else { return BatteryWarningHistory() }
    var told: [BatteryWarningHistory.Key: BatteryWarningHistory.Told] = [:]
    for item in list {
      guard let alarm = item["alarm"]?.identifier, let occurrence = item["occurrence"]?.occurrence,
        let risk = item["risk"]?.string.flatMap({ BatteryPrediction.Risk(rawValue: $0) }),
        let at = item["at"]?.instant
      else { continue }
      told[BatteryWarningHistory.Key(alarm: alarm, occurrence: occurrence)] =
        BatteryWarningHistory.Told(
          risk: risk, at: at, isOver: item["over"]?.bool ?? false)
    }
    return BatteryWarningHistory(told)
  }

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

  // MARK: Signs of life

  var alive: String { folder + "/alive.json" }

  /// What is known of the other devices. A file that cannot be read counts as none.
  func readSignsOfLife() -> DeviceHeartbeats {
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

  func write(_ signs: DeviceHeartbeats) throws {
    let seen = signs.seen.map { ($0.key.text, JSON($0.value)) }
    let has = signs.has.map { ($0.key.text, JSON.string($0.value)) }
    let every = signs.every.map { ($0.key.text, JSON.integer($0.value)) }
    try DurableFile.write(
      JSON.object(omittingNil: [
        "asked": signs.asked.map { JSON($0) }, "silent": signs.silent.map { JSON($0) },
        "told": signs.told.map { JSON($0) },
        "toldHead": signs.toldHead.map { .string($0) },
        "has": .object(Dictionary(has) { one, _ in one }),
        "every": .object(Dictionary(every) { one, _ in one }),
        "exchanges": .array(signs.exchanges.map { JSON($0) }),
        "seen": .object(Dictionary(seen) { one, _ in one }),
      ]).document, to: alive, temporary: "\(alive).new-\(getpid())", syncing: false)
  }

  // MARK: When something was last done

  /// What a machine does again and again.
  enum Routine: String {
    case tick, sync, tidying
  }

  /// When it was last done to its end; nil when that is not known.
  func last(_ routine: Routine) -> Instant? {
    (try? DurableFile.read("\(folder)/last-\(routine.rawValue)", limit: 4096)).flatMap { $0 }
      .flatMap { Instant(rfc3339: String(decoding: $0.bytes, as: UTF8.self)) }
  }

  /// A note for a person; who cannot write it does without.
  func note(_ routine: Routine, at now: Instant) {
    _ = try? DurableFile.write(
      Array(now.description.utf8), to: "\(folder)/last-\(routine.rawValue)",
      temporary: temporary("\(routine.rawValue)-\(getpid())"), syncing: false)
  }

  // MARK: The branch

  /// The commit at which Belfry left the branch; nil when it is not known.
  func readSeen() -> ObjectID? {
    (try? DurableFile.read(seen, limit: 4096)).flatMap { $0 }.flatMap {
      ObjectID(hexadecimal: String(decoding: $0.bytes, as: UTF8.self))
    }
  }

  /// A note that is lost heals nothing, and harms nothing.
  func noteSeen(_ commit: ObjectID) {
    _ = try? DurableFile.write(
      Array(commit.description.utf8), to: seen, temporary: temporary("seen"), syncing: false)
  }

  // MARK: Journal

  /// What a write that has not ended was about to do.
  struct Journal {
    /// The paths, each with the blob that was to be there; nil: it was to be tracked no longer.
    var files: [(path: String, blob: ObjectID?)]
    /// Where the branch stood; nil before its first commit.
    var head: ObjectID?
    /// The message of the commit that was to be made; nil when the write was no commit of its own.
    var message: String?
    /// The write has failed, and what it had done could not all be undone.
    var isRefused: Bool
  }

  /// Notes a write before it begins. It must outlive the process, not the power: what a power cut leaves
  /// is found by comparing with HEAD.
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

  func endJournal() { _ = unlink(journal) }

  /// Notes that the write is to be taken back: by the file's mode, which a full disk takes too.
  func refuseJournal() {
    // Without a journal nothing is finished.
    if chmod(journal, 0o400) != 0 { endJournal() }
  }

  func readJournal() throws -> Journal? {
    guard let file = try DurableFile.read(journal, limit: 64 << 20) else { return nil }
    let lines = String(decoding: file.bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let files = lines.dropFirst().prefix { !$0.isEmpty }
    let message = lines.dropFirst(files.count + 2).joined(separator: "\n")
    return Journal(
      files: files.compactMap { line in
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        return words.count == 2 ? (words[1], ObjectID(hexadecimal: words[0])) : nil
      }, head: lines.first.flatMap { ObjectID(hexadecimal: $0) },
      message: message.isEmpty ? nil : message,
      isRefused: file.status.st_mode & 0o200 == 0)
  }

  /// Returns true while a write goes on, or after one that was interrupted.
  var hasJournal: Bool { access(journal, F_OK) == 0 }
}
