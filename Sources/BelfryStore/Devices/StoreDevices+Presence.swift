import BelfryCore
import Files
import Glibc
import Synchronization

/// The presence of the other devices, as far as this store has evidence.
extension StoreDevices {
  /// The current presence of the devices.
  public var presence: DevicePresence { presence(presenceEvidence) }

  func presence(_ evidence: PresenceCache.Evidence) -> DevicePresence {
    store.presenceCache.presence(by: evidence, at: context.now) {
      DevicePresence(
        own: device, devices: evidence.devices, heartbeats: evidence.heartbeats,
        activity: evidence.activity, at: context.now)
    }
  }

  /// The evidence about the other devices, read once for all alarms.
  var presenceEvidence: PresenceCache.Evidence {
    store.presenceCache.evidence(
      for: [local.heartbeats.path, path + "/devices"], at: context.now, read: readEvidence)
  }

  private func readEvidence() -> PresenceCache.Evidence {
    let devices = all().devices
    let others = Set(devices.map(\.id)).subtracting([device])
    let known = DurableFile.names(in: path + "/devices").compactMap {
      $0.hasSuffix(".json") ? Identifier($0.dropLast(5)) : nil
    }
    let fetched = store.deviceHeartbeats
    func evidence(
      _ heartbeats: DeviceHeartbeats, _ activity: [Identifier: Instant]
    ) -> PresenceCache.Evidence {
      PresenceCache.Evidence(
        devices: devices, known: Set(known),
        owners: Dictionary(
          devices.compactMap { device in device.owner.map { (device.id, $0) } }
        ) { one, _ in one },
        fetched: fetched, heartbeats: heartbeats, activity: activity)
    }
    if others.isEmpty { return evidence(DeviceHeartbeats(), [:]) }
    var heartbeats = fetched
    addPushedHeartbeats(of: others, to: &heartbeats)
    // A device with a current heartbeat needs no search of the log.
    let uncertain = others.filter { !heartbeats.isAlive($0, at: context.now) }
    return evidence(heartbeats, uncertain.isEmpty ? [:] : latestEntries(of: uncertain))
  }

  /// Adds the heartbeats that other devices have pushed to this store because it is their remote.
  private func addPushedHeartbeats(
    of others: Set<Identifier>, to heartbeats: inout DeviceHeartbeats
  ) {
    var status = stat()
    guard stat("\(local.gitDirectory)/\(StoreSync.alive.dropLast())", &status) == 0,
      let repository = try? repository()
    else { return }
    for id in others {
      if let commit = (try? repository.commit(of: "\(StoreSync.alive)\(id)")) ?? nil {
        heartbeats.take(commit, of: id, from: repository, at: context.now)
      }
    }
  }

  /// The maximum number of log entries to read. A day has far fewer.
  private static let maxEntries = 5_000

  /// Returns the time of the latest log entry of each given device within the last day.
  private func latestEntries(of devices: Set<Identifier>) -> [Identifier: Instant] {
    let oldest = context.now.adding(seconds: -DevicePresence.recordHorizon)
    var result: [Identifier: Instant] = [:]
    for entry in store.history.log().prefix(StoreDevices.maxEntries) {
      if entry.at < oldest { break }
      if entry.at.isImplausible(at: context.now) { continue }
      if devices.contains(entry.device), result[entry.device] == nil {
        result[entry.device] = entry.at
        if result.count == devices.count { break }
      }
    }
    return result
  }
}

/// A cache of the evidence about other devices. It is valid until the underlying files change, or until it expires.
final class PresenceCache: Sendable {
  /// The evidence about the other devices.
  final class Evidence: Sendable {
    /// The devices with valid records.
    let devices: [Device]
    /// All devices with a record, valid or not.
    let known: Set<Identifier>
    /// The owners of the devices, as far as the records name them.
    let owners: [Identifier: String]
    /// The heartbeats that this device has fetched.
    let fetched: DeviceHeartbeats
    /// The fetched heartbeats, and those that other devices have pushed to this store.
    let heartbeats: DeviceHeartbeats
    /// The time of the latest log entry of each device without a current heartbeat.
    let activity: [Identifier: Instant]

    init(
      devices: [Device], known: Set<Identifier>, owners: [Identifier: String],
      fetched: DeviceHeartbeats,
      heartbeats: DeviceHeartbeats, activity: [Identifier: Instant]
    ) {
      self.devices = devices
      self.known = known
      self.owners = owners
      self.fetched = fetched
      self.heartbeats = heartbeats
      self.activity = activity
    }
  }

  private struct Entry: Sendable {
    let signatures: [FileSignature?]
    let readAt: Instant
    let evidence: Evidence
  }

  /// The lifetime of the cache while the files stay the same, in seconds. The log can grow in the meantime.
  private static let lifetime: Int64 = 30

  private let entry = Mutex<Entry?>(nil)
  private let latest = Mutex<(evidence: Evidence, at: Instant, presence: DevicePresence)?>(nil)

  /// Returns the presence that follows from the evidence at `now`. It is computed once for all alarms.
  func presence(
    by evidence: Evidence, at now: Instant, compute: () -> DevicePresence
  ) -> DevicePresence {
    if let known = latest.withLock({ $0 }), known.evidence === evidence, known.at == now {
      return known.presence
    }
    let presence = compute()
    latest.withLock { $0 = (evidence, now, presence) }
    return presence
  }

  /// Returns the evidence. It is read again if one of the given files has changed, or after the cache's lifetime.
  func evidence(
    for files: [String], at now: Instant, read: () -> Evidence
  ) -> Evidence {
    let signatures = files.map { path -> FileSignature? in
      var status = stat()
      return stat(path, &status) == 0 ? FileSignature(status) : nil
    }
    let known = entry.withLock { $0 }
    if let known, known.signatures == signatures,
      abs(now.seconds(since: known.readAt)) <= PresenceCache.lifetime
    {
      return known.evidence
    }
    let evidence = read()
    entry.withLock { $0 = Entry(signatures: signatures, readAt: now, evidence: evidence) }
    return evidence
  }
}
