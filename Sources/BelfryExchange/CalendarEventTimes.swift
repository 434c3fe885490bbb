import BelfryCore
import BelfryStore

/// The times of the events of a recurrence rule, as civil times in the zone of their start.
///
/// An alarm rings at some distances from the events. An exception is the time of an event (RFC 5545, 3.8.5.1), so that
/// it is moved by the same distances.
struct CalendarEventTimes {
  typealias Unsupported = CalendarRule.Unsupported

  /// The first event.
  let start: CalendarMoment
  /// The rule with its end.
  private(set) var schedule: Schedule
  /// The number of minutes by which a change moves the events.
  var shift = 0
  /// The events that only Belfry's rule has, such as those on the last day of shorter months.
  private var additional: [CivilDateTime] = []

  /// The maximum number of occurrences of a series with an end. A series with more has no end for practical purposes.
  private static let maxCount = 100_000

  init(
    _ reading: CalendarRule.Reading, from start: CalendarMoment, _ zones: CalendarZones
  ) throws(Unsupported) {
    self.start = start
    // A date has no hours, so that those of its rule do not count (RFC 5545, 3.3.10).
    let times = start.isDate ? nil : reading.times
    var limits = Schedule.Limits(months: reading.months)
    schedule = try CalendarItem.schedule(
      reading.recurrence, times ?? [start.civil.time], limits)
    if let until = CalendarEventTimes.end(reading, start, occurrences, zones) {
      limits.until = until
      schedule = try CalendarItem.schedule(schedule.recurrence, schedule.times, limits)
    }
  }

  /// The events.
  var occurrences: Occurrences { Occurrences(schedule, in: .standard) }

  /// Returns the last possible event; nil if the rule has no end.
  private static func end(
    _ reading: CalendarRule.Reading, _ start: CalendarMoment, _ events: Occurrences,
    _ zones: CalendarZones
  ) -> CivilDateTime? {
    [
      lastBeforeEnd(reading, start, events, zones), lastOfCount(reading, start, events),
    ].compactMap(\.self).min()
  }

  private static func lastBeforeEnd(
    _ reading: CalendarRule.Reading, _ start: CalendarMoment, _ events: Occurrences,
    _ zones: CalendarZones
  ) -> CivilDateTime? {
    guard let text = reading.until,
      let until = zones.moments(CalendarProperty(name: "UNTIL", parameters: [:], value: text)).first
    else { return nil }
    if until.isDate || start.isDate { return Schedule.Limits.end(of: zones.date(until)) }
    var last = zones.civil(until, like: start)
    // In an hour that a clock change repeats, a later civil time can be an earlier instant.
    let rules = zones.rules(start.zone)
    let end = until.zone == .floating ? rules.instant(of: until.civil) : zones.instant(until)
    while let next = events.next(after: last), rules.instant(of: next) <= end { last = next }
    return last
  }

  private static func lastOfCount(
    _ reading: CalendarRule.Reading, _ start: CalendarMoment, _ events: Occurrences
  ) -> CivilDateTime? {
    guard let count = reading.count, count < maxCount else { return nil }
    var last = events.first(onOrAfter: start.civil)
    for _ in 1..<max(2, count) where count > 1 {
      last = last.flatMap { events.next(after: $0) }
    }
    return last
  }

  /// Returns the events without the dates that only Belfry's rule has, such as the last day of shorter months; nil if
  /// the rule has no end, or too many such dates.
  func exact(
    rule: String, _ reading: CalendarRule.Reading, _ library: CalendarLibrary
  ) throws(Unsupported) -> CalendarEventTimes? {
    guard reading.count != nil || reading.until != nil, reading.times == nil else { return nil }
    let limit = CalendarEventTimes.maxExactCount
    // libical compares the end with the civil times.
    let exact = library.occurrences(
      of: CalendarEventTimes.ending(rule, at: schedule.limits.until, reading), from: start.civil,
      limit: limit)
    guard let last = exact.last, exact.count < limit else { return nil }
    let ends = [schedule.limits.until.flatMap { reading.count == nil ? $0 : nil }, last]
    var limits = schedule.limits
    limits.until = ends.compactMap(\.self).min()
    var result = self
    result.schedule = try CalendarItem.schedule(schedule.recurrence, schedule.times, limits)
    let known = Set(exact.map(\.date))
    var next = result.occurrences.first(onOrAfter: start.civil)
    while let event = next {
      if !known.contains(event.date) { result.additional.append(event) }
      guard result.additional.count <= Schedule.Limits.maxExceptions / 2 else { return nil }
      next = result.occurrences.next(after: event)
    }
    return result
  }

  /// Returns a rule with its end as a civil time.
  private static func ending(
    _ rule: String, at until: CivilDateTime?, _ reading: CalendarRule.Reading
  ) -> String {
    guard reading.until != nil, let until else { return rule }
    let parts = rule.split(separator: ";").map { part in
      part.uppercased().hasPrefix("UNTIL=") ? "UNTIL=\(CalendarTime.text(until))" : String(part)
    }
    return parts.joined(separator: ";")
  }

  /// The number of occurrences up to which a rule with additional dates is compared with that of iCalendar.
  private static let maxExactCount = 1000

  // MARK: Parts of a series

