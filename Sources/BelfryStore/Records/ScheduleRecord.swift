import BelfryCore

/// The JSON form of a schedule, in records and in `--json` output.
///
/// | kind | own keys |
/// |---|---|
/// | `once` | `date` |
/// | `daily` | – |
/// | `weekly` | `days`: `["mon", "fri"]` |
/// | `monthly` | `days`: `[5, "last", "last-2", "first workday"]`, or several such as `["first mon", "third mon"]` |
/// | `monthly-weekday` | `ordinal`: `first` … `fourth`, `last`; `weekday` |
/// | `annual` | `date`: `03-15`; or `months`: `[3, 11]` with `days` as for `monthly` |
/// | `days` | `days`: a number |
/// | `cyclic` | `daysOn`, `daysOff`: numbers; `start` |
/// | `dates` | `dates`: `["2026-12-03", "2027-01-14"]` |
/// | `elapsed` | `minutes`: a number; `start`, the date of the first time |
/// | `after-done` | `after`: `90d`, `2w`, `6mo` or `1y`; `start`; `completionsAfter`: a date |
///
/// Each kind has `times` (`["09:00"]`). `daily`, `weekly`, `monthly`, `monthly-weekday`, `annual` and `days` have `start`
/// and `interval` (default: 1). All kinds except `once` can have these keys:
///
/// | key | content |
/// |---|---|
/// | `until` | the latest possible occurrence, or the last day |
/// | `except` | the dates without an occurrence |
/// | `onlyMonths` | the only months with an occurrence, from 1 to 12 |
/// | `onHoliday` | `skip`, `before` or `after` |
public enum ScheduleRecord {
  /// Parses a schedule outside a record.
  ///
  /// - Throws: `RecordError` if the schedule is not valid.
  public static func decode(_ json: JSON) throws(RecordError) -> Schedule {
    guard case .object(let members) = json else { throw RecordError("it is not an object") }
    var reader = RecordReader(members)
    return try decode(&reader)
  }

  /// The kinds of schedule.
  static let kinds = [
    "once", "daily", "weekly", "monthly", "monthly-weekday", "annual", "days", "cyclic", "dates",
    "elapsed", "after-done",
  ]

  static func decode(_ reader: inout RecordReader) throws(RecordError) -> Schedule {
    let kind = try reader.required("kind", \.string, "a string")
    let times = try reader.required(
      "times", { list($0) { $0.string.flatMap { CivilTime($0) } } }, "a list of times of day")
    let recurrence = try decodeRecurrence(kind, &reader)
    let limits = Schedule.Limits(
      until: try reader.optional("until", moment, "a date, or a date and time"),
      exceptions: try reader.optional("except", { list($0, \.date) }, "a list of dates") ?? [],
      months: try reader.optional(
        "onlyMonths", { list($0) { $0.integer.map(Int.init) } }, "a list of months") ?? [],
      onHoliday: try reader.optional(
        "onHoliday", { $0.string.flatMap { Schedule.HolidayRule(rawValue: $0) } },
        "skip, before or after"))
    do {
      return try Schedule(recurrence, times: times, limits: limits)
    } catch {
      throw reader.error("'schedule' is not valid: \(error.reason)")
    }
  }

