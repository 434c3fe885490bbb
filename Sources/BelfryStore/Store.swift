import BelfryCore
import FoundationEssentials
import Git
import Glibc

/// A store on disk: records in a git work tree, and this device's own state beside them.
///
/// Reads look at the work tree only; the git repository is opened for writing, for syncing, and when a
/// record's file cannot be used.
public final class Store: Sendable {
  /// The work tree, without a slash at the end.
  public let path: String
  public let context: StoreContext
  /// This clone's own identifier.
  public let device: Identifier
  let local: LocalState
  /// The presence of the other devices, as last computed.
  let presenceCache: PresenceCache
  /// Why this clone could not be given an identity, when it could not: it can be read, not written to.
  let adoptionFailure: (any Error)?
  let deviceZones: DeviceZones

  init(
    path: String, context: StoreContext, device: Identifier, local: LocalState,
    adoptionFailure: (any Error)? = nil, presenceCache: PresenceCache = PresenceCache(),
    deviceZones: DeviceZones = DeviceZones()
  ) {
    self.deviceZones = deviceZones
    self.presenceCache = presenceCache
    self.path = path
    self.context = context
    self.device = device
    self.local = local
    self.adoptionFailure = adoptionFailure
  }

  /// How a store came to be open.
  public enum Opening: Sendable {
    case existing
    /// There was none: a new one was made.
    case created
    /// A clone made by plain git, or a copy: it was given an identity of its own.
    case adopted
  }

  // MARK: Opening

  /// Opens the store at `path`; makes one where there is nothing, or an empty folder.
  ///
  /// - Parameter creates: false for background commands: the store's disk may not be mounted, and a new store in its
  ///   place would hide it.
  /// - Throws: `StoreError.noStore` when there is none and `creates` is false, `.notAStore` for a folder that holds
  ///   something else, `.foreignOwner` for one of somebody else's, and `FileError`.
  public static func open(
    _ path: String, context: StoreContext, creates: Bool = true
  ) throws -> (store: Store, opening: Opening) {
    guard let gitDirectory = try findGitDirectory(path, context: context) else {
      guard creates else { throw StoreError.noStore(path: path) }
      try create(path, context: context)
      let (store, _) = try open(path, context: context)
      return (store, .created)
    }
    let local = LocalState(gitDirectory: gitDirectory)
    if let device = try local.identity(machine: context.machine) {
      return (Store(path: path, context: context, device: device, local: local), .existing)
    }
    // A repository that never was a store has neither of these.
    guard isFolder(local.folder) || isFolder(path + "/devices") else {
      throw StoreError.notAStore(path: path)
    }
    do {
      return (try adopt(path, local: local, context: context), .adopted)
    } catch {
      // A clone that cannot be written to can be read, and its alarms ring; who writes is told the reason.
      let store = Store(
        path: path, context: context, device: presumedDevice(path, context), local: local,
        adoptionFailure: error)
      return (store, .existing)
    }
  }

  /// The store at `path` as it is, for looking at: nothing is made or changed. Nil when there is nothing,
  /// or an empty folder.
  public static func existing(_ path: String, context: StoreContext) throws -> Store? {
    guard let gitDirectory = try findGitDirectory(path, context: context) else { return nil }
    let local = LocalState(gitDirectory: gitDirectory)
    let known = try local.identity(machine: context.machine)
    guard known != nil || isFolder(local.folder) || isFolder(path + "/devices") else {
      throw StoreError.notAStore(path: path)
    }
    return Store(
      path: path, context: context, device: known ?? presumedDevice(path, context), local: local)
  }

  /// The device that a clone without an identity probably is, for reading: the only one of its name, so that what is to
  /// ring on it does; else a new one.
  private static func presumedDevice(_ path: String, _ context: StoreContext) -> Identifier {
    let namesakes = devices(in: path).devices.filter { $0.name == context.deviceName }
    return namesakes.count == 1 ? namesakes[0].id : context.makeIdentifier()
  }

