import BelfryCore
import BelfryStore

/// The events of one alarm in an iCalendar document: one for each of its rules and groups of times of day.
struct CalendarEvents {
  /// The property with the complete definition of an alarm.
  static let recordProperty = "X-BELFRY-RECORD"

  /// The maximum number of dates in one property. libical drops those after the 500th.
  private static let maxValues = 200

  private let timeline: Timeline
  private let library: CalendarLibrary
  private var alarm: Alarm { timeline.alarm }
  private let schedule: Schedule
  private let rules: [CalendarRule]
  /// The working days without the holidays. The rules do not know holidays, so they are listed as exceptions.
  private let weekdays: WorkCalendar

  /// - Parameter now: The time after which a schedule that follows completions has its only date; nil for the date in
  ///   its definition.
  init(_ timeline: Timeline, _ library: CalendarLibrary, now: Instant?) {
    self.timeline = timeline
    self.library = library
    schedule = CalendarEvents.movedOnce(timeline) ?? timeline.continuedSchedule(after: now)
    weekdays = WorkCalendar(workdays: timeline.calendar.workdays)
    rules = CalendarRule.rules(for: schedule.recurrence, workdays: weekdays.workdays)
      .compactMap { [schedule] in $0.limited(to: schedule.limits.months) }
  }

  /// Returns the schedule of a one-time alarm whose only occurrence was moved; nil for any other alarm.
  private static func movedOnce(_ timeline: Timeline) -> Schedule? {
    guard case .once(let date) = timeline.alarm.schedule.recurrence,
      let time = timeline.alarm.schedule.times.first,
      let moved = timeline.occurrence(CivilDateTime(date, time)).movedTo
    else { return nil }
    return try? Schedule(.once(moved.date), times: [moved.time])
  }

  /// Returns the events, followed by the changes of single occurrences; none if the schedule has no occurrence at all.
  func components() -> [CalendarComponent] {
    let events = series()
    return events.map(\.event) + events.flatMap(\.changes)
  }

  /// An event, and the changes of the occurrences that were moved.
  private struct Series {
    let event: CalendarComponent
    let changes: [CalendarComponent]
  }

  private func series() -> [Series] {
    let moves = HolidayMoves(timeline, rules, weekdays)
    // The dates beside all rules go to the first events with their times of day.
    var added = Set(
      moves.added.flatMap { date in schedule.times.map { CivilDateTime(date, $0) } }
        .filter(timeline.scheduled.contains))
    var events: [Series] = []
    for rule in rules {
      if case .elapsed = schedule.recurrence {
        guard let first = firstTime else { continue }
        let group = TimeGroup(times: [first.time], text: "")
        events.append(event(rule, first.date, group, number: 0, moves, adding: []))
        continue
      }
      guard let first = firstDay(of: rule) else { continue }
      for times in groups(of: rule) {
        // iCalendar has no series that ends before it starts.
        let start = CivilDateTime(first, times.times[0])
        if let until = schedule.limits.until, until < start { continue }
        if isOmittedDate(start) { continue }
        let own = added.filter { times.times.contains($0.time) }
        added.subtract(own)
        events.append(event(rule, first, times, number: events.count, moves, adding: own))
      }
    }
    // No rule has an occurrence at these times before its end.
    for (time, moments) in Dictionary(grouping: added, by: \.time).sorted(by: { $0.key < $1.key }) {
      let moments = moments.sorted()
      let single = CalendarRule(nil, covering: .once(moments[0].date))
      events.append(
        event(
          single, moments[0].date, TimeGroup(times: [time], text: ""), number: events.count, moves,
          adding: Set(moments.dropFirst())))
    }
    return events
  }

  /// Times of day that one event can have.
  private struct TimeGroup {
    /// The times, in ascending order.
    let times: [CivilTime]
    /// The parts of the rule with the times: `;BYHOUR=9,11;BYMINUTE=0`; empty for a single time.
    let text: String
  }

