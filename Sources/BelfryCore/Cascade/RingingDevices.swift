extension Alarm {
  /// The reason why a device rings at the alarm's time.
  public enum RingingRole: Hashable, Sendable {
    /// The alarm is intended for the device.
    case intended
    /// The device replaces another one, or none of the intended devices is known to be alive.
    case standIn
  }

  /// Returns the role in which a device rings at the alarm's time, not as a later step; nil if it does not ring then.
  ///
  /// 1. The devices in `delivery.devices`, or all devices, except the targets of the cascade. A replaced device counts
  ///    as its successor. With a cascade, a silent device counts as its successor too.
  /// 2. If no device is left, the primary device. If that is unknown, all devices: a false alarm is better than a
  ///    missed one.
  /// 3. If none of the alarm's devices, cascade included, is known to be alive, their successors. If none of those is
  ///    known to be alive, all devices.
  public func role(of device: Identifier, seenBy deviceContext: DeviceContext, plan: Cascade.Plan?)
    -> RingingRole?
  {
    if isIntended(device, deviceContext, plan) {
      return isNamed(device, deviceContext) ? .intended : .standIn
    }
    // Without information about presence, every device counts as alive.
    guard deviceContext.presence != nil else { return nil }
    let own = ownDevices(deviceContext, plan)
    if own.isEmpty || own.contains(where: deviceContext.isAlive) { return nil }
    let successors = Set(own.map(deviceContext.holder)).subtracting(own)
    if successors.contains(device) { return .standIn }
    return successors.contains(where: deviceContext.isAlive) ? nil : .standIn
  }

  /// Returns the intended devices, cascade included; empty if the alarm is for every device.
  func ownDevices(_ deviceContext: DeviceContext, _ plan: Cascade.Plan?) -> Set<Identifier> {
    var devices = Set(delivery.devices.map(deviceContext.replacement))
    if devices.isEmpty { return [] }
    devices.formUnion((plan?.targets ?? []).compactMap(\.device).map(deviceContext.holder))
    return devices
  }

  /// Returns the time at which the last live device of the alarm stops counting as alive without a further heartbeat.
  ///
  /// - Returns: The time; nil if no device is alive or the alarm is for every device.
  func silence(_ deviceContext: DeviceContext, _ plan: Cascade.Plan?) -> Instant? {
    guard let presence = deviceContext.presence else { return nil }
    let own = ownDevices(deviceContext, plan)
    return own.union(own.map(deviceContext.holder)).compactMap { presence.aliveUntil[$0] }.max()
  }

  /// Returns false if the alarm is for the device only because it acts for another device.
  private func isNamed(_ device: Identifier, _ deviceContext: DeviceContext) -> Bool {
    delivery.devices.isEmpty
      || !delivery.devices.contains { deviceContext.holder(of: $0) == device && $0 != device }
      || delivery.devices.contains { deviceContext.replacement(of: $0) == device }
  }

  /// Returns true if rule 1 or 2 of `role(of:seenBy:plan:)` applies.
  private func isIntended(
    _ device: Identifier, _ deviceContext: DeviceContext, _ plan: Cascade.Plan?
  ) -> Bool {
    let named = Set(
      delivery.devices.map(plan == nil ? deviceContext.replacement : deviceContext.holder))
    func rings(_ other: Identifier) -> Bool {
      named.isEmpty || named.contains(other) || named.isDisjoint(with: deviceContext.known)
    }
    guard let plan else { return rings(device) }
    func isFirst(_ other: Identifier) -> Bool {
      plan.step(of: other, seenBy: deviceContext) == nil && rings(other)
    }
    if isFirst(device) { return true }
    if deviceContext.known.contains(where: isFirst) { return false }
    guard let primary = plan.primary.map(deviceContext.holder),
      deviceContext.known.contains(primary)
    else {
      return rings(device)
    }
    return primary == device
  }
}

extension Cascade.Plan {
  /// Returns the step of a device, or of a silent device that it acts for; nil if neither is a target.
  func step(of device: Identifier, seenBy deviceContext: DeviceContext) -> Int? {
    step(of: device)
      ?? targets.firstIndex { $0.device.map(deviceContext.holder) == device }.map { $0 + 1 }
  }
}
