import BelfryCore
import Files
import Glibc
import Synchronization

/// A cache of the time zones that the devices' records name.
final class DeviceZones: Sendable {
  private struct Known {
    let signature: FileSignature
    let readAt: Instant
    let library: ZoneLibrary
    /// The names in the records.
    let names: Set<String>
    /// The zones; nil for a device whose record names none, or one that this system doesn't know.
    let zones: [Identifier: TimeZoneRules?]
  }
  private let known = Mutex<Known?>(nil)
  /// The lifetime of the cache while the folder stays the same, in seconds. A record can be edited in place.
  private static let lifetime: Int64 = 30

  /// Returns the zones of all devices of a store.
  func zones(of store: Store) -> [Identifier: TimeZoneRules?] { read(store)?.zones ?? [:] }

  /// Returns the names of the devices' zones that are in the system's library, or would be in a later version of it.
  func names(of store: Store) -> Set<String> { read(store)?.names ?? [] }

  private func read(_ store: Store) -> Known? {
    var status = stat()
    guard stat(store.path + "/devices", &status) == 0 else { return nil }
    let (signature, library) = (FileSignature(status), store.context.zones)
    return known.withLock { known in
      if let known, known.signature == signature, known.library === library,
        abs(store.context.now.seconds(since: known.readAt)) <= DeviceZones.lifetime
      {
        return known
      }
      let devices = store.devices.all().devices
      let zones = devices.map { device in
        (device.id, device.zone.flatMap { library.zone(recorded: $0) })
      }
      let read = Known(
        signature: signature, readAt: store.context.now, library: library,
        names: Set(devices.compactMap(\.zone).filter(ZoneLibrary.isName)),
        zones: Dictionary(zones, uniquingKeysWith: { $1 }))
      known = read
      return read
    }
  }
}

extension Store {
  /// Returns the zone of an alarm's civil times on this device, by the first rule that applies:
  ///
  /// 1. The alarm has its own zone: that zone.
  /// 2. The alarm has a cascade: the zone of the cascade's primary device, from the alarm's record. On the primary
  ///    device itself, its current zone.
  /// 3. The current zone of this device, also if this system doesn't know the zone.
  public func zone(of alarm: Alarm) -> TimeZoneRules {
    let zones = context.zones
    guard let name = alarm.cascadeZone(at: context.now), alarm.cascade?.plan.primary != device
    else {
      return zones.zone(of: alarm)
    }
    return zones.zone(recorded: name) ?? zones.local
  }

  /// Returns the zones of the other devices that ring for an alarm by their own local time. Returns none if the alarm's
  /// devices follow one zone. A device with an unknown zone counts as in the zone that is farthest behind.
  func otherZones(of alarm: Alarm) -> [TimeZoneRules] {
    guard alarm.zone == .floating, alarm.cascadeZone(at: context.now) == nil else { return [] }
    let devices = deviceZones.zones(of: self)
    if devices.count < 2 { return [] }
    let known = Set(devices.keys)
    let own = context.zones.recordedName(at: context.now)
    var result: [TimeZoneRules] = []
    for (id, zone) in devices where id != device {
      let isInCascade = alarm.cascade?.plan.step(of: id) != nil
      guard isInCascade || alarm.delivery.rings(on: id, known: known) else { continue }
      let zone = zone ?? .farthestBehind
      if zone.name != own, !result.contains(where: { $0.name == zone.name }) { result.append(zone) }
    }
    return result
  }
}