  /// Returns the events before another time.
  func ending(before moment: CivilDateTime) throws(Unsupported) -> CalendarEventTimes {
    let end = CivilDateTime(minuteNumber: moment.minuteNumber - 1)
    guard let last = occurrences.last(onOrBefore: end), last >= start.civil else {
      throw Unsupported("it is over", isOver: true)
    }
    var result = self
    var limits = schedule.limits
    limits.until = last
    result.schedule = try CalendarItem.schedule(schedule.recurrence, schedule.times, limits)
    return result
  }

  /// Returns the events without those of another rule (`EXRULE` of RFC 2445); nil unless both are rules by weekdays.
  func excluding(_ rule: String) throws(Unsupported) -> CalendarEventTimes? {
    guard let other = try? CalendarRule.read(rule, start: start.civil), other.until == nil,
      other.count == nil, other.times.map({ $0 == schedule.times }) ?? true,
      case .weekly(let excluded, let otherCadence) = other.recurrence, otherCadence.interval == 1
    else { return nil }
    let (days, cadence): ([Weekday], Recurrence.Cadence)
    switch schedule.recurrence {
    case .daily(let own): (days, cadence) = (Weekday.allCases, own)
    case .weekly(let own, let ownCadence): (days, cadence) = (own, ownCadence)
    default: return nil
    }
    if case .daily = schedule.recurrence, cadence.interval > 1 { return nil }
    let remaining = days.filter { !excluded.contains($0) }
    if remaining.isEmpty { throw Unsupported("its exceptions leave no date", isOver: true) }
    var result = self
    result.schedule = try CalendarItem.schedule(
      .weekly(remaining, cadence), schedule.times, schedule.limits)
    return result
  }

  /// Returns the events from another time on.
  func starting(from moment: CivilDateTime) throws(Unsupported) -> CalendarEventTimes {
    guard let first = occurrences.first(onOrAfter: moment), first == moment else {
      throw Unsupported("it changes an occurrence that the series does not have")
    }
    var result = self
    var times = schedule.times
    if case .elapsed = schedule.recurrence { times = [first.time] }
    result.schedule = try CalendarItem.schedule(
      schedule.recurrence.starting(on: first.date), times, schedule.limits)
    return result
  }

  // MARK: Alarms

  /// Returns the schedule of an alarm at some distances from the events in minutes, ascending; nil if there is none.
  func schedule(at offsets: [Int]) -> Schedule? {
    let moments = schedule.times.flatMap { time in
      offsets.map { CivilDateTime(minuteNumber: time.minuteOfDay + $0) }
    }
    let days = Set(moments.map(\.date.dayNumber))
    guard days.count == 1, let days = days.first, days == 0 || schedule.limits.months.isEmpty,
      let recurrence = schedule.recurrence.moved(byDays: days)
    else { return nil }
    var limits = Schedule.Limits(months: schedule.limits.months)
    if let until = schedule.limits.until {
      // The first reminder of an event after the end can precede the last one of the last event.
      let last = offsets.count > 1 ? occurrences.last(onOrBefore: until) ?? until : until
      limits.until = CivilDateTime(minuteNumber: last.minuteNumber + (offsets.last ?? 0))
    }
    return try? Schedule(recurrence, times: moments.map(\.time), limits: limits)
  }

  /// Returns the events at some moments, and those of the first day that precede the start.
  func omitted(_ moments: [CalendarMoment], _ zones: CalendarZones) -> Set<CivilDateTime> {
    let events = occurrences
    var omitted: [CivilDateTime] = []
    for moment in moments {
      if moment.isDate || start.isDate {
        let date = zones.date(moment)
        omitted += schedule.times.map { CivilDateTime(date, $0) }
      } else {
        omitted.append(zones.civil(moment, like: start))
      }
    }
    omitted += additional
    omitted += schedule.times.map { CivilDateTime(start.civil.date, $0) }
      .filter { $0 < start.civil }
    return Set(omitted.filter(events.contains))
  }

  /// Returns the schedule of an alarm without the occurrences of some events, and the occurrences to skip on dates that
  /// have others.
  func excepting(
    _ omitted: Set<CivilDateTime>, from schedule: Schedule, at offsets: [Int]
  ) throws(Unsupported) -> (schedule: Schedule, skipped: [CivilDateTime]) {
    let events = occurrences
    let rings = Occurrences(schedule, in: .standard)
    func moved(_ moment: CivilDateTime, by minutes: Int) -> CivilDateTime {
      CivilDateTime(minuteNumber: moment.minuteNumber + minutes)
    }
    let silent = Set(omitted.flatMap { event in offsets.map { moved(event, by: $0) } })
      .filter { moment in
        // Another event can have a reminder at the same time.
        rings.contains(moment)
          && !offsets.contains { offset in
            let event = moved(moment, by: -offset)
            return events.contains(event) && !omitted.contains(event)
          }
      }
    let dates = Dictionary(grouping: silent, by: \.date)
    func isWhole(_ silent: [CivilDateTime]) -> Bool {
      if case .elapsed = schedule.recurrence { return false }
      return silent.count == schedule.times.count
    }
    let whole = dates.filter { isWhole($0.value) }.map(\.key)
    var limits = schedule.limits
    limits.exceptions = whole
    return (
      try CalendarItem.schedule(schedule.recurrence, schedule.times, limits),
      silent.filter { !isWhole(dates[$0.date] ?? []) }
    )
  }
}
