import BelfryCore

/// The facts that the meaning of an input depends on: `tomorrow` needs the date, `last workday` the holidays.
public struct InputContext: Sendable {
  /// The current time.
  public let instant: Instant
  /// The time zone of the input.
  public let zone: TimeZoneRules
  /// The working days and holidays of the store.
  public let calendar: WorkCalendar
  /// The names of the system's time zones; empty if an input cannot name a zone.
  public let zoneNames: ZoneNames
  /// The current wall-clock time in the zone of the input.
  public let now: CivilDateTime

  /// Creates a context from its parts.
  public init(
    instant: Instant, zone: TimeZoneRules, calendar: WorkCalendar = .standard,
    zoneNames: ZoneNames = .none
  ) {
    self.instant = instant
    self.zone = zone
    self.calendar = calendar
    self.zoneNames = zoneNames
    now = zone.civil(at: instant)
  }

  /// The current date.
  public var today: CivilDate { now.date }

  /// Returns the same context with another time zone.
  public func with(zone: TimeZoneRules) -> InputContext {
    InputContext(instant: instant, zone: zone, calendar: calendar, zoneNames: zoneNames)
  }
}
