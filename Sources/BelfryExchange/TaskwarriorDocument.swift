import BelfryCore
import BelfryStore

/// The recurring tasks of `task export`, read as alarms.
///
/// Of a recurring task taskwarrior keeps a template (`status: recurring`, with `recur` and `due`) and makes a task
/// for each occurrence; the templates are what is read. Its times are UTC and shown on the wall clock, so an alarm
/// is floating, at the wall time that the task was due at.
public enum TaskwarriorDocument {
  /// Whether a document looks like one.
  public static func matches(_ json: JSON) -> Bool {
    guard let list = json.array else { return false }
    return list.allSatisfy { $0["uuid"]?.string != nil && $0["description"]?.string != nil }
  }

  /// The alarms of a document's recurring tasks, and what was left out.
  ///
  /// - Parameters:
  ///   - now: what was over by then is left out.
  ///   - zone: where its user is.
  public static func read(
    _ json: JSON, now: Instant, zone: TimeZoneRules
  ) -> (alarms: [ForeignAlarm], leftOut: [Remark]) {
    var alarms: [ForeignAlarm] = []
    var leftOut: [Remark] = []
    for task in json.array ?? [] where task["status"]?.string == "recurring" {
      do throws(CalendarRule.Inexpressible) {
        alarms.append(try alarm(task, now: now, zone: zone))
      } catch {
        leftOut.append(Remark(title: task["description"]?.string ?? "Untitled", error.reason))
      }
    }
    return (alarms, leftOut)
  }

  private static func alarm(
    _ task: JSON, now: Instant, zone: TimeZoneRules
  ) throws(CalendarRule.Inexpressible) -> ForeignAlarm {
    guard let text = task["due"]?.string, let due = instant(text) else {
      throw CalendarRule.Inexpressible("it has no due time")
    }
    let start = zone.civil(at: due)
    let period = task["recur"]?.string ?? ""
    guard let recurrence = recurrence(period, start.date) else {
      throw CalendarRule.Inexpressible("it recurs every '\(period)'")
    }
    var losses: [String] = []
    if let text = task["until"]?.string, let until = instant(text) {
      if until < now {
        throw CalendarRule.Inexpressible("it ended on \(zone.civil(at: until).date)")
      }
      losses.append("that it ends on \(zone.civil(at: until).date): delete it then")
    }
    let schedule: Schedule
    do {
      schedule = try Schedule(recurrence, times: [start.time])
    } catch {
      throw CalendarRule.Inexpressible(error.reason)
    }
    let tags = task["tags"]?.array?.compactMap(\.string).map { "+\($0)" } ?? []
    let project = task["project"]?.string.map { ["project:\($0)"] } ?? []
    let annotations = task["annotations"]?.array?.compactMap { $0["description"]?.string } ?? []
    let words = (project + tags).joined(separator: " ")
    let note = ([words].filter { !$0.isEmpty } + annotations).joined(separator: "\n")
    let texts = ForeignAlarm.texts(task["description"]?.string ?? "", note.isEmpty ? nil : note)
    var alarm = ForeignAlarm(
      id: Identifier(naming: task["uuid"]?.string ?? text), title: texts.title, note: texts.note,
      schedule: schedule, zone: .floating)
    alarm.losses = losses
    return alarm
  }

  /// `20261127T080000Z`.
  private static func instant(_ text: String) -> Instant? {
    guard let time = CalendarTime.read(text), time.isUTC else { return nil }
    return TimeZoneRules.utc.instant(of: time.civil)
  }

  /// The rule of a taskwarrior period: `weekly`, `3days`, `P1M`, `2 wks` … Nil for hours and less, and for what is none.
  private static func recurrence(_ period: String, _ start: CivilDate) -> Recurrence? {
    func cadence(_ interval: Int) -> Recurrence.Cadence {
      Recurrence.Cadence(interval: interval, start: start)
    }
    func monthly(_ count: Int) -> Recurrence { .monthly([.day(start.day)], cadence(count)) }
    func annual(_ count: Int) -> Recurrence {
      .annual(month: start.month, day: start.day, cadence(count))
    }
    func weekly(_ count: Int) -> Recurrence { .weekly([start.weekday], cadence(count)) }
    func days(_ count: Int) -> Recurrence {
      count == 1 ? .daily(cadence(1)) : .days(count, cadence(1))
    }
    switch period.lowercased() {
    case "daily", "day": return days(1)
    case "weekdays":
      return .weekly([.monday, .tuesday, .wednesday, .thursday, .friday], cadence(1))
    case "weekly", "week", "sennight": return weekly(1)
    case "biweekly", "fortnight": return weekly(2)
    case "monthly", "month": return monthly(1)
    case "bimonthly": return monthly(2)
    case "quarterly": return monthly(3)
    case "semiannual": return monthly(6)
    case "annual", "yearly", "year": return annual(1)
    case "biannual", "biyearly": return annual(2)
    default: break
    }
    let text = period.lowercased().filter { $0 != " " }
    // ISO 8601: P1M, P2W, P1Y, P10D.
    let body = text.hasPrefix("p") ? text.dropFirst() : Substring(text)
    let digits = body.prefix { $0.isASCII && $0.isNumber }
    guard let count = digits.isEmpty ? 1 : Int(digits), (1...Recurrence.longest).contains(count)
    else { return nil }
    switch body.dropFirst(digits.count) {
    case "d", "day", "days": return days(count)
    case "w", "wk", "wks", "week", "weeks": return weekly(count)
    case "m" where text.hasPrefix("p"), "mo", "mos", "mth", "mths", "mnths", "month", "months":
      return monthly(count)
    case "q", "qtr", "qtrs", "qrtrs", "quarter", "quarters": return monthly(3 * count)
    case "y", "yr", "yrs", "year", "years": return annual(count)
    default: return nil
    }
  }
}
