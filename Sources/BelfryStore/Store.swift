import BelfryCore
import Files
import FoundationEssentials
import Git
import Glibc

/// A store on disk: records in a git work tree, and this device's local state in `.git/belfry`.
///
/// Reads use only the work tree. The git repository is opened for writes, for syncs, and if a record's file is missing
/// or not valid.
public final class Store: Sendable {
  /// The path of the work tree, without a trailing slash.
  public let path: String
  /// The environment of the store: the clock, the time zones, the timeouts.
  public let context: StoreContext
  /// The device of this clone.
  public let device: Identifier
  let local: LocalState
  /// The cache of the other devices' presence.
  let presenceCache: PresenceCache
  /// The reason that this clone has no identity, and therefore can be read but not written; nil if it has one.
  let adoptionFailure: (any Error)?
  /// The cache of the devices' time zones.
  let deviceZones: DeviceZones
  /// The cache of the working days and holidays.
  let workCalendarCache: WorkCalendarCache
  /// The cache of the settings with their stamps.
  let stampedSettingsCache = StampedSettingsCache()

  init(
    path: String, context: StoreContext, device: Identifier, local: LocalState,
    adoptionFailure: (any Error)? = nil, presenceCache: PresenceCache = PresenceCache(),
    deviceZones: DeviceZones = DeviceZones(),
    workCalendarCache: WorkCalendarCache = WorkCalendarCache()
  ) {
    self.deviceZones = deviceZones
    self.workCalendarCache = workCalendarCache
    self.presenceCache = presenceCache
    self.path = path
    self.context = context
    self.device = device
    self.local = local
    self.adoptionFailure = adoptionFailure
  }

  /// Returns the same store with another environment.
  public func with(_ context: StoreContext) -> Store {
    Store(
      path: path, context: context, device: device, local: local, adoptionFailure: adoptionFailure,
      presenceCache: presenceCache, deviceZones: deviceZones,
      workCalendarCache: workCalendarCache)
  }

  /// The origin of an opened store.
  public enum Opening: Sendable {
    /// The store existed.
    case existing
    /// The store was created.
    case created
    /// The store is a clone that plain git made, or a copy. It was given its own identity.
    case adopted
  }

  // MARK: Opening

