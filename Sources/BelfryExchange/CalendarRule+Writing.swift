import BelfryCore

extension CalendarRule {
  /// Returns the rules that together cover each date of a recurrence.
  ///
  /// Days of the month of several kinds, such as the 15th and the first Monday, need a rule for each kind. A date that
  /// two of them contain is covered twice. The rules do not know holidays.
  static func rules(for recurrence: Recurrence, workdays: WeekdaySet) -> [CalendarRule] {
    func interval(_ count: Int) -> String { count == 1 ? "" : ";INTERVAL=\(count)" }
    func rule(_ text: String?) -> [CalendarRule] { [CalendarRule(text, covering: recurrence)] }
    let every = interval(recurrence.cadence?.interval ?? 1)
    switch recurrence {
    case .once: return rule(nil)
    case .afterDone(_, let origin): return [CalendarRule(nil, covering: .once(origin.start))]
    case .dates(let dates): return dates.map { CalendarRule(nil, covering: .once($0)) }
    case .elapsed(let minutes, let start):
      let distance =
        minutes % 60 == 0 ? "HOURLY\(interval(minutes / 60))" : "MINUTELY\(interval(minutes))"
      return [CalendarRule("FREQ=\(distance)", covering: .once(start))]
    case .cyclic(let on, let off, let start):
      return (0..<on).map { day in
        let start = start.adding(days: day)
        return CalendarRule(
          "FREQ=DAILY\(interval(on + off))", covering: .days(on + off, .init(start: start)))
      }
    case .daily: return rule("FREQ=DAILY\(every)")
    case .days(let count, let cadence):
      return rule("FREQ=DAILY\(interval(count * cadence.interval))")
    case .weekly(let days, _): return rule("FREQ=WEEKLY\(every);BYDAY=\(list(days.map(name)))")
    case .monthly(let days, let cadence):
      return MonthRules(start: "FREQ=MONTHLY\(every)", months: nil, workdays: workdays) {
        .monthly($0, cadence)
      }.rules(for: days)
    case .annual(let months, let days, let cadence):
      return MonthRules(start: "FREQ=YEARLY\(every)", months: months, workdays: workdays) {
        .annual(months: months, $0, cadence)
      }.rules(for: days)
    }
  }

  private static func list(_ elements: some Sequence<some CustomStringConvertible>) -> String {
    elements.map(\.description).joined(separator: ",")
  }

  private static func name(_ weekday: Weekday) -> String { names[weekday.rawValue] }

  /// The rules for days of the month.
  private struct MonthRules {
    /// The beginning of each rule: `FREQ=MONTHLY;INTERVAL=2`.
    let start: String
    /// The months of a yearly rule; nil for a monthly one.
    let months: [Int]?
    let workdays: WeekdaySet
    /// Returns the recurrence on some of its days.
    let recurrence: ([Recurrence.MonthDay]) -> Recurrence

    func rules(for days: [Recurrence.MonthDay]) -> [CalendarRule] {
      var numbers: [Int] = []
      var fromEnd: [Int] = []
      var weekdays: [(ordinal: Int, day: Weekday)] = []
      var positions: [Int] = []
      for day in days {
        switch day {
        case .day(let number): numbers.append(number)
        case .fromEnd(let number): fromEnd.append(number)
        case .weekday(let ordinal, let weekday): weekdays.append((ordinal, weekday))
        case .workday(let ordinal): positions.append(ordinal)
        }
      }
      // Belfry's day 31 is the last day of every month.
      if !numbers.isEmpty, fromEnd.contains(1) {
        fromEnd.removeAll { $0 == 1 }
        numbers = Set(numbers + [31]).sorted()
      }
      return numbered(numbers) + counted(fromEnd) + onWeekdays(weekdays) + onWorkdays(positions)
    }

    private func rule(
      _ text: String, _ days: [Recurrence.MonthDay], months: [Int]? = nil
    ) -> CalendarRule {
      let limit = (months ?? self.months).map { ";BYMONTH=\(list($0))" } ?? ""
      return CalendarRule("\(start)\(limit);\(text)", months: months, covering: recurrence(days))
    }

    private func numbered(_ numbers: [Int]) -> [CalendarRule] {
      guard let largest = numbers.last else { return [] }
      let days = numbers.map { Recurrence.MonthDay.day($0) }
      if largest <= 28 { return [rule("BYMONTHDAY=\(list(numbers))", days)] }
      if numbers.count == 1, months == nil {
        return largest == 31
          ? [rule("BYMONTHDAY=-1", days)]
          : [rule("BYMONTHDAY=\(list(28...largest));BYSETPOS=-1", days)]
      }
      let short = numbers.filter { $0 <= 28 }
      let groups: [(months: [Int], numbers: [Int])] = [
        ([1, 3, 5, 7, 8, 10, 12], numbers),
        ([4, 6, 9, 11], Set(numbers.map { min($0, 30) }).sorted()),
        // In common years 28 and -1 are the same day, and 29 does not exist.
        ([2], short + [short.contains(28) ? 29 : -1]),
      ]
      return groups.compactMap { group in
        let covered = months.map { $0.filter(group.months.contains) } ?? group.months
        if covered.isEmpty { return nil }
        return rule("BYMONTHDAY=\(list(group.numbers))", days, months: covered)
      }
    }

    private func counted(_ numbers: [Int]) -> [CalendarRule] {
      // The last four days of the first week exist only in some months. Belfry uses the first day of the others.
      let exact = numbers.filter { $0 <= 28 }
      let others = numbers.filter { $0 > 28 }
      return
        (exact.isEmpty
        ? []
        : [
          rule(
            "BYMONTHDAY=\(list(exact.map { -$0 }))", exact.map { Recurrence.MonthDay.fromEnd($0) })
        ])
        + others.flatMap { number in
          // The positions of a yearly rule count in the whole year, so each month needs its own rule.
          (months.map { $0.map { [$0] } } ?? [nil]).map { month in
            rule(
              "BYMONTHDAY=\(list((28...number).map { -$0 }));BYSETPOS=1", [.fromEnd(number)],
              months: month)
          }
        }
    }

    private func onWeekdays(_ weekdays: [(ordinal: Int, day: Weekday)]) -> [CalendarRule] {
      if weekdays.isEmpty { return [] }
      return [
        rule(
          "BYDAY=\(list(weekdays.map { "\($0.ordinal)\(name($0.day))" }))",
          weekdays.map { .weekday($0.ordinal, $0.day) })
      ]
    }

    private func onWorkdays(_ positions: [Int]) -> [CalendarRule] {
      if positions.isEmpty { return [] }
      let days = positions.map { Recurrence.MonthDay.workday($0) }
      let text = "BYDAY=\(list(workdays.days.map(name)));BYSETPOS=\(list(positions))"
      return (months.map { $0.map { [$0] } } ?? [nil]).map { rule(text, days, months: $0) }
    }
  }
}
