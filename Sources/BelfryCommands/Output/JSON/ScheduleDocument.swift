import BelfryCore

/// A schedule, in the documents of alarms and of partners' requests.
struct ScheduleDocument: Encodable {
  /// The kind: `once`, `daily`, `weekly`, `monthly`, `monthly-weekday`, `annual` or `days`.
  let kind: String
  /// The times of day, such as `09:00`, ascending.
  let times: [String]
  /// The date from which cycles are counted; absent for `once`.
  let start: String?
  /// The number of days, weeks, months or years in a cycle, or for `days` a factor of `days`; absent for `once`.
  let interval: Int?
  /// For `once` a date, for `annual` a month and day such as `03-15`.
  private(set) var date: String?
  /// The days of a cycle.
  private(set) var days: Days?
  /// For `monthly-weekday`: `first`, `second`, `third`, `fourth` or `last`.
  private(set) var ordinal: String?
  /// For `monthly-weekday`: the weekday, such as `mon`.
  private(set) var weekday: String?

  /// The days of a cycle, by the kind of the schedule.
  enum Days: Encodable {
    /// For `weekly`: the weekdays, such as `["mon", "fri"]`.
    case weekdays([String])
    /// For `monthly`: the days of the month, such as `[5, 15]` or `["last"]`.
    case monthDays([Recurrence.MonthDay])
    /// For `days`: the number of days in a cycle.
    case count(Int)

    func encode(to encoder: any Encoder) throws {
      switch self {
      case .weekdays(let days): try days.encode(to: encoder)
      case .count(let count): try count.encode(to: encoder)
      case .monthDays(let days):
        var container = encoder.unkeyedContainer()
        for day in days {
          switch day {
          case .day(let number): try container.encode(number)
          case .last: try container.encode("last")
          }
        }
      }
    }
  }

  init(_ schedule: Schedule) {
    switch schedule.recurrence {
    case .once(let day): (kind, date) = ("once", day.description)
    case .daily: kind = "daily"
    case .weekly(let weekdays, _):
      (kind, days) = ("weekly", .weekdays(weekdays.map(\.abbreviation)))
    case .monthly(let monthDays, _): (kind, days) = ("monthly", .monthDays(monthDays))
    case .monthlyWeekday(let position, let day, _):
      (kind, ordinal, weekday) = ("monthly-weekday", "\(position)", day.abbreviation)
    case .annual(let month, let day, _):
      // 2000 is a leap year, so 29 February is valid.
      let civil = CivilDate(year: 2000, month: month, day: day)
      (kind, date) = ("annual", String(civil.description.dropFirst(5)))
    case .days(let count, _): (kind, days) = ("days", .count(count))
    }
    times = schedule.times.map(\.description)
    start = schedule.recurrence.cadence?.start.description
    interval = schedule.recurrence.cadence?.interval
  }
}
