/// The times after a stop at which follow-ups ask for confirmation.
public struct FollowUpPlan: Hashable, Sendable, CustomStringConvertible {
  /// The delays after the stop in seconds, in ascending order.
  public let seconds: [Int64]

  /// Follow-ups after 30, 60 and 90 minutes.
  public static let standard = FollowUpPlan(unchecked: [1800, 3600, 5400])
  /// No follow-ups.
  public static let none = FollowUpPlan(unchecked: [])
  /// The maximum number of follow-ups of one occurrence.
  public static let maxCount = 24
  /// The maximum delay in seconds: one week.
  public static let latest: Int64 = 7 * 86_400

  /// Creates a plan; nil unless there are at most 24 delays in ascending order, each from one minute to one week.
  public init?(_ seconds: [Int64]) {
    guard seconds.count <= FollowUpPlan.maxCount,
      seconds.allSatisfy({ (60...FollowUpPlan.latest).contains($0) }),
      zip(seconds, seconds.dropFirst()).allSatisfy({ $0 < $1 })
    else { return nil }
    self.seconds = seconds
  }

  private init(unchecked seconds: [Int64]) {
    self.seconds = seconds
  }

  /// Creates a plan from text such as `30m,1h,90m` or `none`; nil for any other text.
  public init?(_ text: String) {
    if text == "none" {
      self = .none
      return
    }
    guard let seconds = Span.list(text) else { return nil }
    self.init(seconds)
  }

  /// The plan as text: `30m,1h,90m`, or `none`.
  public var description: String {
    seconds.isEmpty ? "none" : seconds.map(Span.code).joined(separator: ",")
  }
}

/// A question to the user about a stopped occurrence: is it done?
public struct FollowUp: Hashable, Sendable {
  /// The pending occurrence.
  public let occurrence: CivilDateTime
  /// The time at which the occurrence became pending.
  public let since: Instant
  /// The number of the follow-up, starting at 1.
  public let number: Int
  /// The number of follow-ups in the plan.
  public let count: Int
  /// The time at which the follow-up is due.
  public let due: Instant

  /// Creates a follow-up from its parts.
  public init(
    occurrence: CivilDateTime, since: Instant, number: Int, count: Int, due: Instant
  ) {
    self.occurrence = occurrence
    self.since = since
    self.number = number
    self.count = count
    self.due = due
  }

  /// True if no other follow-up comes after this one.
  public var isLast: Bool { number == count }

  /// Returns the question for an alarm's title: `Did you Rent reminder?`
  public static func question(_ title: String) -> String { "Did you \(title)?" }
}

extension Timeline {
  /// The follow-ups of a pending occurrence, sent and ahead.
  struct FollowUpOutlook {
    /// The number of the latest follow-up that was sent, or whose delivery was attempted; 0 if there is none.
    var sent: Int
    /// The latest follow-up that is due and was not sent; nil if there is none. Earlier ones are left out for good.
    var overdue: FollowUp?
    /// The time at which the next follow-up is due; nil if there is none.
    var next: Instant?
  }

  /// Returns the follow-ups of a pending occurrence.
  ///
  /// - Parameters:
  ///   - record: the record of the occurrence.
  ///   - ledger: the delivery ledger, whose attempts count as sent; nil to count only what the record shows as sent.
  func followUps(
    of civil: CivilDateTime, _ record: OccurrenceRecord, at now: Instant, settings: Settings,
    ledger: DeliveryLedger? = nil
  ) -> FollowUpOutlook {
    let all = allFollowUps(of: civil, record, settings: settings)
    let handled = all.last { followUp in
      // The ledger has the follow-up of a strict alarm as a firing with the follow-up's due time.
      [DeliveryKey.OccurrenceKind.followUp(followUp.number), .firing].contains { kind in
        ledger?.entry(.occurrence(id(of: civil), kind), due: followUp.due)?
          .needsNoAttempt(at: now) == true
      }
    }
    let sent = max(record.followUps, handled?.number ?? 0)
    let ahead = all.drop { $0.number <= sent }
    return FollowUpOutlook(
      sent: sent, overdue: ahead.last { $0.due <= now }, next: ahead.first { $0.due > now }?.due)
  }

  /// Returns all follow-ups of a pending occurrence, in order: those of the alarm, or else those of the settings, each
  /// with its delay after the stop.
  private func allFollowUps(
    of civil: CivilDateTime, _ record: OccurrenceRecord, settings: Settings
  ) -> [FollowUp] {
    let plan = (alarm.delivery.followUps ?? settings.followUps).seconds
    let since = record.since ?? occurrence(civil).at
    return plan.enumerated().map { index, seconds in
      FollowUp(
        occurrence: civil, since: since, number: index + 1, count: plan.count,
        due: since.adding(seconds: seconds))
    }
  }

  /// Returns the overdue follow-up of a strict alarm, which rings instead of asking, with its ringing state; nil unless
  /// the alarm is strict and a follow-up of the pending occurrence is overdue.
  ///
  /// `missed` means that the follow-up was not answered in time. The occurrence stays pending.
  func ringingFollowUp(
    of civil: CivilDateTime, _ record: OccurrenceRecord, at now: Instant, settings: Settings,
    ledger: DeliveryLedger
  ) -> (followUp: FollowUp, ringing: Ringing)? {
    guard alarm.delivery.strict, settings.tier != .free, record.state == .pending,
      let overdue = followUps(of: civil, record, at: now, settings: settings).overdue
    else { return nil }
    // The grace period does not apply, because the occurrence stays pending in any case.
    let firing = ledger.entry(.occurrence(id(of: civil), .firing), due: overdue.due)
    if firing == nil { return (overdue, .toRing(due: overdue.due)) }
    return (
      overdue,
      Ringing(
        due: overdue.due, firing, alarm: alarm, ringsHere: sendsFollowUps(of: civil, record),
        now: now, settings: settings)
    )
  }

  /// Returns the follow-up of a pending occurrence with a number; nil if there is none.
  public func followUp(
    _ number: Int, of civil: CivilDateTime, settings: Settings
  ) -> FollowUp? {
    guard let record = record(of: civil), record.state == .pending else { return nil }
    return allFollowUps(of: civil, record, settings: settings).first { $0.number == number }
  }

  /// Returns the alarm after a follow-up was sent; nil if the occurrence is no longer pending, or if another device has
  /// already recorded the follow-up.
  public func reminded(_ followUp: FollowUp) -> Transition? {
    let civil = followUp.occurrence
    guard alarm.enabled, !alarm.isDeleted, let record = record(of: civil),
      record.state == .pending, record.followUps < followUp.number
    else { return nil }
    var alarm = self.alarm
    alarm.progress.occurrences[civil]?.followUps = followUp.number
    return Transition(
      alarm: alarm,
      events: [
        Event(
          .reminded, civil,
          payload: .followUp(number: followUp.number, count: followUp.count, isUnanswered: false),
          revision: record.revision)
      ])
  }
}
