import BelfryCore
import BelfryStore

@testable import BelfryTerminal

/// A calendar with every state, holidays, a vacation, and titles that are wide, long or hostile.
enum AgendaSample {
  /// Mon 23 Nov 2026, 09:30.
  static let now = Instant(seconds: 1_795_426_200)
  private static let today = CivilDate("2026-11-23")!

  private static func id(_ number: UInt64) -> Identifier { Identifier(high: number, low: 0) }

  private static let subjects: [(title: String, tags: [String], times: [String])] = [
    ("Pills", ["health"], ["08:00", "14:00", "21:00"]),
    ("Rent reminder", ["home"], ["09:00"]),
    ("薬を飲む 💊 👨‍👩‍👧", ["health", "home"], ["07:30"]),
    ("Standup with a title that is longer than its column", ["work"], ["09:30"]),
    ("Tab\tand \u{202E}override", [], ["12:00"]),
    ("Measure", [], (0..<12).map { "\($0 + 10):15" }),
    ("Donaudampfschifffahrtsgesellschaft", [], ["23:59"]),
  ]

  private static func rings(_ number: Int, on date: CivilDate) -> Bool {
    switch number {
    case 0: true
    case 1: [.monday, .friday].contains(date.weekday)
    case 2: date.day % 2 == 0
    case 3: date.weekday <= .friday
    case 4: date.day == 24
    case 5: date.day == 25
    default: date.day == 30
    }
  }

  private static func state(_ number: Int, _ local: CivilDateTime) -> Agenda.State {
    if local.date > today || local.date == today && local.time.hour > 9 {
      if number == 3, (24...26).contains(local.date.day), local.date.month == 11 { return .paused }
      return number == 1 && local.date.day == 27 ? .skipped : .upcoming
    }
    if local.date == today { return [.pending, .ringing, .snoozed, .snoozed][number] }
    if local.date.day % 9 == 0 { return .missed }
    return local.date.day % 7 == 0 ? .autoCompleted : local.date.day % 10 == 0 ? .skipped : .done
  }

  /// Returns the calendar of some dates.
  static func agenda(_ dates: ClosedRange<CivilDate>) -> Agenda {
    var days: [Agenda.Day] = []
    var date = dates.lowerBound
    while date <= dates.upperBound {
      var day = Agenda.Day(date)
      if date.day == 25, date.month == 12 { day.holidays = ["Christmas Day"] }
      if date.day == 18, date.month == 11 { day.holidays = ["Buß- und Bettag"] }
      if (27...30).contains(date.day), date.month == 12 {
        day.paused = subjects.indices.map { id(UInt64($0)) }
      }
      // The alarms were added in September.
      if date >= CivilDate("2026-09-14")!, date.day != 26 || date.month != 12 {
        for (number, subject) in subjects.enumerated() where rings(number, on: date) {
          for time in subject.times {
            let local = CivilDateTime(date, CivilTime(time)!)
            day.entries.append(
              Agenda.Entry(
                alarm: id(UInt64(number)), occurrence: local,
                at: TimeZoneRules.utc.instant(of: local), local: local,
                state: day.paused.isEmpty ? state(number, local) : .paused))
          }
        }
      }
      days.append(day)
      date = date.adding(days: 1)
    }
    let alarms = subjects.enumerated().map { number, subject in
      (
        id(UInt64(number)),
        Agenda.Subject(title: subject.title, tags: subject.tags.map { try! AlarmTag($0) })
      )
    }
    return Agenda(days, today: today, alarms: Dictionary(uniqueKeysWithValues: alarms))
  }

  /// Returns the lines of a period.
  static func lines(
    _ period: CalendarPeriod, width: Int, isColored: Bool = false, isList: Bool = false,
    locale: String = ""
  ) -> [String] {
    let format = TimeFormat(locale: locale)
    let times = TimeText(now: now, zones: ZoneLibrary(variable: "UTC"), format: format)
    let style = Style(isColored: isColored, width: width, timeFormat: format)
    return AgendaText(agenda(period.dates), times, style).lines(period, isList: isList).map(\.text)
  }

  /// The periods of the snapshots.
  static let periods: [(name: String, period: CalendarPeriod, isList: Bool)] = [
    ("month", CalendarPeriod(.month, containing: today), false),
    ("months", CalendarPeriod(.month, containing: today.adding(days: 30), count: 2), false),
    ("week", CalendarPeriod(.week(.monday), containing: today), false),
    ("week as a list", CalendarPeriod(.week(.monday), containing: today), true),
    ("year", CalendarPeriod(.year, containing: today), false),
  ]
}
