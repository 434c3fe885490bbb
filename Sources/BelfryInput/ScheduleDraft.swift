import BelfryCore

/// The parts of a schedule that an input names. What it leaves out comes from the context.
public struct ScheduleDraft: Hashable, Sendable {
  /// The rule for the dates; nil if the input has none.
  public var rule: Rule?
  /// The times of day; nil if the input has none.
  public var times: [CivilTime]?
  /// The date from which cycles are counted.
  public var start: CivilDate?
  /// The end of the schedule.
  public var end: End?
  /// The dates without an occurrence.
  public var exceptions: [CivilDate]?
  /// The only months with occurrences; empty for all.
  public var months: [Int]?
  /// The treatment of holidays.
  public var onHoliday: Schedule.HolidayRule?
  /// The name of the time zone.
  public var zone: String?
  /// The minutes of an interval on the hours of the whole day, such as `every 6 hours`, which does not count from now;
  /// nil for any other schedule.
  public var wholeDayInterval: Int?
  /// True if the only date is the next one of a weekday: a week later if its time has passed today.
  public var isWeekday = false

  /// A rule whose days may be left out: `every 2 weeks`.
  public enum Rule: Hashable, Sendable {
    /// One date.
    case once(CivilDate)
    /// One time, a number of seconds from now.
    case later(Int64)
    /// Every N-th day.
    case daily(Int)
    /// Some weekdays of every N-th week; nil for the weekday of the start.
    case weekly([Weekday]?, Int)
    /// Some days of every N-th month; nil for the day of the start.
    case monthly([Recurrence.MonthDay]?, Int)
    /// Some days of some months of every N-th year; nil for the date of the start.
    case annual([Int]?, [Recurrence.MonthDay]?, Int)
    /// Every (count × N)-th day.
    case days(Int, Int)
    /// The first days of every cycle of days with and without the alarm.
    case cyclic(on: Int, off: Int)
    /// Several dates.
    case dates([CivilDate])
    /// Every time at a distance in minutes from the time on the start.
    case elapsed(Int)
    /// A period after each completion.
    case afterDone(Period)
    /// A complete rule, from a text of another program.
    case complete(Recurrence)
  }

  /// The end of a schedule.
  public enum End: Hashable, Sendable {
    /// The latest possible occurrence.
    case until(CivilDateTime)
    /// The number of occurrences.
    case count(Int)
    /// The length of time from the first day on.
    case lasting(Period)
  }

  /// The maximum number of occurrences in `End.count`.
  public static let maxCount = 10_000

  /// Creates a draft without any part.
  public init() {}

  /// The parts that the input names.
  public var parts: [InputError.Part] {
    let parts: [(InputError.Part, Bool)] = [
      (.rule, rule != nil), (.time, times != nil), (.start, start != nil), (.end, end != nil),
      (.exceptions, exceptions != nil || months != nil), (.holidays, onHoliday != nil),
      (.zone, zone != nil),
    ]
    return parts.filter(\.1).map(\.0)
  }

  // MARK: Elapsed time

  /// True if the schedule counts hours or minutes from its start, and not days.
  public var countsElapsedTime: Bool {
    switch rule {
    case .elapsed, .complete(.elapsed): true
    default: false
    }
  }

  /// The zone of the schedule: the one that the input names, or UTC for elapsed time, which no clock change shifts; nil
  /// for none.
  public var ownZone: String? { zone ?? (countsElapsedTime ? "UTC" : nil) }

  /// Returns a draft that counts elapsed time with its start and its end as times of UTC.
  ///
  /// - Parameter context: The context in which the input was read.
  public func inUTC(from context: InputContext) -> ScheduleDraft {
    func utc(_ civil: CivilDateTime) -> CivilDateTime {
      TimeZoneRules.utc.civil(at: context.zone.instant(of: civil))
    }
    var draft = self
    let time = times?.first ?? context.now.time
    switch rule {
    case .complete(.elapsed(let minutes, let date)):
      let first = utc(CivilDateTime(date, time))
      draft.rule = .complete(.elapsed(minutes: minutes, start: first.date))
      draft.times = [first.time]
    default:
      let first = utc(CivilDateTime(start ?? context.today, time))
      (draft.start, draft.times) = (first.date, [first.time])
    }
    if case .until(let end)? = end { draft.end = .until(utc(end)) }
    return draft
  }

  // MARK: To a schedule

  /// Returns the schedule. Without a time it has that of the settings, or the current time of day.
  ///
  /// - Parameter completed: The date of the latest completion, which an `afterDone` rule ignores; nil if there was none.
  /// - Throws: `ScheduleError` if the parts do not form a schedule.
  public func schedule(
    in context: InputContext, completed: CivilDate? = nil
  ) throws -> Schedule {
    var schedule: Schedule
    let rule = try self.rule ?? ruleIfComplete()
    let given = Schedule.Limits(
      exceptions: exceptions ?? [], months: months ?? [], onHoliday: onHoliday)
    switch rule {
    case .later(let seconds):
      let moment = context.soon(after: seconds)
      return try Schedule(.once(moment.date), times: [moment.time], limits: given)
    case .once(let date) where isWeekday && date == context.today:
      let times = self.times ?? [context.standardTime]
      let hasPassed = times.allSatisfy { $0 <= context.now.time }
      if hasPassed, let first = self.times?.first {
        throw InputError.passed("\(date.weekday) \(first)", next: date.adding(days: 7))
      }
      schedule = try Schedule(
        .once(hasPassed ? date.adding(days: 7) : date), times: times, limits: given)
    case .once, .daily, .weekly, .monthly, .annual, .days, .cyclic, .dates, .elapsed, .afterDone,
      .complete, nil:
      schedule = try Schedule(
        recurrence(in: context, completed), times: times ?? [context.standardTime], limits: given)
    }
    guard let until = try latest(of: schedule, in: context) else { return schedule }
    var limits = given
    limits.until = until
    schedule = try Schedule(schedule.recurrence, times: schedule.times, limits: limits)
    return schedule
  }

