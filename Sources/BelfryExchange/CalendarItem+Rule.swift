import BelfryCore
import BelfryStore

/// The alarm of a recurrence rule.
extension CalendarItem {
  func events(
    _ rule: String, from start: CalendarMoment, _ losses: inout [String]
  ) throws(Unsupported) -> CalendarEventTimes {
    let reading = try CalendarRule.read(rule, start: start.civil, allowsBothEnds: true)
    let events = try CalendarEventTimes(reading, from: start, zones)
    if reading.hasAdditionalDates,
      let exact = try events.exact(rule: rule, reading, context.library)
    {
      return exact
    }
    losses += reading.losses
    return events
  }

  /// The alarm of a rule.
  struct SeriesAlarm {
    var alarm: ForeignAlarm
    /// The events that have no occurrence of it.
    let omitted: Set<CivilDateTime>
    /// The changes that are moves of its occurrences.
    let moves: [CalendarMove]
  }

  /// Returns the alarm of a rule.
  ///
  /// - Parameters:
  ///   - changes: The changes of single events.
  ///   - movable: True if changes can be moves of occurrences; false if the alarm leaves out all changed events.
  func series(
    _ events: CalendarEventTimes, _ reminders: [CalendarReminder],
    omitting exceptions: [CalendarMoment], and changes: [CalendarItem], movable: Bool = false,
    _ name: String, _ losses: inout [String]
  ) throws(Unsupported) -> SeriesAlarm {
    let rules = zones.rules(events.start.zone)
    var offsets = self.offsets(reminders, from: events.start, &losses)
    let plain = events.start.isDate ? CalendarItem.wholeDay : 0
    if offsets.isEmpty || (isWholeDayAlarm && offsets == [0]) { offsets = [plain] }
    offsets = offsets.map { $0 + events.shift }
    var warnings: [Int] = []
    var schedule = events.schedule(at: offsets)
    if schedule == nil, let last = offsets.last {
      // Warnings before the last reminder can be on another day.
      schedule = events.schedule(at: [last])
      warnings = offsets.dropLast().map { last - $0 }
      if schedule == nil {
        // An alarm at the item's own time is better than one on a wrong day.
        let own = events.shift + plain
        schedule = events.schedule(at: [own])
        warnings = offsets.filter { $0 < own }.map { own - $0 }
        losses.append(
          "reminders on another day (the alarm rings at the start"
            + (warnings.isEmpty ? ")" : " and warns before it)"))
        offsets = [own]
      } else {
        offsets = [last]
      }
    }
    guard var schedule else { throw Unsupported("Belfry does not support its times of day") }
    let moves =
      movable
      ? self.moves(
        changes, of: events, at: offsets, warnings: warnings,
        without: events.omitted(exceptions, zones)) : []
    let moved = moves.reduce(into: [CivilDateTime: CivilDateTime]()) { moved, move in
      moved.merge(move.times) { first, _ in first }
    }
    let movesAhead = moved.values.contains { rules.instant(of: $0) > context.now }
    if !movesAhead, let until = schedule.limits.until, rules.instant(of: until) <= context.now {
      throw Unsupported("it ended on \((events.schedule.limits.until ?? until).date)", isOver: true)
    }
    // Changes of the past need no exception.
    let names = Set(moves.map(\.change.nameOfChange))
    let others = changes.filter { !names.contains($0.nameOfChange) }
    let future = others.compactMap(\.changed).filter { change in
      let civil = zones.civil(change, like: events.start)
      return rules.instant(
        of: CivilDateTime(minuteNumber: civil.minuteNumber + (offsets.last ?? 0) + 1440))
        > context.now
    }
    let omitted = events.omitted(exceptions + future, zones)
    var skipped: [CivilDateTime]
    (schedule, skipped) = try events.excepting(omitted, from: schedule, at: offsets)
    let rings = Occurrences(schedule, in: .standard)
    var next = rings.next(after: rules.civil(at: context.now))
    while let moment = next, skipped.contains(moment) || moved[moment] != nil {
      next = rings.next(after: moment)
    }
    guard next != nil || movesAhead else { throw Unsupported("it is over", isOver: true) }
    skipped.sort()
    var alarm = alarm(name, schedule, events.start.zone, &losses)
    alarm.skipped = skipped
    alarm.moved = moved.filter { $0.key != $0.value }
    for change in others where movable && change.ending == nil && !change.changesFollowing {
      guard let event = change.changed.map({ zones.civil($0, like: events.start) }) else {
        continue
      }
      for offset in offsets {
        alarm.separated[CivilDateTime(minuteNumber: event.minuteNumber + offset)] = Identifier(
          naming: change.nameOfChange)
      }
    }
    alarm.warn(before: warnings.map { Int64($0) * 60 }, &losses)
    return SeriesAlarm(alarm: alarm, omitted: omitted, moves: moves)
  }

  /// Returns the distances of the reminders from the start of a repeating item in minutes, ascending.
  func offsets(
    _ reminders: [CalendarReminder], from start: CalendarMoment, _ losses: inout [String]
  ) -> [Int] {
    var offsets: Set<Int> = []
    for reminder in reminders {
      switch reminder {
      case .start(let duration): offsets.insert(duration.minutes)
      case .end(let duration):
        offsets.insert(
          CalendarLength(of: item, from: start, zones).wallMinutes + duration.minutes)
      case .fixed: losses.append("a reminder at an absolute time")
      }
    }
    return offsets.sorted()
  }
}
