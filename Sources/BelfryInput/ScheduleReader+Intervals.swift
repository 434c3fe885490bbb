import BelfryCore

/// Intervals of hours and minutes, with their windows: `every 20 min from 9 to 17`, `every 7 hours`.
extension ScheduleReader {
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
  func startsLater(than step: Int) -> Bool {
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

  /// True for `every 8 hours for 7 days`, whose doses are counted from now.
  var isCourse: Bool {
    guard let step, step >= 120, draft.start == nil, minuteOfHour == nil,
      draft.rule == nil || draft.rule == .daily(1)
    else { return false }
    return switch draft.end {
    case .count: true
    case .lasting(let period): period.unit == .day || period.unit == .week
    default: false
    }
  }

  /// Ends `every 8 hours for 7 days` after 21 times, also if today's first ones have passed.
  mutating func countDoses() {
    let isWindow = window.map { $0.from != $0.to } ?? false
    guard case .lasting(let period)? = draft.end, case .daily(1)? = draft.rule, !isWindow,
      draft.start ?? reader.context.today == reader.context.today,
      period.unit == .day || period.unit == .week, let times = draft.times, times.count > 1
    else { return }
    let days = period.count * (period.unit == .week ? 7 : 1)
    draft.end = .count(min(days * times.count, ScheduleDraft.maxCount))
  }
}
