import BelfryCore

/// The part of an alarm that a list shows, small enough to cache for all alarms.
public struct AlarmSummary: Hashable, Sendable {
  /// The alarm's id.
  public let id: Identifier
  /// The title.
  public let title: String
  /// The note; nil if there is none.
  public let note: String?
  /// The tags.
  public let tags: Set<AlarmTag>
  /// The schedule in short: `weekly`, `every 2 weeks`.
  public let badge: String
  /// The rule of the schedule with its times of day, without its limits.
  public let rule: Rule
  /// The name of the time zone of the alarm's times, or `floating`.
  public let zone: String
  /// True if the alarm is deleted.
  public let isDeleted: Bool
  /// True if the cascade of the alarm is on and has steps.
  public let hasCascade: Bool
  /// The name of the partner who set the alarm; nil if no partner did.
  public let partner: String?
  /// The status at the time of the summary.
  public let status: AlarmStatus

  /// A recurrence rule with its times of day.
  public struct Rule: Hashable, Sendable {
    /// The rule for the dates.
    public let recurrence: Recurrence
    /// The times of day, ascending.
    public let times: [CivilTime]

    /// Creates a rule from its parts.
    public init(_ recurrence: Recurrence, times: [CivilTime]) {
      self.recurrence = recurrence
      self.times = times
    }
  }

  /// Creates a summary from its parts.
  public init(
    id: Identifier, title: String, note: String?, tags: Set<AlarmTag> = [], badge: String,
    rule: Rule, zone: String, isDeleted: Bool, hasCascade: Bool = false, partner: String? = nil,
    status: AlarmStatus
  ) {
    self.id = id
    self.title = title
    self.note = note
    self.tags = tags
    self.badge = badge
    self.rule = rule
    self.hasCascade = hasCascade
    self.partner = partner
    self.zone = zone
    self.isDeleted = isDeleted
    self.status = status
  }

  /// Creates the summary of an alarm with a status.
  public init(_ alarm: Alarm, status: AlarmStatus) {
    self.init(
      id: alarm.id, title: alarm.title, note: alarm.note, tags: alarm.tags,
      badge: alarm.schedule.badge,
      rule: Rule(alarm.schedule.recurrence, times: alarm.schedule.times), zone: alarm.shownZone,
      isDeleted: alarm.isDeleted,
      hasCascade: alarm.cascade.map { $0.plan.isOn && !$0.plan.targets.isEmpty } ?? false,
      partner: alarm.partner?.name, status: status)
  }
}
