import BelfryCore

/// The parser of everything that people type as a time, a date, a length or a schedule.
public enum Input {
  // MARK: Times and dates

  /// Returns a time of day: `9am`, `9:30pm`, `9`, `0900`, `21.30`, `noon`, `18:00`.
  public static func time(_ text: String, in context: InputContext) throws(InputError) -> CivilTime
  {
    let times = try times(text, in: context)
    guard times.count == 1 else { throw .repeated(.time) }
    return times[0]
  }

  /// Returns the times of day of a list: `9am, 12 and 17:00`, with windows such as `9-17/2h` and `/20m`.
  public static func times(
    _ text: String, in context: InputContext
  ) throws(InputError) -> [CivilTime] {
    let elements = text.split(separator: ",").map(String.init)
    if elements.contains(where: { $0.contains("/") }) {
      var times: [CivilTime] = []
      for element in elements {
        times +=
          element.contains("/")
          ? try window(element, in: context) : try self.times(element, in: context)
      }
      return times
    }
    var reader = try reader(text, context)
    _ = reader.accept("at")
    guard let times = try reader.times(.any) else { throw reader.notUnderstood }
    try reader.finish()
    try InputReader.checkHalves(times)
    return times.map(\.time)
  }

  /// Returns the times of a window: `9-17/2h`, or `/20m` for the whole day.
  private static func window(
    _ text: String, in context: InputContext
  ) throws(InputError) -> [CivilTime] {
    let parts = text.filter { $0 != " " }.split(separator: "/", omittingEmptySubsequences: false)
      .map(String.init)
    guard parts.count == 2 else { throw .notUnderstood(text, suggestion: nil) }
    let seconds = try length(parts[1], in: context)
    let ends: (CivilTime, CivilTime)
    if parts[0].isEmpty {
      ends = (.midnight, CivilTime(hour: 23, minute: 59) ?? .midnight)
    } else {
      var reader = try reader(parts[0], context)
      guard let range = try reader.timeRange(isMarked: true), reader.isAtEnd else {
        throw .notUnderstood(text, suggestion: nil)
      }
      ends = range
    }
    guard ends.0 < ends.1 else { throw .emptyWindow(ends.0, ends.1) }
    guard seconds % 60 == 0,
      let window = TimeWindow(
        from: ends.0, to: ends.1, interval: Int(seconds / 60))
    else { throw .outOfRange(parts[1]) }
    return window.times
  }

  /// Returns the weekdays of a list: `mon-fri`, `mo,fr`, `weekends`, `workdays`.
  public static func weekdays(
    _ text: String, in context: InputContext
  ) throws(InputError) -> [Weekday] {
    var reader = try reader(text, context)
    if reader.acceptWorkday() {
      try reader.finish()
      return context.calendar.workdays.days
    }
    guard let reading = try reader.weekdays() else { throw reader.notUnderstood }
    try reader.finish()
    return reading.days
  }

  /// Returns the days of a month: `5, last`, `first mon`, `last workday`.
  public static func monthDays(
    _ text: String, in context: InputContext
  ) throws(InputError) -> [Recurrence.MonthDay] {
    var reader = try reader(text, context)
    guard let reading = try reader.monthDays(bareNumbers: true) else { throw reader.notUnderstood }
    try reader.finish()
    return reading.days
  }

  /// Returns a date: `tomorrow`, `next fri`, `24 Dec`, `24.12.`, `2026-12-24`, `in 3 days`.
  public static func date(_ text: String, in context: InputContext) throws(InputError) -> CivilDate
  {
    var reader = try reader(text, context)
    _ = reader.accept("on")
    guard let date = try reader.date() else { throw reader.notUnderstood }
    try reader.finish()
    return reader.resolved(date)
  }

  /// Returns a date from which cycles are counted: `2 nov` is the nearest one, `next week` its Monday.
  public static func start(
    _ text: String, in context: InputContext
  ) throws(InputError) -> CivilDate {
    var reader = try reader(text, context)
    if let date = reader.startOfUnit(), reader.isAtEnd { return date }
    reader.position = 0
    _ = reader.accept("on")
    guard let reading = try reader.date() else { throw reader.notUnderstood }
    try reader.finish()
    return reader.nearest(reading)
  }

