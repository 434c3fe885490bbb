import BelfryCore

extension ScheduleDraft {
  /// Returns the draft with the parts that it does not name taken from the schedule that it changes.
  ///
  /// `19:00` keeps the dates, `every 3 weeks` the weekdays, and both keep the exceptions, the end and the treatment of
  /// holidays. A date makes the alarm ring once, without limits.
  ///
  /// - Throws: `InputError.ambiguous` for a weekday alone if the schedule is not weekly.
  public func changing(
    _ earlier: Schedule, in context: InputContext
  ) throws(InputError) -> ScheduleDraft {
    var draft = self
    draft.times = times ?? earlier.times
    draft.rule = try rule(changing: earlier.recurrence)
    switch draft.rule {
    case .once, .later, .dates: return draft
    case .complete(.once): draft.end = nil
    default:
      if draft.end == nil, let until = earlier.limits.until, until > context.now {
        draft.end = .until(until)
      }
    }
    if exceptions == nil, !earlier.limits.exceptions.isEmpty {
      draft.exceptions = Array(earlier.limits.exceptions)
    }
    draft.months = months ?? (earlier.limits.months.isEmpty ? nil : earlier.limits.months)
    draft.onHoliday = onHoliday ?? earlier.limits.onHoliday
    return draft
  }

  private func rule(changing earlier: Recurrence) throws(InputError) -> Rule {
    switch (rule, earlier) {
    case (nil, .afterDone(let period, let origin)):
      guard let start else { return .complete(earlier) }
      return .complete(
        .afterDone(period, .init(start: start, completionsAfter: origin.completionsAfter)))
    case (nil, .elapsed) where start != nil || times != nil:
      throw .unsupported(.timesOfDistance)
    case (nil, _):
      guard let start else { return .complete(earlier) }
      guard let interval = earlier.cadence?.interval else { throw .missing(.rule, after: "") }
      return .complete(earlier.with(.init(interval: interval, start: start)))
    case (.weekly(nil, let interval), .weekly(let days, _)): return .weekly(days, interval)
    case (.monthly(nil, let interval), .monthly(let days, _)): return .monthly(days, interval)
    case (.annual(nil, nil, let interval), .annual(let months, let days, _)):
      return .annual(months, days, interval)
    case (.once, .once): break
    case (.once(let date), .weekly(_, let cadence)) where isWeekday:
      return .weekly([date.weekday], cadence.interval)
    case (.once(let date), _) where isWeekday:
      let weekday = date.weekday.abbreviation
      throw .ambiguous(weekday, readings: ["every \(weekday)", "next \(weekday)"])
    default: break
    }
    return rule ?? .complete(earlier)
  }
}
