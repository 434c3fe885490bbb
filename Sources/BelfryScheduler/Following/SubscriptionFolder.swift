import BelfryCore
import BelfryStore
import Files
import Glibc

/// The subscriptions of a store on this device: one file each in the folder `followed` of the local state.
///
/// They are local, because files and passwords are those of a device. Each device that follows a calendar imports it, and
/// all of them make the same alarms.
public struct SubscriptionFolder: Sendable {
  private let store: Store

  /// Creates the folder of a store. It does not access any file.
  public init(_ store: Store) { self.store = store }

  /// The path of the folder.
  public var path: String { "\(store.localFolder)/followed" }

  /// The maximum size of a file, in bytes.
  private static let maxSize = 16 << 20
  private static let ending = ".json"

  /// A text that changes whenever a subscription is added, changed or removed; nil without a subscription.
  var signature: FileSignature? {
    var status = stat()
    return stat(path, &status) == 0 ? FileSignature(status) : nil
  }

  /// The names of the subscriptions, ascending.
  public var names: [String] {
    DurableFile.names(in: path).filter { $0.hasSuffix(SubscriptionFolder.ending) }
      .map { String($0.dropLast(SubscriptionFolder.ending.count)) }
      .filter(CalendarSubscription.isName).sorted()
  }

  /// Returns all valid subscriptions, by their names.
  public func all() -> [CalendarSubscription] { names.compactMap(subscription) }

  /// The paths of the subscriptions whose files are not valid, by their names.
  public var damaged: [String: String] {
    Dictionary(
      uniqueKeysWithValues: names.filter { subscription($0) == nil }.map { ($0, file($0)) })
  }

  /// Returns the subscription with a name, in capitals or not; nil if there is none, or its file is not valid.
  public func subscription(_ name: String) -> CalendarSubscription? {
    let lower = name.lowercased()
    guard
      let name = names.first(where: { $0 == name })
        ?? names.first(where: { $0.lowercased() == lower }),
      let file = (try? DurableFile.read(file(name), limit: SubscriptionFolder.maxSize)) ?? nil,
      let json = try? JSON(parsing: file.bytes),
      var subscription = CalendarSubscription(name: name, json)
    else { return nil }
    if json["state"] != nil {
      let time = file.status.st_mtim
      subscription.checkedAt = Instant(
        milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
    return subscription
  }

  /// Writes a subscription, durably, with the time of its last fetch.
  public func save(_ subscription: CalendarSubscription) throws {
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw FileError("create the folder", path) }
    let file = file(subscription.name)
    try DurableFile.write(
      subscription.json.document, to: file, temporary: "\(file).new-\(getpid())", mode: 0o600)
    if let time = subscription.checkedAt { try touch(subscription.name, at: time) }
  }

  /// Records the time of a fetch that changed nothing.
  func touch(_ name: String, at time: Instant) throws(FileError) {
    var times = [timespec(), timespec()]
    // UTIME_OMIT keeps the access time.
    times[0].tv_nsec = (1 << 30) - 2
    times[1].tv_sec = Int(time.milliseconds / 1000)
    times[1].tv_nsec = Int(time.milliseconds % 1000) * 1_000_000
    let path = file(name)
    guard utimensat(AT_FDCWD, path, times, 0) == 0 else { throw FileError("write", path) }
  }

  // MARK: Former calendars

  /// The alarms of calendars that are not followed any more, which were deleted with them. They come back if the
  /// calendar is followed again.
  public var formerAlarms: Set<Identifier> {
    let file = (try? DurableFile.read(formerPath, limit: SubscriptionFolder.maxSize)) ?? nil
    let text = String(decoding: file?.bytes ?? [], as: UTF8.self)
    return Set(text.split(separator: "\n").compactMap { Identifier($0) })
  }

  /// Records the alarms that are deleted with a calendar.
  public func addFormerAlarms(_ alarms: [Identifier]) throws {
    if alarms.isEmpty { return }
    try writeFormerAlarms(formerAlarms.union(alarms))
  }

  /// Forgets the alarms that a calendar has brought back.
  func removeFormerAlarms(_ alarms: Set<Identifier>) throws {
    let former = formerAlarms
    if former.isDisjoint(with: alarms) { return }
    try writeFormerAlarms(former.subtracting(alarms))
  }

  private func writeFormerAlarms(_ alarms: Set<Identifier>) throws {
    let lines = alarms.sorted().suffix(SubscriptionFolder.maxFormer).map { $0.text + "\n" }
    try DurableFile.write(
      Array(lines.joined().utf8), to: formerPath, temporary: "\(formerPath).new-\(getpid())",
      mode: 0o600)
  }

  private static let maxFormer = 20_000
  private var formerPath: String { "\(path)/former" }

  // MARK: Files

  /// Removes a subscription.
  public func remove(_ name: String) throws(FileError) {
    let file = file(name)
    guard unlink(file) == 0 || errno == ENOENT else { throw FileError("remove", file) }
  }

  /// Returns the lock that keeps other processes from fetching the same calendar.
  ///
  /// - Throws: `StoreError.locked` if another process holds it.
  public func lock(_ name: String, timeout: Int = 0) throws -> FileLock {
    if mkdir(path, 0o700) != 0, errno != EEXIST { throw FileError("create the folder", path) }
    return try FileLock(lockPath(name), holder: store.context.process, timeout: timeout)
  }

  private func file(_ name: String) -> String { "\(path)/\(name)\(SubscriptionFolder.ending)" }
  private func lockPath(_ name: String) -> String { "\(path)/\(name).lock" }
}