  /// Returns the times of day in groups. The times of a window are few groups of hours with the same minutes.
  private func groups(of rule: CalendarRule) -> [TimeGroup] {
    // A position would count the times of a day, too.
    guard schedule.window != nil, let text = rule.text, !text.contains("BYSETPOS") else {
      return schedule.times.map { TimeGroup(times: [$0], text: "") }
    }
    let hours = Dictionary(grouping: schedule.times, by: \.hour)
    let groups = Dictionary(grouping: hours.keys) { hours[$0]?.map(\.minute) ?? [] }
    func list(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ",") }
    return groups.map { minutes, hoursOfGroup in
      TimeGroup(
        times: hoursOfGroup.flatMap { hours[$0] ?? [] }.sorted(),
        text: ";BYHOUR=\(list(hoursOfGroup.sorted()));BYMINUTE=\(list(minutes))")
    }.sorted { $0.times[0] < $1.times[0] }
  }

  /// Returns the first date that a rule covers; nil if there is none.
  private func firstDay(of rule: CalendarRule) -> CivilDate? {
    var day = rule.recurrence.first(onOrAfter: .earliest, in: weekdays)
    // With an interval of months, a month of a given length may never occur. 100 years are enough to tell.
    let end = day.map { $0.year + 100 }
    while let current = day, let end, current.year < end {
      if rule.covers(current) { return current }
      day = rule.recurrence.first(onOrAfter: current.adding(days: 1), in: weekdays)
    }
    return nil
  }

  private func event(
    _ rule: CalendarRule, _ first: CivilDate, _ group: TimeGroup, number: Int,
    _ holidayMoves: HolidayMoves, adding added: Set<CivilDateTime>
  ) -> Series {
    var event = CalendarComponent("VEVENT")
    event.add("UID", "\(alarm.id)-\(number)@belfry")
    event.add("DTSTAMP", CalendarTime.utc(alarm.latestStamp?.time ?? alarm.progress.armed))
    let zone = alarm.zone == .floating ? [:] : ["TZID": alarm.zone.text]
    event.add("DTSTART", CalendarTime.text(CivilDateTime(first, group.times[0])), zone)
    if let text = rule.text { event.add("RRULE", text + group.text + end) }
    func add(_ name: String, _ dates: [CivilDate], and moments: [CivilDateTime] = []) {
      let all = dates.flatMap { date in group.times.map { CivilDateTime(date, $0) } } + moments
      let texts = Set(all).sorted().map(CalendarTime.text)
      for first in stride(from: 0, to: texts.count, by: CalendarEvents.maxValues) {
        let part = texts[first..<min(texts.count, first + CalendarEvents.maxValues)]
        event.add(name, part.joined(separator: ","), zone)
      }
    }
    var (omitted, skipped): ([CivilDate], [CivilDateTime])
    if case .elapsed = schedule.recurrence {
      (omitted, skipped) = ([], self.skipped + omittedTimes)
    } else {
      omitted =
        rule.text == nil ? [] : schedule.limits.exceptions + holidayMoves.omitted(from: rule)
      skipped = self.skipped.filter { group.times.contains($0.time) && rule.covers($0.date) }
    }
    add("EXDATE", omitted, and: skipped)
    add("RDATE", [], and: Array(added))
    event.add("SUMMARY", library.escaped(alarm.title))
    if let note = alarm.note { event.add("DESCRIPTION", library.escaped(note)) }
    let tags = alarm.tags.sorted().map { library.escaped($0.text) }
    if !tags.isEmpty { event.add("CATEGORIES", tags.joined(separator: ",")) }
    event.add(CalendarEvents.recordProperty, library.escaped(definition))
    if alarm.enabled {
      let warnings = (alarm.delivery.warnings?.seconds ?? []).map { seconds in
        seconds % 86_400 == 0 ? "-P\(seconds / 86_400)D" : "-PT\(seconds / 60)M"
      }
      for trigger in warnings + ["PT0S"] {
        var reminder = CalendarComponent("VALARM")
        reminder.add("ACTION", "DISPLAY")
        reminder.add("DESCRIPTION", library.escaped(alarm.title))
        reminder.add("TRIGGER", trigger)
        event.components.append(reminder)
      }
    }
    let changes = moves.compactMap { civil, time -> CalendarComponent? in
      let isOwn =
        if case .elapsed = schedule.recurrence {
          true
        } else {
          added.contains(civil) || group.times.contains(civil.time) && rule.covers(civil.date)
        }
      return isOwn ? change(of: event, zone, civil, to: time) : nil
    }
    return Series(event: event, changes: changes)
  }

  /// The times of the moved occurrences that are not settled, by their own times.
  private var moves: [(CivilDateTime, CivilDateTime)] {
    if case .once = schedule.recurrence { return [] }
    return alarm.progress.moves.compactMap { civil, move in
      guard let time = move.time, timeline.scheduled.contains(civil),
        timeline.record(of: civil)?.state.isSettled != true
      else { return nil }
      return (civil, time)
    }.sorted { $0.0 < $1.0 }
  }

  /// Returns the change of one occurrence of an event, with a RECURRENCE-ID (RFC 5545, 3.8.4.4).
  private func change(
    of event: CalendarComponent, _ zone: [String: String], _ civil: CivilDateTime,
    to time: CivilDateTime
  ) -> CalendarComponent {
    var change = CalendarComponent("VEVENT")
    for property in event.properties {
      switch property.name {
      case "DTSTART":
        change.add("RECURRENCE-ID", CalendarTime.text(civil), zone)
        change.add("DTSTART", CalendarTime.text(time), zone)
      case "RRULE", "EXDATE", "RDATE", CalendarEvents.recordProperty: break
      default: change.properties.append(property)
      }
    }
    change.components = event.components
    return change
  }

  private var skipped: [CivilDateTime] {
    alarm.progress.occurrences.filter { $0.value.state == .skipped }.map(\.key)
  }

  /// Returns true for a date of a list on which the alarm does not ring.
  private func isOmittedDate(_ moment: CivilDateTime) -> Bool {
    guard case .dates = schedule.recurrence else { return false }
    return !timeline.scheduled.contains(moment)
  }

  /// The first time of an `elapsed` rule in its months; nil if that is after its end.
  private var firstTime: CivilDateTime? {
    let limits = Schedule.Limits(until: schedule.limits.until, months: schedule.limits.months)
    let rule = try? Schedule(schedule.recurrence, times: schedule.times, limits: limits)
    return rule.flatMap {
      Occurrences($0, in: weekdays).next(after: CivilDateTime(.earliest, .midnight))
    }
  }

  /// The times of an `elapsed` rule on its exceptions and the holidays that it leaves out.
  private var omittedTimes: [CivilDateTime] {
    let holidays = schedule.limits.onHoliday == .skip ? timeline.calendar.holidays : []
    guard let rule = try? Schedule(schedule.recurrence, times: schedule.times) else { return [] }
    let all = Occurrences(rule, in: weekdays)
    return Set(schedule.limits.exceptions + holidays).flatMap { date in
      var moments: [CivilDateTime] = []
      var next = all.first(onOrAfter: CivilDateTime(date, .midnight))
      while let moment = next, moment.date == date {
        moments.append(moment)
        next = all.next(after: moment)
      }
      return moments
    }
  }

  /// The end of a rule: `;UNTIL=20270630T215900Z`, in UTC if the events have a time zone.
  private var end: String {
    guard let until = schedule.limits.until else { return "" }
    let text =
      alarm.zone == .floating
      ? CalendarTime.text(until) : CalendarTime.utc(timeline.zone.instant(of: until))
    return ";UNTIL=\(text)"
  }

  /// The alarm's record without its progress, on one line.
  private var definition: String {
    let plain = Alarm(
      id: alarm.id, title: alarm.title, note: alarm.note, tags: alarm.tags, enabled: alarm.enabled,
      schedule: schedule, zone: alarm.zone, delivery: alarm.delivery,
      progress: Progress(armed: Instant(seconds: 0)))
    return (try? JSON(parsing: AlarmRecord.encode(plain)))?.line ?? "{}"
  }
}

