/// The times before an occurrence at which advance warnings are sent.
public struct WarningPlan: Hashable, Sendable, CustomStringConvertible {
  /// The times before the occurrence in seconds, in descending order.
  public let seconds: [Int64]

  /// The maximum number of warnings of one occurrence.
  public static let maxCount = 12

  /// Creates a plan; nil unless there are 1 to 12 times in descending order, each from one minute to 366 days.
  public init?(_ seconds: [Int64]) {
    guard (1...WarningPlan.maxCount).contains(seconds.count),
      seconds.allSatisfy({ (60...(366 * 86_400)).contains($0) }),
      zip(seconds, seconds.dropFirst()).allSatisfy({ $0 > $1 })
    else { return nil }
    self.seconds = seconds
  }

  /// Creates a plan from text such as `7d,1d`, in any order; nil for any other text.
  public init?(_ text: String) {
    guard let seconds = Span.list(text) else { return nil }
    self.init(seconds.sorted(by: >))
  }

  /// The plan as text: `1w,1d`.
  public var description: String { seconds.map(Span.code).joined(separator: ",") }
}

/// An advance warning of an occurrence.
public struct Warning: Hashable, Sendable {
  /// The occurrence.
  public let occurrence: Timeline.Occurrence
  /// The time at which the warning is due.
  public let due: Instant
}

extension Timeline {
  /// The number of upcoming occurrences that are considered for warnings.
  private static let maxOccurrencesAhead = 64

  /// Returns the advance warning to send now, and the time at which the next one is due.
  ///
  /// 1. Of several due warnings of one occurrence, only the latest is sent. Of several occurrences, the first one's
  ///    warning is sent.
  /// 2. A warning that was due before the alarm was created or changed is not sent.
  /// 3. A warning that this device has delivered, or whose retry is not due yet, is not sent.
  func warnings(at now: Instant, ledger: DeliveryLedger) -> (due: Warning?, next: Instant?) {
    guard let plan = alarm.delivery.warnings, alarm.enabled, !alarm.isDeleted else {
      return (nil, nil)
    }
    let longest = plan.seconds.first ?? 0
    var overdue: Warning?
    var next: Instant?
    for occurrence in upcoming(after: now).prefix(Timeline.maxOccurrencesAhead) {
      for seconds in plan.seconds {
        let due = occurrence.at.adding(seconds: -seconds)
        if due > now {
          next = min(next ?? due, due)
        } else if due > alarm.progress.armed, overdue.map({ $0.occurrence == occurrence }) ?? true {
          overdue = Warning(occurrence: occurrence, due: due)
        }
      }
      if let warning = overdue, warning.occurrence == occurrence,
        let latest = ledger.latest(of: id(of: occurrence.civil)),
        latest.due > warning.due || latest.due == warning.due && latest.needsNoAttempt(at: now)
      {
        overdue = nil
        if let retry = latest.nextAttempt(after: now) { next = min(next ?? retry, retry) }
      }
      if occurrence.at > now.adding(seconds: longest) { break }
    }
    return (overdue, next)
  }
}
