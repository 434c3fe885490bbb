import BelfryCore

/// A reader of schedules as people write them: `every other tue 7pm except 2026-12-29`.
///
/// The grammar is in the article *Schedules*. The clauses may be in any order.
struct ScheduleReader {
  var reader: InputReader
  private(set) var draft: ScheduleDraft
  /// The weekdays that the input leaves out of its rule.
  private var omittedWeekdays: [Weekday] = []
  /// The interval of `every 20 min`, in minutes, and its window.
  private var step: Int?
  private var window: (from: CivilTime, to: CivilTime)?
  /// The times of day as they were read.
  private var timeReadings: [TimeReading] = []
  /// The date of a one-time schedule, as it was read.
  private var date: DateReading?
  /// The number of occurrences a day that the input names: `twice a day`.
  private var timesPerDay: Int?

  /// The direction in which a time of day without a date is searched.
  private let direction: Moment.Direction

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
    guard !reader.isAtEnd else { throw .empty }
    while !reader.isAtEnd {
      if reader.acceptSeparator() { continue }
      guard try readClause() else { throw reader.notUnderstood }
    }
    return try finished()
  }

  private mutating func readClause() throws(InputError) -> Bool {
    if try readWindow() { return true }
    if try readStart() { return true }
    if try readTimesPerDay() { return true }
    if try readEnd() { return true }
    if try readExceptions() { return true }
    if try readHolidays() { return true }
    if try readInterval() { return true }
    if let reading = try reader.attempt({ (reader) throws(InputError) in try reader.rule() }) {
      try add(reading.rule)
      if reading.isOnWorkdays { draft.onHoliday = draft.onHoliday ?? .skip }
      return true
    }
    if try readTimes() { return true }
    if try readDate() { return true }
    return try readZone()
  }

  // MARK: Times of day

  private mutating func readTimes() throws(InputError) -> Bool {
    let isAfterAt = reader.accept("at", "@")
    // `tuesday 9` ends with a time.
    let isLast = reader.position > 0 && reader.peek(1).isEmpty && timeReadings.isEmpty
    guard let readings = try reader.times(isAfterAt || isLast ? .any : .distinct) else {
      if isAfterAt { throw reader.missing(.time) }
      try refusePartOfDay()
      return false
    }
    guard timeReadings.isEmpty else { throw .repeated(.time) }
    timeReadings = readings
    return true
  }

  private func refusePartOfDay() throws(InputError) {
    if reader.isPartOfDay { throw .unsupported(.partOfDay) }
  }

  /// Reads the window of an interval: `from 9 to 17`, `9-17`.
  private mutating func readWindow() throws(InputError) -> Bool {
    let range: (CivilTime, CivilTime)? = try reader.attempt { (reader) throws(InputError) in
      let isMarked = reader.accept("from", "between")
      guard let range = try reader.timeRange(isMarked: isMarked) else { return nil }
      return range
    }
    guard let range else { return false }
    if window != nil { throw .repeated(.time) }
    window = range
    return true
  }

  /// Reads `every 20 min`.
  private mutating func readInterval() throws(InputError) -> Bool {
    let minutes: Int? = try reader.attempt { (reader) throws(InputError) in
      if reader.accept("hourly") { return 60 }
      guard reader.accept("every", "each") else { return nil }
      if reader.accept("hour") { return 60 }
      if reader.accept("minute") { return 1 }
      if reader.accept("half hour", "half an hour") { return 30 }
      if reader.accept("other hour", "second hour") { return 120 }
      // `2 months` is no number of minutes.
      let isJoined = reader.word.first?.isNumber == true && reader.word.last?.isLetter == true
      let unit = Vocabulary.unit(reader.peek(1))
      guard isJoined || unit == .minute || unit == .hour, let seconds = try? reader.length(),
        seconds < 86_400, seconds % 60 == 0
      else { return nil }
      return Int(seconds / 60)
    }
    guard let minutes else { return false }
    if step != nil { throw .repeated(.time) }
    step = minutes
    return true
  }

  /// Reads `twice a day`.
  private mutating func readTimesPerDay() throws(InputError) -> Bool {
    let count: Int? = try reader.attempt { (reader) throws(InputError) in
      let count: Int? =
        if reader.accept("once") {
          1
        } else if reader.accept("twice") {
          2
        } else if let number = Vocabulary.number(reader.word), reader.peek(1) == "times",
          ["a", "per", "each", "every"].contains(reader.peek(2))
        {
          number
        } else {
          nil
        }
      guard let count else { return nil }
      if reader.word == "times" || reader.peek(1) == "times" { reader.advance(2) }
      return reader.accept("a day", "per day", "each day", "every day", "daily") ? count : nil
    }
    guard let count else { return false }
    timesPerDay = count
    try add(.daily(1))
    return true
  }

  // MARK: Limits

  private mutating func readStart() throws(InputError) -> Bool {
    guard
      reader.accept(
        "from", "starting on", "starting from", "starting", "starts on", "starts", "start on",
        "beginning on", "beginning", "since", "as of", "first on", "counted from")
    else { return false }
    if draft.start != nil { throw .repeated(.start) }
    guard let date = try reader.date() else { throw reader.missing(.date) }
    draft.start = reader.resolved(date)
    return true
  }

  private mutating func readEnd() throws(InputError) -> Bool {
    let start = reader.position
    var end: ScheduleDraft.End?
    if reader.accept(
      "until", "till", "til", "through", "thru", "up to", "ending on", "ending", "ends on", "ends",
      "to the end of", "end on")
    {
      end = .until(try reader.end(hasTimes: !timeReadings.isEmpty || step != nil))
    } else {
      let isMarked = reader.accept("for", "only")
      if let count = Vocabulary.number(reader.word),
        ["times", "time", "occurrences", "occurrence"].contains(reader.peek(1))
      {
        reader.advance(2)
        guard (1...ScheduleDraft.maxCount).contains(count) else {
          throw .outOfRange(reader.source(from: start))
        }
        end = .count(count)
      } else if isMarked, let period = try reader.period() {
        end = .lasting(period)
      } else if isMarked {
        throw reader.missing(.length)
      }
    }
    guard let end else { return false }
    if draft.end != nil { throw .repeated(.end) }
    draft.end = end
    return true
  }

  private mutating func readExceptions() throws(InputError) -> Bool {
    guard
      reader.accept(
        "except for", "except on", "except", "excluding", "but not on", "but not", "without",
        "omitting", "not on", "not")
    else { return false }
    var isAnything = false
    while true {
      let element = try readException()
      if !element {
        guard isAnything else { throw reader.missing(.date) }
        return true
      }
      isAnything = true
      let isFollowed = try reader.attempt { (reader) throws(InputError) -> Bool? in
        guard reader.acceptSeparator() else { return nil }
        _ = reader.accept("on", "not on")
        return try reader.isException() ? true : nil
      }
      if isFollowed == nil { return true }
    }
  }

  private mutating func readException() throws(InputError) -> Bool {
    _ = reader.accept("on")
    if reader.accept("holidays", "a holiday", "public holidays", "holiday") {
      try set(.skip)
      return true
    }
    if let first = try reader.attempt({ (reader) throws(InputError) in try reader.exceptionDate() })
    {
      let from = draft.start ?? reader.context.today
      let date = reader.resolved(first, from: from)
      var dates = [date]
      let last: CivilDate? = try reader.attempt { (reader) throws(InputError) in
        guard reader.accept("-", "to", "through", "thru") else { return nil }
        return try reader.date().map { reader.resolved($0, from: date) }
      }
      if let last {
        let count = last.dayNumber - date.dayNumber
        guard (0...Schedule.Limits.maxExceptions).contains(count) else {
          throw .unsupported(.tooManyDates)
        }
        dates = (0...count).map { date.adding(days: $0) }
      }
      draft.exceptions = (draft.exceptions ?? []) + dates
      return true
    }
    guard let weekdays = try reader.weekdays() else { return false }
    omittedWeekdays += weekdays.days
    return true
  }

  /// Reads the treatment of holidays: `before holidays`, `or the workday after a holiday`.
  private mutating func readHolidays() throws(InputError) -> Bool {
    let rule: Schedule.HolidayRule? = try reader.attempt { (reader) throws(InputError) in
      if reader.accept("skip holidays", "skipping holidays", "on holidays skip", "on holiday skip")
      {
        return .skip
      }
      if reader.accept("on holidays before", "on holiday before") { return .before }
      if reader.accept("on holidays after", "on holiday after") { return .after }
      _ = reader.accept("or")
      _ = reader.accept("the")
      _ = reader.acceptWorkday()
      let rule: Schedule.HolidayRule? =
        reader.accept("before") ? .before : reader.accept("after") ? .after : nil
      guard let rule else { return nil }
      return reader.accept("a holiday", "holidays", "the holiday", "public holidays", "if holiday")
        ? rule : nil
    }
    guard let rule else { return false }
    try set(rule)
    return true
  }

  private mutating func set(_ rule: Schedule.HolidayRule) throws(InputError) {
    if let other = draft.onHoliday, other != rule { throw .repeated(.holidays) }
    draft.onHoliday = rule
  }

  private mutating func readZone() throws(InputError) -> Bool {
    guard let name = try reader.zone() else { return false }
    if draft.zone != nil { throw .repeated(.zone) }
    draft.zone = name
    return true
  }

  // MARK: The rule

  private mutating func readDate() throws(InputError) -> Bool {
    let start = reader.position
    _ = reader.accept("once on", "once", "on")
    let isRead = try readDateOrDelay()
    if !isRead { reader.position = start }
    return isRead
  }

  private mutating func readDateOrDelay() throws(InputError) -> Bool {
    // `in 3 days` is a date, but `in 1 day 2 h` a moment.
    var dated = reader
    let dateOnly = try dated.date()
    let delay: Int64? = try reader.attempt { (reader) throws(InputError) in
      guard reader.accept("in") else { return nil }
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
    guard let reading = try reader.date() else { return false }
    if case .dayOfMonth = reading {
      let date = reader.resolved(reading)
      let day = "\(date.day) \(CivilDate.monthNames[date.month - 1])"
      throw .ambiguous(
        reader.source(from: reader.position - 1),
        readings: [day, "\(EnglishNumber.ordinal(date.day)) of every month"])
    }
    date = reading
    try add(.once(direction == .past ? reader.resolvedInPast(reading) : reader.resolved(reading)))
    return true
  }

  private mutating func add(_ rule: ScheduleDraft.Rule) throws(InputError) {
    guard let earlier = draft.rule else {
      draft.rule = rule
      return
    }
    guard let combined = combined(earlier, rule) ?? combined(rule, earlier) else {
      throw .severalRules
    }
    draft.rule = combined
  }

  /// Returns the rule of two that complete each other: `fri every week`, `every 2 weeks on mon`; nil if they do not.
  private func combined(
    _ a: ScheduleDraft.Rule, _ b: ScheduleDraft.Rule
  ) -> ScheduleDraft.Rule? {
    switch (a, b) {
    case (.daily(1), .daily(1)): return .daily(1)
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
      guard case .dayOfYear? = date else { return nil }
      return .annual([day.month], [.day(day.day)], interval)
    default: return nil
    }
  }

  // MARK: The end of the input

  private mutating func finished() throws(InputError) -> ScheduleDraft {
    if !omittedWeekdays.isEmpty { try omitWeekdays() }
    if case .afterDone? = draft.rule, case .count? = draft.end {
      throw .unsupported(.countedCompletions)
    }
    if let step {
      // `every 2h from 9 to 17 on mon` rings on each Monday.
      if case .once(let day)? = draft.rule, case .weekday(_, afterToday: false)? = date {
        draft.rule = .weekly([day.weekday], 1)
      }
      guard timeReadings.isEmpty else { throw .repeated(.time) }
      draft.times = try ScheduleReader.times(every: step, in: window)
      if draft.rule == nil { draft.rule = .daily(1) }
    } else if window != nil {
      throw .missing(.length, after: "every")
    } else if !timeReadings.isEmpty {
      draft.times = timeReadings.map(\.time)
    }
    if let timesPerDay, timesPerDay != draft.times?.count ?? 1 {
      throw .timesPerDay(said: timesPerDay, given: draft.times?.count ?? 1)
    }
    try askForHalfOfDay()
    return draft
  }

  /// Throws an error for a number alone, such as `at 7`, that may mean this evening or tomorrow morning.
  private func askForHalfOfDay() throws(InputError) {
    let today = reader.context.today
    let isToday: Bool =
      switch draft.rule {
      case nil: true
      case .once(let date): date == today
      default: false
      }
    guard isToday else { return }
    for reading in timeReadings {
      try Input.askForHalfOfDay(reading, direction, in: reader.context)
    }
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

  /// Returns the times of day at an interval, in a window or all day.
  private static func times(
    every step: Int, in window: (from: CivilTime, to: CivilTime)?
  ) throws(InputError) -> [CivilTime] {
    guard let window else {
      guard 1440 % step == 0 else { throw .unevenInterval(minutes: step) }
      let end = CivilTime(hour: 23, minute: 59) ?? .midnight
      return TimeWindow(from: .midnight, to: end, interval: step)?.times ?? []
    }
    guard window.from < window.to else { throw .emptyWindow(window.from, window.to) }
    return TimeWindow(from: window.from, to: window.to, interval: step)?.times ?? []
  }
}
