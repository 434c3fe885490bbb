import BelfryCore
import BelfryStore
import Crypto

/// An event or a to-do of another program, read as an alarm.
struct CalendarItem {
  typealias Inexpressible = CalendarRule.Inexpressible

  private let item: CalendarComponent
  private let library: CalendarLibrary

  init(_ item: CalendarComponent, _ library: CalendarLibrary) {
    self.item = item
    self.library = library
  }

  /// When what lasts a whole day rings, unless it says so: at nine, in minutes.
  private static let wholeDay = 9 * 60

  func alarm(now: Instant, zones: ZoneLibrary) throws(Inexpressible) -> ForeignAlarm {
    if item.first("RECURRENCE-ID") != nil {
      throw Inexpressible("it changes one occurrence of a series, which comes as the series says")
    }
    let status = item.first("STATUS")?.value.uppercased()
    if status == "CANCELLED" || status == "COMPLETED" {
      throw Inexpressible("it is \(status?.lowercased() ?? "over")")
    }
    var losses: [String] = []
    guard let property = item.first("DTSTART") ?? item.first("DUE"),
      let begin = CalendarTime.read(property.value)
    else { throw Inexpressible("it says no time") }
    let zone = self.zone(property, isUTC: begin.isUTC, zones, &losses)
    let start = begin.civil
    let rules = item.all("RRULE")
    if rules.count > 1 { throw Inexpressible("it has several rules") }
    for name in ["RDATE", "EXRULE"] where item.first(name) != nil {
      losses.append("its \(name)")
    }
    if let error = item.first("X-LIC-ERROR") {
      losses.append("a line that is not understood (\(error.value))")
    }
    let offsets = offsets(isWholeDay: begin.isDate, &losses)
    let schedule: Schedule
    if let rule = rules.first {
      let reading = try CalendarRule.read(rule.value, start: start)
      losses += reading.losses
      if let last = lastDay(reading, from: start) {
        let rules = zone == .floating ? zones.local : zones.zone(named: zone.text) ?? zones.local
        guard rules.instant(of: CivilDateTime(minuteNumber: last.dayNumber * 1440 + 1439)) > now
        else { throw Inexpressible("it ended on \(last)") }
        losses.append("that it ends on \(last): delete it then")
      }
      let times = reading.times ?? [start.time]
      schedule = try shifted(reading.recurrence, times: times, by: offsets, &losses)
    } else {
      let moment = CivilDateTime(minuteNumber: start.minuteNumber + (offsets.first ?? 0))
      if offsets.count > 1 { losses.append("its further alarms") }
      let rules = zone == .floating ? zones.local : zones.zone(named: zone.text) ?? zones.local
      guard rules.instant(of: moment) > now else { throw Inexpressible("it is over") }
      schedule = try CalendarItem.schedule(.once(moment.date), [moment.time])
    }
    let (title, note) = ForeignAlarm.texts(
      item.first("SUMMARY").map { library.text($0.value) } ?? "",
      item.first("DESCRIPTION").map { library.text($0.value) })
    var alarm = ForeignAlarm(
      id: Identifier(naming: item.first("UID")?.value ?? "\(title) \(property.value)"),
      title: title, note: note, schedule: schedule, zone: zone)
    let shift = schedule.times.count == 1 ? schedule.times[0] : nil
    alarm.skipped = item.all("EXDATE").flatMap { CalendarTime.list($0.value) }.compactMap { civil in
      let moment = CivilDateTime(civil.date, shift ?? civil.time)
      return schedule.contains(moment) ? moment : nil
    }
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
    // Some programs put a path in front of the name.
    let parts = name.split(separator: "/").map(String.init)
    for count in stride(from: min(3, parts.count), to: 0, by: -1) {
      let candidate = parts.suffix(count).joined(separator: "/")
      if zones.zone(named: candidate) != nil { return .named(candidate) }
    }
    losses.append("the time zone \(name): it comes at your own time")
    return .floating
  }

