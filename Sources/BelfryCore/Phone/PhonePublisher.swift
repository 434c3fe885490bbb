/// The election of the one device that publishes the tasks of a collection for a phone.
///
/// Several devices of a store can publish into the same collection, for example because each of them syncs its folder with
/// one CalDAV server. One publishes at a time: the first in the order of the candidates that is alive. The candidates are
/// the devices whose records name the collection, in this order: servers, desktops, all others; then those whose clone
/// was made first; then by id.
///
/// | another candidate | counts as |
/// |---|---|
/// | its latest heartbeat is not older than its limit | alive |
/// | its latest heartbeat is older, or none is known | silent |
/// | was replaced by `belfry device adopt` | no candidate |
///
/// The limit is the time for which a heartbeat counts (`DeviceHeartbeats.trust(of:)`), 75 min with a daemon, but at most
/// `maxLimit`. A device always counts itself as alive. So:
///
/// - A device that cannot learn of the others, without a remote or while no remote can be reached, publishes by itself as
///   soon as their last heartbeats are too old. So does a device before it has received any heartbeat.
/// - The first device publishes whenever it runs. Another one publishes once the first was silent for its limit, and
///   yields as soon as it receives a newer heartbeat.
/// - In between, two devices can publish. With the same records they write identical files, which is harmless, while
///   without a publisher an alarm would be missed.
/// - Devices with the same heartbeats elect the same one, except for a device that runs although its heartbeats reach
///   nobody.
///
/// ```
/// laptop (first)   beats ● ● ●                       ● publishes at once
/// server           yields      ├ limit ┤ publishes   │ yields when it fetches the heartbeat
/// ```
public struct PhonePublisher: Hashable, Sendable {
  /// The name of the collection.
  public let collection: String
  /// The candidates in their order, this device included.
  public let candidates: [Identifier]
  /// The device that publishes, as far as this device knows.
  public let elected: Identifier
  /// True if this device publishes.
  public let isOwn: Bool
  /// The time at which the elected device counts as silent without a further heartbeat; nil if this device is elected.
  public let until: Instant?

  /// The maximum time for which a candidate counts as alive after a heartbeat, in seconds. A device that syncs more rarely
  /// than every two hours counts as silent between its syncs.
  public static let maxLimit: Int64 = 4 * 3600

  /// Elects the publisher of a device's collection. Returns nil if the device publishes none.
  ///
  /// - Parameters:
  ///   - own: the device that evaluates.
  ///   - devices: all devices of the store.
  ///   - presence: the devices that were replaced.
  ///   - heartbeats: the known heartbeats.
  public init?(
    _ own: Identifier, among devices: [Device], presence: DevicePresence,
    heartbeats: DeviceHeartbeats, at now: Instant
  ) {
    guard let collection = devices.first(where: { $0.id == own })?.phone else { return nil }
    let candidates = devices.filter { device in
      device.phone == collection
        && (device.id == own || presence.replacements[device.id] == nil)
    }.sorted(by: PhonePublisher.precedes).map(\.id)
    let elected =
      candidates.first { candidate in
        candidate == own || PhonePublisher.end(of: candidate, heartbeats).map { $0 > now } ?? false
      } ?? own
    assert(candidates.contains(own), "this device is a candidate")
    self.collection = collection
    self.candidates = candidates
    self.elected = elected
    isOwn = elected == own
    until = isOwn ? nil : PhonePublisher.end(of: elected, heartbeats)
  }

  /// Returns the time until which a candidate counts as alive; nil without a heartbeat.
  private static func end(of device: Identifier, _ heartbeats: DeviceHeartbeats) -> Instant? {
    heartbeats.seen[device]?.adding(seconds: limit(of: device, heartbeats))
  }

  /// Returns the time for which a candidate counts as alive after a heartbeat, in seconds.
  static func limit(of device: Identifier, _ heartbeats: DeviceHeartbeats) -> Int64 {
    min(heartbeats.trust(of: device), maxLimit)
  }

  /// Returns true if one candidate sorts before another. Devices that are usually on come first.
  private static func precedes(_ a: Device, _ b: Device) -> Bool {
    (rank(a.kind), a.created, a.id) < (rank(b.kind), b.created, b.id)
  }

  private static func rank(_ kind: Device.Kind?) -> Int {
    switch kind {
    case .server: 0
    case .desktop: 1
    case .laptop, .phone, .tablet, .speaker, .watch, nil: 2
    }
  }
}
