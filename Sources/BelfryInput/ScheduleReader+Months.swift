import BelfryCore

/// The months and years of a rule: `from april to january`, `except august`, `in 2027`.
extension ScheduleReader {
  /// Reads `nov-feb` and `from april to january`, the months of a rule.
  mutating func readMonths() throws(InputError) -> Bool {
    if reader.accept("all year round", "all year") {
      draft.months = []
      return true
    }
    let months: [Int]? = try reader.attempt { (reader) throws(InputError) in
      // `only in may, june`
      if reader.accept("only in", "only during") { return try reader.months() }
      let isBetween = reader.word == "between"
      if ["between", "from", "in", "during"].contains(reader.word) {
        guard Vocabulary.month(reader.peek(1)) != nil || reader.peek(1).contains("-") else {
          return nil
        }
        reader.advance()
      }
      guard let months = reader.monthRange(until: isBetween ? ["and"] : ["until", "till"]),
        months.count > 1
      else { return nil }
      // `from january to march 15` has a date, and `oct-dec on the 5th` days.
      let isDate = Vocabulary.number(reader.word) != nil || Vocabulary.ordinal(reader.word) != nil
      return isDate || reader.word == "on" ? nil : months
    }
    guard let months else { return false }
    if selectedMonths != nil { throw .repeated(.rule) }
    selectedMonths = months
    return true
  }

  /// Limits the rule to the months that the input names: `1st of every month from april to january`.
  mutating func selectMonths() throws(InputError) {
    guard let selectedMonths else { return }
    switch draft.rule {
    case .once?, .later?: throw .severalRules
    case nil where step == nil: throw .missing(.rule, after: "")
    default: draft.months = selectedMonths.sorted()
    }
  }

  /// Reads `in 2027` behind a rule: its occurrences in that year.
  mutating func readYear() throws(InputError) -> Bool {
    guard reader.word == "in", draft.start == nil, draft.end == nil else { return false }
    let weekdays: [Weekday]?
    switch draft.rule {
    case .weekly(let days, _)?: weekdays = days
    case .daily?, .monthly?, .days?: weekdays = nil
    default: return false
    }
    var reader = reader
    reader.advance()
    guard let year = reader.year() else { return false }
    self.reader = reader
    let first = CivilDate(year: year, month: 1, day: 1)
    // `every other tuesday` begins with the first Tuesday.
    let start = (0..<7).lazy.map { first.adding(days: $0) }
      .first { weekdays?.contains($0.weekday) ?? true }
    draft.start = max(start ?? first, reader.context.today)
    draft.end = .until(
      Schedule.Limits.end(of: CivilDate(year: year, month: 12, day: 31)))
    return true
  }

  /// Reads `in june` behind a rule: its occurrences in the next June.
  mutating func readMonth() throws(InputError) -> Bool {
    switch draft.rule {
    case .daily(1)?, .weekly(.some, 1)?: break
    default: return false
    }
    guard draft.start == nil, draft.end == nil, reader.word == "in" || reader.word == "of",
      let month = Vocabulary.month(reader.peek(1))
    else { return false }
    reader.advance(2)
    let last = reader.end(ofMonth: month)
    draft.start = max(CivilDate(year: last.year, month: month, day: 1), reader.context.today)
    draft.end = .until(Schedule.Limits.end(of: last))
    return true
  }

  /// Leaves out months: `first tue of the month except august`.
  mutating func omitMonths() throws(InputError) {
    let months = (1...12).filter { !omittedMonths.contains($0) }
    switch draft.rule {
    case .once?, .later?, .dates?: throw .unsupported(.omittedMonths)
    case nil where step == nil: throw .unsupported(.omittedMonths)
    default:
      if months.isEmpty { throw .unsupported(.omittedMonths) }
      draft.months = months
    }
  }
}
