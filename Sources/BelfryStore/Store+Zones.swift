import BelfryCore
import Git
import Glibc
import Synchronization

/// The time zones that the devices' records name, read again when a record has changed.
final class DeviceZones: Sendable {
  private struct Known {
    let signature: FileSignature
    let readAt: Instant
    /// Nil for a device whose record names none, or one that this system does not know.
    let zones: [Identifier: TimeZoneRules?]
  }
  private let known = Mutex<Known?>(nil)
  /// The time in seconds for which zones are cached while the folder stays the same: a record can be edited in place.
  private static let lifetime: Int64 = 30

  /// The zones of all devices of a store.
  func zones(of store: Store) -> [Identifier: TimeZoneRules?] {
    var status = stat()
    guard stat(store.path + "/devices", &status) == 0 else { return [:] }
    let signature = FileSignature(status)
    return known.withLock { known in
      if let known, known.signature == signature,
        abs(store.context.now.seconds(since: known.readAt)) <= DeviceZones.lifetime
      {
        return known.zones
      }
      let zones = store.devices().devices.map { device in
        (device.id, device.zone.flatMap { store.context.zones.zone(recorded: $0) })
      }
      let read = Known(
        signature: signature, readAt: store.context.now,
        zones: Dictionary(zones, uniquingKeysWith: { $1 }))
      known = read
      return read.zones
    }
  }
}

extension Store {
  /// The zone in which an alarm's civil times are meant on this device.
  ///
  /// 1. An alarm with a zone of its own: that one.
  /// 2. An alarm with a cascade: the zone of the first device, as the alarm's record has it; on the first device the
  ///    one that it is in.
  /// 3. Else the zone that this device is in. The same where this system does not know the zone.
  public func zone(of alarm: Alarm) -> TimeZoneRules {
    let zones = context.zones
    guard let name = alarm.cascadeZone(at: context.now), alarm.cascade?.plan.primary != device
    else {
      return zones.zone(of: alarm)
    }
    return zones.zone(recorded: name) ?? zones.local
  }

  /// The zones of the other devices that ring for an alarm by their own wall clocks; none for an alarm whose devices
  /// follow one zone. A device whose zone is not known may be in the one that is farthest behind.
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

  /// The name of the zone that a device is in, as far as its record says.
  public func zoneName(of device: Identifier) -> String? {
    if device == self.device { return context.zones.recordedName(at: context.now) }
    return devices().devices.first { $0.id == device }?.zone
  }

  /// The name of the zone that all devices of an alarm's cascade follow; nil when the first device has not recorded it
  /// yet, and each goes by its own clock.
  public func cascadeZoneName(of alarm: Alarm) -> String? {
    if case .named(let name) = alarm.zone { return name }
    guard alarm.cascade?.plan.primary != device else { return zoneName(of: device) }
    return alarm.cascadeZone
  }

  /// True if this device's record names its current zone. An invalid record counts as one that does.
  var isZoneRecorded: Bool {
    guard let record = try? recordOfThisDevice() else { return true }
    return record.zone == context.zones.recordedName(at: context.now)
  }

  /// Lets this device's record name the zone that it is in.
  func recordZone(_ writer: StoreWriter) throws {
    guard !isZoneRecorded else { return }
    try DailyAudit(writer).commitDevices()
    guard var device = try recordOfThisDevice() else { return }
    let name = context.zones.recordedName(at: context.now)
    device.zone = name
    device.stamp = .next(after: device.stamp, now: context.now, device: self.device)
    try writer.commit(
      [DeviceRecord.path(self.device): DeviceRecord.encode(device)],
      message: CommitMessage("Time zone: \(device.name) (\(name))", device: self.device))
  }

  private func recordOfThisDevice() throws -> Device? {
    let file = try DurableFile.read(
      "\(path)/\(DeviceRecord.path(device))", limit: DeviceRecord.largest)
    return try file.map { try DeviceRecord.decode($0.bytes) }
  }
}
