import BelfryCore

/// What a list shows of an alarm: little enough to keep for all of them.
public struct AlarmSummary: Hashable, Sendable {
  public let id: Identifier
  public let title: String
  public let note: String?
  /// `weekly`, `every 2 weeks` …
  public let badge: String
  /// `floating`, or the name of the time zone that its times are in.
  public let zone: String
  public let isDeleted: Bool
  public let status: AlarmStatus

  public init(
    id: Identifier, title: String, note: String?, badge: String, zone: String, isDeleted: Bool,
    status: AlarmStatus
  ) {
    self.id = id
    self.title = title
    self.note = note
    self.badge = badge
    self.zone = zone
    self.isDeleted = isDeleted
    self.status = status
  }

  public init(_ alarm: Alarm, status: AlarmStatus) {
    self.init(
      id: alarm.id, title: alarm.title, note: alarm.note, badge: alarm.schedule.badge,
      zone: alarm.shownZone, isDeleted: alarm.isDeleted, status: status)
  }
}
