import BelfryCore
import Git

extension Store {
  /// Changes what this device says of itself, as one commit; returns its record then.
  @discardableResult
  public func describeDevice(_ body: (inout Device) -> Void) throws -> Device {
    try locked {
      let writer = try StoreWriter(self)
      try writer.absorb()
      try DailyAudit(writer).commitDevices()
      let before = ownDevice
      var after = before
      body(&after)
      if after == before, devices().devices.contains(before) { return before }
      after.stamp = .next(after: before.stamp, now: context.now, device: device)
      try writer.commit(
        [DeviceRecord.path(device): DeviceRecord.encode(after)],
        message: CommitMessage("Describe the device \(after.name)", device: device))
      return after
    }
  }

  /// What this device says of itself; by its name alone where it has no valid record.
  public var ownDevice: Device {
    devices().devices.first { $0.id == device }
      ?? Device(id: device, name: context.deviceName, created: context.now)
  }

  /// The devices that can place calls.
  public var callers: Set<Identifier> {
    Set(currentDevices().filter(\.calls).map(\.id))
  }

  /// The devices without those that another has replaced.
  public func currentDevices() -> [Device] {
    let replaced = presence.replacements
    return devices().devices.filter { replaced[$0.id] == nil }
  }
}

extension [Device] {
  /// What people call them, by identifier.
  public var names: [Identifier: String] { Dictionary(map { ($0.id, $0.name) }) { $1 } }
}
