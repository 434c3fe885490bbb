import BelfryCore
import BelfryStore
import Crypto

/// An event or a to-do of another program.
struct CalendarItem {
  typealias Unsupported = CalendarRule.Unsupported

  private let item: CalendarComponent
  private let library: CalendarLibrary

  init(_ item: CalendarComponent, _ library: CalendarLibrary) {
    self.item = item
    self.library = library
  }

  /// The time of day at which an all-day item without a reminder rings, in minutes after midnight.
  private static let wholeDay = 9 * 60

  /// Returns the item as an alarm.
  ///
  /// - Throws: `Unsupported` if the item has no future occurrence or Belfry cannot represent it.
  func alarm(now: Instant, zones: ZoneLibrary) throws(Unsupported) -> ForeignAlarm {
    if item.first("RECURRENCE-ID") != nil {
      throw Unsupported("it changes one occurrence of a series; the series is imported unchanged")
    }
    let status = item.first("STATUS")?.value.uppercased()
    if status == "CANCELLED" || status == "COMPLETED" {
      throw Unsupported("it is \(status?.lowercased() ?? "over")")
    }
    var losses: [String] = []
    guard let property = item.first("DTSTART") ?? item.first("DUE"),
      let begin = CalendarTime.read(property.value)
    else { throw Unsupported("it has no time") }
    let zone = self.zone(property, isUTC: begin.isUTC, zones, &losses)
    let start = begin.civil
    let rules = item.all("RRULE")
    if rules.count > 1 { throw Unsupported("it has several recurrence rules") }
    if item.first("EXRULE") != nil { losses.append("its EXRULE") }
    if let error = item.first("X-LIC-ERROR") {
      losses.append("an unrecognized line (\(error.value))")
    }
    let offsets = offsets(isWholeDay: begin.isDate, &losses)
    let schedule: Schedule
    var skipped: [CivilDateTime] = []
    if let rule = rules.first {
      if item.first("RDATE") != nil { losses.append("its RDATE") }
      let reading = try CalendarRule.read(rule.value, start: start)
      losses += reading.losses
      let rules = zone == .floating ? zones.local : zones.zone(named: zone.text) ?? zones.local
      let times = reading.times ?? [start.time]
      var plain = try shifted(reading.recurrence, times: times, by: offsets, &losses)
      if let last = lastMoment(reading, from: start, times, rules) {
        let until = CivilDateTime(minuteNumber: last.minuteNumber + (offsets.last ?? 0))
        guard rules.instant(of: until) > now else { throw Unsupported("it ended on \(last.date)") }
        plain = try CalendarItem.schedule(
          plain.recurrence, plain.times, Schedule.Limits(until: until))
      }
      (schedule, skipped) = try excepting(plain)
      // The series begins in the course of its first day.
      if reading.times != nil, offsets == [0] {
        let earlier = schedule.times.filter { $0 < start.time }
        skipped += earlier.map { CivilDateTime(start.date, $0) }
          .filter(Occurrences(schedule, in: .standard).contains)
      }
    } else {
      if offsets.count > 1 { losses.append("all reminders but the first") }
      let rules = zone == .floating ? zones.local : zones.zone(named: zone.text) ?? zones.local
      // The dates of RDATE belong to the item, too. An alarm without a rule has one of them.
      let moments = ([start] + item.all("RDATE").flatMap { CalendarTime.list($0.value) })
        .map { CivilDateTime(minuteNumber: $0.minuteNumber + (offsets.first ?? 0)) }
        .filter { rules.instant(of: $0) > now }.sorted()
      guard let moment = moments.first else { throw Unsupported("it is over") }
      if moments.count > 1 { losses.append("all dates of its RDATE but the next") }
      schedule = try CalendarItem.schedule(.once(moment.date), [moment.time])
    }
    let (title, note) = ForeignAlarm.texts(
      item.first("SUMMARY").map { library.text($0.value) } ?? "",
      item.first("DESCRIPTION").map { library.text($0.value) })
    var alarm = ForeignAlarm(
      id: Identifier(naming: item.first("UID")?.value ?? "\(title) \(property.value)"),
      title: title, note: note, schedule: schedule, zone: zone)
    alarm.skipped = skipped
    let labels = item.all("CATEGORIES").flatMap { library.texts($0.value) }
    losses += alarm.addTags(labels).map { "the category \($0)" }
    alarm.losses = losses
    return alarm
  }

