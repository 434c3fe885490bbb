/// The devices that ring for an alarm at its time.
extension Alarm {
  /// Why a device rings for an alarm at the alarm's time.
  public enum RingingRole: Hashable, Sendable {
    /// It is one of those that the alarm is for.
    case intended
    /// None of those that the alarm is for is known to be alive.
    case standIn
  }

  /// Returns why a device rings at the alarm's time, and not as a backup of a list; nil when it does not.
  ///
  /// 1. Those of `delivery.devices`, or all, but for the backups. A device that was replaced counts as its successor,
  ///    and where there are backups so does a silent one that another stands in for.
  /// 2. If none is left, the device that the alarm is at home on; and if that is not known, all: rather a false alarm
  ///    than a missed one.
  /// 3. While none of the alarm's devices, backups included, is known to be alive: those that stand in for one of
  ///    them; and if none of these is known to be alive either, all.
  public func role(of device: Identifier, seenBy viewer: Viewer, plan: Backup.Plan?)
    -> RingingRole?
  {
    if isIntended(device, viewer, plan) {
      return isNamed(device, viewer) ? .intended : .standIn
    }
    // Without knowledge of the others everybody counts as alive.
    guard viewer.presence != nil else { return nil }
    let own = ownDevices(viewer, plan)
    if own.isEmpty || own.contains(where: viewer.isAlive) { return nil }
    let successors = Set(own.map(viewer.holder)).subtracting(own)
    if successors.contains(device) { return .standIn }
    return successors.contains(where: viewer.isAlive) ? nil : .standIn
  }

  /// The devices that the alarm is for, its backups included; empty when it is for every device.
  func ownDevices(_ viewer: Viewer, _ plan: Backup.Plan?) -> Set<Identifier> {
    var devices = Set(delivery.devices.map(viewer.replacement))
    if devices.isEmpty { return [] }
    devices.formUnion((plan?.targets ?? []).compactMap(\.device).map(viewer.holder))
    return devices
  }

  /// The time at which the last of the alarm's live devices stops counting as alive without another heartbeat; nil when
  /// none is, or the alarm is for every device.
  func silence(_ viewer: Viewer, _ plan: Backup.Plan?) -> Instant? {
    guard let presence = viewer.presence else { return nil }
    let own = ownDevices(viewer, plan)
    return own.union(own.map(viewer.holder)).compactMap { presence.aliveUntil[$0] }.max()
  }

  /// Returns false for a device that the alarm is for only because it stands in for another.
  private func isNamed(_ device: Identifier, _ viewer: Viewer) -> Bool {
    delivery.devices.isEmpty
      || !delivery.devices.contains { viewer.holder(of: $0) == device && $0 != device }
      || delivery.devices.contains { viewer.replacement(of: $0) == device }
  }

  /// The first two rules of `role`.
  private func isIntended(
    _ device: Identifier, _ viewer: Viewer, _ plan: Backup.Plan?
  ) -> Bool {
    let named = Set(delivery.devices.map(plan == nil ? viewer.replacement : viewer.holder))
    func rings(_ other: Identifier) -> Bool {
      named.isEmpty || named.contains(other) || named.isDisjoint(with: viewer.known)
    }
    guard let plan else { return rings(device) }
    func isFirst(_ other: Identifier) -> Bool {
      plan.step(of: other, seenBy: viewer) == nil && rings(other)
    }
    if isFirst(device) { return true }
    if viewer.known.contains(where: isFirst) { return false }
    guard let primary = plan.primary.map(viewer.holder), viewer.known.contains(primary) else {
      return rings(device)
    }
    return primary == device
  }
}

extension Backup.Plan {
  /// The place of a device in the list, that of a silent one that it stands in for included; nil when it has none.
  func step(of device: Identifier, seenBy viewer: Viewer) -> Int? {
    step(of: device)
      ?? targets.firstIndex { $0.device.map(viewer.holder) == device }.map { $0 + 1 }
  }
}
