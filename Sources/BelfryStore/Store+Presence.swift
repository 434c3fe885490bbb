import BelfryCore
import Git
import Glibc
import Synchronization

/// The devices that are alive, as far as this store can tell.
extension Store {
  /// The devices' presence at the present time.
  public var presence: DevicePresence { presence(presenceEvidence) }

  func presence(_ evidence: PresenceCache.Evidence) -> DevicePresence {
    presenceCache.presence(by: evidence, at: context.now) {
      DevicePresence(
        own: device, devices: evidence.devices, heartbeats: evidence.heartbeats,
        activity: evidence.activity, at: context.now)
    }
  }

  /// The files about other devices, read once for all alarms.
  var presenceEvidence: PresenceCache.Evidence {
    presenceCache.evidence(
      for: [local.alive, path + "/devices"], at: context.now, read: readEvidence)
  }

  private func readEvidence() -> PresenceCache.Evidence {
    let devices = devices().devices
    let others = Set(devices.map(\.id)).subtracting([device])
    let known = DurableFile.names(in: path + "/devices").compactMap {
      $0.hasSuffix(".json") ? Identifier($0.dropLast(5)) : nil
    }
    let signs = deviceHeartbeats
    func evidence(
      _ heartbeats: DeviceHeartbeats, _ activity: [Identifier: Instant]
    ) -> PresenceCache.Evidence {
      PresenceCache.Evidence(
        devices: devices, known: Set(known),
        owners: Dictionary(
          devices.compactMap { device in device.owner.map { (device.id, $0) } }
        ) { one, _ in one },
        signs: signs, heartbeats: heartbeats, activity: activity)
    }
    if others.isEmpty { return evidence(DeviceHeartbeats(), [:]) }
    var heartbeats = signs
    addHeartbeatsLeftHere(of: others, to: &heartbeats)
    // Those whose heartbeats tell enough need no look into the log.
    let doubtful = others.filter { !heartbeats.isAlive($0, at: context.now) }
    return evidence(heartbeats, doubtful.isEmpty ? [:] : latestEntries(of: doubtful))
  }

  /// Devices that have this store as a remote leave their heartbeats here.
  private func addHeartbeatsLeftHere(
    of others: Set<Identifier>, to heartbeats: inout DeviceHeartbeats
  ) {
    var status = stat()
    guard stat("\(local.gitDirectory)/\(Store.alive.dropLast())", &status) == 0,
      let repository = try? repository()
    else { return }
    for id in others {
      if let commit = (try? repository.commit(of: "\(Store.alive)\(id)")) ?? nil {
        heartbeats.take(commit, of: id, from: repository, at: context.now)
      }
    }
  }

  /// The number of entries that are read at most; a day has far fewer.
  private static let entriesForPresence = 5_000

  /// The latest log entry of each of some devices within a day.
  private func latestEntries(of devices: Set<Identifier>) -> [Identifier: Instant] {
    let oldest = context.now.adding(seconds: -DevicePresence.recordHorizon)
    var result: [Identifier: Instant] = [:]
    for entry in log().prefix(Store.entriesForPresence) {
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

/// The evidence of the other devices as it was last read, for as long as nothing suggests that there is more.
final class PresenceCache: Sendable {
  final class Evidence: Sendable {
    /// The devices with valid records.
    let devices: [Device]
    /// All devices that have a record, valid or not.
    let known: Set<Identifier>
    /// The people whom devices belong to, as far as the records say so.
    let owners: [Identifier: String]
    /// The heartbeats that this device has fetched.
    let signs: DeviceHeartbeats
    /// The same with those that other devices have pushed to this store.
    let heartbeats: DeviceHeartbeats
    let activity: [Identifier: Instant]

    init(
      devices: [Device], known: Set<Identifier>, owners: [Identifier: String],
      signs: DeviceHeartbeats,
      heartbeats: DeviceHeartbeats, activity: [Identifier: Instant]
    ) {
      self.devices = devices
      self.known = known
      self.owners = owners
      self.signs = signs
      self.heartbeats = heartbeats
      self.activity = activity
    }
  }

  private struct Entry: Sendable {
    let signatures: [FileSignature?]
    let readAt: Instant
    let evidence: Evidence
  }

  /// The time in seconds for which presence is cached while its files stay the same: the log may have more by then.
  private static let lifetime: Int64 = 30

  private let entry = Mutex<Entry?>(nil)
  private let latest = Mutex<(evidence: Evidence, at: Instant, presence: DevicePresence)?>(nil)

  /// The presence that follows from evidence at a moment, computed once for all alarms.
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

  /// The evidence, read anew when one of the files that it rests on has changed.
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
