/// What is known of the other devices: when each was last there to ring.
///
/// ```
/// a daemon ──(every half hour, and shortly before a cascade step may have to ring)──▶ a reference of its own at the remotes
/// every sync ──▶ what the remotes have of the others, and when they were asked
/// ```
public struct DeviceHeartbeats: Hashable, Sendable {
  /// When the remotes were last asked with success; nil when never.
  public var asked: Instant?
  /// Since when the remotes could not be asked; nil when the last try succeeded.
  public var silent: Instant?
  /// When each device last said that it is there.
  public var seen: [Identifier: Instant]
  /// The commit that each had then, in hexadecimal: whether it knew of an alarm's list.
  public var has: [Identifier: String]
  /// When this device last said so itself, and which commit it had then.
  public var told: Instant?
  public var toldHead: String?
  /// The heartbeat interval that each device has promised, in seconds; missing for one that has promised nothing.
  public var every: [Identifier: Int64]
  /// The times at which this device last exchanged heartbeats, the latest last.
  public private(set) var exchanges: [Instant]

  public init(
    asked: Instant? = nil, silent: Instant? = nil, seen: [Identifier: Instant] = [:],
    has: [Identifier: String] = [:], told: Instant? = nil, toldHead: String? = nil,
    every: [Identifier: Int64] = [:], exchanges: [Instant] = []
  ) {
    self.every = every
    self.exchanges = exchanges
    self.has = has
    self.toldHead = toldHead
    self.asked = asked
    self.silent = silent
    self.seen = seen
    self.told = told
  }

  /// Between two signs of a device, in seconds.
  public static let spacing: Int64 = 1800
  /// The same when a cascade step may have to ring soon, or the device has other records than it said last.
  public static let spacingInWindow: Int64 = 240
  /// Who has given no sign for so long would not ring, in seconds.
  public static let trust: Int64 = 2 * spacing + 900
  /// The same when a cascade step may have to ring now, of a device that has promised nothing.
  private static let trustInWindow: Int64 = 900
  /// What was asked longer ago than this tells nothing of now, in seconds.
  private static let freshness: Int64 = 120
  /// The intervals that a device can promise, in seconds.
  public static let promises: ClosedRange<Int64> = spacingInWindow...86_400

  /// The time for which a device counts as alive after its last heartbeat, in seconds.
  public func trust(of device: Identifier) -> Int64 {
    max(DeviceHeartbeats.trust, 2 * (every[device] ?? 0) + 900)
  }

  /// The same while a cascade step may have to ring: a device is judged by its promise, and may be late by as much again.
  private func trustInWindow(of device: Identifier) -> Int64 {
    max(DeviceHeartbeats.trustInWindow, 2 * (every[device] ?? 0) + 300)
  }

  /// The devices that are known not to be there: the remotes were asked just now, and had no recent sign of them.
  ///
  /// Nobody is where the remotes cannot be asked: who is not known to be away is waited for.
  public func unreachable(_ known: Set<Identifier>, at now: Instant) -> Set<Identifier> {
    guard let asked, abs(now.seconds(since: asked)) <= DeviceHeartbeats.freshness else { return [] }
    return known.filter { device in
      guard let last = seen[device] else { return true }
      return asked.seconds(since: last) > trustInWindow(of: device)
    }
  }

  /// Since when each of some devices counts as unreachable; without those that were never heard of.
  public func unreachableSince(_ devices: Set<Identifier>) -> [Identifier: Instant] {
    seen.filter { devices.contains($0.key) }.reduce(into: [:]) { result, item in
      result[item.key] = item.value.adding(seconds: trustInWindow(of: item.key))
    }
  }

  /// Whether a device would be there to ring, as far as is known.
  public func isAlive(_ device: Identifier, at now: Instant) -> Bool {
    seen[device].map { now.seconds(since: $0) <= trust(of: device) } ?? false
  }

  // MARK: This device's own promise

  /// The number of exchanges that are remembered.
  private static let mostExchanges = 9
  /// Exchanges closer together than this are a person's, not a schedule's, and are not counted, in seconds.
  private static let leastGap: Int64 = 60

  /// Remembers that heartbeats were exchanged now.
  public mutating func noteExchange(at now: Instant) {
    // After the clock was set back the times from before tell nothing.
    exchanges.removeAll { $0 > now }
    if let last = exchanges.last, now.seconds(since: last) < DeviceHeartbeats.leastGap { return }
    exchanges = Array((exchanges + [now]).suffix(DeviceHeartbeats.mostExchanges))
  }

  /// Forgets what this device has said of itself: after its folder was copied that was another device.
  public mutating func forgetOwn() {
    told = nil
    toldHead = nil
    exchanges = []
  }

  /// The interval that a device without a daemon can promise, in seconds: the second longest between its latest
  /// exchanges, as the longest may be a night's sleep; half an hour while there are too few to tell.
  public var promise: Int64 {
    let gaps = zip(exchanges.dropFirst(), exchanges).map { $0.seconds(since: $1) }.sorted(by: >)
    let gap = gaps.count < 3 ? DeviceHeartbeats.spacing : gaps[1]
    return min(max(gap, DeviceHeartbeats.promises.lowerBound), DeviceHeartbeats.promises.upperBound)
  }
}
