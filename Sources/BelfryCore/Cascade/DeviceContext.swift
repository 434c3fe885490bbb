/// The device that evaluates an alarm and its knowledge of the other devices.
public struct DeviceContext: Hashable, Sendable {
  /// The device that evaluates.
  public let device: Identifier
  /// All devices of the store.
  public let known: Set<Identifier>
  /// The devices without a recent heartbeat although the remotes could be asked. They do not delay a cascade.
  public let unreachable: Set<Identifier>
  /// The time since which each unreachable device counts as such. A missing device has always been unreachable.
  public let unreachableSince: [Identifier: Instant]
  /// The name of the device's time zone, as records hold it; nil if it is not recorded.
  public let zoneName: String?
  /// The live devices and the devices that replace others; nil if every device counts as alive.
  public let presence: DevicePresence?
  /// The owners of the devices. Devices without a known or relevant owner are missing.
  public var owners: [Identifier: String] = [:]

  /// Creates a context. `owners` is empty.
  public init(
    device: Identifier, known: Set<Identifier>, unreachable: Set<Identifier> = [],
    unreachableSince: [Identifier: Instant] = [:], zoneName: String? = nil,
    presence: DevicePresence? = nil
  ) {
    self.zoneName = zoneName
    self.device = device
    self.known = known
    self.unreachable = unreachable
    self.unreachableSince = unreachableSince
    self.presence = presence
  }

  /// Returns true if a device is alive or the presence of devices is unknown.
  func isAlive(_ device: Identifier) -> Bool { presence?.isAlive(device) ?? true }

  /// Returns the device that acts for a device: its successor while it is offline, otherwise the device itself.
  public func holder(of device: Identifier) -> Identifier { presence?.standIns[device] ?? device }

  /// Returns the device that has replaced a device by `belfry device adopt`, otherwise the device itself.
  func replacement(of device: Identifier) -> Identifier {
    presence?.replacements[device] ?? device
  }

  /// Returns true if a device was already unreachable when an occurrence became due.
  ///
  /// A device that becomes unreachable later does not move turns that have begun.
  func isUnreachable(_ device: Identifier, due: Instant) -> Bool {
    unreachable.contains(device) && unreachableSince[device].map { $0 <= due } ?? true
  }
}
