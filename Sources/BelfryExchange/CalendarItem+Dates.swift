import BelfryCore
import BelfryStore

/// The alarms of single dates.
extension CalendarItem {
  /// The maximum number of alarms for the single dates of one item.
  private static let maxGroups = 100

  /// The future dates of an item that ring at the same time of day, with the same warnings.
  private struct DateGroup {
    /// The time of day of the events.
    let time: CivilTime
    let zone: Alarm.Zone
    /// The time of day of the alarm.
    let ring: CivilTime
    /// The distances of the warnings from the alarm, in seconds.
    let warnings: [Int64]
    var dates: [CivilDate] = []
  }

  /// Returns the alarms of single dates: one for each time of day.
  func singles(
    _ dates: [CalendarMoment], like start: CalendarMoment, _ reminders: [CalendarReminder],
    _ changes: [CalendarMoment], _ name: String, _ losses: inout [String]
  ) throws(Unsupported) -> [ForeignAlarm] {
    let moments = try remaining(dates, like: start, changes)
    var groups: [DateGroup] = []
    for civil in moments {
      guard let (rings, zone) = self.rings(of: civil, like: start, reminders) else { continue }
      let last = rings[rings.count - 1]
      let moment = zones.rules(zone).civil(at: last)
      let group = DateGroup(
        time: civil.time, zone: zone, ring: moment.time,
        warnings: rings.dropLast().map { last.seconds(since: $0) }, dates: [moment.date])
      let known = groups.firstIndex {
        $0.time == group.time && $0.zone == zone && $0.ring == group.ring
          && $0.warnings == group.warnings
      }
      if let known, groups[known].dates.count < Recurrence.maxDates {
        groups[known].dates.append(moment.date)
      } else if known == nil, groups.count < CalendarItem.maxGroups {
        groups.append(group)
      } else {
        losses.append("all dates of its RDATE from \(civil.date) on")
        break
      }
    }
    let hasRule = item.first("RRULE") != nil
    var alarms: [ForeignAlarm] = []
    for (number, group) in groups.enumerated() {
      // The name is the same after some of the dates are over.
      let isFirst = groups.firstIndex { $0.time == group.time } == number
      var own =
        !hasRule && group.time == start.civil.time && isFirst ? name : "\(name) \(group.time)"
      if !isFirst { own += " \(group.ring) \(group.zone.text) \(group.warnings)" }
      let recurrence: Recurrence =
        group.dates.count == 1 ? .once(group.dates[0]) : .dates(group.dates)
      var unused: [String] = []
      var alarm = alarm(
        own, try CalendarItem.schedule(recurrence, [group.ring]), group.zone, &unused)
      alarm.warn(before: group.warnings, &unused)
      if alarms.isEmpty { losses += unused }
      alarms.append(alarm)
    }
    return alarms
  }

  /// Returns dates as civil times without the exceptions and the changed ones, without duplicates.
  private func remaining(
    _ dates: [CalendarMoment], like start: CalendarMoment, _ changes: [CalendarMoment]
  ) throws(Unsupported) -> [CivilDateTime] {
    let exceptions = (changed == nil ? moments("EXDATE") : []) + changes
    let omitted = Set(exceptions.map { zones.civil($0, like: start) })
    let omittedDates = Set(exceptions.filter { $0.isDate || start.isDate }.map(zones.date))
    var moments: [CivilDateTime] = []
    for date in dates {
      let civil = zones.civil(date, like: start)
      let isOmitted =
        start.isDate || omittedDates.contains(civil.date)
        ? omittedDates.contains(civil.date) : omitted.contains(civil)
      if !isOmitted, !moments.contains(civil) { moments.append(civil) }
    }
    if moments.isEmpty, !dates.isEmpty, changed == nil, !exceptions.isEmpty,
      item.first("RRULE") == nil
    {
      throw Unsupported("its exceptions leave no date", isOver: true)
    }
    return moments
  }

  /// Returns the instants of the reminders of an event from now on, ascending, and the zone in which the last one can
  /// be written; nil if that is over.
  func rings(
    of civil: CivilDateTime, like start: CalendarMoment, _ reminders: [CalendarReminder]
  ) -> (rings: [Instant], zone: Alarm.Zone)? {
    let rules = zones.rules(start.zone)
    let rings = allRings(of: civil, like: start, reminders).filter { $0 > context.now }
    guard let last = rings.last else { return nil }
    // The second of two equal times of the wall clock can only be written in another zone.
    let minute = Instant(seconds: last.seconds - last.seconds % 60)
    let isExact = start.zone == .floating || rules.instant(of: rules.civil(at: last)) == minute
    return (rings, isExact ? start.zone : .named("UTC"))
  }

  /// Returns the instants of the reminders of an event, ascending, without those at fixed times of the past.
  func allRings(
    of civil: CivilDateTime, like start: CalendarMoment, _ reminders: [CalendarReminder]
  ) -> [Instant] {
    let rules = zones.rules(start.zone)
    func instant(_ civil: CivilDateTime, _ duration: CalendarDuration) -> Instant {
      let day = CivilDateTime(civil.date.adding(days: duration.days), civil.time)
      return rules.instant(of: day).adding(seconds: Int64(duration.seconds))
    }
    let plain = CivilDateTime(
      minuteNumber: civil.minuteNumber + (start.isDate ? CalendarItem.wholeDay : 0))
    var rings = reminders.compactMap { reminder -> Instant? in
      switch reminder {
      case .start(let duration): return instant(civil, duration)
      // A fixed time of the past is often that of a reminder that the user has seen.
      case .fixed(let instant): return instant > context.now ? instant : nil
      case .end(let duration):
        let length = CalendarLength(of: item, from: start, zones).duration
        // The days of both are by the calendar, and their times are exact.
        return instant(
          civil,
          CalendarDuration(
            days: length.days + duration.days, seconds: length.seconds + duration.seconds))
      }
    }
    if rings.isEmpty || (isWholeDayAlarm && reminders == [.start(CalendarDuration())]) {
      rings = [rules.instant(of: plain)]
    }
    return Set(rings).sorted()
  }
}