/// The effect of the known holidays on an alarm's dates.
private struct HolidayMoves {
  /// The dates that no rule covers.
  let added: [CivilDate]
  private let actual: Set<CivilDate>
  private let window: ClosedRange<CivilDate>?
  private let weekdays: WorkCalendar

  init(_ timeline: Timeline, _ rules: [CalendarRule], _ weekdays: WorkCalendar) {
    self.weekdays = weekdays
    let schedule = timeline.alarm.schedule
    let holidays = timeline.calendar.holidays
    var isByDate = !schedule.followsCompletion
    if case .elapsed = schedule.recurrence { isByDate = false }
    guard schedule.usesCalendar, isByDate, let first = holidays.first, let last = holidays.last
    else {
      (added, actual, window) = ([], [], nil)
      return
    }
    // A holiday changes the working days of its month, and moves an occurrence by at most a month.
    let begin = first.adding(days: -31)
    let end = min(last.adding(days: 31), schedule.limits.until?.date ?? .latest)
    guard begin <= end else {
      (added, actual, window) = ([], [], nil)
      return
    }
    let window = begin...end
    var dates: Set<CivilDate> = []
    var moment = Schedule.Limits.end(of: window.lowerBound.adding(days: -1))
    while let next = timeline.scheduled.next(after: moment), next.date <= window.upperBound {
      dates.insert(next.date)
      moment = Schedule.Limits.end(of: next.date)
    }
    actual = dates
    self.window = window
    let covered = rules.reduce(into: Set<CivilDate>()) { dates, rule in
      dates.formUnion(HolidayMoves.dates(of: rule, in: window, weekdays))
    }
    added = dates.subtracting(covered).sorted()
  }

  /// Returns the dates of a rule on which the alarm does not ring.
  func omitted(from rule: CalendarRule) -> [CivilDate] {
    guard let window else { return [] }
    return HolidayMoves.dates(of: rule, in: window, weekdays).filter { !actual.contains($0) }
  }

  private static func dates(
    of rule: CalendarRule, in window: ClosedRange<CivilDate>, _ weekdays: WorkCalendar
  ) -> [CivilDate] {
    var dates: [CivilDate] = []
    var day = rule.recurrence.first(onOrAfter: window.lowerBound, in: weekdays)
    while let date = day, date <= window.upperBound {
      if rule.covers(date) { dates.append(date) }
      day = rule.recurrence.first(onOrAfter: date.adding(days: 1), in: weekdays)
    }
    return dates
  }
}
