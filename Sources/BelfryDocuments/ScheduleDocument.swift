import BelfryCore
import BelfryStore

/// A schedule, in the documents of alarms and of partners' requests. `ScheduleRecord` has the same keys.
package struct ScheduleDocument: Codable {
  /// The kind: `once`, `daily`, `weekly`, `monthly`, `monthly-weekday`, `annual`, `days`, `cyclic`, `dates`, `elapsed` or
  /// `after-done`.
  let kind: String
  /// The times of day, such as `09:00`, ascending.
  let times: [String]
  /// The date from which cycles are counted, or for `elapsed` and `after-done` the first date; absent for `once` and
  /// `dates`.
  private(set) var start: String?
  /// The number of days, weeks, months or years in a cycle, or for `days` a factor of `days`; absent for the kinds
  /// that have no such number.
  let interval: Int?
  /// For `once` a date; for `annual` with one date a month and day such as `03-15`.
  private(set) var date: String?
  /// The days of a cycle.
  private(set) var days: Days?
  /// For `monthly-weekday`: `first`, `second`, `third`, `fourth` or `last`.
  private(set) var ordinal: String?
  /// For `monthly-weekday`: the weekday, such as `mon`.
  private(set) var weekday: String?
  /// For `annual` with several dates: the months, such as `[3, 11]`.
  private(set) var months: [Int]?
  /// For `cyclic`: the number of days with the alarm in each cycle.
  private(set) var daysOn: Int?
  /// For `cyclic`: the number of days without the alarm in each cycle.
  private(set) var daysOff: Int?
  /// For `dates`: the dates, ascending.
  private(set) var dates: [String]?
  /// For `elapsed`: the distance from one occurrence to the next, in minutes.
  private(set) var minutes: Int?
  /// For `after-done`: the period, such as `90d`, `2w`, `6mo` or `1y`.
  private(set) var after: String?
  /// For `after-done`: the date up to which completions are ignored; absent to count all.
  private(set) var completionsAfter: String?
  /// The latest possible occurrence, or the last day; absent for no end.
  let until: String?
  /// The dates without an occurrence, ascending; absent for none.
  let except: [String]?
  /// The only months with an occurrence, from 1 to 12, ascending; absent for all.
  let onlyMonths: [Int]?
  /// `skip`, `before` or `after`; absent to ignore holidays.
  let onHoliday: String?

  /// The days of a cycle, by the kind of the schedule.
  package enum Days: Codable {
    /// For `weekly`: the weekdays, such as `["mon", "fri"]`.
    case weekdays([String])
    /// For `monthly` and `annual`: the days of the month, such as `[5, "last", "first mon", "third workday"]`.
    case monthDays([Recurrence.MonthDay])
    /// For `days`: the number of days in a cycle.
    case count(Int)

    /// Decodes weekdays or a count. No reader of documents needs the days of a month.
    package init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let count = try? container.decode(Int.self) {
        self = .count(count)
      } else {
        self = .weekdays(try container.decode([String].self))
      }
    }

    package func encode(to encoder: any Encoder) throws {
      switch self {
      case .weekdays(let days): try days.encode(to: encoder)
      case .count(let count): try count.encode(to: encoder)
      case .monthDays(let days):
        var container = encoder.unkeyedContainer()
        for day in days {
          if case .day(let number) = day {
            try container.encode(number)
          } else {
            try container.encode(day.description)
          }
        }
      }
    }
  }

  package init(_ schedule: Schedule) {
    kind = ScheduleRecord.kind(of: schedule.recurrence)
    times = schedule.times.map(\.description)
    start = schedule.recurrence.cadence?.start.description
    interval =
      schedule.recurrence.hasInterval ? schedule.recurrence.cadence?.interval : nil
    until = schedule.limits.untilText
    let exceptions = schedule.limits.exceptions
    except = exceptions.isEmpty ? nil : exceptions.map(\.description)
    onlyMonths = schedule.limits.months.isEmpty ? nil : schedule.limits.months
    onHoliday = schedule.limits.onHoliday?.rawValue
    switch schedule.recurrence {
    case .once(let day): date = day.description
    case .daily: break
    case .weekly(let weekdays, _): days = .weekdays(weekdays.map(\.abbreviation))
    case .monthly(let monthDays, _):
      let only = schedule.recurrence.weekdayOfMonth
      (ordinal, weekday) = (only?.ordinal, only?.weekday)
      if only == nil { days = .monthDays(monthDays) }
    case .annual(let months, let monthDays, _):
      date = schedule.recurrence.annualDate
      if date == nil { (self.months, days) = (months, .monthDays(monthDays)) }
    case .days(let count, _): days = .count(count)
    case .cyclic(let on, let off, _): (daysOn, daysOff) = (on, off)
    case .dates(let list): dates = list.map(\.description)
    case .elapsed(let minutes, let start):
      self.minutes = minutes
      self.start = start.description
    case .afterDone(let period, let origin):
      after = period.description
      start = origin.start.description
      completionsAfter = origin.completionsAfter?.description
    }
  }
}
