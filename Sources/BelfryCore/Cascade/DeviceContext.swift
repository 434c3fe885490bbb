/// The device that looks at an alarm, and what it knows of the others.
public struct DeviceContext: Hashable, Sendable {
  public let device: Identifier
  /// The devices that there are.
  public let known: Set<Identifier>
  /// Those that have not been heard of, though others could have been: they delay nobody.
  public let unreachable: Set<Identifier>
  /// Since when each of the unreachable ones counts as that; a missing one always has.
  public let unreachableSince: [Identifier: Instant]
  /// The name of the time zone that the device is in, as records hold it; nil when it is not to be recorded.
  public let zoneName: String?
  /// The devices that are alive and those that stand in for others; nil where every device counts as alive.
  public let presence: DevicePresence?
  /// The people whom devices belong to; without those of which that is not known, or does not matter now.
  public var owners: [Identifier: String] = [:]

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

  /// Returns true unless a device is not known to be alive.
  func isAlive(_ device: Identifier) -> Bool { presence?.isAlive(device) ?? true }

  /// The device that has a device's place: its successor while it is silent, else itself.
  public func holder(of device: Identifier) -> Identifier { presence?.standIns[device] ?? device }

  /// The device that was given a device's place by decision, else the device itself.
  func replacement(of device: Identifier) -> Identifier {
    presence?.replacements[device] ?? device
  }

  /// Returns true when a device was unreachable already when an occurrence came due: news during a cascade moves
  /// no turn that has begun.
  func isUnreachable(_ device: Identifier, due: Instant) -> Bool {
    unreachable.contains(device) && unreachableSince[device].map { $0 <= due } ?? true
  }
}
