import BelfryCore

/// A reader of schedules as people write them: `every other tue 7pm except 2026-12-29`.
///
/// The grammar is in the article *Schedules*. The clauses may be in any order.
struct ScheduleReader {
  var reader: InputReader
  var draft: ScheduleDraft
  /// The weekdays that the input leaves out of its rule.
  var omittedWeekdays: [Weekday] = []
  /// The months that the input leaves out of its rule.
  var omittedMonths: [Int] = []
  /// The dates of a week or month that the input leaves out.
  var omittedDates: [CivilDate] = []
  /// The date of the latest completion, from which the rule counts.
  var completed: CivilDate?
  /// True for `from now`.
  var startsNow = false
  /// True if the date hangs on Easter.
  var isMovingFeast = false
  /// The only months of the rule: `from april to january`.
  var selectedMonths: [Int]?
  /// The interval of `every 20 min`, in minutes, and its window.
  var step: Int?
  var window: (from: CivilTime, to: CivilTime)?
  /// The times of day as they were read.
  var timeReadings: [TimeReading] = []
  /// The date of a one-time schedule, as it was read.
  var date: DateReading?
  /// The number of occurrences a day that the input names: `twice a day`.
  var timesPerDay: Int?
  /// The part of the day that the input names, and its words.
  var partOfDay: (part: Vocabulary.PartOfDay, words: String)?
  /// The minute of each hour in `every hour at :30`.
  var minuteOfHour: Int?
  /// True for `once` behind another clause: `14 jan 10:15 once`.
  var isOnce = false

  /// The direction in which a time of day without a date is searched.
  let direction: Moment.Direction

  /// Creates a reader.
  ///
  /// - Parameter draft: The parts that are known already.
  init(_ reader: InputReader, _ draft: ScheduleDraft, _ direction: Moment.Direction = .future) {
    self.reader = reader
    self.draft = draft
    self.direction = direction
  }

  /// Returns the schedule of the words up to the end of the input.
  mutating func read() throws(InputError) -> ScheduleDraft {
    do throws(InputError) {
      return try readWords()
    } catch {
      // No reading of an ambiguous word fulfills a condition.
      if case .ambiguous = error, reader.hasCondition { throw .unsupported(.condition) }
      throw error
    }
  }

  private mutating func readWords() throws(InputError) -> ScheduleDraft {
    guard !reader.isAtEnd else { throw .empty }
    while !reader.isAtEnd {
      if reader.acceptSeparator() {
        // `every mon 9, wed 17`
        if draft.rule != nil, !timeReadings.isEmpty, Vocabulary.weekday(reader.word) != nil {
          throw .severalRules
        }
        continue
      }
      guard try readClause() || readRemark() else { throw reader.notUnderstood }
    }
    return try finished()
  }

  private mutating func readClause() throws(InputError) -> Bool {
    if try readMonths() { return true }
    if try readWindow() { return true }
    if try readPartOfDay() { return true }
    if try readStart() { return true }
    if try readLastCompletion() { return true }
    if try readComingWeekdays() { return true }
    if readWeekOfWeekdays() { return true }
    if try readTimesPerDay() { return true }
    if try readTimesPerPeriod() { return true }
    if try readNextWeekdays() { return true }
    if try readEnd() { return true }
    if try readExceptions() { return true }
    if try readHolidays() { return true }
    if try readInterval() { return true }
    if try readYearlyFeast() { return true }
    if ["every", "each"].contains(reader.word), try readTimes() { return true }
    if let day = reader.endOfThisOrNextUnit() {
      date = .fixed(day)
      try add(.once(day))
      return true
    }
    if let reading = try reader.attempt({ (reader) throws(InputError) in try reader.rule() }) {
      try add(reading.rule)
      if case .afterDone = reading.rule, reader.followsLast { _ = try readDateOfLastCompletion() }
      if let start = reading.start { draft.start = draft.start ?? reader.nearest(start) }
      if reading.isOnWorkdays { draft.onHoliday = draft.onHoliday ?? .skip }
      return true
    }
    if try readMinuteOfHour() { return true }
    if try readTimes() { return true }
    if try readMonth() { return true }
    if try readYear() { return true }
    if try readDate() { return true }
    return try readZone()
  }

