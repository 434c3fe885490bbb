import BelfryCore

extension ScheduleReader {
  mutating func readStart() throws(InputError) -> Bool {
    // `beginning of next year`
    guard reader.peek(1) != "of",
      reader.accept(
        "from", "starting on", "starting from", "starting", "starts on", "starts", "start on",
        "beginning on", "beginning", "since", "as of", "first on", "counted from")
    else { return false }
    if draft.start != nil { throw .repeated(.start) }
    let first = reader.position
    var isWeekday = false
    if reader.accept("now on", "now") {
      draft.start = reader.context.today
      startsNow = true
    } else if reader.isYear {
      let text = reader.word
      guard let year = reader.year(), case .annual? = draft.rule else { throw .numberAlone(text) }
      draft.start = CivilDate(year: year, month: 1, day: 1)
    } else if let date = reader.startOfUnit() {
      draft.start = date
    } else if step != nil, window == nil, let first = reader.civilDateTime() {
      draft.start = first.date
      window = (first.time, first.time)
      return true
    } else if reader.accept("at"), let times = try reader.times(.any) {
      try startAt(times)
      return true
    } else if let times = try? reader.times(.distinct) {
      // `starting noon tomorrow`
      try startAt(times)
      return true
    } else if let range = try daysOfMonth() {
      draft.start = range.0
      if draft.end != nil { throw .repeated(.end) }
      draft.end = .until(Schedule.Limits.end(of: range.1))
      return true
    } else if let month = try monthOfStart() {
      draft.start = month
    } else {
      guard let date = try reader.date() else { throw reader.missing(.date) }
      draft.start = reader.nearest(date)
      if case .weekday = date { isWeekday = true }
      // `every 8 hours from tomorrow 14:00`
      let time: TimeReading? = try reader.attempt { (reader) throws(InputError) in
        let isAfterAt = reader.accept("at", "@")
        return try reader.time(isAfterAt ? .any : .distinct)
      }
      if let time {
        guard window == nil, timeReadings.isEmpty else { throw .repeated(.time) }
        if step == nil {
          timeReadings = [time]
        } else {
          window = (time.time, time.time)
        }
      }
    }
    if isWeekday { try askForWeekdays(from: first) }
    try readEndOfRange()
    return true
  }

  /// Reads the date behind the times of `starting at 9`.
  private mutating func startAt(_ times: [TimeReading]) throws(InputError) {
    // `every 6 hours starting at 7am`
    if let step, step > 60, window == nil, times.count == 1 {
      window = (times[0].time, times[0].time)
    } else {
      // `every day starting at 9`
      guard timeReadings.isEmpty, step == nil else { throw .repeated(.time) }
      timeReadings = times
    }
    if draft.start == nil { try readDateOfStart() }
  }

  /// Reads the date in `from 10pm tonight`.
  mutating func readDateOfStart() throws(InputError) {
    let date: DateReading? = try reader.attempt { (reader) throws(InputError) in
      _ = reader.accept("on")
      return try reader.date()
    }
    if let date { draft.start = reader.nearest(date) }
  }

  /// Reads `24 to 31 january`, a range of days of one month.
  mutating func daysOfMonth() throws(InputError) -> (CivilDate, CivilDate)? {
    let start = reader.position
    guard let read = reader.rangeOfDays else { return nil }
    reader.advance(read.count)
    guard read.last <= CivilDate.length(ofMonth: read.month, year: 2000) else {
      throw .noSuchDate(reader.source(from: start))
    }
    let year = reader.year()
    func date(_ day: Int) -> CivilDate? {
      year.map { CivilDate(year: $0, month: read.month, day: day) }
    }
    let last = date(read.last) ?? reader.resolved(.dayOfYear(month: read.month, day: read.last))
    return (CivilDate(year: last.year, month: read.month, day: read.first), last)
  }

  /// Reads `january` as the start of a schedule: its first day.
  private mutating func monthOfStart() throws(InputError) -> CivilDate? {
    try reader.attempt { (reader) throws(InputError) in
      _ = reader.accept("in")
      guard let month = Vocabulary.month(reader.word), Vocabulary.number(reader.peek(1)) == nil,
        Vocabulary.ordinal(reader.peek(1)) == nil
      else { return nil }
      reader.advance()
      if let year = reader.year() { return CivilDate(year: year, month: month, day: 1) }
      let today = reader.context.today
      if month == today.month { return CivilDate(year: today.year, month: month, day: 1) }
      return reader.resolved(.dayOfYear(month: month, day: 1))
    }
  }

  /// Throws an error for `from monday to friday`, which may be one week or every week.
  private func askForWeekdays(from first: Int) throws(InputError) {
    var reader = reader
    guard let start = draft.start, reader.accept("to", "-", "until", "till", "through", "thru"),
      let reading = try reader.date(), case .weekday = reading
    else { return }
    let end = reader.resolved(reading, from: start)
    throw .ambiguous(
      reader.source(from: first - 1),
      readings: [
        "\(start.weekday.abbreviation)-\(end.weekday.abbreviation)", "from \(start) to \(end)",
      ])
  }

  /// Reads the end of `from 1 dec to 10 dec`.
  mutating func readEndOfRange() throws(InputError) {
    guard let start = draft.start else { return }
    let end: CivilDate? = try reader.attempt { (reader) throws(InputError) in
      guard reader.accept("to", "-", "until", "till", "through", "thru") else { return nil }
      return try reader.date().map { reader.resolved($0, from: start) }
    }
    guard let end else { return }
    if draft.end != nil { throw .repeated(.end) }
    draft.end = .until(Schedule.Limits.end(of: end))
  }

