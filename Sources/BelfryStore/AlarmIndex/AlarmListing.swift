import BelfryCore

/// The alarms of a list.
public struct AlarmListing: Sendable {
  /// The summaries of all alarms.
  public let summaries: [AlarmSummary]

  /// Creates a list of alarms in their order.
  public init(_ summaries: [AlarmSummary]) { self.summaries = summaries }

  /// The number of alarms.
  public var count: Int { summaries.count }
  /// True if there is no alarm.
  public var isEmpty: Bool { summaries.isEmpty }

  // MARK: Selection

  /// Returns the alarms that are finished, or all others.
  public func finished(_ isFinished: Bool) -> AlarmListing {
    AlarmListing(summaries.filter { $0.isFinished == isFinished })
  }

  /// Returns the alarms that ring next in a period.
  ///
  /// - Parameters:
  ///   - start: The start of the period, exclusive.
  ///   - end: The end of the period, inclusive.
  public func ringing(after start: Instant, until end: Instant) -> [AlarmSummary] {
    summaries.filter { summary in
      summary.nextRinging.map { $0.at > start && $0.at <= end } ?? false
    }
  }

  // MARK: Order

  /// Returns the alarms with the most urgent first, then by the next occurrence, title and id.
  public func sorted() -> AlarmListing {
    let keys = summaries.map {
      (rank: AlarmListing.rank($0.state), next: $0.next?.at ?? .distantFuture)
    }
    let order = summaries.indices.sorted { a, b in
      if keys[a].rank != keys[b].rank { return keys[a].rank < keys[b].rank }
      if keys[a].next != keys[b].next { return keys[a].next < keys[b].next }
      let (first, second) = (summaries[a], summaries[b])
      return first.title != second.title ? first.title < second.title : first.id < second.id
    }
    return AlarmListing(order.map { summaries[$0] })
  }

  private static func rank(_ state: AlarmStatus.State) -> Int {
    switch state {
    case .ringing: 0
    case .snoozed: 1
    case .missed: 2
    case .pending: 3
    case .active, .paused: 4
    case .disabled: 5
    case .finished: 6
    }
  }
}
