/// The devices that ring for an alarm at its time.
extension Alarm {
  /// Why a device rings for an alarm at the alarm's time.
  public enum RingingRole: Hashable, Sendable {
    /// It is one of those that the alarm is for.
    case intended
    /// None of those that the alarm is for is known to be alive.
    case standIn
  }

  /// Returns why a device rings at the alarm's time, and not as a later step of a cascade; nil when it does not.
  ///
  /// 1. Those of `delivery.devices`, or all, but for the cascades. A device that was replaced counts as its successor,
  ///    and where there is a cascade so does a silent one that another stands in for.
  /// 2. If none is left, the device that the alarm is at home on; and if that is not known, all: rather a false alarm
  ///    than a missed one.
  /// 3. While none of the alarm's devices, cascade included, is known to be alive: those that stand in for one of
  ///    them; and if none of these is known to be alive either, all.
  public func role(of device: Identifier, seenBy deviceContext: DeviceContext, plan: Cascade.Plan?)
    -> RingingRole?
  {
    if isIntended(device, deviceContext, plan) {
      return isNamed(device, deviceContext) ? .intended : .standIn
    }
    // Without knowledge of the others everybody counts as alive.
    guard deviceContext.presence != nil else { return nil }
    let own = ownDevices(deviceContext, plan)
    if own.isEmpty || own.contains(where: deviceContext.isAlive) { return nil }
    let successors = Set(own.map(deviceContext.holder)).subtracting(own)
    if successors.contains(device) { return .standIn }
    return successors.contains(where: deviceContext.isAlive) ? nil : .standIn
  }

  /// The devices that the alarm is for, its cascade included; empty when it is for every device.
  func ownDevices(_ deviceContext: DeviceContext, _ plan: Cascade.Plan?) -> Set<Identifier> {
    var devices = Set(delivery.devices.map(deviceContext.replacement))
    if devices.isEmpty { return [] }
    devices.formUnion((plan?.targets ?? []).compactMap(\.device).map(deviceContext.holder))
    return devices
  }

  /// The time at which the last of the alarm's live devices stops counting as alive without another heartbeat; nil when
  /// none is, or the alarm is for every device.
  func silence(_ deviceContext: DeviceContext, _ plan: Cascade.Plan?) -> Instant? {
    guard let presence = deviceContext.presence else { return nil }
    let own = ownDevices(deviceContext, plan)
    return own.union(own.map(deviceContext.holder)).compactMap { presence.aliveUntil[$0] }.max()
  }

  /// Returns false for a device that the alarm is for only because it stands in for another.
  private func isNamed(_ device: Identifier, _ deviceContext: DeviceContext) -> Bool {
    delivery.devices.isEmpty
      || !delivery.devices.contains { deviceContext.holder(of: $0) == device && $0 != device }
      || delivery.devices.contains { deviceContext.replacement(of: $0) == device }
  }

  /// The first two rules of `role`.
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
  /// The place of a device in the list, that of a silent one that it stands in for included; nil when it has none.
  func step(of device: Identifier, seenBy deviceContext: DeviceContext) -> Int? {
    step(of: device)
      ?? targets.firstIndex { $0.device.map(deviceContext.holder) == device }.map { $0 + 1 }
  }
}
