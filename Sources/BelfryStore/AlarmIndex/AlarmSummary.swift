import BelfryCore

/// The part of an alarm that a list shows, small enough to cache for all alarms.
///
/// Copies share the content, so that thousands of summaries can be filtered and sorted quickly.
public struct AlarmSummary: Hashable, Sendable {
  private final class Content: Sendable {
    let id: Identifier
    let title: String
    let note: String?
    let tags: Set<AlarmTag>
    let badge: String
    let rule: Rule
    let zone: String
    let isDeleted: Bool
    let hasCascade: Bool
    let partner: String?
    let status: AlarmStatus

    init(
      id: Identifier, title: String, note: String?, tags: Set<AlarmTag>, badge: String, rule: Rule,
      zone: String, isDeleted: Bool, hasCascade: Bool, partner: String?, status: AlarmStatus
    ) {
      self.id = id
      self.title = title
      self.note = note
      self.tags = tags
      self.badge = badge
      self.rule = rule
      self.zone = zone
      self.isDeleted = isDeleted
      self.hasCascade = hasCascade
      self.partner = partner
      self.status = status
    }
  }
  private let content: Content

  /// The alarm's id.
  public var id: Identifier { content.id }
  /// The title.
  public var title: String { content.title }
  /// The note; nil if there is none.
  public var note: String? { content.note }
  /// The tags.
  public var tags: Set<AlarmTag> { content.tags }
  /// The schedule in short: `weekly`, `every 2 weeks`.
  public var badge: String { content.badge }
  /// The rule of the schedule with its times of day, without its limits.
  public var rule: Rule { content.rule }
  /// The name of the time zone of the alarm's times, or `floating`.
  public var zone: String { content.zone }
  /// True if the alarm is deleted.
  public var isDeleted: Bool { content.isDeleted }
  /// True if the cascade of the alarm is on and has steps.
  public var hasCascade: Bool { content.hasCascade }
  /// The name of the partner who set the alarm; nil if no partner did.
  public var partner: String? { content.partner }
  /// The status at the time of the summary.
  public var status: AlarmStatus { content.status }
  /// The state of the status, without a copy of its lists.
  public var state: AlarmStatus.State { content.status.state }
  /// The next occurrence of the status, without a copy of its lists.
  public var next: Timeline.Occurrence? { content.status.next }
  /// The next time at which the alarm rings, see `AlarmStatus.nextRinging`.
  public var nextRinging: Timeline.Occurrence? { content.status.nextRinging }
  /// True if the alarm is finished, see `AlarmStatus.isFinished`.
  public var isFinished: Bool { content.status.isFinished }

  /// True if a list shows nothing but the title, the schedule and the next occurrence: nothing rings, waits, was missed,
  /// is skipped, moved or paused, and the alarm has no tags, cascade or partner.
  public var isPlain: Bool {
    switch state {
    case .active, .disabled, .finished: break
    case .ringing, .snoozed, .pending, .missed, .paused: return false
    }
    let status = content.status
    return status.pending.isEmpty && status.missed.isEmpty && status.skipped.isEmpty
      && status.pausedUntil == nil && status.snooze == nil && status.moved.isEmpty && tags.isEmpty
      && !hasCascade && partner == nil
  }

  /// The part of a summary that decides whether and where a list shows the alarm.
  struct Outline: Sendable {
    /// The state of the status.
    let state: AlarmStatus.State
    /// True if the alarm is deleted.
    let isDeleted: Bool
    /// True if the alarm is finished, see `AlarmStatus.isFinished`.
    let isFinished: Bool
    /// The time of the next occurrence; nil if there is none.
    let next: Instant?
    /// The next time at which the alarm rings, see `AlarmStatus.nextRinging`; nil if there is none.
    let nextRinging: Instant?
  }

  /// The outline of the summary.
  var outline: Outline {
    Outline(
      state: state, isDeleted: isDeleted, isFinished: isFinished, next: next?.at,
      nextRinging: nextRinging?.at)
  }

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
    content = Content(
      id: id, title: title, note: note, tags: tags, badge: badge, rule: rule, zone: zone,
      isDeleted: isDeleted, hasCascade: hasCascade, partner: partner, status: status)
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

  /// Returns true if two summaries have equal parts.
  public static func == (a: AlarmSummary, b: AlarmSummary) -> Bool {
    let (a, b) = (a.content, b.content)
    return a === b
      || a.id == b.id && a.title == b.title && a.note == b.note && a.tags == b.tags
        && a.badge == b.badge && a.rule == b.rule && a.zone == b.zone && a.isDeleted == b.isDeleted
        && a.hasCascade == b.hasCascade && a.partner == b.partner && a.status == b.status
  }

  /// Hashes the id and the status. Other parts rarely differ between summaries of an alarm.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(content.id)
    hasher.combine(content.status)
  }
}
