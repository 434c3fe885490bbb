/// When a stopped occurrence asks again until somebody confirms it: seconds since it was stopped,
/// ascending.
public struct FollowUpPlan: Hashable, Sendable, CustomStringConvertible {
  public let seconds: [Int64]

  /// At +30, +60 and +90 minutes.
  public static let standard = FollowUpPlan(unchecked: [1800, 3600, 5400])
  /// It never asks.
  public static let none = FollowUpPlan(unchecked: [])
  /// The most follow-ups of one occurrence.
  public static let most = 24
  /// The latest, in seconds: a week.
  public static let latest: Int64 = 7 * 86_400

  /// Nil unless there are at most 24, ascending, each from a minute to a week.
  public init?(_ seconds: [Int64]) {
    guard seconds.count <= FollowUpPlan.most,
      seconds.allSatisfy({ (60...FollowUpPlan.latest).contains($0) }),
      zip(seconds, seconds.dropFirst()).allSatisfy({ $0 < $1 })
    else { return nil }
    self.seconds = seconds
  }

  private init(unchecked seconds: [Int64]) {
    self.seconds = seconds
  }

  /// Reads `30m,1h,90m`, or `none`; nil for anything else.
  public init?(_ text: String) {
    if text == "none" {
      self = .none
      return
    }
    guard let seconds = Span.list(text) else { return nil }
    self.init(seconds)
  }

  /// `30m,1h,90m`, or `none`.
  public var description: String {
    seconds.isEmpty ? "none" : seconds.map(Span.code).joined(separator: ",")
  }
}

/// One question to a person: have you done what you stopped?
public struct FollowUp: Hashable, Sendable {
  public let occurrence: CivilDateTime
  /// Since when the occurrence is pending.
  public let since: Instant
  /// The first is 1.
  public let number: Int
  /// How many there are at most.
  public let count: Int
  /// When it was to be sent.
  public let due: Instant

  public init(
    occurrence: CivilDateTime, since: Instant, number: Int, count: Int, due: Instant
  ) {
    self.occurrence = occurrence
    self.since = since
    self.number = number
    self.count = count
    self.due = due
  }

  /// Whether none comes after it.
  public var isLast: Bool { number == count }

  /// What a person is asked: `Did you Rent reminder?`
  public static func question(_ title: String) -> String { "Did you \(title)?" }
}

extension Timeline {
  /// When a pending occurrence asks.
  struct FollowUpOutlook {
    /// The number of the latest that was sent.
    var sent: Int
    /// The latest that is due and was not sent; those before it are left out for good.
    var overdue: FollowUp?
    /// When the next one after that is due.
    var next: Instant?
  }

  /// - Parameters:
  ///   - record: what is known of the occurrence, which is pending.
  ///   - firings: with what this device has told or tried in vain; nil for what is due to all devices.
  func followUps(
    of civil: CivilDateTime, _ record: OccurrenceRecord, at now: Instant, settings: Settings,
    ledger: DeliveryLedger? = nil
  ) -> FollowUpOutlook {
    let plan = (alarm.delivery.followUps ?? settings.followUps).seconds
    let since = record.since ?? occurrence(civil).at
    let tried = plan.lastIndex {
      ledger?.firing(alarm.id, civil, due: since.adding(seconds: $0))?.isSettled(at: now) == true
    }
    var outlook = FollowUpOutlook(sent: max(record.followUps, tried.map { $0 + 1 } ?? 0))
    for (index, seconds) in plan.enumerated() where index >= outlook.sent {
      let due = since.adding(seconds: seconds)
      if due > now {
        outlook.next = due
        break
      }
      outlook.overdue = FollowUp(
        occurrence: civil, since: since, number: index + 1, count: plan.count, due: due)
    }
    return outlook
  }

  /// How a strict alarm's follow-up stands, which rings instead of asking. Missed means that nobody answered in time:
  /// it is pending as before.
  ///
  /// Nil unless the alarm is strict and a follow-up of the pending occurrence is overdue.
  func reringing(
    of civil: CivilDateTime, _ record: OccurrenceRecord, at now: Instant, settings: Settings,
    ledger: DeliveryLedger
  ) -> (followUp: FollowUp, ringing: Ringing)? {
    guard alarm.delivery.strict, settings.tier != .free, record.state == .pending,
      let overdue = followUps(of: civil, record, at: now, settings: settings).overdue
    else { return nil }
    // However long ago it was due: it stays pending all the same.
    let firing = ledger.firing(alarm.id, civil, due: overdue.due)
    if firing == nil { return (overdue, .toRing(due: overdue.due)) }
    return (
      overdue,
      Ringing(
        due: overdue.due, firing, alarm: alarm, ringsHere: asks(about: civil, record), now: now,
        settings: settings)
    )
  }

  /// The follow-up of a pending occurrence that has a number; nil when there is none.
  public func followUp(
    _ number: Int, of civil: CivilDateTime, settings: Settings
  ) -> FollowUp? {
    let plan = (alarm.delivery.followUps ?? settings.followUps).seconds
    guard let record = record(of: civil), record.state == .pending,
      plan.indices.contains(number - 1)
    else { return nil }
    let since = record.since ?? occurrence(civil).at
    return FollowUp(
      occurrence: civil, since: since, number: number, count: plan.count,
      due: since.adding(seconds: plan[number - 1]))
  }

  /// The alarm once a follow-up was sent; nil when the occurrence is no longer pending, or another device
  /// was faster.
  public func reminded(_ followUp: FollowUp) -> Transition? {
    let civil = followUp.occurrence
    guard alarm.enabled, !alarm.isDeleted, var record = record(of: civil),
      record.state == .pending, record.followUps < followUp.number
    else { return nil }
    record.followUps = followUp.number
    var alarm = self.alarm
    alarm.progress.occurrences[civil] = record
    return Transition(
      alarm: alarm,
      events: [
        Event(
          .reminded, civil, detail: "\(followUp.number) of \(followUp.count)",
          revision: record.revision)
      ])
  }
}