  private func zone(
    _ property: CalendarProperty, isUTC: Bool, _ zones: ZoneLibrary, _ losses: inout [String]
  ) -> Alarm.Zone {
    if isUTC { return .named("UTC") }
    guard let name = property.parameters["TZID"] else { return .floating }
    if let known = WindowsZones.names[name], zones.zone(named: known) != nil {
      return .named(known)
    }
    // Some programs put a path before the name.
    let parts = name.split(separator: "/").map(String.init)
    for count in stride(from: min(3, parts.count), to: 0, by: -1) {
      let candidate = parts.suffix(count).joined(separator: "/")
      if zones.zone(named: candidate) != nil { return .named(candidate) }
    }
    losses.append("the time zone \(name) (the alarm uses local time)")
    return .floating
  }

  /// Returns the offsets of the reminders from the start in minutes, ascending.
  private func offsets(isWholeDay: Bool, _ losses: inout [String]) -> [Int] {
    var offsets: Set<Int> = []
    for reminder in item.components("VALARM") {
      guard let trigger = reminder.first("TRIGGER") else { continue }
      if reminder.first("ACTION")?.value.uppercased() == "EMAIL" {
        losses.append("an email reminder")
        continue
      }
      if reminder.first("REPEAT") != nil { losses.append("a repeating reminder") }
      if trigger.parameters["VALUE"] == "DATE-TIME" {
        losses.append("a reminder at an absolute time")
      } else if trigger.parameters["RELATED"]?.uppercased() == "END" {
        // The end of an event, or the due time of a to-do.
        if let end = endOffset, let seconds = CalendarTime.duration(trigger.value),
          abs(seconds) <= 366 * 86_400
        {
          offsets.insert(end + Int(seconds / 60))
        } else {
          losses.append("a reminder relative to the end")
        }
      } else if let seconds = CalendarTime.duration(trigger.value), abs(seconds) <= 366 * 86_400 {
        offsets.insert(Int(seconds / 60))
      } else {
        losses.append("a reminder at '\(trigger.value)'")
      }
    }
    if offsets.isEmpty { return [isWholeDay ? CalendarItem.wholeDay : 0] }
    return offsets.sorted()
  }

  /// The end in minutes after the start; nil if the item has none.
  private var endOffset: Int? {
    guard
      let start = (item.first("DTSTART") ?? item.first("DUE")).flatMap({
        CalendarTime.read($0.value)
      })
    else { return nil }
    if let end = (item.first("DTEND") ?? item.first("DUE")).flatMap({ CalendarTime.read($0.value) })
    {
      return end.civil.minuteNumber - start.civil.minuteNumber
    }
    return item.first("DURATION").flatMap { CalendarTime.duration($0.value) }.map { Int($0 / 60) }
  }

  /// Returns the schedule of a rule, shifted by the offsets of the reminders.
  private func shifted(
    _ recurrence: Recurrence, times: [CivilTime], by offsets: [Int], _ losses: inout [String]
  ) throws(Unsupported) -> Schedule {
    var moments: [(days: Int, time: CivilTime)] = []
    for time in times {
      for offset in offsets {
        let moment = CivilDateTime(minuteNumber: time.minuteOfDay + offset)
        moments.append((moment.date.dayNumber, moment.time))
      }
    }
    let days = Set(moments.map(\.days))
    if days == [0] {
      return try CalendarItem.schedule(recurrence, moments.map(\.time))
    }
    if days.count == 1, let shift = days.first, let moved = recurrence.moved(byDays: shift) {
      return try CalendarItem.schedule(moved, moments.map(\.time))
    }
    // An alarm at the item's own time is better than one on a wrong day.
    let sameDay = moments.filter { $0.days == 0 }.map(\.time)
    losses.append(
      "reminders on another day" + (sameDay.isEmpty ? " (the alarm rings at the start)" : ""))
    return try CalendarItem.schedule(recurrence, sameDay.isEmpty ? times : sameDay)
  }

  private static func schedule(
    _ recurrence: Recurrence, _ times: [CivilTime], _ limits: Schedule.Limits = .none
  ) throws(Unsupported) -> Schedule {
    do {
      return try Schedule(recurrence, times: times, limits: limits)
    } catch {
      throw Unsupported(error.reason)
    }
  }

