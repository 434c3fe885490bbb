/// Collects the occurrences of alarms on the days of a period.
public struct AgendaBuilder: Sendable {
  /// The dates of the period.
  public let dates: ClosedRange<CivilDate>
  /// The zone of this device.
  public let zone: TimeZoneRules
  private let now: Instant
  private var days: [Agenda.Day]
  private var alarms: [Identifier: Agenda.Subject] = [:]

  /// Creates a builder for some dates of this device's zone.
  public init(_ dates: ClosedRange<CivilDate>, zone: TimeZoneRules, now: Instant) {
    self.dates = dates
    self.zone = zone
    self.now = now
    days = (dates.lowerBound.dayNumber...dates.upperBound.dayNumber).map {
      Agenda.Day(CivilDate(dayNumber: $0))
    }
  }

  /// The instants of the period: from the first midnight to the one after the last date, exclusive.
  public var instants: Range<Instant> {
    zone.instant(
      of: CivilDateTime(dates.lowerBound, .midnight))..<zone.instant(
        of: CivilDateTime(dates.upperBound.adding(days: 1), .midnight))
  }

  /// Adds holidays by date.
  public mutating func add(_ holidays: [CivilDate: String]) {
    for (date, name) in holidays {
      guard let index = index(of: date), !days[index].holidays.contains(name) else { continue }
      days[index].holidays.append(name)
      days[index].holidays.sort()
    }
  }

  /// Adds the occurrences of an alarm, and the days of its pause.
  public mutating func add(_ alarm: Alarm, _ items: [Timeline.AgendaItem], zone: TimeZoneRules) {
    var isShown = false
    for item in items {
      let local = self.zone.civil(at: item.occurrence.at)
      guard let index = index(of: local.date) else { continue }
      isShown = true
      days[index].entries.append(
        Agenda.Entry(
          alarm: alarm.id, occurrence: item.occurrence.civil, at: item.occurrence.at, local: local,
          state: item.state))
    }
    if let pause = alarm.pause {
      // A pause ends before its last instant.
      let last = zone.instant(of: pause.until).adding(seconds: -1)
      let (first, end) = (
        self.zone.civil(at: zone.instant(of: pause.from)).date, self.zone.civil(at: last).date
      )
      if first <= end, first <= dates.upperBound, end >= dates.lowerBound {
        for number in max(first, dates.lowerBound).dayNumber...min(end, dates.upperBound).dayNumber
        {
          days[number - dates.lowerBound.dayNumber].paused.append(alarm.id)
        }
        isShown = true
      }
    }
    if isShown { alarms[alarm.id] = Agenda.Subject(alarm) }
  }

  /// Adds the occurrences and pauses of another builder for the same dates.
  public mutating func add(_ other: AgendaBuilder) {
    precondition(dates == other.dates, "both builders are for the same dates")
    for index in days.indices {
      days[index].entries += other.days[index].entries
      days[index].paused += other.days[index].paused
    }
    alarms.merge(other.alarms) { $1 }
  }

  /// The agenda of everything that was added.
  public var agenda: Agenda { Agenda(days, today: zone.civil(at: now).date, alarms: alarms) }

  private func index(of date: CivilDate) -> Int? {
    dates.contains(date) ? date.dayNumber - dates.lowerBound.dayNumber : nil
  }
}
