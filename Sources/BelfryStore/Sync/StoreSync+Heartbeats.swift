import BelfryCore
import Git

/// Heartbeats of the devices: each device moves its own reference at the remotes, outside the history.
extension StoreSync {
  /// The folder of the heartbeats at a remote, with one reference per device.
  static let alive = "refs/belfry/alive/"
  /// The folder of the fetched heartbeats, by remote. It differs from `alive`, so that stores that fetch from each
  /// other don't pass heartbeats on.
  static let seen = "refs/belfry/seen/"

  /// Fetches the heartbeats of the other devices, and pushes one of this device if it is due.
  ///
  /// A failure is ignored: it must not fail the sync.
  ///
  /// - Parameters:
  ///   - repository: The store's repository.
  ///   - transports: The remotes that the sync has reached.
  ///   - spacing: The time between two heartbeats, in seconds; nil to push none.
  ///   - promise: The maximum time between two heartbeats while a cascade step may have to ring, in seconds; nil to
  ///     derive it from past exchanges.
  func exchangeHeartbeats(
    _ repository: Repository, _ transports: [any RemoteTransport], spacing: Int64?,
    promise: Int64? = nil
  ) async {
    guard !transports.isEmpty else {
      if store.deviceHeartbeats.unreachableSince != nil { return }
      updateHeartbeats { if $0.unreachableSince == nil { $0.unreachableSince = context.now } }
      return
    }
    let others = Set(store.devices.all().devices.map(\.id)).subtracting([device]).sorted()
      .prefix(StoreSync.maxHeartbeats)
    await removeStaleHeartbeats(repository, of: Set(others))
    if !others.isEmpty {
      for transport in transports {
        // The next sync tries again.
        try? await transport.fetchHeartbeats(of: Set(others))
      }
    }
    let head = store.branch.head
    let isSent = await pushHeartbeatIfDue(
      repository, transports, head, spacing: spacing, promise: promise)
    // Only now, because other processes change the file during the transfers.
    updateHeartbeats { heartbeats in
      heartbeats.fetched = context.now
      heartbeats.unreachableSince = nil
      heartbeats.noteExchange(at: context.now)
      recordHeartbeats(repository, in: &heartbeats)
      if isSent {
        heartbeats.sent = context.now
        heartbeats.sentHead = head
      }
    }
  }

  /// Changes the known heartbeats. A write error is ignored: the next sync tries again.
  private func updateHeartbeats(_ body: (inout DeviceHeartbeats) -> Void) {
    try? local.heartbeats.update(holder: context.process, body)
  }

  /// Pushes a heartbeat of this device if it is due. Returns true if at least one remote has accepted it.
  private func pushHeartbeatIfDue(
    _ repository: Repository, _ transports: [any RemoteTransport], _ head: String?,
    spacing: Int64?, promise: Int64?
  ) async -> Bool {
    guard let spacing else { return false }
    var heartbeats = store.deviceHeartbeats
    heartbeats.noteExchange(at: context.now)
    let wait =
      head == heartbeats.sentHead ? spacing : min(spacing, DeviceHeartbeats.spacingInWindow)
    let isDue = heartbeats.sent.map { abs(context.now.seconds(since: $0)) >= wait } ?? true
    return isDue
      ? await pushHeartbeat(repository, transports, head, every: promise ?? heartbeats.promise)
      : false
  }

  /// The maximum number of devices whose heartbeats are fetched, more than any store has.
  private static let maxHeartbeats = 500

  /// Removes the fetched references that belong to no device of this store or to no remote.
  private func removeStaleHeartbeats(_ repository: Repository, of devices: Set<Identifier>) async {
    let remotes = ((try? repository.remotes()) ?? []).map(\.name)
    let wanted = Set(
      remotes.flatMap { remote in devices.map { "\(StoreSync.seen)\(remote)/\($0)" } })
    // Stale references do no harm. The next sync removes the rest.
    let known = (try? repository.references(under: StoreSync.seen)) ?? [:]
    try? await GitCommand.removeReferences(
      known.keys.filter { !wanted.contains($0) }, in: repository)
  }

  /// Records the fetched heartbeats of the store's devices.
  private func recordHeartbeats(_ repository: Repository, in heartbeats: inout DeviceHeartbeats) {
    let remotes = ((try? repository.remotes()) ?? []).map(\.name)
    for device in store.devices.all().devices where device.id != self.device {
      for remote in remotes {
        let name = "\(StoreSync.seen)\(remote)/\(device.id)"
        if let commit = (try? repository.commit(of: name)) ?? nil {
          heartbeats.take(commit, of: device.id, from: repository, at: context.now)
        }
      }
    }
  }

