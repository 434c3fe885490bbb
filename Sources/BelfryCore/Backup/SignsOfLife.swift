/// What is known of the other devices: when each was last there to ring.
///
/// ```
/// a daemon ──(every half hour, and shortly before a backup may have to ring)──▶ a reference of its own at the remotes
/// every sync ──▶ what the remotes have of the others, and when they were asked
/// ```
public struct SignsOfLife: Hashable, Sendable {
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

  public init(
    asked: Instant? = nil, silent: Instant? = nil, seen: [Identifier: Instant] = [:],
    has: [Identifier: String] = [:], told: Instant? = nil, toldHead: String? = nil
  ) {
    self.has = has
    self.toldHead = toldHead
    self.asked = asked
    self.silent = silent
    self.seen = seen
    self.told = told
  }

  /// Between two signs of a device, in seconds.
  public static let spacing: Int64 = 1800
  /// The same when a backup may have to ring soon, or the device has other records than it said last.
  public static let spacingInWindow: Int64 = 240
  /// Who has given no sign for so long would not ring, in seconds.
  public static let trust: Int64 = 2 * spacing + 900
  /// The same when a backup may have to ring now, and all who are there have just said so.
  private static let trustInWindow: Int64 = 900
  /// What was asked longer ago than this tells nothing of now, in seconds.
  private static let freshness: Int64 = 120

  /// The devices that are known not to be there: the remotes were asked just now, and had no recent sign of them.
  ///
  /// Nobody is where the remotes cannot be asked: who is not known to be away is waited for.
  public func unreachable(_ known: Set<Identifier>, at now: Instant) -> Set<Identifier> {
    guard let asked, abs(now.seconds(since: asked)) <= SignsOfLife.freshness else { return [] }
    return known.filter { device in
      guard let last = seen[device] else { return true }
      return asked.seconds(since: last) > SignsOfLife.trustInWindow
    }
  }

  /// Whether a device would be there to ring, as far as is known.
  public func isAlive(_ device: Identifier, at now: Instant) -> Bool {
    seen[device].map { now.seconds(since: $0) <= SignsOfLife.trust } ?? false
  }
}
