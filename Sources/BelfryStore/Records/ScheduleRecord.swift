import BelfryCore

/// The JSON form of a schedule, in records and in `--json` output.
///
/// | kind | own keys |
/// |---|---|
/// | `once` | `date` |
/// | `daily` | – |
/// | `weekly` | `days`: `["mon", "fri"]` |
/// | `monthly` | `days`: `[5, 15]`, or `["last"]` |
/// | `monthly-weekday` | `ordinal`: `first` … `fourth`, `last`; `weekday` |
/// | `annual` | `date`: `03-15` |
/// | `days` | `days`: a number |
///
/// Each kind has `times` (`["09:00"]`). All kinds except `once` have `start` and `interval` (default: 1).
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
    "once", "daily", "weekly", "monthly", "monthly-weekday", "annual", "days",
  ]

  static func decode(_ reader: inout RecordReader) throws(RecordError) -> Schedule {
    let kind = try reader.required("kind", \.string, "a string")
    let times = try reader.required(
      "times", { list($0) { $0.string.flatMap { CivilTime($0) } } }, "a list of times of day")
    let recurrence = try decodeRecurrence(kind, &reader)
    do {
      return try Schedule(recurrence, times: times)
    } catch {
      throw reader.error("'schedule' is not valid: \(error.reason)")
    }
  }

  private static func decodeRecurrence(
    _ kind: String, _ reader: inout RecordReader
  ) throws(RecordError) -> Recurrence {
    if kind == "once" { return .once(try reader.required("date", \.date, "a date")) }
    let interval = try reader.optional("interval", \.integer, "a whole number") ?? 1
    let cadence = Recurrence.Cadence(
      interval: Int(interval), start: try reader.required("start", \.date, "a date"))
    switch kind {
    case "daily": return .daily(cadence)
    case "weekly":
      let days = try reader.required("days", { list($0, weekday) }, "a list of weekdays")
      return .weekly(days, cadence)
    case "monthly":
      let days = try reader.required("days", { list($0, monthDay) }, "a list of days of the month")
      return .monthly(days, cadence)
    case "monthly-weekday":
      let ordinal = try reader.required(
        "ordinal", { $0.string.flatMap { Recurrence.Ordinal($0) } },
        "first, second, third, fourth or last")
      return .monthlyWeekday(
        ordinal, try reader.required("weekday", weekday, "a weekday"), cadence)
    case "annual":
      let date = try reader.required("date", { $0.string.flatMap(monthAndDay) }, "a month and day")
      return .annual(month: date.month, day: date.day, cadence)
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

  private static func monthDay(_ json: JSON) -> Recurrence.MonthDay? {
    if json.string == "last" { return .last }
    return json.integer.map { .day(Int($0)) }
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
      members["interval"] = .integer(Int64(cadence.interval))
      members["start"] = JSON(cadence.start)
    }
    switch schedule.recurrence {
    case .once(let date):
      members["kind"] = "once"
      members["date"] = JSON(date)
    case .daily: members["kind"] = "daily"
    case .weekly(let days, _):
      members["kind"] = "weekly"
      members["days"] = .array(days.map { .string($0.abbreviation) })
    case .monthly(let days, _):
      members["kind"] = "monthly"
      members["days"] = .array(
        days.map { day in
          switch day {
          case .day(let number): .integer(Int64(number))
          case .last: "last"
          }
        })
    case .monthlyWeekday(let ordinal, let weekday, _):
      members["kind"] = "monthly-weekday"
      members["ordinal"] = .string("\(ordinal)")
      members["weekday"] = .string(weekday.abbreviation)
    case .annual(let month, let day, _):
      members["kind"] = "annual"
      members["date"] = .string(
        String(CivilDate(year: 2000, month: month, day: day).description.dropFirst(5)))
    case .days(let count, _):
      members["kind"] = "days"
      members["days"] = .integer(Int64(count))
    }
    return .object(members)
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
    case .noDays: "it has no days"
    case .dayOutOfRange(let day): "no month has a day \(day)"
    case .noSuchDate(let month, let day): "month \(month) has no day \(day)"
    case .intervalOutOfRange(let interval):
      "an interval of \(interval) is not from 1 to \(Recurrence.longest)"
    }
  }
}
