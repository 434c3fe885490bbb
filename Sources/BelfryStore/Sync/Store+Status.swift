import BelfryCore
import Git

/// Where a store stands: its branch against what is known of the remotes, and the devices.
public struct StoreStatus: Sendable {
  public struct RemoteStatus: Sendable {
    public let remote: Remote
    /// Commits that it lacks, and that are to come, as far as is known here; nil when it was never synced
    /// with.
    public let counts: (ahead: Int, behind: Int)?
  }

  public struct DeviceStatus: Sendable {
    public let device: Device
    /// Whether it is this one.
    public let isHere: Bool
    /// When it last did something that is known here.
    public let lastActivity: Instant?
    /// The device that has its place, while nothing is heard of it; nil for most.
    public let successor: Identifier?
    /// True if a person has decided so.
    public let isReplaced: Bool
  }

  /// The branch that is checked out, in short; nil when none is.
  public var branch: String?
  public var head: ObjectID?
  /// What the user's own git has begun and not ended.
  public var operation: Repository.Operation
  /// The records that were written by hand and are not taken up yet.
  public var unsettled: Int
  /// The commits that other devices have left here.
  public var left: Int
  public var remotes: [RemoteStatus]
  public var lastSync: Instant?
  public var lastTick: Instant?
  public var devices: [DeviceStatus]
  public var problems: [RecordProblem]
}

extension Store {
  /// How many log entries are looked through for what the devices did last.
  private static let entriesForActivity = 5_000

  public func storeStatus() throws -> StoreStatus {
    let repository = try repository()
    let reference = try repository.headBranch()
    let head = try repository.commit(of: reference ?? "HEAD")
    let view = try AlarmIndex(self)
    view.save()
    let remotes = try repository.remotes().map { remote in
      StoreStatus.RemoteStatus(
        remote: remote, counts: try Store.counts(repository, from: head, to: remote.name))
    }
    let (devices, problems) = devices()
    let activity = lastActivities(of: Set(devices.map(\.id)))
    let presence = presence
    return StoreStatus(
      branch: reference.map { $0.hasPrefix("refs/heads/") ? String($0.dropFirst(11)) : $0 },
      head: head, operation: try repository.operation(),
      unsettled: view.unsettled.count + (settingsAreSettled ? 0 : 1),
      left: try repository.references(under: Store.incoming).count, remotes: remotes,
      lastSync: lastSync, lastTick: lastTick,
      devices: devices.map { device in
        StoreStatus.DeviceStatus(
          device: device, isHere: device.id == self.device, lastActivity: activity[device.id],
          successor: presence.standIns[device.id],
          isReplaced: presence.replacements[device.id] != nil)
      }.sorted { ($0.isHere ? 0 : 1, $0.device.name) < ($1.isHere ? 0 : 1, $1.device.name) },
      problems: view.problems + problems)
  }

  private func lastActivities(of devices: Set<Identifier>) -> [Identifier: Instant] {
    var result: [Identifier: Instant] = [:]
    for entry in log().prefix(Store.entriesForActivity) {
      if result[entry.device] == nil { result[entry.device] = entry.at }
      if devices.allSatisfy({ result[$0] != nil }) { break }
    }
    return result
  }

  /// How many commits a remote is known to lack; nil when it was never synced with.
  public func waiting(for remote: String) -> Int? {
    guard let repository = try? repository() else { return nil }
    let head = (try? repository.commit(of: repository.currentBranch())) ?? nil
    return (try? Store.counts(repository, from: head, to: remote))??.ahead
  }

  /// The commits that a remote is known to lack, and those that it has and a commit lacks; nil when it was never
  /// synced with, or what it had is gone.
  private static func counts(
    _ repository: Repository, from head: ObjectID?, to remote: String
  ) throws -> (ahead: Int, behind: Int)? {
    let tracking = "refs/remotes/\(remote)/\(Repository.branch)"
    guard let theirs = try repository.commit(of: tracking), let head else { return nil }
    // One whose commit is gone was never synced with.
    return try? repository.aheadBehind(head, theirs)
  }
}
