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
  /// The part of the day that the input names, and its words.
  private var partOfDay: (part: Vocabulary.PartOfDay, words: String)?
  /// The minute of each hour in `every hour at :30`.
  private var minuteOfHour: Int?

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
    if try readWindow() { return true }
    if try readPartOfDay() { return true }
    if try readStart() { return true }
    if try readTimesPerDay() { return true }
    if try readEnd() { return true }
    if try readExceptions() { return true }
    if try readHolidays() { return true }
    if try readInterval() { return true }
    if ["every", "each"].contains(reader.word), try readTimes() { return true }
    if let reading = try reader.attempt({ (reader) throws(InputError) in try reader.rule() }) {
      try add(reading.rule)
      if reading.isOnWorkdays { draft.onHoliday = draft.onHoliday ?? .skip }
      return true
    }
    if try readMinuteOfHour() { return true }
    if try readTimes() { return true }
    if try readMonth() { return true }
    if try readDate() { return true }
    return try readZone()
  }

  // MARK: Parts of the day

  /// Reads `morning`, `in the evening` or `every night`, which select the half of the day of a time.
  private mutating func readPartOfDay() throws(InputError) -> Bool {
    let start = reader.position
    if reader.accept("nightly") {
      if partOfDay != nil { throw .repeated(.time) }
      partOfDay = (.night, "nightly")
      try add(.daily(1))
      return true
    }
    let isEvery = reader.accept("every", "each")
    if !isEvery { _ = reader.accept("in the", "at", "during the", "by") }
    guard let part = Vocabulary.partOfDay(reader.word) else {
      reader.position = start
      return false
    }
    reader.advance()
    if partOfDay != nil { throw .repeated(.time) }
    partOfDay = (part, reader.source(from: start))
    if isEvery { try add(.daily(1)) }
    return true
  }

  /// Moves the times that have no half of the day into the part of the day that the input names.
  private mutating func selectHalves() throws(InputError) {
    guard let (part, words) = partOfDay else {
      try InputReader.checkHalves(timeReadings)
      return
    }
    if timeReadings.isEmpty {
      if step == nil { throw .unsupported(.partOfDay) }
      return
    }
    for (index, reading) in timeReadings.enumerated() {
      let time = reading.lacksHalf ? part.select(reading.time) : reading.time
      guard let time, part.contains(time) else { throw .noSuchTime("\(words) \(reading.source)") }
      timeReadings[index] = reading.with(time)
      guard part == .night, time.hour < 5 else { continue }
      // The night of Sunday to Monday, or of Saturday to Sunday?
      switch draft.rule {
      case .weekly(let days?, _):
        let next = days.compactMap { Weekday(rawValue: ($0.rawValue + 1) % 7) }
        throw .ambiguous(
          reader.source(from: 0),
          readings: [days, next].map { days in
            "\(days.map(\.abbreviation).joined(separator: ",")) \(time)"
          })
      case .once(let day) where date != nil && !reading.isAfterMidnight:
        throw .ambiguous(
          reader.source(from: 0), readings: [day, day.adding(days: 1)].map { "\($0) \(time)" })
      default: break
      }
    }
  }

  /// Throws an error for `friday midnight`, which may be the start or the end of the day, and moves `tonight at 1` to the
  /// next date.
  private mutating func placeMidnight() throws(InputError) {
    guard case .once(let day)? = draft.rule, date != nil else { return }
    if timeReadings.contains(where: \.isAfterMidnight), day == reader.context.today {
      draft.rule = .once(day.adding(days: 1))
    } else if timeReadings.contains(where: { $0.source == "midnight" && !$0.isAfterMidnight }) {
      throw .ambiguous(
        reader.source(from: 0), readings: [day, day.adding(days: 1)].map { "\($0) 0:00" })
    }
  }

  /// Reads `at :30` and `at 15 past`, the minute of each hour.
  private mutating func readMinuteOfHour() throws(InputError) -> Bool {
    guard step == 60, minuteOfHour == nil else { return false }
    let minute: Int? = try reader.attempt { (reader) throws(InputError) in
      _ = reader.accept("at", "@")
      if reader.word.first == ":", let minute = Vocabulary.number(String(reader.word.dropFirst())) {
        reader.advance()
        return minute
      }
      guard let minute = Vocabulary.number(reader.word) else { return nil }
      reader.advance()
      _ = reader.accept("minutes", "min")
      return reader.accept("past the hour", "past", "after the hour") ? minute : nil
    }
    guard let minute else { return false }
    guard (0..<60).contains(minute) else { throw .noSuchTime(":\(minute)") }
    minuteOfHour = minute
    return true
  }

  // MARK: Times of day

  private mutating func readTimes() throws(InputError) -> Bool {
    // `every 9am`, `every noon`
    let every: [TimeReading]? = try reader.attempt { (reader) throws(InputError) in
      reader.accept("every", "each") ? try reader.times(.distinct) : nil
    }
    if let every {
      guard timeReadings.isEmpty else { throw .repeated(.time) }
      timeReadings = every
      try add(.daily(1))
      return true
    }
    let isAfterAt = reader.accept("at", "@")
    // `every mon 9, wed 9`
    if draft.rule != nil, Vocabulary.number(reader.word) != nil, reader.peek(1) == ",",
      Vocabulary.weekday(reader.peek(2)) != nil
    {
      throw .severalRules
    }
    // `tuesday 9` ends with a time.
    let isLast = reader.position > 0 && reader.peek(1).isEmpty && timeReadings.isEmpty
    guard let readings = try reader.times(isAfterAt || isLast ? .any : .distinct) else {
      if isAfterAt { throw reader.missing(.time) }
      return false
    }
    guard timeReadings.isEmpty else { throw .repeated(.time) }
    timeReadings = readings
    return true
  }

  /// Reads the window of an interval: `from 9 to 17`, `9-17`.
  private mutating func readWindow() throws(InputError) -> Bool {
    let range: (CivilTime, CivilTime)? = try reader.attempt { (reader) throws(InputError) in
      let isMarked = reader.accept("from", "between")
      if let range = try reader.timeRange(isMarked: isMarked) { return range }
      // `every 8 hours from 6am`
      guard isMarked, let from = try? reader.time(.distinct) else { return nil }
      return (from.time, from.time)
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
      let isTime = unit == .minute || unit == .hour
      guard isJoined || isTime, let seconds = try? reader.length(), seconds % 60 == 0 else {
        return nil
      }
      if seconds < 86_400 { return Int(seconds / 60) }
      // `every 48 hours` is every other day.
      guard isTime || reader.peek(-1).last == "h" else { return nil }
      guard seconds % 86_400 == 0 else { throw .unevenInterval(minutes: Int(seconds / 60)) }
      return Int(seconds / 60)
    }
    guard let minutes else { return false }
    if minutes >= 1440 {
      try add(minutes == 1440 ? .daily(1) : .days(minutes / 1440, 1))
      return true
    }
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
        } else if reader.word.last == "x",
          let number = Vocabulary.number(String(reader.word.dropLast()))
        {
          number
        } else {
          nil
        }
      guard let count else { return nil }
      if reader.word == "times" || reader.peek(1) == "times" {
        reader.advance(2)
      } else if reader.word.last == "x" {
        reader.advance()
      }
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
    if reader.accept("now on", "now") {
      draft.start = reader.context.today
    } else if let date = reader.startOfUnit() {
      draft.start = date
    } else if reader.accept("at"), let times = try reader.times(.any) {
      // `every day starting at 9`
      guard timeReadings.isEmpty, step == nil else { throw .repeated(.time) }
      timeReadings = times
      return true
    } else {
      guard let date = try reader.date() else { throw reader.missing(.date) }
      draft.start = reader.nearest(date)
    }
    try readEndOfRange()
    return true
  }

  /// Reads the end of `from 1 dec to 10 dec`.
  private mutating func readEndOfRange() throws(InputError) {
    guard let start = draft.start else { return }
    let end: CivilDate? = try reader.attempt { (reader) throws(InputError) in
      guard reader.accept("to", "-", "until", "till", "through", "thru") else { return nil }
      return try reader.date().map { reader.resolved($0, from: start) }
    }
    guard let end else { return }
    if draft.end != nil { throw .repeated(.end) }
    draft.end = .until(Schedule.Limits.end(of: end))
  }

  /// Reads `in june` behind a rule: its occurrences in the next June.
  private mutating func readMonth() throws(InputError) -> Bool {
    switch draft.rule {
    case .daily(1)?, .weekly(.some, 1)?: break
    default: return false
    }
    guard draft.start == nil, draft.end == nil, reader.word == "in" || reader.word == "of",
      let month = Vocabulary.month(reader.peek(1))
    else { return false }
    reader.advance(2)
    let today = reader.context.today
    let year = reader.year() ?? (month < today.month ? today.year + 1 : today.year)
    let first = CivilDate(year: year, month: month, day: 1)
    draft.start = max(first, today)
    draft.end = .until(Schedule.Limits.end(of: reader.endOfMonth(month, year: year)))
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
      let isMarked = reader.accept("for the next", "for", "only")
      if let count = Vocabulary.number(reader.word),
        ["times", "time", "occurrences", "occurrence"].contains(reader.peek(1))
      {
        reader.advance(2)
        guard (1...ScheduleDraft.maxCount).contains(count) else {
          throw .outOfRange(reader.source(from: start))
        }
        end = .count(count)
      } else if reader.word.first == "x",
        let count = Vocabulary.number(String(reader.word.dropFirst())),
        count > 0
      {
        reader.advance()
        end = .count(min(count, ScheduleDraft.maxCount))
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
    if reader.accept("holidays", "a holiday", "public holidays", "bank holidays", "holiday") {
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
    // `10am new york`: a city alone is a zone only at the end, behind a time. It may belong to a title elsewhere.
    guard let name = try reader.zone(allowsCity: !timeReadings.isEmpty) else { return false }
    if draft.zone != nil { throw .repeated(.zone) }
    draft.zone = name
    return true
  }

  // MARK: The rule

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

  private mutating func readDateOrDelay() throws(InputError) -> Bool {
    // `in 3 days` is a date, but `in 1 day 2 h` a moment.
    var dated = reader
    let dateOnly = try dated.date()
    let delay: Int64? = try reader.attempt { (reader) throws(InputError) in
      if reader.accept("in", "after", "+") {
        try reader.refuseYear()
      } else if !reader.acceptJoinedPlus(), !reader.isQuantity {
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
    if case .dayOfMonth = reading {
      let date = reader.resolved(reading)
      let day = "\(date.day) \(CivilDate.monthNames[date.month - 1])"
      throw .ambiguous(
        reader.source(from: first),
        readings: [day, "\(EnglishNumber.ordinal(date.day)) of every month"])
    }
    // `1 dec - 10 dec daily`
    if draft.start == nil, ["-", "to", "until"].contains(reader.word) {
      draft.start = reader.resolved(reading)
      try readEndOfRange()
      if draft.end != nil { return true }
      draft.start = nil
    }
    date = reading
    if case .weekday(_, afterToday: false) = reading { draft.isWeekday = true }
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
    // `mon 9am for 4 weeks` and `sunday evenings at 7`
    let isRepeated = draft.end != nil || partOfDay?.words.hasSuffix("s") == true
    if isRepeated, case .once(let day)? = draft.rule, case .weekday? = date {
      draft.rule = .weekly([day.weekday], 1)
    }
    if !omittedWeekdays.isEmpty { try omitWeekdays() }
    if case .later? = draft.rule, !timeReadings.isEmpty || window != nil { throw .repeated(.time) }
    try selectHalves()
    try placeMidnight()
    if timeReadings.isEmpty, step == nil, reader.isAboutTonight {
      throw .unsupported(.partOfDay)
    }
    if case .afterDone? = draft.rule, case .count? = draft.end {
      throw .unsupported(.countedCompletions)
    }
    if let step {
      // `every 2h from 9 to 17 on mon` rings on each Monday.
      if case .once(let day)? = draft.rule, case .weekday(_, afterToday: false)? = date {
        draft.rule = .weekly([day.weekday], 1)
      }
      guard timeReadings.isEmpty else { throw .repeated(.time) }
      if draft.rule == nil { draft.rule = .daily(1) }
      draft.times = try times(every: step)
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
  private func times(every step: Int) throws(InputError) -> [CivilTime] {
    let first = minuteOfHour.flatMap { CivilTime(hour: 0, minute: $0) } ?? .midnight
    guard let window, window.from != window.to else {
      guard 1440 % step == 0 else { throw .unevenInterval(minutes: step) }
      let start = window?.from ?? first
      let minutes = stride(from: 0, to: 1440, by: step)
      return minutes.compactMap { minute in
        let minute = (start.hour * 60 + start.minute + minute) % 1440
        return CivilTime(hour: minute / 60, minute: minute % 60)
      }.sorted()
    }
    if window.from < window.to, minuteOfHour == nil {
      return TimeWindow(from: window.from, to: window.to, interval: step)?.times ?? []
    }
    // A window over midnight belongs to two days.
    guard window.from > window.to, minuteOfHour == nil, draft.rule == .daily(1) else {
      throw .emptyWindow(window.from, window.to)
    }
    let from = window.from.hour * 60 + window.from.minute
    let to = window.to.hour * 60 + window.to.minute + 1440
    return stride(from: from, through: to, by: step).compactMap { minute in
      CivilTime(hour: minute / 60 % 24, minute: minute % 60)
    }.sorted()
  }
}

extension Vocabulary.PartOfDay {
  /// Returns the time of a part of the day for one without a half of the day; nil if the part has none.
  func select(_ time: CivilTime) -> CivilTime? {
    let hour = time.hour % 12
    let isAfternoon =
      switch self {
      case .morning: false
      case .afternoon: true
      case .evening: hour != 0
      case .night: hour > 5
      }
    return CivilTime(hour: hour + (isAfternoon ? 12 : 0), minute: time.minute)
  }

  /// Returns true if a time is in the part of the day, generously.
  func contains(_ time: CivilTime) -> Bool {
    switch self {
    case .morning: (1..<12).contains(time.hour)
    case .afternoon: (12..<19).contains(time.hour)
    case .evening: (15...23).contains(time.hour) || time == .midnight
    case .night: time.hour >= 18 || time.hour < 6
    }
  }
}
