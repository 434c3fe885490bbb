/// The latest known heartbeat of each device.
///
/// ```
/// daemon      every 30 min, and before a cascade step may ring      writes its own reference at each remote
/// every sync                                                        reads the references of the other devices
/// ```
public struct DeviceHeartbeats: Hashable, Sendable {
  /// The time at which heartbeats were last fetched from the remotes; nil if never.
  public var fetched: Instant?
  /// The time since which no remote can be reached; nil if the last attempt succeeded.
  public var unreachableSince: Instant?
  /// The time of each device's latest heartbeat.
  public var seen: [Identifier: Instant]
  /// The commit that each device reported in its latest heartbeat, in hexadecimal.
  public var reportedHeads: [Identifier: String]
  /// The time at which this device last sent a heartbeat; nil if never.
  public var sent: Instant?
  /// The commit that this device reported in that heartbeat, in hexadecimal.
  public var sentHead: String?
  /// The heartbeat interval that each device has promised, in seconds. Devices without a promise are missing.
  public var intervals: [Identifier: Int64]
  /// The times at which this device last exchanged heartbeats, oldest first.
  public private(set) var exchanges: [Instant]

  /// Creates the heartbeats that a device knows.
  public init(
    fetched: Instant? = nil, unreachableSince: Instant? = nil, seen: [Identifier: Instant] = [:],
    reportedHeads: [Identifier: String] = [:], sent: Instant? = nil, sentHead: String? = nil,
    intervals: [Identifier: Int64] = [:], exchanges: [Instant] = []
  ) {
    self.intervals = intervals
    self.exchanges = exchanges
    self.reportedHeads = reportedHeads
    self.sentHead = sentHead
    self.fetched = fetched
    self.unreachableSince = unreachableSince
    self.seen = seen
    self.sent = sent
  }

  /// The interval between two heartbeats of a device, in seconds.
  public static let spacing: Int64 = 1800
  /// The interval while a cascade step may ring soon, or after the device's records have changed, in seconds.
  public static let spacingInWindow: Int64 = 240
  /// The minimum age of the latest heartbeat at which a device counts as offline, in seconds.
  public static let trust: Int64 = 2 * spacing + 900
  /// The age that applies while a cascade step may ring, for a device without a promise, in seconds.
  private static let trustInWindow: Int64 = 900
  /// The maximum age of an answer from the remotes that describes the present, in seconds.
  private static let freshness: Int64 = 120
  /// The heartbeat intervals that a device can promise, in seconds.
  public static let promises: ClosedRange<Int64> = spacingInWindow...86_400

  /// Returns the time for which a device counts as alive after a heartbeat, in seconds.
  public func trust(of device: Identifier) -> Int64 {
    max(DeviceHeartbeats.trust, 2 * (intervals[device] ?? 0) + 900)
  }

  /// Returns the same time while a cascade step may ring. A heartbeat may be late by one promised interval.
  private func trustInWindow(of device: Identifier) -> Int64 {
    max(DeviceHeartbeats.trustInWindow, 2 * (intervals[device] ?? 0) + 300)
  }

  /// Returns the devices that are known to be offline.
  ///
  /// The result is empty if no heartbeats were fetched recently: a cascade waits for a device whose state is unknown.
  public func unreachable(_ known: Set<Identifier>, at now: Instant) -> Set<Identifier> {
    guard let fetched, abs(now.seconds(since: fetched)) <= DeviceHeartbeats.freshness else {
      return []
    }
    return known.filter { device in
      guard let last = seen[device] else { return true }
      return fetched.seconds(since: last) > trustInWindow(of: device)
    }
  }

  /// Returns the time since which each device counts as unreachable. Devices that never sent a heartbeat are missing.
  public func unreachableSince(_ devices: Set<Identifier>) -> [Identifier: Instant] {
    seen.filter { devices.contains($0.key) }.reduce(into: [:]) { result, item in
      result[item.key] = item.value.adding(seconds: trustInWindow(of: item.key))
    }
  }

  /// Returns true if a device's latest heartbeat is recent enough.
  public func isAlive(_ device: Identifier, at now: Instant) -> Bool {
    seen[device].map { now.seconds(since: $0) <= trust(of: device) } ?? false
  }

  // MARK: This device's own promise

  /// The number of exchanges that are kept.
  private static let maxExchangeCount = 9
  /// The minimum time between two counted exchanges, in seconds. Closer ones come from a person, not from a schedule.
  private static let minGap: Int64 = 60

  /// Records an exchange of heartbeats.
  public mutating func noteExchange(at now: Instant) {
    // Times after now date from before the clock was set back.
    exchanges.removeAll { $0 > now }
    if let last = exchanges.last, now.seconds(since: last) < DeviceHeartbeats.minGap { return }
    exchanges = Array((exchanges + [now]).suffix(DeviceHeartbeats.maxExchangeCount))
  }

  /// Removes this device's own heartbeats and exchanges: in a copied folder they belong to another device.
  public mutating func forgetOwn() {
    sent = nil
    sentHead = nil
    exchanges = []
  }

  /// The interval that a device without a daemon promises, in seconds.
  ///
  /// It is the second-longest gap between recent exchanges, because the longest may be a night. With fewer than three
  /// gaps it is `spacing`.
  public var promise: Int64 {
    let gaps = zip(exchanges.dropFirst(), exchanges).map { $0.seconds(since: $1) }.sorted(by: >)
    let gap = gaps.count < 3 ? DeviceHeartbeats.spacing : gaps[1]
    return min(max(gap, DeviceHeartbeats.promises.lowerBound), DeviceHeartbeats.promises.upperBound)
  }
}
