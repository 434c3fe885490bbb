import BelfryCore

/// Single dates and lists of them: `24 dec`, `in 3 days`, `3, 10 and 17 dec`, `sat and sun this weekend`.
extension ScheduleReader {
  mutating func readDate() throws(InputError) -> Bool {
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

  /// True if the date has no year: `24 dec`.
  var isDayOfYear: Bool {
    if case .dayOfYear? = date { true } else { false }
  }

  // MARK: Weekdays of one week

  /// Reads `this saturday and sunday`: the next of each.
  mutating func readComingWeekdays() throws(InputError) -> Bool {
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
  mutating func readWeekOfWeekdays() -> Bool {
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
}
