import BelfryCore
import BelfryStore

/// Import of the tasks with a due time of `task export`.
///
/// Taskwarrior keeps a template of each recurring task (`status: recurring`, with `recur` and `due`) and creates a
/// task for each occurrence. If the document has the template, only that is read. Other open tasks ring once.
/// Taskwarrior stores UTC and shows local time, so the alarm is floating, at the local time of the task.
public enum TaskwarriorDocument {
  /// Returns true if a document looks like an export of taskwarrior.
  public static func matches(_ json: JSON) -> Bool {
    if json.array == nil, json["uuid"] == nil { return false }
    return tasks(json).allSatisfy {
      $0["uuid"]?.string != nil && $0["description"]?.string != nil
    }
  }

  /// Returns the tasks of a document, which can be a single task.
  private static func tasks(_ json: JSON) -> [JSON] { json.array ?? [json] }

  /// Parses a document with one task on each line, as old versions of Taskwarrior write it; nil for any other text.
  public static func lines(_ bytes: [UInt8]) -> JSON? {
    var tasks: [JSON] = []
    for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      var line = Array(line)
      while let last = line.last, last == 0x20 || last == 0x09 || last == UInt8(ascii: ",") {
        line.removeLast()
      }
      if line.isEmpty { continue }
      guard let task = try? JSON(parsing: line), task["uuid"]?.string != nil else { return nil }
      tasks.append(task)
    }
    return tasks.isEmpty ? nil : .array(tasks)
  }

  /// Reads alarms from the recurring tasks of a document, and from its open tasks with a due time.
  ///
  /// - Parameters:
  ///   - json: the document.
  ///   - now: the current time. Tasks that have ended are left out.
  ///   - zone: the user's time zone.
  /// - Returns: The alarms, and a remark for each task that was left out.
  public static func read(
    _ json: JSON, now: Instant, zone: TimeZoneRules
  ) -> (alarms: [ForeignAlarm], leftOut: [Remark]) {
    var alarms: [ForeignAlarm] = []
    var leftOut: [Remark] = []
    let tasks = tasks(json)
    let templates = Set(
      tasks.filter { $0["status"]?.string == "recurring" }.compactMap { $0["uuid"]?.string })
    for task in tasks {
      switch task["status"]?.string {
      case "recurring": break
      case "pending", "waiting":
        // The template rings for its tasks.
        if let parent = task["parent"]?.string, templates.contains(parent) { continue }
        if task["due"] == nil { continue }
      default: continue
      }
      do throws(CalendarRule.Unsupported) {
        alarms.append(try alarm(task, now: now, zone: zone))
      } catch {
        leftOut.append(Remark(title: task["description"]?.string ?? "Untitled", error.reason))
      }
    }
    return (alarms, leftOut)
  }

  private static func alarm(
    _ task: JSON, now: Instant, zone local: TimeZoneRules
  ) throws(CalendarRule.Unsupported) -> ForeignAlarm {
    guard let text = task["due"]?.string, let due = instant(text) else {
      throw CalendarRule.Unsupported("it has no due time")
    }
    let period = task["recur"]?.string ?? ""
    let isRecurring = task["status"]?.string == "recurring"
    let isElapsed =
      isRecurring && (minutes(period).map { 1440 % $0 != 0 && $0 % 1440 != 0 } ?? false)
    // Elapsed time is counted in UTC.
    let zone = isElapsed ? TimeZoneRules.utc : local
    let start = zone.civil(at: due)
    guard isRecurring else {
      guard due > now else { throw CalendarRule.Unsupported("it was due on \(start.date)") }
      return try alarm(
        task, CalendarItem.schedule(.once(start.date), [start.time]), named: text)
    }
    var times = [start.time]
    let recurrence: Recurrence?
    if let step = minutes(period), isElapsed {
      recurrence = .elapsed(minutes: step, start: start.date)
    } else if let step = minutes(period), (1..<1440).contains(step), 1440 % step == 0 {
      recurrence = .daily(.init(start: start.date))
      times = stride(from: 0, to: 1440, by: step).compactMap { minute in
        let minute = (start.time.hour * 60 + start.time.minute + minute) % 1440
        return CivilTime(hour: minute / 60, minute: minute % 60)
      }.sorted()
    } else {
      recurrence = self.recurrence(period, start.date)
    }
    guard let recurrence else {
      throw CalendarRule.Unsupported("Belfry does not support its period '\(period)'")
    }
    var limits = Schedule.Limits.none
    if let text = task["until"]?.string, let until = instant(text) {
      if until < now {
        throw CalendarRule.Unsupported("it ended on \(zone.civil(at: until).date)")
      }
      limits.until = zone.civil(at: until)
    }
    var result = try alarm(
      task, CalendarItem.schedule(recurrence, times, limits), named: text)
    if isElapsed { result.zone = .named("UTC") }
    // The first occurrence is at the due time, also if the day has earlier times.
    result.skipped = times.filter { $0 < start.time }.map { CivilDateTime(start.date, $0) }
    return result
  }

  private static func alarm(_ task: JSON, _ schedule: Schedule, named name: String) -> ForeignAlarm
  {
    var result = ForeignAlarm(
      id: Identifier(naming: task["uuid"]?.string ?? name), title: "", note: nil,
      schedule: schedule, zone: .floating)
    let others = result.addTags(task["tags"]?.array?.compactMap(\.string) ?? []).map { "+\($0)" }
    let project = task["project"]?.string.map { ["project:\($0)"] } ?? []
    let annotations = task["annotations"]?.array?.compactMap { $0["description"]?.string } ?? []
    let labels = (project + others).joined(separator: " ")
    let note = ([labels].filter { !$0.isEmpty } + annotations).joined(separator: "\n")
    let texts = ForeignAlarm.texts(task["description"]?.string ?? "", note.isEmpty ? nil : note)
    (result.title, result.note) = (texts.title, texts.note)
    return result
  }

  /// Parses `20261127T080000Z`; nil for any other text.
  private static func instant(_ text: String) -> Instant? {
    guard let time = CalendarTime.read(text), time.isUTC else { return nil }
    return TimeZoneRules.utc.instant(of: time.civil)
  }

  /// Returns the minutes of a period such as `12h`, `90min` or `PT6H`; nil for any other text.
  private static func minutes(_ period: String) -> Int? {
    let text = period.lowercased().filter { $0 != " " }
    let body = text.hasPrefix("pt") ? text.dropFirst(2) : Substring(text)
    let digits = body.prefix { $0.isASCII && $0.isNumber }
    guard let count = Int(digits), (1...1440).contains(count) else { return nil }
    switch body.dropFirst(digits.count) {
    case "h", "hr", "hrs", "hour", "hours": return count * 60
    case "min", "mins", "minute", "minutes": return count
    case "m" where text.hasPrefix("pt"): return count
    default: return nil
    }
  }

  /// Returns the months of `P1Y2M`; nil for any other text.
  private static func months(_ period: some StringProtocol) -> Int? {
    let parts = period.split(separator: "y", omittingEmptySubsequences: false)
    guard period.hasPrefix("p"), parts.count == 2, parts[1].hasSuffix("m"),
      let years = Int(parts[0].dropFirst()), let months = Int(parts[1].dropLast()),
      (0...100).contains(years), (1...1000).contains(months)
    else { return nil }
    return years * 12 + months
  }

  /// Returns the recurrence of a period such as `weekly`, `3days`, `P1M` or `2 wks`; nil for hours and for other text.
  private static func recurrence(_ period: String, _ start: CivilDate) -> Recurrence? {
    func cadence(_ interval: Int) -> Recurrence.Cadence {
      Recurrence.Cadence(interval: interval, start: start)
    }
    func monthly(_ count: Int) -> Recurrence { .monthly([.day(start.day)], cadence(count)) }
    func annual(_ count: Int) -> Recurrence {
      .annual(months: [start.month], [.day(start.day)], cadence(count))
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
    if let months = months(text) { return monthly(months) }
    // ISO 8601 durations: P1M, P2W, P1Y, P10D.
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
