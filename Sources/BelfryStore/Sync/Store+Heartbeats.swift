import BelfryCore
import Git

/// Which devices are there: each moves a reference of its own at the remotes, so that the history knows nothing of it.
extension Store {
  /// At a remote: under it each device's own reference.
  static let alive = "refs/belfry/alive/"
  /// Here: the same, under the remote's name. Another folder, or stores that fetch from each other would hand each
  /// other's on for ever.
  static let seen = "refs/belfry/seen/"

  /// What is known of the other devices.
  public var deviceHeartbeats: DeviceHeartbeats { local.readSignsOfLife() }

  /// Says that this device is there, if it has not for so long, and takes note of who else is.
  ///
  /// Who cannot say so is waited for no less; no failure here is one of the sync.
  ///
  /// - Parameters:
  ///   - spacing: in seconds; nil for saying nothing.
  ///   - promise: how often this device will be heard of while a cascade step may have to ring, in seconds; nil where only
  ///     its past exchanges tell.
  func exchangeSigns(
    _ repository: Repository, _ transports: [any RemoteTransport], spacing: Int64?,
    promise: Int64? = nil
  ) async {
    var signs = deviceHeartbeats
    guard !transports.isEmpty else {
      if signs.silent != nil { return }
      signs.silent = context.now
      try? local.write(signs)
      return
    }
    signs.asked = context.now
    signs.silent = nil
    signs.noteExchange(at: context.now)
    let others = Set(devices().devices.map(\.id)).subtracting([device]).sorted()
      .prefix(Store.mostHeartbeats)
    await removeStaleHeartbeats(repository, of: Set(others))
    if !others.isEmpty {
      for transport in transports {
        // Who cannot be asked now is asked by the next sync.
        try? await transport.fetchHeartbeats(of: Set(others))
      }
    }
    note(repository, in: &signs)
    let head = branchMark
    if let spacing {
      let wait = head == signs.toldHead ? spacing : min(spacing, DeviceHeartbeats.spacingInWindow)
      let isDue = signs.told.map { abs(context.now.seconds(since: $0)) >= wait } ?? true
      if isDue, await tell(repository, transports, head, every: promise ?? signs.promise) {
        signs.told = context.now
        signs.toldHead = head
      }
    }
    try? local.write(signs)
  }

  /// More devices than any store has: of those beyond nobody is asked.
  private static let mostHeartbeats = 500

  /// Removes references under which no device of this store is known: of a remote that is gone, of a device that is,
  /// and whatever else a remote has had there.
  private func removeStaleHeartbeats(_ repository: Repository, of devices: Set<Identifier>) async {
    let remotes = ((try? repository.remotes()) ?? []).map(\.name)
    let wanted = Set(
      remotes.flatMap { remote in devices.map { "\(Store.seen)\(remote)/\($0)" } })
    // They are in nobody's way; what cannot be removed now is by the next sync.
    let known = (try? repository.references(under: Store.seen)) ?? [:]
    try? await GitCommand.removeReferences(
      known.keys.filter { !wanted.contains($0) }, in: repository)
  }

  /// Takes note of what the remotes have of the devices that there are; of others nothing is looked at.
  private func note(_ repository: Repository, in signs: inout DeviceHeartbeats) {
    let remotes = ((try? repository.remotes()) ?? []).map(\.name)
    for device in devices().devices where device.id != self.device {
      for remote in remotes {
        let name = "\(Store.seen)\(remote)/\(device.id)"
        if let commit = (try? repository.commit(of: name)) ?? nil {
          signs.take(commit, of: device.id, from: repository, at: context.now)
        }
      }
    }
  }

  /// Says that this device is there; returns whether any remote has taken it.
  private func tell(
    _ repository: Repository, _ transports: [any RemoteTransport], _ head: String?, every: Int64
  ) async -> Bool {
    guard
      let commit = try? repository.writeCommit(
        tree: repository.writeTree(TreeData()), parents: [],
        signature: Repository.Signature(
          name: "Belfry", email: "belfry@localhost", time: context.now.seconds),
        message: CommitMessage(
          "This device is there",
          trailers: (head.map { [("Has", $0)] } ?? []) + [("Every", "\(every)")], device: device
        ).text)
    else { return false }
    var isTold = false
    for transport in transports {
      if (try? await transport.leave(commit, as: "\(Store.alive)\(device)")) != nil {
        isTold = true
      }
    }
    // Nothing here names it: half-hourly ones are not to pile up.
    repository.discard(commit)
    return isTold
  }

  /// After how many seconds a device without a daemon says again that it is there: often once a cascade step may have to ring
  /// for an alarm, as it does not know when it is asked next; nil while nothing looks at the clock here.
  public var heartbeatSpacing: Int64? {
    guard hasTickedLately else { return nil }
    let isDue =
      deviceHeartbeats.told.map {
        abs(context.now.seconds(since: $0)) >= DeviceHeartbeats.spacingInWindow
      } ?? true
    guard isDue else { return DeviceHeartbeats.spacing }
    let hasCascade = armedIdentifiers().contains { id in
      armed(id).map { record in
        record.alarm.enabled && !record.alarm.isDeleted
          && record.alarm.cascade?.plan.isActive == true
      } ?? false
    }
    return hasCascade ? DeviceHeartbeats.spacingInWindow : DeviceHeartbeats.spacing
  }

  /// The devices that, by their last heartbeats, are known not to have had the alarms' cascades as they are here:
  /// a set for each alarm's identifier.
  public func devicesWithoutCascade(
    of alarms: [Alarm], _ signs: DeviceHeartbeats
  ) -> [Identifier: Set<Identifier>] {
    guard let repository = try? repository() else { return [:] }
    var result: [Identifier: Set<Identifier>] = [:]
    for (device, commit) in signs.has {
      guard let id = ObjectID(hexadecimal: commit), let tree = try? repository.commit(id).tree
      else { continue }
      for alarm in alarms where !hasCascade(of: alarm, repository, in: tree) {
        result[alarm.id, default: []].insert(device)
      }
    }
    return result
  }

  /// True if a commit's tree has an alarm's cascade as it is here.
  private func hasCascade(of alarm: Alarm, _ repository: Repository, in tree: ObjectID) -> Bool {
    guard let blob = (try? repository.blob(at: AlarmRecord.path(alarm.id), in: tree)) ?? nil,
      let bytes = try? repository.blob(blob, limit: AlarmRecord.largest),
      let theirs = try? AlarmRecord.decode(bytes, id: alarm.id, now: context.now)
    else { return false }
    return theirs.cascade?.plan == alarm.cascade?.plan
  }
}

extension DeviceHeartbeats {
  /// Takes a device's heartbeat over, unless an older or an impossible one.
  mutating func take(
    _ commit: ObjectID, of device: Identifier, from repository: Repository, at now: Instant
  ) {
    guard let sign = try? repository.commit(commit) else { return }
    let time = Instant(seconds: sign.time)
    if time.isImplausible(at: now) || seen[device].map({ $0 > time }) == true { return }
    let trailers = CommitMessage.trailers(of: sign.message)
    seen[device] = time
    has[device] = trailers["Has"]
    every[device] = trailers["Every"].flatMap { Int64($0) }
      .flatMap { DeviceHeartbeats.promises.contains($0) ? $0 : nil }
  }
}