  private static func decodeRecurrence(
    _ kind: String, _ reader: inout RecordReader
  ) throws(RecordError) -> Recurrence {
    if kind == "once" { return .once(try reader.required("date", \.date, "a date")) }
    if kind == "dates" {
      return .dates(
        try reader.required("dates", { list($0, \.date) }, "a list of dates"))
    }
    let start = try reader.required("start", \.date, "a date")
    switch kind {
    case "elapsed":
      let minutes = try reader.required("minutes", \.integer, "a number of minutes")
      return .elapsed(minutes: Int(minutes), start: start)
    case "cyclic":
      let on = try reader.required("daysOn", \.integer, "a number of days")
      let off = try reader.required("daysOff", \.integer, "a number of days")
      return .cyclic(on: Int(on), off: Int(off), start: start)
    case "after-done":
      let period = try reader.required(
        "after", { $0.string.flatMap { Period($0) } }, "a period such as 90d, 2w, 6mo or 1y")
      let ignored = try reader.optional("completionsAfter", \.date, "a date")
      return .afterDone(period, .init(start: start, completionsAfter: ignored))
    default: break
    }
    let interval = try reader.optional("interval", \.integer, "a whole number") ?? 1
    let cadence = Recurrence.Cadence(interval: Int(interval), start: start)
    switch kind {
    case "daily": return .daily(cadence)
    case "weekly":
      let days = try reader.required("days", { list($0, weekday) }, "a list of weekdays")
      return .weekly(days, cadence)
    case "monthly": return .monthly(try monthDays(&reader), cadence)
    case "monthly-weekday":
      let ordinal = try reader.required("ordinal", \.string, "a string")
      let weekday = try reader.required("weekday", \.string, "a string")
      guard let day = Recurrence.MonthDay("\(ordinal) \(weekday)") else {
        throw reader.error(
          "'schedule' names no weekday of a month, such as first mon", at: "ordinal")
      }
      return .monthly([day], cadence)
    case "annual":
      if let months = try reader.optional(
        "months", { list($0) { $0.integer.map(Int.init) } }, "a list of months")
      {
        return .annual(months: months, try monthDays(&reader), cadence)
      }
      let date = try reader.required("date", { $0.string.flatMap(monthAndDay) }, "a month and day")
      return .annual(months: [date.month], [.day(date.day)], cadence)
    case "days":
      return .days(Int(try reader.required("days", \.integer, "a number of days")), cadence)
    default:
      throw reader.error(
        "'schedule.kind' is '\(kind)', not one of \(kinds.joined(separator: ", "))",
        at: "kind")
    }
  }

  private static func list<Value>(_ json: JSON, _ convert: (JSON) -> Value?) -> [Value]? {
    guard let array = json.array else { return nil }
    let values = array.compactMap(convert)
    return values.count == array.count ? values : nil
  }

  private static func weekday(_ json: JSON) -> Weekday? { json.string.flatMap { Weekday($0) } }

  private static func monthDays(
    _ reader: inout RecordReader
  ) throws(RecordError) -> [Recurrence.MonthDay] {
    try reader.required(
      "days",
      { json in
        list(json) { day in
          day.string.flatMap { Recurrence.MonthDay($0) } ?? day.integer.map { .day(Int($0)) }
        }
      }, "a list of days of the month, such as 5, \"last\" or \"first mon\"")
  }

  private static func moment(_ json: JSON) -> CivilDateTime? {
    json.date.map(Schedule.Limits.end) ?? json.occurrence
  }

  /// Returns the month and day of `03-15`, or nil if the text is not a date of a leap year.
  public static func monthAndDay(_ text: String) -> (month: Int, day: Int)? {
    // 2000 is a leap year, so 29 February is valid.
    CivilDate("2000-\(text)").map { ($0.month, $0.day) }
  }

  /// Returns the JSON form of a schedule.
  public static func encode(_ schedule: Schedule) -> JSON {
    var members: [String: JSON] = ["times": .array(schedule.times.map { JSON($0) })]
    if let cadence = schedule.recurrence.cadence {
      if schedule.recurrence.hasInterval { members["interval"] = .integer(Int64(cadence.interval)) }
      members["start"] = JSON(cadence.start)
    }
    members["kind"] = .string(kind(of: schedule.recurrence))
    switch schedule.recurrence {
    case .once(let date): members["date"] = JSON(date)
    case .daily: break
    case .weekly(let days, _):
      members["days"] = .array(days.map { .string($0.abbreviation) })
    case .monthly(let days, _):
      if let day = schedule.recurrence.weekdayOfMonth {
        members["ordinal"] = .string(day.ordinal)
        members["weekday"] = .string(day.weekday)
      } else {
        members["days"] = .array(days.map(encode))
      }
    case .annual(let months, let days, _):
      if let date = schedule.recurrence.annualDate {
        members["date"] = .string(date)
      } else {
        members["months"] = .array(months.map { .integer(Int64($0)) })
        members["days"] = .array(days.map(encode))
      }
    case .days(let count, _): members["days"] = .integer(Int64(count))
    case .cyclic(let on, let off, _):
      members["daysOn"] = .integer(Int64(on))
      members["daysOff"] = .integer(Int64(off))
    case .dates(let dates): members["dates"] = .array(dates.map { JSON($0) })
    case .elapsed(let minutes, let start):
      members["minutes"] = .integer(Int64(minutes))
      members["start"] = JSON(start)
    case .afterDone(let period, let origin):
      members["after"] = JSON(period)
      members["start"] = JSON(origin.start)
      members["completionsAfter"] = origin.completionsAfter.map { JSON($0) }
    }
    members["until"] = schedule.limits.untilText.map { .string($0) }
    if !schedule.limits.exceptions.isEmpty {
      members["except"] = .array(schedule.limits.exceptions.map { JSON($0) })
    }
    if !schedule.limits.months.isEmpty {
      members["onlyMonths"] = .array(schedule.limits.months.map { .integer(Int64($0)) })
    }
    members["onHoliday"] = schedule.limits.onHoliday.map { .string($0.rawValue) }
    return .object(members)
  }