  /// Returns nil for a time of day alone.
  ///
  /// - Throws: `InputError` if the parts need a rule.
  private func ruleIfComplete() throws(InputError) -> Rule? {
    if let times, times.count > 1 {
      throw .severalTimes(times.map(\.description).joined(separator: " and "))
    }
    if start != nil || end != nil || exceptions != nil || onHoliday != nil || months != nil {
      throw .missing(.rule, after: "")
    }
    return nil
  }

  /// Returns the latest possible occurrence; nil for no end.
  private func latest(
    of schedule: Schedule, in context: InputContext
  ) throws -> CivilDateTime? {
    switch end {
    case nil: return nil
    case .until(let until): return until
    case .lasting(let period):
      let next = Occurrences(schedule, in: context.calendar).next(after: context.now)
      let first = start ?? next?.date ?? context.today
      return Schedule.Limits.end(of: first.adding(period).adding(days: -1))
    case .count(let count):
      let occurrences = Occurrences(schedule, in: context.calendar)
      var last = context.now
      for _ in 0..<min(count, ScheduleDraft.maxCount) {
        guard let next = occurrences.next(after: last) else { break }
        last = next
      }
      return last
    }
  }

  private func recurrence(
    in context: InputContext, _ completed: CivilDate?
  ) throws -> Recurrence {
    let first = start ?? firstInMonths(context.today)
    func cadence(_ interval: Int) -> Recurrence.Cadence { .init(interval: interval, start: first) }
    switch rule {
    case nil, .later: return .once(nextDate(in: context))
    case .once(let date):
      // `24 dec at 9:00 and 17:00`
      return times.map { $0.count > 1 } ?? false && !isWeekday ? .dates([date]) : .once(date)
    case .complete(let recurrence): return recurrence
    case .daily(let interval): return .daily(cadence(interval))
    case .days(let count, let interval): return .days(count, cadence(interval))
    case .cyclic(let on, let off):
      return .cyclic(on: on, off: off, start: start ?? firstInMonths(nextDate(in: context)))
    case .dates(let dates): return .dates(dates)
    case .elapsed(let minutes): return .elapsed(minutes: minutes, start: first)
    case .weekly(nil, let interval): return .weekly([first.weekday], cadence(interval))
    case .monthly(nil, let interval): return .monthly([.day(first.day)], cadence(interval))
    case .annual(nil, nil, let interval):
      return .annual(months: [first.month], [.day(first.day)], cadence(interval))
    case .annual(nil, let days?, let interval):
      return try anchored(.annual(months: [first.month], days, cadence(interval)), in: context)
    case .annual(let months?, let days, let interval):
      return try anchored(
        .annual(months: months, days ?? [.day(first.day)], cadence(interval)), in: context)
    case .weekly(let days?, let interval):
      return try anchored(.weekly(days, cadence(interval)), in: context)
    case .monthly(let days?, let interval):
      return try anchored(.monthly(days, cadence(interval)), in: context)
    case .afterDone(let period):
      return .afterDone(
        period,
        .init(start: start ?? context.today.adding(period), completionsAfter: completed))
    }
  }

  /// Returns the first date from another one on that is in the months of the draft.
  private func firstInMonths(_ date: CivilDate) -> CivilDate {
    guard let months, !months.isEmpty, !months.contains(date.month) else { return date }
    return (0..<366).lazy.map { date.adding(days: $0) }.first { months.contains($0.month) } ?? date
  }

  /// Returns the next date on which the time of day is in the future.
  private func nextDate(in context: InputContext) -> CivilDate {
    let isLater = (times ?? []).contains { $0 > context.now.time }
    return isLater ? context.today : context.today.adding(days: 1)
  }

  /// Returns a rule whose intervals are counted from its next date, unless the input names the start.
  ///
  /// The next date of `every other tuesday` is always the next Tuesday.
  private func anchored(_ recurrence: Recurrence, in context: InputContext) throws -> Recurrence {
    guard start == nil, let cadence = recurrence.cadence, cadence.interval > 1 else {
      return recurrence
    }
    let plain = try Schedule(
      recurrence.with(.init(start: cadence.start)), times: times ?? [context.standardTime],
      limits: Schedule.Limits(months: months ?? []))
    guard let next = Occurrences(plain, in: context.calendar).next(after: context.now) else {
      return recurrence
    }
    return recurrence.with(.init(interval: cadence.interval, start: next.date))
  }
}

extension Recurrence {
  /// Returns the rule with another interval and start. A rule without them is unchanged.
  public func with(_ cadence: Cadence) -> Recurrence {
    switch self {
    case .once, .dates, .elapsed, .afterDone: self
    case .cyclic(let on, let off, _): .cyclic(on: on, off: off, start: cadence.start)
    case .daily: .daily(cadence)
    case .weekly(let days, _): .weekly(days, cadence)
    case .monthly(let days, _): .monthly(days, cadence)
    case .annual(let months, let days, _): .annual(months: months, days, cadence)
    case .days(let count, _): .days(count, cadence)
    }
  }
}

extension InputContext {
  /// Returns the civil time a number of seconds from now, rounded up to a whole minute.
  func soon(after seconds: Int64) -> CivilDateTime {
    let moment = instant.adding(seconds: seconds)
    let rest = moment.milliseconds % 60_000
    return zone.civil(
      at: rest == 0 ? moment : Instant(milliseconds: moment.milliseconds + 60_000 - rest))
  }
}