  /// Throws an error for `every 20 min until 18:00`, which may be each day or only today.
  private func refuseEndOfWindow(from start: Int) throws(InputError) {
    guard step != nil, window == nil else { return }
    var reader = reader
    guard let time = try? reader.time(.distinct), reader.isAtEnd else { return }
    throw .ambiguous(
      reader.source(from: start),
      readings: [
        "from \(reader.context.now.time.hour):00 to \(time.time)", "until today \(time.time)",
      ])
  }

  mutating func readEnd() throws(InputError) -> Bool {
    let start = reader.position
    var end: ScheduleDraft.End?
    if reader.accept(
      "until", "till", "til", "through", "thru", "up to and including", "up to", "ending on",
      "ending", "ends on", "ends",
      "to the end of", "end on")
    {
      try refuseEndOfWindow(from: start)
      end = .until(try reader.end(hasTimes: !timeReadings.isEmpty || step != nil))
      _ = reader.accept("inclusive", "included")
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
      } else if reader.source(from: start).lowercased() == "only" {
        // `24 dec 9am only`
        reader.position = start
      } else if isMarked {
        throw reader.missing(.length)
      }
    }
    guard let end else { return false }
    if draft.end != nil { throw .repeated(.end) }
    draft.end = end
    return true
  }

  /// Reads `once` and `only` behind another clause, where they may only confirm it.
  mutating func readRemark() -> Bool {
    if reader.position == 0 { return readRemarkAtStart() }
    if acceptOnce() {
      isOnce = true
      return true
    }
    return reader.accept("only")
  }

  private mutating func acceptOnce() -> Bool {
    reader.accept("just once", "only once", "once only", "once")
  }

  /// Reads the remark in `once, in 20 minutes` and `only on sundays`. `once in two weeks` may be a rule.
  private mutating func readRemarkAtStart() -> Bool {
    let start = reader.position
    if acceptOnce() {
      isOnce = [",", "on", "at"].contains(reader.word)
      if !isOnce { reader.position = start }
      return isOnce
    }
    return !reader.peek(1).isEmpty && reader.accept("only")
  }

  /// Checks that `once` agrees with the rule. `one time` means the same if there is no rule that repeats.
  mutating func settleOnce() throws(InputError) {
    let repeats: Bool
    switch draft.rule {
    case nil: repeats = step != nil
    case .once, .dates, .later: repeats = false
    default: repeats = true
    }
    if !repeats, case .count(1)? = draft.end {
      draft.end = nil
      isOnce = true
    }
    guard isOnce, repeats || draft.end != nil else { return }
    // `daily at 8, once`
    guard case .daily(1)? = draft.rule, step == nil else { throw .unsupported(.onceOfRule) }
    timesPerDay = timesPerDay ?? 1
  }

  mutating func readExceptions() throws(InputError) -> Bool {
    guard
      reader.accept(
        "except for", "except on", "except", "excluding", "but not on", "but not", "without",
        "omitting", "not on", "not", "but")
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
        guard reader.acceptSeparator() || reader.accept("or", "nor") else { return nil }
        _ = reader.accept("on", "not on")
        return try reader.isException() ? true : nil
      }
      if isFollowed == nil { return true }
    }
  }

  private mutating func readException() throws(InputError) -> Bool {
    _ = reader.accept("on", "from")
    if reader.accept("holidays", "a holiday", "public holidays", "bank holidays", "holiday") {
      try set(.skip)
      return true
    }
    if let dates = reader.datesOfUnit() {
      omittedDates += dates
      return true
    }
    if let (first, last) = try daysOfMonth() {
      let count = last.dayNumber - first.dayNumber
      draft.exceptions = (draft.exceptions ?? []) + (0...count).map { first.adding(days: $0) }
      return true
    }
    if let dates = try reader.daysOfOneMonth() {
      draft.exceptions = (draft.exceptions ?? []) + dates
      return true
    }
    let isBetween = reader.accept("between")
    if let first = try reader.attempt({ (reader) throws(InputError) in try reader.exceptionDate() })
    {
      let from = draft.start ?? reader.context.today
      let date = reader.resolved(first, from: from)
      var dates = [date]
      let last: CivilDate? = try reader.attempt { (reader) throws(InputError) in
        guard reader.accept("-", "to", "through", "thru") || isBetween && reader.accept("and")
        else { return nil }
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
    if let weekdays = try reader.weekdays() {
      omittedWeekdays += weekdays.days
      return true
    }
    // `not in august`
    let months: [Int]? = try reader.attempt { (reader) throws(InputError) in
      _ = reader.accept("in")
      return try reader.months()
    }
    guard let months else { return false }
    omittedMonths += months
    return true
  }

  /// Reads the treatment of holidays: `before holidays`, `or the workday after a holiday`.
  mutating func readHolidays() throws(InputError) -> Bool {
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

  mutating func readZone() throws(InputError) -> Bool {
    // `10am new york`: a city alone is a zone only at the end, behind a time. It may belong to a title elsewhere.
    guard let name = try reader.zone(allowsCity: !timeReadings.isEmpty) else { return false }
    if draft.zone != nil { throw .repeated(.zone) }
    draft.zone = name
    return true
  }
}
