import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryStore

/// A calendar that this device follows, with the state of the last fetch.
public struct CalendarSubscription: Hashable, Sendable {
  /// The name, which no other subscription of the device has.
  public var name: String
  /// The place of the calendar.
  public var source: CalendarSource
  /// The credentials for a URL; nil for none, or for those in `~/.netrc`.
  public var credentials: CalendarSource.Credentials?
  /// The tags of new alarms.
  public var tags: Set<AlarmTag> = []
  /// The treatment of events without a reminder.
  public var silent = CalendarFeed.SilentItems.ignored
  /// The time between two fetches that the user has set, in seconds; nil for that of the calendar.
  public var interval: Int64?
  /// The state after the last fetch.
  public var state = State()
  /// The time of the last fetch; nil before the first one. It is the modification time of the file.
  public var checkedAt: Instant?

  /// Creates a subscription that was not fetched yet.
  public init(name: String, source: CalendarSource) {
    self.name = name
    self.source = source
  }

  /// The state of a subscription after the last fetch.
  public struct State: Hashable, Sendable {
    /// The value for `If-None-Match`; nil for none.
    public var entityTag: String?
    /// The value for `If-Modified-Since`; nil for none.
    public var lastModified: String?
    /// The files that were read, as `CalendarFiles.signature`; nil for a URL.
    public var signature: String?
    /// The time after which the calendar asks to be fetched again, in seconds; nil for none.
    public var refreshInterval: Int64?
    /// The series with alarms, by UID.
    public var series: [String: CalendarFeed.Series] = [:]
    /// The alarms of vanished events that were deleted, with the time. They come back with their events.
    public var withdrawn: [Identifier: Instant] = [:]
    /// The loss that waits for the user; nil for none.
    public var held: ImportFeed.HeldLoss?
    /// The damaged files of a folder, with the reasons, which were left out.
    public var damaged: [String] = []
    /// The reason of the last failure, as a clause; nil after a success.
    public var failure: String?
    /// The number of failures since the last success.
    public var failureCount = 0
    /// The time of the last success before failures; nil if there is none.
    public var succeededAt: Instant?

    /// Creates the state before the first fetch.
    public init() {}
  }

  // MARK: Times

  /// The shortest time between two fetches that a calendar can ask for, in seconds: 15 minutes.
  public static let minInterval: Int64 = 900
  /// The longest time between two fetches, in seconds: 7 days.
  public static let maxInterval: Int64 = 7 * 86_400
  /// The shortest time between two fetches that the user can set, in seconds.
  public static let minOwnInterval: Int64 = 300
  /// The time between two fetches if neither the user nor the calendar sets it, in seconds: 1 hour.
  public static let defaultInterval: Int64 = 3_600
  /// The time until the first retry after a failure, in seconds. It doubles with each failure.
  private static let firstRetry: Int64 = 300
  /// The tolerance for a time of the last fetch that is ahead, in seconds.
  private static let skew: Int64 = 120

  /// The time between two fetches, in seconds.
  public var currentInterval: Int64 {
    if let interval { return interval }
    let wanted = state.refreshInterval ?? CalendarSubscription.defaultInterval
    return min(max(wanted, CalendarSubscription.minInterval), CalendarSubscription.maxInterval)
  }

  /// The time of the next fetch; nil for a file or folder, which is read when it changes, and for one that is due.
  public var nextFetch: Instant? {
    guard case .url = source, let checkedAt else { return nil }
    if state.failureCount == 0 { return checkedAt.adding(seconds: currentInterval) }
    let wait = CalendarSubscription.firstRetry << Int64(min(state.failureCount - 1, 12))
    return checkedAt.adding(seconds: min(wait, currentInterval))
  }

  /// Returns true if a URL has to be fetched. A file or folder is due whenever its signature has changed.
  public func isDue(at now: Instant) -> Bool {
    guard case .url = source, let checkedAt, let nextFetch else { return true }
    // A clock that was ahead must not stop the fetches.
    return nextFetch <= now || checkedAt > now.adding(seconds: CalendarSubscription.skew)
  }

  /// The time of the last success; nil if there is none.
  public var succeededAt: Instant? { state.failure == nil ? checkedAt : state.succeededAt }

  /// The alarms of the calendar.
  public var alarms: Set<Identifier> { Set(state.series.values.flatMap(\.alarms)) }

  // MARK: Names

  /// The maximum length of a name, in bytes.
  private static let maxNameLength = 64

  /// Returns true for a valid name: letters, digits, `-`, `_` and `.`.
  public static func isName(_ text: String) -> Bool {
    guard let first = text.first, first.isLetter || first.isNumber,
      text.utf8.count <= maxNameLength
    else { return false }
    return text.allSatisfy { $0.isLetter || $0.isNumber || "-_.".contains($0) }
  }

  /// Returns a valid name for the title of a calendar that no other subscription has.
  public static func name(for title: String, besides names: [String]) -> String {
    let words = title.split { !($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    var stem = words.joined(separator: "-").drop { !($0.isLetter || $0.isNumber) }
    while stem.utf8.count > maxNameLength - 4 { stem.removeLast() }
    let base = isName(String(stem)) ? String(stem) : "calendar"
    let taken = Set(names.map { $0.lowercased() })
    if !taken.contains(base.lowercased()) { return base }
    return (2...).lazy.map { "\(base)-\($0)" }.first { !taken.contains($0.lowercased()) } ?? base
  }
}
