import BelfryCore
import Files

extension StoreDevices {
  /// Returns the name of a device's zone, or nil if its record names none.
  public func zoneName(of device: Identifier) -> String? {
    if device == self.device { return context.zones.recordedName(at: context.now) }
    return all().devices.first { $0.id == device }?.zone
  }

  /// Returns the name of the zone that all devices of an alarm's cascade follow. Returns nil if the primary device
  /// hasn't recorded it yet, so that each device follows its own local time.
  public func cascadeZoneName(of alarm: Alarm) -> String? {
    if case .named(let name) = alarm.zone { return name }
    guard alarm.cascade?.plan.primary != device else { return zoneName(of: device) }
    return alarm.cascadeZone
  }

  /// True if this device's record names its current zone, or if the record is not valid.
  var isZoneRecorded: Bool {
    guard let record = try? recordOfThisDevice() else { return true }
    return record.zone == context.zones.recordedName(at: context.now)
  }

  /// Returns the record of this device, or nil if the file is missing.
  func recordOfThisDevice() throws -> Device? {
    let file = try DurableFile.read(
      "\(path)/\(DeviceRecord.path(device))", limit: DeviceRecord.largest)
    return try file.map { try DeviceRecord.decode($0.bytes) }
  }
}
