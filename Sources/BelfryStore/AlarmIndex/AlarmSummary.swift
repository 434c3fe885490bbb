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
  /// The name of the time zone of the alarm's times, or `floating`.
  public let zone: String
  /// True if the alarm is deleted.
  public let isDeleted: Bool
  /// The status at the time of the summary.
  public let status: AlarmStatus

  /// Creates a summary from its parts.
  public init(
    id: Identifier, title: String, note: String?, tags: Set<AlarmTag> = [], badge: String,
    zone: String,
    isDeleted: Bool, status: AlarmStatus
  ) {
    self.id = id
    self.title = title
    self.note = note
    self.tags = tags
    self.badge = badge
    self.zone = zone
    self.isDeleted = isDeleted
    self.status = status
  }

  /// Creates the summary of an alarm with a status.
  public init(_ alarm: Alarm, status: AlarmStatus) {
    self.init(
      id: alarm.id, title: alarm.title, note: alarm.note, tags: alarm.tags,
      badge: alarm.schedule.badge, zone: alarm.shownZone, isDeleted: alarm.isDeleted, status: status
    )
  }
}
