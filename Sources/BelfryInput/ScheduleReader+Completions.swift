import BelfryCore

/// The latest completion that a new alarm counts from: `every 3 months after done, last done on 10 october`.
extension ScheduleReader {
  /// Reads `last done on 10 october` and `last changed 3 weeks ago`.
  mutating func readLastCompletion() throws(InputError) -> Bool {
    let start = reader.position
    _ = reader.accept("which was", "it was", "was")
    guard reader.acceptLastCompletion() else {
      reader.position = start
      return false
    }
    if try readDateOfLastCompletion() { return true }
    reader.position = start
    return false
  }

  /// Reads the date of `3 months after it was last changed on 10 october`.
  mutating func readDateOfLastCompletion() throws(InputError) -> Bool {
    let start = reader.position
    let date: CivilDate? = try reader.attempt { (reader) throws(InputError) in
      _ = reader.accept("on", "in", ":")
      if let period = try reader.period() {
        guard reader.accept("ago") else { return nil }
        return reader.context.today.adding(Period(-period.count, period.unit))
      }
      return try reader.date().map { reader.resolvedInPast($0) }
    }
    guard let date else { return false }
    let today = reader.context.today
    guard date.year > today.year - 100 else { throw .outOfRange(reader.source(from: start)) }
    guard date <= today else { throw .unsupported(.futureCompletion) }
    if completed != nil { throw .repeated(.start) }
    completed = date
    return true
  }

  /// Starts the rule where the latest completion puts it.
  mutating func startFromCompletion() throws(InputError) {
    guard let completed else { return }
    if draft.start != nil { throw .repeated(.start) }
    switch draft.rule {
    case .afterDone(let period): draft.start = completed.adding(period)
    case .days(let count, let interval): draft.start = completed.adding(days: count * interval)
    case .weekly(nil, let interval): draft.start = completed.adding(days: 7 * interval)
    case .monthly(nil, let interval):
      // The start can be an earlier day in a short month.
      draft.start = completed.adding(Period(interval, .month))
      draft.rule = .monthly([.day(completed.day)], interval)
    case .annual(nil, nil, let interval):
      draft.start = completed.adding(Period(interval, .year))
      draft.rule = .annual([completed.month], [.day(completed.day)], interval)
    case nil: throw .missing(.rule, after: "")
    default: throw .severalRules
    }
  }
}

extension InputReader {
  /// True behind `last changed` and the like.
  var followsLast: Bool {
    position > 1 && (tokens[position - 2].text == "last" || tokens[position - 1].text == "last")
  }

  /// Reads `last done`, `last changed` and the like.
  fileprivate mutating func acceptLastCompletion() -> Bool {
    let verbs = [
      "done", "changed", "replaced", "cleaned", "renewed", "serviced", "checked", "completed",
    ]
    return accept(anyOf: verbs.map { "last \($0)" } + verbs.map { "\($0) last" } + ["last time"])
  }
}