  /// Opens the store at `path`. Creates it if nothing is there, or an empty folder.
  ///
  /// - Parameters:
  ///   - path: The path of the work tree.
  ///   - context: The environment of the store.
  ///   - creates: False for background commands. If the store's disk isn't mounted, a new store in its place would hide
  ///     it.
  /// - Throws: `StoreError.noStore` if there is no store and `creates` is false, `.notAStore` if the folder contains
  ///   something else, `.foreignOwner` if it belongs to another user, and `FileError`.
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
      let store = Store(path: path, context: context, device: device, local: local)
      store.recoverFromPowerFailure()
      return (store, .existing)
    }
    // A repository that was never a store has neither folder.
    guard isFolder(local.folder) || isFolder(path + "/devices") else {
      throw StoreError.notAStore(path: path)
    }
    do {
      return (try adopt(path, local: local, context: context), .adopted)
    } catch {
      // A clone on a read-only disk can still be read, and its alarms ring. Writes throw this error.
      let store = Store(
        path: path, context: context, device: presumedDevice(path, context), local: local,
        adoptionFailure: error)
      return (store, .existing)
    }
  }

  /// Opens the store at `path` for reading. Creates and changes nothing, unless a power failure has interrupted writes.
  ///
  /// - Returns: The store; nil if nothing is at the path, or an empty folder.
  /// - Throws: The same errors as `open`.
  public static func existing(_ path: String, context: StoreContext) throws -> Store? {
    guard let gitDirectory = try findGitDirectory(path, context: context) else { return nil }
    let local = LocalState(gitDirectory: gitDirectory)
    let known = try local.identity(machine: context.machine)
    guard known != nil || isFolder(local.folder) || isFolder(path + "/devices") else {
      throw StoreError.notAStore(path: path)
    }
    let store = Store(
      path: path, context: context, device: known ?? presumedDevice(path, context), local: local)
    if known != nil { store.recoverFromPowerFailure() }
    return store
  }

  /// False for a clone that no command has changed yet: `device` is then the device that it most likely is.
  public var hasIdentity: Bool {
    let known = try? local.identity(machine: context.machine)
    return known.flatMap { $0 } != nil
  }

  /// Returns the device that a clone without an identity most likely is: the only device with this machine's name, so
  /// that the alarms of that device ring. Otherwise returns a new identifier.
  private static func presumedDevice(_ path: String, _ context: StoreContext) -> Identifier {
    let namesakes = StoreDevices.all(in: path).devices.filter { $0.name == context.deviceName }
    return namesakes.count == 1 ? namesakes[0].id : context.makeIdentifier()
  }

  /// Returns the local state of the store at `path`, or nil if there is no store.
  static func localState(of path: String) -> LocalState? {
    guard let folder = try? gitFolder(named: path + "/.git", in: path) else { return nil }
    let local = LocalState(gitDirectory: folder)
    return isFolder(local.folder) ? local : nil
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Returns the `.git` folder of the work tree at `path`, or nil if nothing is there, or an empty folder.
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
      // The folder can be on another disk.
      guard let target = realpath(git, nil) else { throw FileError("resolve the link", git) }
      git = String(cString: target)
      free(target)
      guard lstat(git, &status) == 0 else { throw FileError("open", git) }
    }
    guard status.st_uid == context.user else {
      throw StoreError.foreignOwner(path: git, user: status.st_uid)
    }
    return try gitFolder(named: git, in: path)
  }

  /// Returns the folder that `.git` is, or that it names in a linked work tree.
  private static func gitFolder(named git: String, in path: String) throws -> String {
    if isFolder(git) { return git }
    guard let file = try DurableFile.read(git, limit: 4096),
      case let text = String(decoding: file.bytes, as: UTF8.self), text.hasPrefix("gitdir: ")
    else { throw StoreError.notAStore(path: path) }
    let target = text.dropFirst(8).prefix { $0 != "\n" }
    return target.hasPrefix("/") ? String(target) : "\(path)/\(target)"
  }

  private static func isEmpty(_ path: String) throws -> Bool {
    guard access(path, R_OK) == 0 else { throw FileError("list", path) }
    return DurableFile.names(in: path).allSatisfy(StoreBuilder.isIgnored)
  }

  /// Returns true if a store can be created at `path`: nothing is there, or an empty folder, or a link to one.
  public static func isFree(_ path: String) throws -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT { return true }
      throw FileError("check", path)
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { return false }
    return try isEmpty(path)
  }

  // MARK: Creation

  private static func create(_ path: String, context: StoreContext) throws {
    let builder = try StoreBuilder(path, context: context)
    do {
      try builder.finish()
    } catch {
      builder.discard()
      throw error
    }
  }

  /// Removes a folder that Belfry created. Errors are ignored: a leftover folder is harmless, and the error that led to
  /// the removal is more important.
  public static func removeFolder(_ folder: String) {
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Gives a clone its own identity, once, under the lock.
  private static func adopt(
    _ path: String, local: LocalState, context: StoreContext
  ) throws -> Store {
    if local.isReplaced { throw StoreError.localFolderReplaced(path: local.folder) }
    try DurableFile.makeFolder(local.folder, mode: 0o700)
    let id = context.makeIdentifier()
    let store = Store(path: path, context: context, device: id, local: local)
    let other: Identifier? = try store.locked {
      if let other = try local.identity(machine: context.machine) { return other }
      try store.register(id, message: nil)
      return nil
    }
    guard let other else { return store }
    return Store(path: path, context: context, device: other, local: local)
  }

  /// Commits the record of this device and the files that every store contains, and saves the identity of this clone.
  ///
  /// - Parameters:
  ///   - id: The device.
  ///   - message: The subject of the commit; nil for the default.
  func register(_ id: Identifier, message: String?) throws {
    let device = Device(
      id: id, name: context.deviceName, created: context.now,
      stamp: Stamp(time: context.now, device: id), kind: context.deviceKind,
      zone: context.zones.recordedName(at: context.now), copyOf: local.formerIdentity)
    var files: [String: [UInt8]?] = [DeviceRecord.path(id): DeviceRecord.encode(device)]
    if try DurableFile.read("\(path)/\(Store.attributesPath)") == nil {
      files[Store.attributesPath] = Store.attributes
    }
    try reconciledWriter(.branch).commit(
      files, message: CommitMessage(message ?? "Add the device \(device.name)", device: id))
    try local.setIdentity(id, machine: context.machine)
    // Without this, the first heartbeat of the new device would be delayed.
    try? local.heartbeats.update(holder: context.process) { $0.forgetOwn() }
  }

  static let attributesPath = ".gitattributes"

  /// The content of `.gitattributes`: records are merged by Belfry's rules, and line endings are never converted.
  static let attributes = earlierAttributes + Array("calendars/*.json merge=belfry\n".utf8)

  /// The content of `.gitattributes` in a store without holiday calendars that version 0.1 made.
  static let earlierAttributes = Array(
    """
    * -text
    alarms/*.json merge=belfry
    devices/*.json merge=belfry
    log/**/*.json merge=belfry
    settings.json merge=belfry

    """.utf8)

  /// Returns the format that a newer version's `.gitattributes` names in its first line, `# format 2`; nil if there is
  /// none.
  static func formatOfAttributes(_ bytes: [UInt8]) -> Int64? {
    let prefix = Array("# format ".utf8)
    guard bytes.starts(with: prefix) else { return nil }
    let number = bytes.dropFirst(prefix.count).prefix { $0 != UInt8(ascii: "\n") }
    return Int64(String(decoding: number, as: UTF8.self))
  }

  /// Returns the content of `.gitattributes` in the work tree, or nil if it is missing.
  func attributesInWorkTree() throws(FileError) -> [UInt8]? {
    try DurableFile.read("\(path)/\(Store.attributesPath)", limit: SettingsFile.largest)?.bytes
  }

  /// Opens the git repository.
  func repository() throws(GitError) -> Repository {
    try Repository.open(path, scratch: local.folder)
  }

  // MARK: Locks

  /// Runs `body` under the store's lock.
  ///
  /// - Throws: `StoreError.locked` after `lockTimeout`, the reason that this clone has no identity, and the errors of
  ///   `body`.
  func locked<Result>(_ body: () throws -> Result) throws -> Result {
    if let adoptionFailure { throw adoptionFailure }
    let lock = try FileLock(local.lock, holder: context.process, timeout: context.lockTimeout)
    defer { withExtendedLifetime(lock) {} }
    return try body()
  }

  /// Runs an asynchronous `body` under the store's lock.
  ///
  /// - Throws: `StoreError.locked` after `lockTimeout`, and the errors of `body`.
  func lockedThroughout<Result>(_ body: () async throws -> Result) async throws -> Result {
    let lock = try FileLock(local.lock, holder: context.process, timeout: context.lockTimeout)
    let result = try await body()
    withExtendedLifetime(lock) {}
    return result
  }

  /// Retries `body` while another git holds a lock, and removes a stale lock.
  ///
  /// - Parameters:
  ///   - lock: The path of the lock file.
  ///   - body: Returns nil while the lock is held. It may run several times.
  /// - Throws: `StoreError.gitBusy` after `lockTimeout`.
  func waitingForGit<Result>(
    _ lock: String, in repository: Repository, _ body: () throws -> Result?
  ) throws -> Result {
    var waited = 0
    while true {
      if let result = try body() { return result }
      // A search for the lock's holder takes longer than a short wait.
      if waited % 500 == 0, repository.removeStaleLock(lock) {
        context.report(.unlocked(path: lock))
        continue
      }
      guard waited < context.lockTimeout else {
        throw StoreError.gitBusy(path: lock, by: repository.user(of: lock))
      }
      usleep(10_000)
      waited += 10
    }
  }

  /// Records the time of a tick. `lastTick` returns it.
  public func noteTick() { local.note(.tick, at: context.now) }

  // MARK: Queries

  /// Returns the settings. If the file is missing or not valid, returns the defaults, in the latter case with the
  /// problem. If it has a newer format, returns the last settings that this version can read, with the problem.
  public func settings() throws -> (settings: Settings, problem: RecordProblem?) {
    do {
      var settings = Settings()
      try SettingsFile.apply(try settingsRecord(), local: false, to: &settings)
      return (settings, nil)
    } catch StoreError.badRecord(let path, let error) {
      guard case .newerFormat = error.kind, let settings = lastReadableSettings else {
        return (Settings(), RecordProblem(path: path, kind: .invalid(error, lastGood: false)))
      }
      return (settings, RecordProblem(path: path, kind: .invalid(error, lastGood: true)))
    }
  }

  /// The settings of the latest version in the history that this version of Belfry can read; nil if there is none.
  private var lastReadableSettings: Settings? {
    guard let repository = try? repository(),
      let good = try? lastGoodVersion(of: SettingsFile.path, repository),
      let record = try? SettingsFile.decode(good.bytes)
    else { return nil }
    var settings = Settings()
    // A value that is not valid keeps its default.
    try? SettingsFile.apply(record, local: false, to: &settings)
    return settings
  }

  /// The time of the last tick; nil if there was none.
  public var lastTick: Instant? { local.last(.tick) }
  /// True if the last tick was within the last 15 minutes, so that another one is likely.
  public var hasTickedLately: Bool {
    // A time in the future comes from a clock that was ahead, and proves nothing.
    lastTick.map { abs(context.now.seconds(since: $0)) < Store.maxTickAge } ?? false
  }
  /// The maximum age of the last tick of a scheduler that runs, in seconds.
  public static let maxTickAge: Int64 = 900

  /// The known heartbeats of the other devices.
  public var deviceHeartbeats: DeviceHeartbeats { local.heartbeats.read() }

  /// Returns the names of the devices. A device whose record is not valid is missing.
  public func deviceNames() -> [Identifier: String] {
    devices.all().devices.names
  }
}