  /// What a store keeps for itself beside its records; nil where there is no store.
  static func localState(of path: String) -> LocalState? {
    guard let folder = try? gitFolder(named: path + "/.git", in: path) else { return nil }
    let local = LocalState(gitDirectory: folder)
    return isFolder(local.folder) ? local : nil
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The `.git` folder of the work tree at `path`; nil when there is nothing, or an empty folder.
  private static func findGitDirectory(_ path: String, context: StoreContext) throws -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw FileError("open the store", path)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw StoreError.notAStore(path: path) }
    guard status.st_uid == context.user else {
      throw StoreError.foreignOwner(path: path, user: status.st_uid)
    }
    guard access(path, R_OK | X_OK) == 0 else { throw FileError("read the store", path) }
    var git = path + "/.git"
    guard lstat(git, &status) == 0 else {
      if errno != ENOENT { throw FileError("open", git) }
      guard try isEmpty(path) else { throw StoreError.notAStore(path: path) }
      return nil
    }
    if status.st_mode & S_IFMT == S_IFLNK {
      // A folder that lies elsewhere, as on another disk.
      guard let target = realpath(git, nil) else { throw FileError("follow", git) }
      git = String(cString: target)
      free(target)
      guard lstat(git, &status) == 0 else { throw FileError("open", git) }
    }
    guard status.st_uid == context.user else {
      throw StoreError.foreignOwner(path: git, user: status.st_uid)
    }
    return try gitFolder(named: git, in: path)
  }

  /// The folder that `.git` of a work tree is, or names where the work tree is a linked one.
  private static func gitFolder(named git: String, in path: String) throws -> String {
    if isFolder(git) { return git }
    guard let file = try DurableFile.read(git, limit: 4096),
      case let text = String(decoding: file.bytes, as: UTF8.self), text.hasPrefix("gitdir: ")
    else { throw StoreError.notAStore(path: path) }
    let target = text.dropFirst(8).prefix { $0 != "\n" }
    return target.hasPrefix("/") ? String(target) : "\(path)/\(target)"
  }

  private static func isEmpty(_ path: String) throws -> Bool {
    guard let stream = opendir(path) else { throw FileError("list", path) }
    defer { closedir(stream) }
    var count = 0
    while readdir(stream) != nil { count += 1 }
    return count <= 2
  }

  /// Whether a store can be made at a place: nothing is there, or an empty folder.
  public static func isFree(_ path: String) throws -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return true }
      throw FileError("look at", path)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { return false }
    return try isEmpty(path)
  }

  // MARK: Making

  private static func create(_ path: String, context: StoreContext) throws {
    let site = try StoreSite(path, context: context)
    do {
      try site.finish()
    } catch {
      site.discard()
      throw error
    }
  }

  /// Removes a folder of ours that is of no use any more. What is left of it then is harmless, and the
  /// reason of an earlier failure matters more than that of the removal.
  public static func removeFolder(_ folder: String) {
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Gives a clone that has none an identity of its own, under the lock, once.
  private static func adopt(
    _ path: String, local: LocalState, context: StoreContext
  ) throws -> Store {
    if local.isReplaced { throw StoreError.localFolderReplaced(path: local.folder) }
    try DurableFile.makeFolder(local.folder, mode: 0o700)
    let id = context.makeIdentifier()
    let store = Store(path: path, context: context, device: id, local: local)
    let other: Identifier? = try store.locked {
      if let other = try local.identity(machine: context.machine) { return other }
      try store.introduce(id, message: nil)
      return nil
    }
    guard let other else { return store }
    return Store(path: path, context: context, device: other, local: local)
  }

  /// Commits this device's own record, and what every store holds; then the identity counts.
  func introduce(_ id: Identifier, message: String?) throws {
    let device = Device(
      id: id, name: context.deviceName, created: context.now,
      stamp: Stamp(time: context.now, device: id), kind: context.deviceKind,
      zone: context.zones.recordedName(at: context.now), copyOf: local.formerIdentity)
    var files: [String: [UInt8]?] = [DeviceRecord.path(id): DeviceRecord.encode(device)]
    if try DurableFile.read("\(path)/\(Store.attributesPath)") == nil {
      files[Store.attributesPath] = Store.attributes
    }
    let writer = try StoreWriter(self)
    try writer.commit(
      files, message: CommitMessage(message ?? "Add the device \(device.name)", device: id))
    try local.setIdentity(id, machine: context.machine)
    var signs = local.readSignsOfLife()
    guard signs != SignsOfLife() else { return }
    signs.forgetOwn()
    // Otherwise the first heartbeat of the new device only comes later.
    try? local.write(signs)
  }

  static let attributesPath = ".gitattributes"

  /// Records are merged by Belfry's rules, and no line ending is ever changed.
  static let attributes = Array(
    """
    * -text
    alarms/*.json merge=belfry
    devices/*.json merge=belfry
    log/**/*.json merge=belfry
    settings.json merge=belfry

    """.utf8)

  /// The git repository.
  func repository() throws(GitError) -> Repository {
    try Repository.open(path, scratch: local.folder)
  }

  // MARK: Locks

  /// Runs while this process alone may write to the store.
  func locked<Result>(_ body: () throws -> Result) throws -> Result {
    if let adoptionFailure { throw adoptionFailure }
    let lock = try StoreLock(local.lock, holder: context.process, patience: context.patience)
    defer { withExtendedLifetime(lock) {} }
    return try body()
  }

  /// The same for what waits for other processes meanwhile.
  func lockedThroughout<Result>(_ body: () async throws -> Result) async throws -> Result {
    let lock = try StoreLock(local.lock, holder: context.process, patience: context.patience)
    let result = try await body()
    withExtendedLifetime(lock) {}
    return result
  }

  /// Runs what another git may be in the way of, until it is not; takes away a lock that one left which
  /// died.
  ///
  /// - Parameter body: returns nil while the lock is held.
  func waitingForGit<Result>(
    _ lock: String, in repository: Repository, _ body: () throws -> Result?
  ) throws -> Result {
    var waited = 0
    while true {
      if let result = try body() { return result }
      // To look for its holder costs more than to wait a little.
      if waited % 500 == 0, repository.removeAbandonedLock(lock) {
        context.report(.unlocked(path: lock))
        continue
      }
      guard waited < context.patience else {
        throw StoreError.gitBusy(path: lock, by: repository.user(of: lock))
      }
      usleep(10_000)
      waited += 10
    }
  }

  /// Notes that the store was just evaluated against the clock, for whoever asks whether anything does that.
  public func noteTick() { local.note(.tick, at: context.now) }

  // MARK: Small reads

  /// Whether a rebase has begun and not ended.
  public var isRebasing: Bool {
    ["rebase-merge", "rebase-apply"].contains { name in
      access("\(local.gitDirectory)/\(name)", F_OK) == 0
    }
  }

  /// The commit of the past that is checked out; nil when the store is on a branch. It is read-only then,
  /// and what rings is what the branch has.
  public var past: String? { local.readDetachedHead() }

  /// The name of the branch to return to while a commit of the past is checked out; nil when it is not known.
  ///
  /// `main` where there is one, else a branch with the commit at which Belfry left the checked-out branch.
  public var presentBranch: String? { (try? repository()).flatMap { presentBranch($0) } }

  func presentBranch(_ repository: Repository) -> String? {
    let folder = "refs/heads/"
    let main = folder + Repository.branch
    // A damaged reference stays the one to mend and to return to.
    if repository.referenceFile(main) != nil || ((try? repository.commit(of: main)) ?? nil) != nil {
      return Repository.branch
    }
    guard let seen = local.readSeen(), let branches = try? repository.references(under: folder)
    else { return nil }
    let holders = branches.filter { (try? repository.isAncestor(seen, of: $0.value)) == true }
    // A branch at that very commit comes before those that have moved on from it.
    let name = holders.keys.sorted().first { holders[$0] == seen } ?? holders.keys.min()
    return name.map { String($0.dropFirst(folder.count)) }
  }

  /// The settings; the defaults where there are none, with the reason when the file is not valid.
  public func settings() throws -> (settings: Settings, problem: RecordProblem?) {
    do {
      var settings = Settings()
      try SettingsFile.apply(try settingsRecord(), local: false, to: &settings)
      return (settings, nil)
    } catch StoreError.badRecord(let path, let error) {
      return (Settings(), RecordProblem(path: path, kind: .invalid(error, lastGood: false)))
    }
  }

  /// When the clock was last looked at, and when all was last synced; nil when never.
  public var lastTick: Instant? { local.last(.tick) }
  /// Whether one has looked at the clock so lately that another is to be expected.
  public var hasTickedLately: Bool {
    // One by a clock that was ahead says nothing.
    lastTick.map { abs(context.now.seconds(since: $0)) < Store.idle } ?? false
  }
  /// Where nothing has looked at the clock for so long nothing rings, in seconds.
  private static let idle: Int64 = 900
  public var lastSync: Instant? { local.last(.sync) }

  /// What people call the devices, by identifier; one whose record is not valid goes by its identifier.
  public func deviceNames() -> [Identifier: String] {
    devices().devices.names
  }
}
