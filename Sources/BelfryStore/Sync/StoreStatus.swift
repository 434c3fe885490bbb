import BelfryCore
import Git

/// The state of a store: its branch in relation to the remotes, and its devices.
public struct StoreStatus: Sendable {
  /// The state of a remote, as of the last sync.
  public struct RemoteStatus: Sendable {
    /// The remote.
    public let remote: Remote
    /// The number of commits that the remote lacks, and that this store lacks; nil if there was no sync yet.
    public let counts: (ahead: Int, behind: Int)?
  }

  /// The state of a device.
  public struct DeviceStatus: Sendable {
    /// The device.
    public let device: Device
    /// True for this device.
    public let isHere: Bool
    /// The time of the device's latest log entry; nil if none is known.
    public let lastActivity: Instant?
    /// The device that stands in while this device sends no heartbeats; nil for none.
    public let successor: Identifier?
    /// True if the user has replaced this device.
    public let isReplaced: Bool
  }

  /// The short name of the checked-out branch; nil if there is none.
  public var branch: String?
  /// The commit of HEAD; nil before the first commit.
  public var head: ObjectID?
  /// The unfinished operation of the user's own git.
  public var operation: Repository.Operation
  /// The number of records with uncommitted hand edits.
  public var handEdits: Int
  /// The number of incoming commits of other devices.
  public var left: Int
  /// The remotes.
  public var remotes: [RemoteStatus]
  /// The time of the last successful sync; nil if there was none.
  public var lastSync: Instant?
  /// The time of the last tick; nil if there was none.
  public var lastTick: Instant?
  /// The devices, this one first, the others sorted by name.
  public var devices: [DeviceStatus]
  /// The records that cannot be used.
  public var problems: [RecordProblem]
}

extension StoreStatus {
  /// The maximum number of log entries that are searched for the activity of the devices.
  private static let maxActivityEntries = 5_000

  /// Reads the state of a store.
  public init(of store: Store) throws {
    let repository = try store.repository()
    let reference = try repository.headBranch()
    let head = try repository.commit(of: reference ?? "HEAD")
    let view = try AlarmIndex(store)
    view.save()
    let remotes = try repository.remotes().map { remote in
      StoreStatus.RemoteStatus(
        remote: remote, counts: try StoreSync.counts(repository, from: head, to: remote.name))
    }
    let (devices, problems) = store.devices.all()
    let activity = StoreStatus.lastActivities(in: store, of: Set(devices.map(\.id)))
    let presence = store.devices.presence
    self.init(
      branch: reference.map { $0.hasPrefix("refs/heads/") ? String($0.dropFirst(11)) : $0 },
      head: head, operation: try repository.operation(),
      handEdits: view.edited.count + store.editedKinds.count,
      left: try repository.references(under: StoreSync.incoming).count, remotes: remotes,
      lastSync: store.sync.last, lastTick: store.lastTick,
      devices: devices.map { device in
        StoreStatus.DeviceStatus(
          device: device, isHere: device.id == store.device, lastActivity: activity[device.id],
          successor: presence.standIns[device.id],
          isReplaced: presence.replacements[device.id] != nil)
      }.sorted { ($0.isHere ? 0 : 1, $0.device.name) < ($1.isHere ? 0 : 1, $1.device.name) },
      problems: view.problems + problems)
  }

  private static func lastActivities(
    in store: Store, of devices: Set<Identifier>
  ) -> [Identifier: Instant] {
    var result: [Identifier: Instant] = [:]
    for entry in store.history.log().prefix(maxActivityEntries) {
      if result[entry.device] == nil { result[entry.device] = entry.at }
      if devices.allSatisfy({ result[$0] != nil }) { break }
    }
    return result
  }
}

extension StoreSync {
  /// Returns the number of commits that a remote lacks, as of the last sync, or nil if there was none.
  public func waiting(for remote: String) -> Int? {
    guard let repository = try? repository() else { return nil }
    let head = (try? repository.commit(of: repository.currentBranch())) ?? nil
    return (try? StoreSync.counts(repository, from: head, to: remote))??.ahead
  }

  /// Returns the number of commits that a remote lacks, and that the store lacks, or nil if there was no sync or its
  /// commit is missing.
  fileprivate static func counts(
    _ repository: Repository, from head: ObjectID?, to remote: String
  ) throws -> (ahead: Int, behind: Int)? {
    let tracking = "refs/remotes/\(remote)/\(Repository.defaultBranch)"
    guard let theirs = try repository.commit(of: tracking), let head else { return nil }
    do {
      return try repository.aheadBehind(head, theirs)
    } catch {
      // If the commit is missing, the remote counts as never synced.
      if error.code == .notFound { return nil }
      throw error
    }
  }
}
