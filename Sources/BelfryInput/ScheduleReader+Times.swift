import BelfryCore

extension ScheduleReader {
  // MARK: Parts of the day

  /// Reads `morning`, `in the evening` or `every night`, which select the half of the day of a time.
  mutating func readPartOfDay() throws(InputError) -> Bool {
    let start = reader.position
    if reader.accept("nightly") {
      if partOfDay != nil { throw .repeated(.time) }
      partOfDay = (.night, "nightly")
      try add(.daily(1))
      return true
    }
    let isEvery = reader.accept("every", "each")
    if !isEvery { _ = reader.accept("in the", "at", "during the", "by") }
    let part: Vocabulary.PartOfDay
    if reader.accept("eod", "end of day", "end of the day") {
      part = .evening
    } else if let named = Vocabulary.partOfDay(reader.word) {
      part = named
      reader.advance()
    } else {
      reader.position = start
      return false
    }
    if partOfDay != nil { throw .repeated(.time) }
    partOfDay = (part, reader.source(from: start))
    if isEvery { try add(.daily(1)) }
    return true
  }

  /// Moves the times that have no half of the day into the part of the day that the input names.
  mutating func selectHalves() throws(InputError) {
    guard let (part, words) = partOfDay else {
      try InputReader.checkHalves(timeReadings)
      return
    }
    let isAlone = timeReadings.isEmpty
    if isAlone {
      if step != nil { return }
      // `morning` alone is more often a part of a title than the next morning.
      guard draft.rule != nil || Vocabulary.partOfDay(words.lowercased()) == nil,
        let time = part.time(reader.context.dayTimes())
      else { throw .unsupported(.partOfDay) }
      timeReadings = [TimeReading(time: time, isBareHour: false, source: words)]
    }
    for (index, reading) in timeReadings.enumerated() {
      let time = reading.lacksHalf ? part.select(reading.time) : reading.time
      guard let time, isAlone || part.contains(time) else {
        throw .noSuchTime("\(words) \(reading.source)")
      }
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
  mutating func placeMidnight() throws(InputError) {
    guard case .once(let day)? = draft.rule, date != nil else { return }
    if timeReadings.contains(where: \.isAfterMidnight), day == reader.context.today {
      draft.rule = .once(day.adding(days: 1))
    } else if timeReadings.contains(where: { $0.source == "midnight" && !$0.isAfterMidnight }) {
      throw .ambiguous(
        reader.source(from: 0), readings: [day, day.adding(days: 1)].map { "\($0) 0:00" })
    }
  }

  /// Reads `at :30` and `at 15 past`, the minute of each hour.
  mutating func readMinuteOfHour() throws(InputError) -> Bool {
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

  mutating func readTimes() throws(InputError) -> Bool {
    // `7, 13 and 19 every day`
    if isListBeforeDaily, let times = try reader.times(.any) {
      guard timeReadings.isEmpty else { throw .repeated(.time) }
      timeReadings = times
      return true
    }
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

  /// True before the list of numbers in `7, 13 and 19 every day`.
  private var isListBeforeDaily: Bool {
    guard Vocabulary.number(reader.word) != nil, [",", "and", "&"].contains(reader.peek(1)) else {
      return false
    }
    // Words that are tried here are not those that an error names.
    var probe = InputReader(reader.rest, reader.context)
    guard let times = try? probe.times(.any), times.count > 1 else { return false }
    return ["daily", "everyday"].contains(probe.word)
      || ["every", "each"].contains(probe.word) && probe.peek(1) == "day"
  }

  /// Reads the window of an interval: `from 9 to 17`, `9-17`.
  mutating func readWindow() throws(InputError) -> Bool {
    let hasStep = step != nil
    let range: (CivilTime, CivilTime)? = try reader.attempt { (reader) throws(InputError) in
      let isMarked = reader.accept("from", "between")
      // `yearly on 15 june from 2028`
      if isMarked, !hasStep, reader.isYear, !["-", "to"].contains(reader.peek(1)) { return nil }
      // `every hour 9 to 5` has an interval already.
      if let range = try reader.timeRange(isMarked: isMarked || hasStep) { return range }
      // `every 8 hours from 6am`, `every 12 hours from 8`, but not `from 8 dec`
      guard isMarked, let from = try? reader.time(hasStep ? .any : .distinct),
        Vocabulary.month(reader.word) == nil
      else { return nil }
      return (from.time, from.time)
    }
    guard let range else { return false }
    if window != nil { throw .repeated(.time) }
    window = range
    if range.0 == range.1, draft.start == nil { try readDateOfStart() }
    return true
  }

  /// Reads `every 20 min`.
  mutating func readInterval() throws(InputError) -> Bool {
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
      return Int(seconds / 60)
    }
    guard let minutes else { return false }
    if minutes % 1440 == 0 {
      try add(minutes == 1440 ? .daily(1) : .days(minutes / 1440, 1))
      return true
    }
    if step != nil { throw .repeated(.time) }
    step = minutes
    return true
  }

  /// Reads `twice a week on mon and thu` and `twice a month on the 5th and 20th`, whose days must be as many.
  mutating func readTimesPerPeriod() throws(InputError) -> Bool {
    let rule: ScheduleDraft.Rule? = try reader.attempt { (reader) throws(InputError) in
      guard let count = reader.timesCount() else { return nil }
      if reader.accept("a week", "per week", "each week", "every week", "weekly") {
        _ = reader.acceptSeparator()
        _ = reader.accept("on")
        guard let days = try reader.weekdays()?.days, days.count == count else { return nil }
        return .weekly(days, 1)
      }
      if reader.accept("a year", "per year", "each year", "every year") {
        _ = reader.acceptSeparator()
        _ = reader.accept("on", "in")
        guard case .annual(let months?, let days?, 1)? = try reader.daysOfYear(1),
          months.count * days.count == count
        else { return nil }
        return .annual(months, days, 1)
      }
      guard reader.accept("a month", "per month", "each month", "every month", "monthly") else {
        return nil
      }
      _ = reader.accept("on")
      guard let days = try reader.monthDays(bareNumbers: true)?.days, days.count == count else {
        return nil
      }
      return .monthly(days, 1)
    }
    guard let rule else { return false }
    try add(rule)
    return true
  }

  /// Reads `next 4 tuesdays`.
  mutating func readNextWeekdays() throws(InputError) -> Bool {
    guard reader.word == "next" || reader.word == "the" && reader.peek(1) == "next" else {
      return false
    }
    let read: (Weekday, Int)? = try reader.attempt { (reader) throws(InputError) in
      _ = reader.accept("the")
      reader.advance()
      guard let count = Vocabulary.number(reader.word), count > 1,
        Vocabulary.isPlural(reader.peek(1)), let weekday = Vocabulary.weekday(reader.peek(1))
      else { return nil }
      reader.advance(2)
      return (weekday, count)
    }
    guard let (weekday, count) = read else { return false }
    if draft.end != nil { throw .repeated(.end) }
    try add(.weekly([weekday], 1))
    draft.end = .count(min(count, ScheduleDraft.maxCount))
    return true
  }

  /// Reads `twice a day`.
  mutating func readTimesPerDay() throws(InputError) -> Bool {
    let count: Int? = try reader.attempt { (reader) throws(InputError) in
      guard let count = reader.timesCount() else { return nil }
      return reader.accept("a day", "per day", "each day", "every day", "daily") ? count : nil
    }
    guard let count else { return false }
    timesPerDay = count
    try add(.daily(1))
    return true
  }

  // MARK: The end of the input

  /// Throws an error for a number alone, such as `at 7`, that may mean this evening or tomorrow morning.
  func askForHalfOfDay() throws(InputError) {
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

  /// Makes the rule for an interval that does not fit into a day, and counts from its start or from now.
  ///
  /// - Returns: False if the interval fits, or belongs to some days or to a window.
  mutating func countElapsedTime(every step: Int) -> Bool {
    let isWindow = window.map { $0.from != $0.to } ?? false
    guard 1440 % step != 0 || startsLater(than: step), !isWindow, minuteOfHour == nil,
      timeReadings.isEmpty,
      draft.rule == nil || draft.rule == .daily(1)
    else { return false }
    let context = reader.context
    let first = CivilDateTime(
      draft.start ?? context.today,
      window?.from ?? (draft.start == nil ? context.now.time : context.standardTime))
    draft.rule = .elapsed(step)
    (draft.start, draft.times) = (first.date, [first.time])
    guard case .lasting(let period)? = draft.end else { return true }
    let last = CivilDateTime(first.date.adding(period), first.time)
    draft.end = .until(CivilDateTime(minuteNumber: last.minuteNumber - 1))
    return true
  }

  /// Makes the rule for `tomorrow every 30 min from 22:00 to 2:00`, a window on one date.
  ///
  /// - Returns: False for any other rule.
  mutating func placeWindowOnDate(every step: Int) -> Bool {
    guard case .once(let day)? = draft.rule, let date, let window, window.from != window.to,
      timeReadings.isEmpty, minuteOfHour == nil
    else { return false }
    if case .weekday(_, afterToday: false) = date { return false }
    if window.from < window.to {
      draft.rule = .dates([day])
      draft.times = TimeWindow(from: window.from, to: window.to, interval: step)?.times ?? []
    } else {
      draft.rule = .elapsed(step)
      (draft.start, draft.times) = (day, [window.from])
      draft.end = .until(CivilDateTime(day.adding(days: 1), window.to))
    }
    return true
  }

  /// Returns true for `every 8 hours from 10pm`, before which a time of the same day is still to come.
  private func startsLater(than step: Int) -> Bool {
    guard let from = window?.from else { return false }
    let (now, today) = (reader.context.now, reader.context.today)
    let start = draft.start ?? today
    if start > today { return from.minuteOfDay >= step }
    return start == today && from > now.time
      && from.minuteOfDay - step > now.time.minuteOfDay
  }

  /// Returns the times of day at an interval, in a window or all day.
  func times(every step: Int) throws(InputError) -> [CivilTime] {
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
    if window.from < window.to, let minuteOfHour {
      return (window.from.hour...window.to.hour).compactMap { hour in
        CivilTime(hour: hour, minute: minuteOfHour)
      }.filter { (window.from...window.to).contains($0) }
    }
    if window.from < window.to {
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

extension InputReader {
  /// Reads `once`, `twice`, `3 times a`, of which the article stays, and `3x`.
  fileprivate mutating func timesCount() -> Int? {
    if accept("once") { return 1 }
    if accept("twice") { return 2 }
    if accept("thrice") { return 3 }
    if let number = Vocabulary.number(word), peek(1) == "times",
      ["a", "per", "each", "every"].contains(peek(2))
    {
      advance(2)
      return number
    }
    guard word.last == "x", let number = Vocabulary.number(String(word.dropLast())) else {
      return nil
    }
    advance()
    return number
  }
}
