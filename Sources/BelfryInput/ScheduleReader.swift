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
      guard try readClause() else { throw reader.notUnderstood }
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

  /// Reads `this saturday and sunday`: the next of each.
  private mutating func readComingWeekdays() throws(InputError) -> Bool {
    guard draft.rule == nil else { return false }
    let days: [Weekday]? = try reader.attempt { (reader) throws(InputError) in
      _ = reader.accept("on")
      guard reader.accept("this coming", "this", "coming"), Vocabulary.weekday(reader.word) != nil,
        let days = try reader.weekdays()?.days, days.count > 1
      else { return nil }
      return days
    }
    guard let days else { return false }
    let first = days.map { reader.resolved(.weekday($0, afterToday: false)) }
    draft.rule = .dates(Set(first).sorted())
    return true
  }

  /// Reads the only week of weekdays: `sat and sun this weekend`, `mon and wed next week`.
  private mutating func readWeekOfWeekdays() -> Bool {
    guard case .weekly(let days?, 1)? = draft.rule, draft.start == nil,
      !reader.tokens.contains(where: { $0.text == "every" || $0.text == "each" })
    else { return false }
    let today = reader.context.today
    let distance: Int
    if reader.accept("next week") {
      distance = 1
    } else if reader.accept("this week", "this weekend") {
      distance = 0
    } else {
      return false
    }
    let monday = CalendarUnit.isoWeek.start(distance, from: today)
    let dates = Set(days).map { monday.adding(days: $0.rawValue) }.filter { $0 >= today }
    guard !dates.isEmpty else { return false }
    draft.rule = .dates(dates.sorted())
    return true
  }

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

  private mutating func readDate() throws(InputError) -> Bool {
    let start = reader.position
    // `once every 2 weeks`
    if reader.word == "once", ["every", "each"].contains(reader.peek(1)) {
      reader.advance()
      return true
    }
    _ = reader.accept("once on", "once", "on")
    let isRead = try readDateOrDelay()
    if !isRead { reader.position = start }
    return isRead
  }

  /// The dates of the rule; none if it is another rule.
  private var datesOfRule: [CivilDate] {
    switch draft.rule {
    case .once(let date): [date]
    case .dates(let dates): dates
    default: []
    }
  }

  /// Adds a date behind `,` or `and` to the earlier ones: `3 dec, 14 jan and 5 feb`.
  ///
  /// - Returns: False if the earlier part is no date, or one of them is a weekday.
  private mutating func addListed(_ reading: DateReading) -> Bool {
    let earlier = datesOfRule
    if case .weekday = reading { return false }
    guard case .some(let previous) = date, let last = earlier.last,
      earlier.count < Recurrence.maxDates
    else { return false }
    if case .weekday = previous { return false }
    // `28 dec 2027, 3 jan`
    var hasYear = false
    if case .fixed = previous { hasYear = true }
    let date =
      hasYear && last > reader.context.today
      ? reader.resolved(reading, from: last) : reader.resolved(reading)
    draft.rule = .dates(earlier + [date])
    self.date = reading
    return true
  }

  /// Reads `3, 10 and 17 dec`, and `24 to 31 january` as a range.
  private mutating func readDaysOfOneMonth() throws(InputError) -> Bool {
    guard direction == .future else { return false }
    if draft.start == nil, draft.end == nil, let (first, last) = try daysOfMonth() {
      draft.start = first
      draft.end = .until(Schedule.Limits.end(of: last))
      return true
    }
    let start = reader.position
    let isListed = reader.followsSeparator
    guard draft.rule == nil || isListed, let dates = try reader.daysOfOneMonth() else {
      return false
    }
    if draft.rule == nil {
      try add(.dates(dates))
      return true
    }
    // `24, 26 november and 1, 3 december`
    let earlier = datesOfRule
    guard let last = earlier.last, earlier.count + dates.count <= Recurrence.maxDates else {
      reader.position = start
      return false
    }
    draft.rule = .dates(earlier + dates.map { $0 < last ? $0.adding(Period(1, .year)) : $0 })
    return true
  }

  private mutating func readDateOrDelay() throws(InputError) -> Bool {
    if try readDaysOfOneMonth() { return true }
    // `24 nov, 26 nov` and `24 nov 26 nov`
    let isListed = reader.followsSeparator || (isDayOfYear && timeReadings.isEmpty)
    // `in 3 days` is a date, but `in 1 day 2 h` a moment.
    var dated = reader
    let dateOnly = try dated.date()
    let delay: Int64? = try reader.attempt { (reader) throws(InputError) in
      if reader.accept("in", "after", "+") {
        try reader.refuseYear()
      } else if !reader.hasSign, !reader.isQuantity {
        return nil
      }
      // A date may be more than a year ahead.
      let length = dateOnly == nil ? try reader.length() : try? reader.length()
      guard let seconds = length else { return nil }
      return dateOnly == nil || reader.position > dated.position ? seconds : nil
    }
    if let delay {
      try add(.later(delay))
      return true
    }
    if let moment = reader.civilDateTime() {
      timeReadings.append(
        TimeReading(time: moment.time, isBareHour: false, source: moment.time.description))
      try add(.once(moment.date))
      return true
    }
    let first = reader.position
    guard let reading = try reader.date() else { return false }
    isMovingFeast = isMovingFeast || reader.hasMovingFeast(from: first)
    if case .dayOfMonth = reading {
      // `every friday the 13th`
      if draft.rule != nil { throw .severalRules }
      let date = reader.resolved(reading)
      throw .ambiguous(
        reader.source(from: first),
        readings: [date.dayAndMonth, "\(EnglishNumber.ordinal(date.day)) of every month"])
    }
    // `1 dec - 10 dec daily`
    if draft.start == nil, ["-", "to", "until"].contains(reader.word) {
      draft.start = reader.resolved(reading)
      try readEndOfRange()
      if draft.end != nil { return true }
      draft.start = nil
    }
    if isListed, direction == .future, addListed(reading) { return true }
    date = reading
    if case .weekday(_, afterToday: false) = reading { draft.isWeekday = true }
    try add(.once(direction == .past ? reader.resolvedInPast(reading) : reader.resolved(reading)))
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

  /// True if the date has no year: `24 dec`.
  private var isDayOfYear: Bool {
    if case .dayOfYear? = date { true } else { false }
  }

  // MARK: The end of the input

  private mutating func finished() throws(InputError) -> ScheduleDraft {
    // `mon 9am for 4 weeks` and `sunday evenings at 7`
    let isRepeated = draft.end != nil || partOfDay?.words.hasSuffix("s") == true
    if isRepeated, case .once(let day)? = draft.rule, case .weekday? = date {
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