  // MARK: The rule

  /// Reads `every christmas eve`.
  private mutating func readYearlyFeast() throws(InputError) -> Bool {
    let feast: DateReading? = try reader.attempt { (reader) throws(InputError) in
      var moving = reader
      _ = try moving.movingFeast()
      return reader.accept("every", "each") ? reader.fixedFeast() : nil
    }
    guard case .dayOfYear(let month, let day)? = feast else { return false }
    try add(.annual([month], [.day(day)], 1))
    return true
  }

  mutating func add(_ rule: ScheduleDraft.Rule) throws(InputError) {
    guard let earlier = draft.rule else {
      draft.rule = rule
      return
    }
    // `sundays may to october every year`
    if selectedMonths != nil, case .annual(nil, nil, 1) = rule { return }
    try refuseDatesOfYears(earlier, rule)
    if let combined = dated(earlier, rule) ?? dated(rule, earlier) {
      draft.rule = combined
      return
    }
    guard let combined = combined(earlier, rule) ?? combined(rule, earlier) else {
      throw .severalRules
    }
    draft.rule = combined
  }

  /// Throws an error for `easter every year` and for `10 apr, 20 dec every year`.
  private func refuseDatesOfYears(
    _ a: ScheduleDraft.Rule, _ b: ScheduleDraft.Rule
  ) throws(InputError) {
    switch (a, b) {
    case (.once, .annual(nil, nil, _)), (.annual(nil, nil, _), .once):
      if isMovingFeast { throw .unsupported(.movingFeast) }
    case (.dates, .annual(nil, nil, _)), (.annual(nil, nil, _), .dates):
      throw .unsupported(.unequalDates)
    default: break
    }
  }

  /// Returns the rule of an interval that counts from a date: `every 28 days 13 dec`; nil for any other two.
  private mutating func dated(
    _ date: ScheduleDraft.Rule, _ interval: ScheduleDraft.Rule
  ) -> ScheduleDraft.Rule? {
    guard case .once(let start) = date, draft.start == nil else { return nil }
    if case .weekday? = self.date { return nil }
    switch interval {
    case .days(2..., _), .weekly(nil, 2...):
      draft.start = start
      return interval
    case .monthly(nil, 2...):
      draft.start = start
      return interval
    default: return nil
    }
  }

  /// Returns the rule of two that complete each other: `fri every week`, `every 2 weeks on mon`; nil if they do not.
  private func combined(
    _ a: ScheduleDraft.Rule, _ b: ScheduleDraft.Rule
  ) -> ScheduleDraft.Rule? {
    switch (a, b) {
    case (.daily(1), .daily(1)): return .daily(1)
    case (.daily(1), .cyclic(let on, let off)): return .cyclic(on: on, off: off)
    case (.weekly(let days?, 1), .weekly(let more?, 1)): return .weekly(days + more, 1)
    case (.monthly(let days?, 1), .monthly(let more?, 1)): return .monthly(days + more, 1)
    case (.daily(1), .weekly(let days?, 1)): return .weekly(days, 1)
    case (.weekly(let days?, 1), .weekly(nil, let interval)): return .weekly(days, interval)
    case (.monthly(let days?, 1), .monthly(nil, let interval)): return .monthly(days, interval)
    case (.annual(let months?, let days?, 1), .annual(let more?, let others?, 1))
    where days == others:
      return .annual(months + more, days, 1)
    case (.annual(let months?, let days?, 1), .annual(nil, nil, let interval)):
      return .annual(months, days, interval)
    case (.monthly(let days?, 1), .annual(nil, nil, let interval)):
      return .annual(nil, days, interval)
    case (.once(let day), .weekly(nil, let interval)):
      guard case .weekday? = date else { return nil }
      return .weekly([day.weekday], interval)
    case (.once(let day), .annual(nil, nil, let interval)):
      guard isDayOfYear || reader.isBesideDayOfYear else { return nil }
      return .annual([day.month], [.day(day.day)], interval)
    default: return nil
    }
  }

