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

  // MARK: Times of day

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