  /// Returns a schedule without the item's exceptions, and those that leave other times of their dates.
  private func excepting(
    _ schedule: Schedule
  ) throws(Unsupported) -> (schedule: Schedule, skipped: [CivilDateTime]) {
    let occurrences = Occurrences(schedule, in: .standard)
    let only = schedule.times.count == 1 ? schedule.times[0] : nil
    let omitted = item.all("EXDATE").flatMap { CalendarTime.list($0.value) }
      .map { CivilDateTime($0.date, only ?? $0.time) }.filter(occurrences.contains)
    let dates = Dictionary(grouping: Set(omitted), by: \.date)
    let whole = dates.filter { $0.value.count == schedule.times.count }.map(\.key)
    var limits = schedule.limits
    limits.exceptions = whole
    return (
      try CalendarItem.schedule(schedule.recurrence, schedule.times, limits),
      omitted.filter { !whole.contains($0.date) }
    )
  }

  /// Returns the last possible occurrence of a series; nil if it has no end.
  private func lastMoment(
    _ reading: CalendarRule.Reading, from start: CivilDateTime, _ times: [CivilTime],
    _ zone: TimeZoneRules
  ) -> CivilDateTime? {
    if let text = reading.until, let until = CalendarTime.read(text) {
      if until.isDate { return Schedule.Limits.end(of: until.civil.date) }
      return until.isUTC
        ? zone.civil(at: TimeZoneRules.utc.instant(of: until.civil)) : until.civil
    }
    guard let count = reading.count, count < CalendarItem.maxCount,
      let schedule = try? Schedule(reading.recurrence, times: times)
    else { return nil }
    let occurrences = Occurrences(schedule, in: .standard)
    var last = occurrences.first(onOrAfter: start)
    for _ in 1..<max(2, count) where count > 1 {
      last = last.flatMap { occurrences.next(after: $0) }
    }
    return last
  }

  /// The maximum number of occurrences of a series with an end. A series with more has no end for practical purposes.
  private static let maxCount = 100_000
}

extension Recurrence {
  /// Returns the recurrence shifted by a number of days; nil if that is not a recurrence.
  fileprivate func moved(byDays days: Int) -> Recurrence? {
    func moved(_ cadence: Cadence) -> Cadence {
      Cadence(interval: cadence.interval, start: cadence.start.adding(days: days))
    }
    switch self {
    case .once(let date): return .once(date.adding(days: days))
    case .daily(let cadence): return .daily(moved(cadence))
    case .days(let count, let cadence): return .days(count, moved(cadence))
    case .weekly(let weekdays, let cadence):
      let all = Weekday.allCases
      // A shift into another week would change the weeks of the interval.
      let isInWeek = weekdays.allSatisfy { (0..<7).contains($0.rawValue + days) }
      guard cadence.interval == 1 || isInWeek else { return nil }
      return .weekly(weekdays.map { all[(($0.rawValue + days) % 7 + 7) % 7] }, moved(cadence))
    case .monthly(let monthDays, let cadence):
      var result: [MonthDay] = []
      for day in monthDays {
        guard case .day(let number) = day, number <= 28, (0...28).contains(number + days) else {
          return nil
        }
        // The day before the first is the last day of the month before.
        result.append(number + days == 0 ? .last : .day(number + days))
      }
      let isEarlierMonth = result.contains(.last)
      guard !isEarlierMonth || result == [.last] else { return nil }
      return .monthly(result, moved(cadence))
    case .annual(let months, let monthDays, let cadence):
      guard months.count == 1, monthDays.count == 1, case .day(let day) = monthDays[0] else {
        return nil
      }
      let month = months[0]
      // The shifted date must be the same in leap years and common years.
      let dates = [2000, 2001].map { year in
        CivilDate(year: year, month: month, day: day).adding(days: days)
      }
      guard (month, day) != (2, 29), dates[0].year == 2000, dates[0].month == dates[1].month,
        dates[0].day == dates[1].day
      else { return nil }
      return .annual(months: [dates[0].month], [.day(dates[0].day)], moved(cadence))
    case .afterDone: return nil
    }
  }
}

extension Identifier {
  /// Creates the identifier that always belongs to a name in another program.
  init(naming name: String) {
    let digest = Array(SHA256.hash(data: Array("belfry import \(name)".utf8)))
    func word(_ start: Int) -> UInt64 {
      digest[start..<(start + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
    self.init(high: word(0), low: word(8))
  }
}
