/// The devices of a store that are known to be alive at a moment, and those that have returned under a new identity.
///
/// | evidence of a device | counts for |
/// |---|---|
/// | a heartbeat | 75 minutes, or twice the interval that it promised and 15 minutes when that is more |
/// | a log entry or its own record, where it has sent a heartbeat before | as a heartbeat |
/// | a log entry or its own record, where it never has | a day |
/// | anything before a *successor* was added | nothing |
///
/// A successor is a device that was added later under the same name, that was made from a copy of the device's folder,
/// or that has replaced it by `belfry device adopt`. While nothing is heard of the device, its successor stands in for
/// it.
public struct DevicePresence: Hashable, Sendable {
  /// The devices that are known to be alive, each with the moment at which its evidence stops counting.
  public private(set) var aliveUntil: [Identifier: Instant] = [:]
  /// The time of each other device's latest heartbeat, log entry or edit of its own record.
  public private(set) var lastHeard: [Identifier: Instant] = [:]
  /// The devices that were replaced by a person's decision and have not been heard of since, each with its successor.
  public private(set) var replacements: [Identifier: Identifier] = [:]
  /// The silent devices that have a successor, each with it; those that were replaced included.
  public private(set) var standIns: [Identifier: Identifier] = [:]
  /// The devices that were replaced and have been heard of since, each with its successor.
  public private(set) var returned: [Identifier: Identifier] = [:]

  /// The age in seconds up to which a log entry counts as a sign of life of a device that has never sent a heartbeat.
  public static let recordHorizon: Int64 = 86_400

  /// - Parameters:
  ///   - own: the device that looks: it is alive.
  ///   - activity: the latest log entry of each device, as far as that is known.
  public init(
    own: Identifier, devices: [Device], heartbeats: DeviceHeartbeats,
    activity: [Identifier: Instant] = [:], at now: Instant
  ) {
    aliveUntil[own] = .distantFuture
    for device in devices where device.id != own {
      let records = DevicePresence.latest(of: device, activity[device.id], at: now)
      let heartbeat = heartbeats.seen[device.id]
      let last = max(records, heartbeat ?? records)
      lastHeard[device.id] = last
      let decided = DevicePresence.replacement(of: device.id, among: devices, at: now)
      if let (successor, at) = decided {
        if last.seconds <= at.seconds {
          replacements[device.id] = successor
          standIns[device.id] = successor
          continue
        }
        returned[device.id] = successor
      }
      let successor = DevicePresence.successor(of: device, among: devices, at: now)
      if let successor, last.seconds <= successor.created.seconds {
        standIns[device.id] = successor.id
        continue
      }
      let trust =
        heartbeat == nil ? DevicePresence.recordHorizon : heartbeats.trust(of: device.id)
      let end = last.adding(seconds: trust)
      if end > now { aliveUntil[device.id] = end }
    }
    replacements = DevicePresence.resolved(replacements)
    standIns = DevicePresence.resolved(standIns)
  }

  /// Returns true while a device is known to be alive.
  public func isAlive(_ device: Identifier) -> Bool { aliveUntil[device] != nil }

  /// The latest sign of a device in the store's records. A time that has not come yet is no evidence.
  private static func latest(
    of device: Device, _ activity: Instant?, at now: Instant
  ) -> Instant {
    let own = device.stamp.flatMap { $0.device == device.id ? $0.time : nil }
    return [own, activity].compactMap { $0 }.filter { !$0.isImplausible(at: now) }
      .reduce(device.created.isImplausible(at: now) ? Instant(seconds: 0) : device.created, max)
  }

  /// The device that has replaced another by decision, the latest of several, and when.
  private static func replacement(
    of id: Identifier, among devices: [Device], at now: Instant
  ) -> (successor: Identifier, at: Instant)? {
    devices.compactMap { device in
      device.id == id ? nil : device.replaced[id].map { (successor: device.id, at: $0) }
    }.filter { !$0.at.isImplausible(at: now) }.max { ($0.at, $0.successor) < ($1.at, $1.successor) }
  }

  /// The latest device that was added after another under the same name, or from a copy of it. One whose clock was far
  /// ahead when it was added is none: it would keep the other silent for as long.
  private static func successor(
    of device: Device, among devices: [Device], at now: Instant
  ) -> Device? {
    let name = device.name.lowercased()
    return devices.filter { other in
      guard other.id != device.id, !other.created.isImplausible(at: now) else { return false }
      if other.copyOf == device.id { return true }
      return other.name.lowercased() == name
        && (other.created, other.id) > (device.created, device.id) && device.copyOf != other.id
    }.max { ($0.created, $0.id) < ($1.created, $1.id) }
  }

  /// Follows chains to their ends: a successor may have a successor of its own.
  private static func resolved(_ direct: [Identifier: Identifier]) -> [Identifier: Identifier] {
    direct.mapValues { first in
      var (last, seen) = (first, Set([first]))
      while let next = direct[last], seen.insert(next).inserted { last = next }
      return last
    }
  }
}
