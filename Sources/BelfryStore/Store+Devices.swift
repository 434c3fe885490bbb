import BelfryCore
import Git

extension Store {
  /// Changes the record of this device, as one commit.
  ///
  /// - Parameter body: Edits the record.
  /// - Returns: The new record.
  @discardableResult
  public func describeDevice(_ body: (inout Device) -> Void) throws -> Device {
    try write(reconciling: .all) { writer in
      let before = ownDevice
      var after = before
      body(&after)
      if after == before, devices().devices.contains(before) { return before }
      after.stamp = .next(after: before.stamp, now: context.now, device: device)
      try writer.commit(
        [DeviceRecord.path(device): DeviceRecord.encode(after)],
        message: CommitMessage("Update the device \(after.name)", device: device))
      return after
    }
  }

  /// The record of this device. If it is missing or not valid, it contains only the device's name.
  public var ownDevice: Device {
    devices().devices.first { $0.id == device }
      ?? Device(id: device, name: context.deviceName, created: context.now)
  }

  /// The devices that can place calls.
  public var callers: Set<Identifier> {
    Set(currentDevices().filter(\.calls).map(\.id))
  }

  /// Returns the devices that no other device has replaced.
  public func currentDevices() -> [Device] {
    let replaced = presence.replacements
    return devices().devices.filter { replaced[$0.id] == nil }
  }
}

extension [Device] {
  /// The names of the devices, by identifier.
  public var names: [Identifier: String] { Dictionary(map { ($0.id, $0.name) }) { $1 } }
}