  private static func encode(_ day: Recurrence.MonthDay) -> JSON {
    if case .day(let number) = day { .integer(Int64(number)) } else { JSON(day) }
  }

  /// Returns the kind of a rule, such as `weekly`.
  public static func kind(of recurrence: Recurrence) -> String {
    switch recurrence {
    case .once: "once"
    case .daily: "daily"
    case .weekly: "weekly"
    case .monthly: recurrence.weekdayOfMonth == nil ? "monthly" : "monthly-weekday"
    case .annual: "annual"
    case .days: "days"
    case .cyclic: "cyclic"
    case .dates: "dates"
    case .elapsed: "elapsed"
    case .afterDone: "after-done"
    }
  }
}

extension Recurrence {
  /// The ordinal and the weekday of a monthly rule with one weekday, such as `first` and `mon`; nil for any other rule.
  ///
  /// Version 0.1 had no other weekdays of a month, and no second one.
  public var weekdayOfMonth: (ordinal: String, weekday: String)? {
    guard case .monthly(let days, _) = self, days.count == 1,
      case .weekday(let ordinal, let weekday) = days[0], ordinal == -1 || (1...4).contains(ordinal)
    else { return nil }
    return (ordinal == -1 ? "last" : MonthDay.ordinals[ordinal - 1], weekday.abbreviation)
  }

  /// The month and day of an annual rule with one date, such as `03-15`; nil for any other rule.
  public var annualDate: String? {
    guard case .annual(let months, let days, _) = self, months.count == 1, days.count == 1,
      case .day(let day) = days[0]
    else { return nil }
    // 2000 is a leap year, so 29 February is valid.
    return String(CivilDate(year: 2000, month: months[0], day: day).description.dropFirst(5))
  }
}

extension Schedule.Limits {
  /// The latest possible occurrence, or the last day if no time of it is excluded; nil for no end.
  public var untilText: String? {
    until.map { $0 == Self.end(of: $0.date) ? "\($0.date)" : "\($0)" }
  }
}

extension ScheduleError {
  /// The reason as a clause about the schedule, without a period.
  public var reason: String {
    switch self {
    case .noTimes: "it has no time of day"
    case .tooManyTimes(let count):
      "it has \(count) times a day; the maximum is \(Schedule.maxTimes)"
    case .onceAtSeveralTimes: "a one-time alarm has exactly one time of day"
    case .onceWithLimits: "a one-time alarm has no end, exceptions or rule for holidays"
    case .afterDoneAtSeveralTimes:
      "an alarm that counts from its completion has exactly one time of day"
    case .elapsedFromSeveralTimes:
      "an alarm at a distance in hours or minutes starts at exactly one time of day"
    case .elapsedMovedFromHolidays:
      "an alarm at a distance in hours or minutes can only be left out on holidays"
    case .noDays: "it has no days"
    case .dayOutOfRange(let day): "no month has such a day: \(day)"
    case .noSuchDate(let month, let day): "month \(month) has no day \(day)"
    case .intervalOutOfRange(let interval):
      "an interval of \(interval) is not from 1 to \(Recurrence.longest)"
    case .distanceOutOfRange(let minutes):
      "a distance of \(minutes) minutes is not from 1 minute to \(Recurrence.longest) days"
    case .tooManyDates(let count):
      "it has \(count) dates; the maximum is \(Recurrence.maxDates)"
    case .tooManyExceptions(let count):
      "it has \(count) exceptions; the maximum is \(Schedule.Limits.maxExceptions)"
    }
  }
}
