import BelfryCore
import Git

extension Store {
  /// Changes what this device says of itself, as one commit; returns its record then.
  @discardableResult
  public func describeDevice(_ body: (inout Device) -> Void) throws -> Device {
    try locked {
      let writer = try StoreWriter(self)
      try writer.absorb()
      try Tidying(writer).commitDevices()
      let known = devices().devices.first { $0.id == device }
      let before = known ?? Device(id: device, name: context.deviceName, created: context.now)
      var after = before
      body(&after)
      if known != nil, after == before { return before }
      after.stamp = .next(after: before.stamp, now: context.now, device: device)
      try writer.commit(
        [DeviceRecord.path(device): DeviceRecord.encode(after)],
        message: CommitMessage("Describe the device \(after.name)", device: device))
      return after
    }
  }

  /// The devices that can place calls.
  public var callers: Set<Identifier> {
    Set(devices().devices.filter(\.calls).map(\.id))
  }
}