  /// Pushes a heartbeat of this device. Returns true if at least one remote has accepted it.
  private func pushHeartbeat(
    _ repository: Repository, _ transports: [any RemoteTransport], _ head: String?, every: Int64
  ) async -> Bool {
    // Without the lock, another process would write objects at the same time. The next sync tries again.
    guard
      let commit = try? store.locked({
        try repository.writeMarker(
          "Heartbeat",
          trailers: (head.map { [("Has", $0)] } ?? []) + [("Every", "\(every)")], of: device,
          context)
      })
    else { return false }
    var isAccepted = false
    for transport in transports {
      if (try? await transport.leave(commit, as: "\(StoreSync.alive)\(device)")) != nil {
        isAccepted = true
      }
    }
    // No local reference needs the commit, and frequent heartbeats must not accumulate. Without the lock it stays,
    // which is harmless.
    try? store.locked { repository.discard(commit) }
    return isAccepted
  }

  /// The time in seconds after which a device without a daemon pushes another heartbeat; nil if no scheduler runs
  /// here.
  ///
  /// The time is short if a cascade step may have to ring for an alarm, because this device cannot know when the next
  /// sync runs.
  public var heartbeatSpacing: Int64? {
    guard store.hasTickedLately else { return nil }
    let isDue =
      store.deviceHeartbeats.sent.map {
        abs(context.now.seconds(since: $0)) >= DeviceHeartbeats.spacingInWindow
      } ?? true
    guard isDue else { return DeviceHeartbeats.spacing }
    let hasCascade = store.armedAlarms.identifiers().contains { id in
      store.armedAlarms.record(of: id).map { record in
        record.alarm.enabled && !record.alarm.isDeleted
          && record.alarm.cascade?.plan.isActive == true
      } ?? false
    }
    return hasCascade ? DeviceHeartbeats.spacingInWindow : DeviceHeartbeats.spacing
  }

  /// Returns the devices that, according to their heartbeats, lack the present cascade of an alarm.
  ///
  /// - Parameters:
  ///   - alarms: The alarms.
  ///   - heartbeats: The known heartbeats.
  /// - Returns: The devices by the alarm's id.
  public func devicesWithoutCascade(
    of alarms: [Alarm], _ heartbeats: DeviceHeartbeats
  ) -> [Identifier: Set<Identifier>] {
    guard let repository = try? repository() else { return [:] }
    var result: [Identifier: Set<Identifier>] = [:]
    for (device, commit) in heartbeats.reportedHeads {
      guard let id = ObjectID(hexadecimal: commit), let tree = try? repository.commit(id).tree
      else { continue }
      for alarm in alarms where !hasCascade(of: alarm, repository, in: tree) {
        result[alarm.id, default: []].insert(device)
      }
    }
    return result
  }

  /// Returns true if a commit's tree contains the present cascade of an alarm.
  private func hasCascade(of alarm: Alarm, _ repository: Repository, in tree: ObjectID) -> Bool {
    guard let blob = (try? repository.blob(at: AlarmRecord.path(alarm.id), in: tree)) ?? nil,
      let bytes = try? repository.blob(blob, limit: AlarmRecord.largest),
      let theirs = try? AlarmRecord.decode(bytes, id: alarm.id, now: context.now)
    else { return false }
    return theirs.cascade?.plan == alarm.cascade?.plan
  }
}

extension DeviceHeartbeats {
  /// Records a device's heartbeat, unless it is older than the known one or its time is implausible.
  mutating func take(
    _ commit: ObjectID, of device: Identifier, from repository: Repository, at now: Instant
  ) {
    guard let heartbeat = try? repository.commit(commit) else { return }
    let time = Instant(seconds: heartbeat.time)
    if time.isImplausible(at: now) || seen[device].map({ $0 > time }) == true { return }
    let trailers = CommitMessage.trailers(of: heartbeat.message)
    seen[device] = time
    reportedHeads[device] = trailers["Has"]
    intervals[device] = trailers["Every"].flatMap { Int64($0) }
      .flatMap { DeviceHeartbeats.promises.contains($0) ? $0 : nil }
  }
}

extension Repository {
  /// Writes a commit for a reference at the remotes that has no other content than its message.
  ///
  /// - Precondition: The store's lock is held.
  /// - Returns: A commit that no other call creates: git would report that a shared one is up to date, and a process
  ///   that removes its own could remove that of another one.
  func writeMarker(
    _ subject: String, trailers: [(key: String, value: String)] = [], of device: Identifier,
    _ context: StoreContext
  ) throws -> ObjectID {
    try writeCommit(
      tree: writeTree(TreeData()), parents: [],
      signature: Signature(name: "Belfry", email: "belfry@localhost", time: context.now.seconds),
      message: CommitMessage(
        subject, trailers: trailers + [("Id", context.makeIdentifier().text)], device: device
      ).text)
  }
}