  /// Returns the dates of a list: `24 Dec, 31 Dec`, `2026-12-24 - 2027-01-02`.
  ///
  /// - Parameter first: The date from which dates without a year are searched; nil for today.
  public static func dates(
    _ text: String, in context: InputContext, from first: CivilDate? = nil
  ) throws(InputError) -> [CivilDate] {
    var draft = ScheduleDraft()
    draft.start = first
    var reader = ScheduleReader(try reader("except " + text, context), draft)
    let read = try reader.read()
    guard let dates = read.exceptions, read.rule == nil, read.onHoliday == nil else {
      throw .missing(.date, after: text)
    }
    return dates
  }

  /// Returns true if a word begins schedules and hardly continues titles: `every`, `daily`, `10`.
  public static func startsSchedule(_ word: String) -> Bool {
    let word = word.lowercased()
    return word.first?.isNumber == true || ruleWords.contains(word)
  }

  /// The words with which rules begin, and which hardly continue titles.
  static let ruleWords: Set = [
    "every", "each", "daily", "weekly", "monthly", "yearly", "annually", "quarterly",
  ]

  /// Returns the latest possible occurrence of a schedule that ends on a date: `2027-06-30`, `june`, `30 Jun`.
  public static func end(_ text: String, in context: InputContext) throws(InputError)
    -> CivilDateTime
  {
    var reader = try reader(text, context)
    _ = reader.accept("on")
    let end = try reader.end()
    try reader.finish()
    return end
  }

  /// Returns a length of time in seconds: `90` (minutes), `20m`, `1h30m`, `10 min`, `2 days`.
  public static func length(_ text: String, in context: InputContext) throws(InputError) -> Int64 {
    var reader = try reader(text, context)
    _ = reader.accept("for", "in")
    guard let length = try reader.length() else { throw reader.notUnderstood }
    try reader.finish()
    return length
  }

  /// Returns a number of days, weeks, months or years: `90d`, `2 weeks`, `6mo`, `a year`.
  public static func period(_ text: String, in context: InputContext) throws(InputError) -> Period {
    var reader = try reader(text, context)
    guard let period = try reader.period() else { throw reader.notUnderstood }
    try reader.finish()
    return period
  }

  /// Returns the name of a time zone: `berlin` is `Europe/Berlin`.
  public static func zone(_ text: String, in context: InputContext) throws(InputError) -> String {
    try context.zoneNames.name(text)
  }

  // MARK: Schedules

  /// Returns the parts of a schedule: `every other tue 7pm except 2026-12-29`, a line of cron, or the text of
  /// `OnCalendar` or `RRULE`.
  ///
  /// - Throws: `InputError.notUnderstood` with the whole text as it may be meant, if one word is misspelled.
  public static func schedule(
    _ text: String, in context: InputContext
  ) throws(InputError) -> ScheduleDraft {
    do throws(InputError) {
      return try understood(text, in: context)
    } catch {
      guard case .notUnderstood(let word, _) = error else { throw error }
      throw .notUnderstood(word, suggestion: correction(of: word, in: text, context))
    }
  }

  static func understood(
    _ text: String, in context: InputContext
  ) throws(InputError) -> ScheduleDraft {
    if let instant = InstantText.instant(text) {
      let civil = context.zone.civil(at: instant)
      var draft = ScheduleDraft()
      draft.rule = .once(civil.date)
      draft.times = [civil.time]
      return draft
    }
    if let draft = try CronLine.schedule(text) { return draft }
    if let draft = try OnCalendarText.schedule(text, in: context) { return draft }
    var local = ScheduleReader(try reader(text, context), ScheduleDraft())
    var failure: InputError?
    do throws(InputError) { _ = try local.read() } catch { failure = error }
    // The dates are those in the zone of the phrase, in which a time may not have passed yet.
    if let zone = local.draft.zone.flatMap(context.zoneNames.rules) {
      var zoned = ScheduleReader(try reader(text, context.with(zone: zone)), ScheduleDraft())
      return try zoned.read()
    }
    if let failure { throw failure }
    return local.draft
  }

  static func reader(_ text: String, _ context: InputContext) throws(InputError) -> InputReader {
    let reader = InputReader(text, context)
    if reader.isAtEnd { throw .empty }
    return reader
  }
}
