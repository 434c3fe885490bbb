extension Statistics {
  /// A settled occurrence with the delay of its completion.
  public struct Response: Hashable, Sendable {
    /// The civil time, which identifies the occurrence.
    public let civil: CivilDateTime
    /// The outcome.
    public let outcome: Outcome
    /// The number of seconds from the due time to the completion; negative for an early completion, nil if nobody
    /// confirmed the occurrence.
    public let delay: Int64?
    /// The date in a plot over time: that of the occurrence, or that of an earlier completion.
    public let plotDate: CivilDate

    /// Creates a response from its parts.
    ///
    /// - Parameter movedTo: The civil time to which the occurrence was moved; nil if it was due at its own time.
    public init(
      civil: CivilDateTime, outcome: Outcome, delay: Int64?, movedTo: CivilDateTime? = nil
    ) {
      self.civil = civil
      self.outcome = outcome
      self.delay = delay
      if let delay, delay < 0 {
        let due = (movedTo ?? civil).minuteNumber
        plotDate = min(civil.date, CivilDateTime(minuteNumber: due + Int(delay) / 60).date)
      } else {
        plotDate = civil.date
      }
    }

    /// The maximum delay of a completion that is on time, in seconds: half an hour. An alarm rings for this time by
    /// default, and the first follow-up comes this long after a stop.
    public static let tolerance: Int64 = 30 * 60

    /// True if the occurrence was done early, or within `tolerance` of its due time.
    public var isOnTime: Bool { delay.map { $0 <= Response.tolerance } ?? false }
  }
}

/// The number of occurrences of each outcome, and the distribution of their delays.
public struct ResponseSummary: Hashable, Sendable {
  /// The number of confirmed occurrences.
  public private(set) var done = 0
  /// The number of skipped occurrences.
  public private(set) var skipped = 0
  /// The number of missed occurrences.
  public private(set) var missed = 0
  /// The number of occurrences that were completed automatically.
  public private(set) var autoCompleted = 0
  /// The number of occurrences that were done on time, see `Statistics.Response.isOnTime`.
  public private(set) var onTime = 0
  /// The delays in seconds, ascending.
  public let delays: [Int64]

  /// Creates the summary of responses, in any order.
  public init(_ responses: [Statistics.Response]) {
    var delays: [Int64] = []
    for response in responses {
      switch response.outcome {
      case .done: done += 1
      case .skipped: skipped += 1
      case .missed: missed += 1
      case .autoCompleted: autoCompleted += 1
      }
      if let delay = response.delay { delays.append(delay) }
      if response.isOnTime { onTime += 1 }
    }
    delays.sort()
    self.delays = delays
  }

  /// The number of settled occurrences.
  public var count: Int { expected + skipped }

  /// The number of occurrences that counted: all settled ones except those that were skipped.
  public var expected: Int { done + missed + autoCompleted }

  /// The part of the expected occurrences that was done on time, in whole percent, rounded down; nil if there are none.
  public var onTimePercent: Int? { expected == 0 ? nil : onTime * 100 / expected }

  /// The median delay in seconds; nil if nothing was done.
  public var median: Int64? { Statistics.median(delays) }

  /// The quartiles of the delays in seconds: half of the delays are between them. Nil if nothing was done.
  public var quartiles: (lower: Int64, upper: Int64)? {
    guard let lower = quantile(0.25), let upper = quantile(0.75) else { return nil }
    return (lower, upper)
  }

  /// Returns a quantile of the delays, interpolated between the two nearest ones.
  private func quantile(_ part: Double) -> Int64? {
    guard let last = delays.indices.last else { return nil }
    let position = part * Double(last)
    let index = Int(position)
    let (low, high) = (delays[index], delays[min(index + 1, last)])
    return low + Int64((position - Double(index)) * Double(high - low))
  }
}

extension ResponseSummary {
  /// Returns the summaries of groups of responses.
  ///
  /// - Parameters:
  ///   - count: The number of groups.
  ///   - group: Returns the number of the group of a response, starting at 0; nil if it is in none.
  public static func grouped(
    _ responses: [Statistics.Response], into count: Int,
    by group: (Statistics.Response) -> Int?
  ) -> [ResponseSummary] {
    var groups = [[Statistics.Response]](repeating: [], count: count)
    for response in responses {
      if let number = group(response) { groups[number].append(response) }
    }
    return groups.map { ResponseSummary($0) }
  }

  /// Returns the summaries of each weekday, from Monday on.
  public static func byWeekday(_ responses: [Statistics.Response]) -> [ResponseSummary] {
    grouped(responses, into: 7) { $0.civil.date.weekday.rawValue }
  }

  /// Returns the summaries of each hour of the day.
  public static func byHour(_ responses: [Statistics.Response]) -> [ResponseSummary] {
    grouped(responses, into: 24) { $0.civil.time.hour }
  }

  /// Returns the summaries of some parts of the calendar.
  ///
  /// - Parameter date: Returns the date of a response.
  public static func by(
    _ buckets: DateBuckets, _ responses: [Statistics.Response],
    date: (Statistics.Response) -> CivilDate = { $0.civil.date }
  ) -> [ResponseSummary] {
    grouped(responses, into: buckets.count) { buckets.index(of: date($0)) }
  }
}
