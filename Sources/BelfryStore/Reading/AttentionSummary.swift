import BelfryCore

/// The content of a status line: the alarms that need an answer, those that ring next, and a problem.
public struct AttentionSummary: Hashable, Sendable {
  /// The reason why alarms may not ring, or why the other devices do not have the changes of this one.
  public enum Problem: String, CaseIterable, Sendable {
    /// The store was there, and is missing now.
    case storeMissing
    /// The store cannot be read.
    case storeUnreadable
    /// No daemon, timer or cron evaluates the store.
    case schedulerAbsent
    /// The daemon does not respond.
    case schedulerUnresponsive
    /// The latest change of the store is dated ahead of this device's clock, which may be behind.
    case clockBehind
    /// The daemon runs, and the last sync was more than a day ago.
    case syncOutdated

    /// True if no alarm rings on this device at its time.
    public var isSilencing: Bool { self != .syncOutdated }
  }

  /// An alarm in one of the lists.
  public struct Item: Hashable, Sendable {
    /// The id of the alarm.
    public let id: Identifier
    /// The title of the alarm.
    public let title: String
    /// The civil time of the occurrence that rings, is pending or was missed; nil for one that is ahead.
    public let civil: CivilDateTime?
    /// The time of the next ringing; nil for an occurrence that rings, is pending or was missed.
    public let at: Instant?

    /// Creates an item.
    public init(
      id: Identifier, title: String, civil: CivilDateTime? = nil, at: Instant? = nil
    ) {
      self.id = id
      self.title = title
      self.civil = civil
      self.at = at
    }
  }

  /// The alarms that ring, the earliest occurrence first.
  public var ringing: [Item] = []
  /// The alarms with missed occurrences.
  public var missed: [Item] = []
  /// The alarms with pending occurrences.
  public var pending: [Item] = []
  /// The snoozed alarms, the one that rings first again first.
  public var snoozed: [Item] = []
  /// The alarms that ring next, at most `maxUpcoming`.
  public var upcoming: [Item] = []
  /// The problem; nil if there is none.
  public var problem: Problem?
  /// The time before which nothing changes unless the store does.
  public var validUntil = Instant.distantFuture

  /// The maximum number of upcoming alarms.
  public static let maxUpcoming = 5
  /// The time between two evaluations of a status that can change at any time, in seconds. The daemon reports the changes
  /// that it makes.
  private static let recheckInterval: Int64 = 30

  /// Creates a summary of no alarm.
  public init(problem: Problem? = nil) { self.problem = problem }

  /// Creates the summary of the alarms of a store.
  ///
  /// - Parameters:
  ///   - summaries: The alarms, in any order.
  ///   - now: The time of their statuses.
  public init(_ summaries: [AlarmSummary], at now: Instant) {
    let recheck = now.adding(seconds: AttentionSummary.recheckInterval)
    for summary in summaries {
      let status = summary.status
      validUntil = min(validUntil, status.validUntil > now ? status.validUntil : recheck)
      let current = status.current.map {
        Item(id: summary.id, title: summary.title, civil: status.time(of: $0))
      }
      switch status.state {
      case .ringing: ringing += [current].compactMap { $0 }
      case .missed: missed += [current].compactMap { $0 }
      case .pending: pending += [current].compactMap { $0 }
      case .snoozed:
        if let until = status.snooze?.until {
          snoozed.append(Item(id: summary.id, title: summary.title, at: until))
        }
      case .active, .paused, .disabled, .finished: break
      }
      if status.state != .disabled, let next = status.next {
        upcoming.append(Item(id: summary.id, title: summary.title, at: next.at))
      }
    }
    ringing.sort(by: AttentionSummary.isEarlier)
    missed.sort(by: AttentionSummary.isEarlier)
    pending.sort(by: AttentionSummary.isEarlier)
    snoozed.sort(by: AttentionSummary.isEarlier)
    upcoming = Array(
      upcoming.sorted(by: AttentionSummary.isEarlier).prefix(AttentionSummary.maxUpcoming))
  }

  private static func isEarlier(_ one: Item, _ two: Item) -> Bool {
    if one.at != two.at { return (one.at ?? .distantFuture) < (two.at ?? .distantFuture) }
    if let first = one.civil, let second = two.civil, first != second { return first < second }
    return (one.title, one.id) < (two.title, two.id)
  }

  /// The numbers of alarms that need an answer.
  public var counts: AttentionCounts {
    var counts = AttentionCounts()
    counts.add(.ringing, ringing.count)
    counts.add(.missed, missed.count)
    counts.add(.pending, pending.count)
    return counts
  }
}
