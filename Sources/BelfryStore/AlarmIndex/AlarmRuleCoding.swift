import BelfryCore

/// The writer of a summary's rule in the alarm index: a byte for its kind, its numbers, and the times of day.
enum RuleWriter {
  /// The kinds of rules. The raw values are in the index.
  enum Kind: UInt8 {
    case once, daily, weekly, monthly, annual, days, afterDone, cyclic, dates, elapsed
  }

  /// The kinds of days of a month. The raw values are in the index.
  enum DayKind: UInt8 {
    case day, fromEnd, weekday, workday
  }

  /// Appends a rule.
  static func append(_ rule: AlarmSummary.Rule, to bytes: inout [UInt8]) {
    func number(_ number: Int) {
      withUnsafeBytes(of: Int64(number)) { bytes.append(contentsOf: $0) }
    }
    func begin(_ kind: Kind, _ cadence: Recurrence.Cadence? = nil) {
      bytes.append(kind.rawValue)
      guard let cadence else { return }
      number(cadence.interval)
      number(cadence.start.dayNumber)
    }
    func list(_ values: [Int]) {
      bytes.append(UInt8(values.count))
      for value in values { bytes.append(UInt8(value)) }
    }
    func monthDays(_ days: [Recurrence.MonthDay]) {
      bytes.append(UInt8(days.count))
      for day in days { append(day, to: &bytes) }
    }
    switch rule.recurrence {
    case .once(let date):
      begin(.once)
      number(date.dayNumber)
    case .daily(let cadence): begin(.daily, cadence)
    case .weekly(let days, let cadence):
      begin(.weekly, cadence)
      list(days.map(\.rawValue))
    case .monthly(let days, let cadence):
      begin(.monthly, cadence)
      monthDays(days)
    case .annual(let months, let days, let cadence):
      begin(.annual, cadence)
      list(months)
      monthDays(days)
    case .days(let count, let cadence):
      begin(.days, cadence)
      number(count)
    case .cyclic(let on, let off, let start):
      begin(.cyclic, .init(start: start))
      number(on)
      number(off)
    case .dates(let dates):
      begin(.dates)
      number(dates.count)
      for date in dates { number(date.dayNumber) }
    case .elapsed(let minutes, let start):
      begin(.elapsed)
      number(minutes)
      number(start.dayNumber)
    case .afterDone(let period, let origin):
      begin(.afterDone)
      number(period.count)
      bytes.append(UInt8(Period.Unit.allCases.firstIndex(of: period.unit) ?? 0))
      number(origin.start.dayNumber)
    }
    number(rule.times.count)
    for time in rule.times {
      withUnsafeBytes(of: UInt16(time.minuteOfDay).littleEndian) { bytes.append(contentsOf: $0) }
    }
  }

  private static func append(_ day: Recurrence.MonthDay, to bytes: inout [UInt8]) {
    let (kind, number, weekday): (DayKind, Int, Weekday) =
      switch day {
      case .day(let number): (.day, number, .monday)
      case .fromEnd(let number): (.fromEnd, number, .monday)
      case .weekday(let number, let weekday): (.weekday, number, weekday)
      case .workday(let number): (.workday, number, .monday)
      }
    bytes.append(kind.rawValue)
    bytes.append(UInt8(bitPattern: Int8(number)))
    bytes.append(UInt8(weekday.rawValue))
  }
}

extension AlarmSummaryReader {
  /// Returns the rule of a summary. The date up to which completions are ignored is not in the index.
  mutating func rule() -> AlarmSummary.Rule? {
    guard let recurrence = recurrence(), let count = number(), (0...1440).contains(count) else {
      return nil
    }
    var times: [CivilTime] = []
    times.reserveCapacity(Int(count))
    for _ in 0..<count {
      guard let low = byte(), let high = byte() else { return nil }
      let minute = Int(UInt16(high) << 8 | UInt16(low))
      guard let time = CivilTime(hour: minute / 60, minute: minute % 60) else { return nil }
      times.append(time)
    }
    return AlarmSummary.Rule(recurrence, times: times)
  }

  private mutating func recurrence() -> Recurrence? {
    guard let kind = byte().flatMap(RuleWriter.Kind.init) else { return nil }
    switch kind {
    case .once: return date().map { .once($0) }
    case .dates: return dates()
    case .elapsed:
      guard let minutes = number(), let start = date() else { return nil }
      return .elapsed(minutes: Int(minutes), start: start)
    case .afterDone:
      guard let count = number(), let unit = byte(), Int(unit) < Period.Unit.allCases.count,
        let start = date()
      else { return nil }
      return .afterDone(
        Period(Int(count), Period.Unit.allCases[Int(unit)]), Recurrence.Origin(start: start))
    case .daily, .weekly, .monthly, .annual, .days, .cyclic: break
    }
    guard let interval = number(), let start = date() else { return nil }
    let cadence = Recurrence.Cadence(interval: Int(interval), start: start)
    switch kind {
    case .daily: return .daily(cadence)
    case .weekly: return list(Weekday.init(rawValue:)).map { .weekly($0, cadence) }
    case .monthly: return monthDays().map { .monthly($0, cadence) }
    case .annual:
      guard let months = list({ (1...12).contains($0) ? $0 : nil }), let days = monthDays() else {
        return nil
      }
      return .annual(months: months, days, cadence)
    case .days: return number().map { .days(Int($0), cadence) }
    case .cyclic:
      guard let on = number(), let off = number() else { return nil }
      return .cyclic(on: Int(on), off: Int(off), start: start)
    case .once, .dates, .elapsed, .afterDone: return nil
    }
  }

  private mutating func dates() -> Recurrence? {
    guard let count = number(), (1...Int64(Recurrence.maxDates)).contains(count) else { return nil }
    var dates: [CivilDate] = []
    for _ in 0..<count {
      guard let date = date() else { return nil }
      dates.append(date)
    }
    return .dates(dates)
  }

  private mutating func date() -> CivilDate? { number().map { CivilDate(dayNumber: Int($0)) } }

  private mutating func list<Element>(_ element: (Int) -> Element?) -> [Element]? {
    guard let count = byte() else { return nil }
    var result: [Element] = []
    result.reserveCapacity(Int(count))
    for _ in 0..<count {
      guard let value = byte().flatMap({ element(Int($0)) }) else { return nil }
      result.append(value)
    }
    return result
  }

  private mutating func monthDays() -> [Recurrence.MonthDay]? {
    guard let count = byte() else { return nil }
    var result: [Recurrence.MonthDay] = []
    for _ in 0..<count {
      guard let kind = byte().flatMap(RuleWriter.DayKind.init), let bits = byte(),
        let weekday = byte().flatMap({ Weekday(rawValue: Int($0)) })
      else { return nil }
      let number = Int(Int8(bitPattern: bits))
      switch kind {
      case .day: result.append(.day(number))
      case .fromEnd: result.append(.fromEnd(number))
      case .weekday: result.append(.weekday(number, weekday))
      case .workday: result.append(.workday(number))
      }
    }
    return result
  }
}
