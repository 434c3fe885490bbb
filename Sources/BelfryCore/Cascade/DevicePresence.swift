/// The devices of a store that are known to be alive, and the devices that replace others.
///
/// | evidence | validity |
/// |---|---|
/// | heartbeat | the longer of 75 min, and twice the promised interval plus 15 min |
/// | log entry or own device record, if the device has sent a heartbeat | as for a heartbeat |
/// | log entry or own device record, if the device has never sent one | 24 h |
/// | any evidence older than the device's successor | none |
///
/// A successor is a device that was added later under the same name, was made from a copy of the device's folder, or
/// has replaced the device by `belfry device adopt`. It acts for the device while the device is offline.
public struct DevicePresence: Hashable, Sendable {
  /// The live devices, each with the time at which its evidence expires.
  public private(set) var aliveUntil: [Identifier: Instant] = [:]
  /// The time of each other device's latest heartbeat, log entry or edit of its own record.
  public private(set) var lastHeard: [Identifier: Instant] = [:]
  /// The devices that were replaced by `belfry device adopt` and are silent since, each with its successor.
  public private(set) var replacements: [Identifier: Identifier] = [:]
  /// The silent devices that have a successor, each with that successor. Includes `replacements`.
  public private(set) var standIns: [Identifier: Identifier] = [:]
  /// The devices that were replaced but have been active since, each with its successor.
  public private(set) var returned: [Identifier: Identifier] = [:]

  /// The validity of a log entry as evidence for a device that has never sent a heartbeat, in seconds.
  public static let recordHorizon: Int64 = 86_400

  /// Evaluates the evidence of all devices.
  ///
  /// - Parameters:
  ///   - own: the device that evaluates. It counts as alive.
  ///   - devices: all devices of the store.
  ///   - heartbeats: the known heartbeats.
  ///   - activity: the time of each device's latest known log entry.
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

  /// Returns true if a device is known to be alive.
  public func isAlive(_ device: Identifier) -> Bool { aliveUntil[device] != nil }

  /// Returns the time of a device's latest evidence in the records. Times in the future are ignored.
  private static func latest(
    of device: Device, _ activity: Instant?, at now: Instant
  ) -> Instant {
    let own = device.stamp.flatMap { $0.device == device.id ? $0.time : nil }
    return [own, activity].compactMap { $0 }.filter { !$0.isImplausible(at: now) }
      .reduce(device.created.isImplausible(at: now) ? Instant(seconds: 0) : device.created, max)
  }

  /// Returns the device that has replaced another by `belfry device adopt` and the time of that. The latest one wins.
  private static func replacement(
    of id: Identifier, among devices: [Device], at now: Instant
  ) -> (successor: Identifier, at: Instant)? {
    devices.compactMap { device in
      device.id == id ? nil : device.replaced[id].map { (successor: device.id, at: $0) }
    }.filter { !$0.at.isImplausible(at: now) }.max { ($0.at, $0.successor) < ($1.at, $1.successor) }
  }

  /// Returns the latest device that was added under the same name or from a copy.
  ///
  /// A device whose clock was far ahead when it was added does not qualify: it would keep the other one silent for as
  /// long.
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

  /// Returns the map with chains of successors followed to their ends.
  private static func resolved(_ direct: [Identifier: Identifier]) -> [Identifier: Identifier] {
    direct.mapValues { first in
      var (last, seen) = (first, Set([first]))
      while let next = direct[last], seen.insert(next).inserted { last = next }
      return last
    }
  }
}
