import BelfryCore

/// Rules without weekdays and dates of their own: `90 days after done`, `21 days on, 7 days off`, `3 days before the 25th`.
extension InputReader {
  /// Reads `90 days after done`.
  mutating func afterDone() throws(InputError) -> Period? {
    try attempt { (reader) throws(InputError) in
      let isFirst = reader.accept("again")
      _ = reader.accept("every")
      if reader.accept("after") {
        guard let period = try reader.period(), isFirst || reader.acceptCompletion() else {
          return nil
        }
        return period
      }
      guard let period = try reader.period(), reader.accept("after", "from"),
        reader.acceptCompletion()
      else { return nil }
      return period
    }
  }

  /// Reads `21 days on, 7 days off`, `3 weeks on then 1 week off` and `21 on 7 off`.
  mutating func cycle() throws(InputError) -> ScheduleDraft.Rule? {
    let start = position
    let lengths: (Int, Int)? = try attempt { (reader) throws(InputError) in
      _ = reader.accept("cycle of", "cycles of", "for")
      guard let on = try reader.lengthOfPhase(), reader.accept("on") else { return nil }
      _ = reader.acceptSeparator()
      _ = reader.accept("then", "followed by")
      guard let off = try reader.lengthOfPhase(unit: on.unit), reader.accept("off") else {
        return nil
      }
      return (on.days, off.days)
    }
    guard let (on, off) = lengths else { return nil }
    guard (1...Recurrence.longest).contains(on), (1...Recurrence.longest).contains(off) else {
      throw .outOfRange(source(from: start))
    }
    return .cyclic(on: on, off: off)
  }

  /// Reads `3 days before the 25th of every month` and `2 days before the last day of the month`.
  mutating func dayBesideDayOfMonth() throws(InputError) -> ScheduleDraft.Rule? {
    try attempt { (reader) throws(InputError) in
      let isDay = reader.accept("the day", "day")
      guard let period = isDay ? Period(1, .day) : try reader.period(),
        period.unit == .day || period.unit == .week
      else { return nil }
      let isBefore = reader.accept("before")
      guard isBefore || reader.accept("after", "following") else { return nil }
      _ = reader.accept("the")
      let days = period.count * (period.unit == .week ? 7 : 1)
      guard let reading = try reader.monthDays(bareNumbers: false), reading.days.count == 1,
        case .monthly(_, 1)? = try reader.ofMonths(reading.days)
      else { return nil }
      switch reading.days[0] {
      case .weekday, .workday: throw .unsupported(.besideWeekday)
      case .day(let day) where !isBefore && day + days <= 28: return .monthly([.day(day + days)], 1)
      case _ where !isBefore: throw .unsupported(.combination)
      // The day before the 1st is the last one of the month before.
      case .day(let day) where day <= days && days - day < 28:
        return .monthly([.fromEnd(days - day + 1)], 1)
      case .day(let day) where day <= 28 && day > days: return .monthly([.day(day - days)], 1)
      case .fromEnd(let number) where number + days <= 28:
        return .monthly([.fromEnd(number + days)], 1)
      default: throw .unsupported(.combination)
      }
    }
  }

  /// Reads `21 days`, `3 weeks`, `21d` or a number alone, in the unit given.
  mutating func lengthOfPhase(
    unit: Period.Unit = .day
  ) throws(InputError) -> (days: Int, unit: Period.Unit)? {
    var (count, unit) = (0, unit)
    if let period = try period() {
      (count, unit) = (period.count, period.unit)
    } else if let number = Vocabulary.number(word) {
      count = number
      advance()
      _ = accept("nights", "night", "shifts", "shift")
    }
    guard (1...Recurrence.longest).contains(count), unit == .day || unit == .week else {
      return nil
    }
    return (count * (unit == .week ? 7 : 1), unit)
  }

  mutating func acceptCompletion() -> Bool {
    if acceptCompletedAction() { return true }
    return accept(
      "done", "it is done", "it was done", "it's done", "being done", "completion", "doing it",
      "completed", "i did it", "it was last done", "it was last changed", "it was changed",
      "last done", "last changed", "changed", "finished")
  }

  /// Reads `the last change`, `each service` and the like.
  private mutating func acceptCompletedAction() -> Bool {
    let start = position
    _ = accept("the")
    guard accept("last", "latest", "previous", "each", "every") else {
      position = start
      return false
    }
    let actions = [
      "change", "replacement", "service", "servicing", "cleaning", "check", "checkup", "check-up",
      "inspection", "test", "renewal", "refill", "visit", "appointment", "maintenance",
      "completion", "time",
    ]
    if accept(anyOf: actions) { return true }
    position = start
    return false
  }
}