  /// How many minutes after the start it rings, ascending.
  private func offsets(isWholeDay: Bool, _ losses: inout [String]) -> [Int] {
    var offsets: Set<Int> = []
    for reminder in item.components("VALARM") {
      guard let trigger = reminder.first("TRIGGER") else { continue }
      if reminder.first("ACTION")?.value.uppercased() == "EMAIL" {
        losses.append("a mail")
        continue
      }
      if reminder.first("REPEAT") != nil { losses.append("that its alarm repeats") }
      if trigger.parameters["VALUE"] == "DATE-TIME" {
        losses.append("an alarm at one moment of its own")
      } else if trigger.parameters["RELATED"]?.uppercased() == "END" {
        // From the end: that of an event, or when a to-do is due.
        if let end = endOffset, let seconds = CalendarTime.duration(trigger.value),
          abs(seconds) <= 366 * 86_400
        {
          offsets.insert(end + Int(seconds / 60))
        } else {
          losses.append("an alarm that is counted from the end")
        }
      } else if let seconds = CalendarTime.duration(trigger.value), abs(seconds) <= 366 * 86_400 {
        offsets.insert(Int(seconds / 60))
      } else {
        losses.append("an alarm at '\(trigger.value)'")
      }
    }
    if offsets.isEmpty { return [isWholeDay ? CalendarItem.wholeDay : 0] }
    return offsets.sorted()
  }

  /// How many minutes after the start the end is; nil when none is given.
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

  /// The schedule of a rule whose alarms ring before or after it.
  private func shifted(
    _ recurrence: Recurrence, times: [CivilTime], by offsets: [Int], _ losses: inout [String]
  ) throws(Inexpressible) -> Schedule {
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
    // Rather at its own time than on a wrong day.
    let sameDay = moments.filter { $0.days == 0 }.map(\.time)
    losses.append(
      "alarms on another day than its own" + (sameDay.isEmpty ? ": it rings at its own time" : ""))
    return try CalendarItem.schedule(recurrence, sameDay.isEmpty ? times : sameDay)
  }

  private static func schedule(
    _ recurrence: Recurrence, _ times: [CivilTime]
  ) throws(Inexpressible) -> Schedule {
    do {
      return try Schedule(recurrence, times: times)
    } catch {
      throw Inexpressible(error.reason)
    }
  }

  /// The last day of a series; nil when it goes on for ever.
  private func lastDay(
    _ reading: CalendarRule.Reading, from start: CivilDateTime
  ) -> CivilDate? {
    if let until = reading.until { return CalendarTime.read(until)?.civil.date }
    guard let count = reading.count else { return nil }
    let days = (max(1, count) - 1) / max(1, reading.times?.count ?? 1)
    guard days < 100_000 else { return nil }
    var day = reading.recurrence.first(onOrAfter: start.date)
    for _ in 0..<days {
      day = day.flatMap { reading.recurrence.first(onOrAfter: $0.adding(days: 1)) }
    }
    return day
  }
}

extension Recurrence {
  /// The same rule some days earlier or later; nil where that is no rule.
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
      // Across a week's end the weeks of an interval would change.
      let isInWeek = weekdays.allSatisfy { (0..<7).contains($0.rawValue + days) }
      guard cadence.interval == 1 || isInWeek else { return nil }
      return .weekly(weekdays.map { all[(($0.rawValue + days) % 7 + 7) % 7] }, moved(cadence))
    case .monthly(let monthDays, let cadence):
      var result: [MonthDay] = []
      for day in monthDays {
        guard case .day(let number) = day, number <= 28, (0...28).contains(number + days) else {
          return nil
        }
        // The day before the first is the last; the months it counts from begin one earlier.
        result.append(number + days == 0 ? .last : .day(number + days))
      }
      let isEarlierMonth = result.contains(.last)
      guard !isEarlierMonth || result == [.last] else { return nil }
      return .monthly(result, moved(cadence))
    case .annual(let month, let day, let cadence):
      // The same in leap years and in common ones, or it is no date.
      let places = [2000, 2001].map { year in
        CivilDate(year: year, month: month, day: day).adding(days: days)
      }
      guard (month, day) != (2, 29), places[0].year == 2000, places[0].month == places[1].month,
        places[0].day == places[1].day
      else { return nil }
      return .annual(month: places[0].month, day: places[0].day, moved(cadence))
    case .monthlyWeekday: return nil
    }
  }
}

extension Identifier {
  /// The identifier that always belongs to a name of another program's.
  init(naming name: String) {
    let digest = Array(SHA256.hash(data: Array("belfry import \(name)".utf8)))
    func word(_ start: Int) -> UInt64 {
      digest[start..<(start + 8)].reduce(0) { $0 << 8 | UInt64($1) }
    }
    self.init(high: word(0), low: word(8))
  }
}
