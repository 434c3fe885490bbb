import BelfryCore

/// The facts that the meaning of an input depends on: `tomorrow` needs the date, `last workday` the holidays.
public struct InputContext: Sendable {
  /// The current time.
  public let instant: Instant
  /// The time zone of the input.
  public let zone: TimeZoneRules
  /// The time zone of the person, which is also that of an input that names none.
  public let homeZone: TimeZoneRules
  /// The working days and holidays of the store.
  public let calendar: WorkCalendar
  /// The names of the system's time zones; empty if an input cannot name a zone.
  public let zoneNames: ZoneNames
  /// Returns the times of day of the settings, when an input needs them.
  public let dayTimes: @Sendable () -> DayTimes
  /// The current wall-clock time in the zone of the input.
  public let now: CivilDateTime

  /// Creates a context from its parts.
  public init(
    instant: Instant, zone: TimeZoneRules, calendar: WorkCalendar = .standard,
    zoneNames: ZoneNames = .none,
    dayTimes: @escaping @Sendable () -> DayTimes = { DayTimes() }, homeZone: TimeZoneRules? = nil
  ) {
    self.instant = instant
    self.zone = zone
    self.homeZone = homeZone ?? zone
    self.calendar = calendar
    self.zoneNames = zoneNames
    self.dayTimes = dayTimes
    now = zone.civil(at: instant)
  }

  /// The current date.
  public var today: CivilDate { now.date }

  /// The time of day of a schedule that names none.
  public var standardTime: CivilTime { dayTimes().standard ?? now.time }

  /// Returns the same context at another time.
  public func at(_ instant: Instant) -> InputContext {
    InputContext(
      instant: instant, zone: zone, calendar: calendar, zoneNames: zoneNames, dayTimes: dayTimes,
      homeZone: homeZone)
  }

  /// Returns the same context with another time of day of schedules that name none.
  public func with(standardTime: CivilTime) -> InputContext {
    let dayTimes = dayTimes
    return InputContext(
      instant: instant, zone: zone, calendar: calendar, zoneNames: zoneNames,
      dayTimes: {
        var times = dayTimes()
        times.standard = standardTime
        return times
      }, homeZone: homeZone)
  }

  /// Returns the context in the zone that a schedule names; the same one if it names none.
  public func with(zoneOf draft: ScheduleDraft) -> InputContext {
    draft.zone.flatMap { zoneNames.rules($0) }.map { with(zone: $0) } ?? self
  }

  /// Returns the same context with another time zone, and with another calendar unless it is nil.
  public func with(zone: TimeZoneRules, calendar: WorkCalendar? = nil) -> InputContext {
    InputContext(
      instant: instant, zone: zone, calendar: calendar ?? self.calendar, zoneNames: zoneNames,
      dayTimes: dayTimes, homeZone: homeZone)
  }
}
