/// When word of an occurrence is given ahead of its time: seconds before it, descending.
public struct WarningPlan: Hashable, Sendable, CustomStringConvertible {
  public let seconds: [Int64]

  /// The most warnings of one occurrence.
  public static let most = 12

  /// Nil unless there are one to twelve, descending, each from a minute to a year.
  public init?(_ seconds: [Int64]) {
    guard (1...WarningPlan.most).contains(seconds.count),
      seconds.allSatisfy({ (60...(366 * 86_400)).contains($0) }),
      zip(seconds, seconds.dropFirst()).allSatisfy({ $0 > $1 })
    else { return nil }
    self.seconds = seconds
  }

  /// Reads `7d,1d` in any order; nil for anything else.
  public init?(_ text: String) {
    guard let seconds = Span.list(text) else { return nil }
    self.init(seconds.sorted(by: >))
  }

  /// `1w,1d`.
  public var description: String { seconds.map(Span.code).joined(separator: ",") }
}

/// Word of an occurrence ahead of its time.
public struct Warning: Hashable, Sendable {
  public let occurrence: Timeline.Occurrence
  /// When it was to be given.
  public let due: Instant
}

extension Timeline {
  /// So many occurrences ahead are looked at for their warnings.
  private static let warnedAhead = 64

  /// The warning that is to be given now, and when the next one is due.
  ///
  /// 1. Of one occurrence the latest that is due is given, and none of those before it; of several occurrences
  ///    that of the first to come.
  /// 2. What was due when the alarm was made or changed is not given.
  /// 3. What was told on this device, or tried, is not told again.
  func warnings(at now: Instant, ledger: DeliveryLedger) -> (due: Warning?, next: Instant?) {
    guard let plan = alarm.delivery.warnings, alarm.enabled, !alarm.isDeleted else {
      return (nil, nil)
    }
    let longest = plan.seconds.first ?? 0
    var overdue: Warning?
    var next: Instant?
    for occurrence in upcoming(after: now).prefix(Timeline.warnedAhead) {
      for seconds in plan.seconds {
        let due = occurrence.at.adding(seconds: -seconds)
        if due > now {
          next = min(next ?? due, due)
        } else if due > alarm.progress.armed, overdue.map({ $0.occurrence == occurrence }) ?? true {
          overdue = Warning(occurrence: occurrence, due: due)
        }
      }
      if let warning = overdue, warning.occurrence == occurrence,
        let told = ledger[DeliveryLedger.Key(alarm: alarm.id, occurrence: occurrence.civil)],
        told.due > warning.due || told.due == warning.due && told.isSettled(at: now)
      {
        overdue = nil
        if let retry = told.nextAttempt(after: now) { next = min(next ?? retry, retry) }
      }
      if occurrence.at > now.adding(seconds: longest) { break }
    }
    return (overdue, next)
  }
}