  // MARK: The end of the input

  private mutating func finished() throws(InputError) -> ScheduleDraft {
    try settleOnce()
    // `mon 9am for 4 weeks` and `sunday evenings at 7`
    let isRepeated = draft.end != nil || partOfDay?.words.hasSuffix("s") == true
    if isRepeated, !isOnce, case .once(let day)? = draft.rule, case .weekday? = date {
      draft.rule = .weekly([day.weekday], 1)
    }
    if !omittedWeekdays.isEmpty { try omitWeekdays() }
    if !omittedMonths.isEmpty { try omitMonths() }
    try selectMonths()
    try startFromCompletion()
    omitDates()
    if case .later? = draft.rule, !timeReadings.isEmpty || window != nil { throw .repeated(.time) }
    try selectHalves()
    try placeMidnight()
    if timeReadings.isEmpty, step == nil, reader.isThisEvening {
      guard let time = reader.timeOfThisEvening else { throw .unsupported(.partOfDay) }
      timeReadings = [TimeReading(time: time, isBareHour: false, source: "")]
    }
    if case .afterDone? = draft.rule, case .count? = draft.end {
      throw .unsupported(.countedCompletions)
    }
    if startsNow || isCourse, step != nil, window == nil {
      window = (reader.context.now.time, reader.context.now.time)
    }
    // `at 6, 14 and 22 for a week`
    if draft.rule == nil, draft.end != nil, timeReadings.count > 1 { draft.rule = .daily(1) }
    if let step, countElapsedTime(every: step) || placeWindowOnDate(every: step) { return draft }
    if let step {
      // `every 2h from 9 to 17 on mon` rings on each Monday.
      if case .once(let day)? = draft.rule, case .weekday(_, afterToday: false)? = date {
        draft.rule = .weekly([day.weekday], 1)
      }
      guard timeReadings.isEmpty else { throw .repeated(.time) }
      if draft.rule == nil { draft.rule = .daily(1) }
      draft.times = try times(every: step)
      if window == nil, minuteOfHour == nil, step >= 120 { draft.wholeDayInterval = step }
    } else if let window, window.from == window.to, timeReadings.isEmpty {
      // `daily from 6am`
      draft.times = [window.from]
    } else if let window {
      if !timeReadings.isEmpty, let reading = reader.dateOfWindow(window) { throw reading }
      throw .windowAlone(window.from, window.to)
    } else if !timeReadings.isEmpty {
      draft.times = timeReadings.map(\.time)
    }
    if let timesPerDay, timesPerDay != draft.times?.count ?? 1 {
      throw .timesPerDay(said: timesPerDay, given: draft.times?.count ?? 0)
    }
    countDoses()
    try askForHalfOfDay()
    return draft
  }

  /// Leaves out the dates of `next week` on which the rule has its weekdays.
  private mutating func omitDates() {
    if omittedDates.isEmpty { return }
    var dates = omittedDates
    if case .weekly(let days?, _)? = draft.rule { dates.removeAll { !days.contains($0.weekday) } }
    draft.exceptions = (draft.exceptions ?? []) + dates
  }

  private mutating func omitWeekdays() throws(InputError) {
    let days: [Weekday] =
      switch draft.rule {
      case .daily(1): Weekday.allCases
      case .weekly(let days?, 1): days
      case nil where step != nil: Weekday.allCases
      default: throw .unsupported(.omittedWeekdays)
      }
    let rest = days.filter { !omittedWeekdays.contains($0) }
    if rest.isEmpty { throw .severalRules }
    draft.rule = .weekly(rest, 1)
  }
}
