import BelfryCore

extension Input {
  /// Returns the period that the first or the last of some words name, and the other words. Returns nil for the period if
  /// none do.
  ///
  /// | unit | words |
  /// |---|---|
  /// | all | `next`, `last`, `this`, `today`, `2026-12-24`, `24 dec`, `in 2 weeks` |
  /// | week | `2026-W51`, `w51`, `51` |
  /// | month | `december`, `dec 2026`, `2026-12`, `12/2026`, `12`; `2026` for its 12 months |
  /// | year | `2027` |
  ///
  /// Two of them with `to` or `..` between are a range: `december to february`. A month or week without a year is the
  /// nearest one; behind `to`, it is the first one after the start.
  ///
  /// - Throws: `InputError.notUnderstood` for a first word of digits that names no period, `.outOfRange`
  ///   for a period that is too long, and the errors of dates.
  public static func calendarPeriod(
    _ words: [String], of unit: CalendarUnit, in context: InputContext
  ) throws(InputError) -> (period: CalendarPeriod?, rest: [String]) {
    for count in stride(from: min(words.count, maxPeriodWords), to: 0, by: -1) {
      if let period = try period(words.prefix(count), of: unit, in: context) {
        return (period, Array(words.dropFirst(count)))
      }
      if count < words.count, let period = try period(words.suffix(count), of: unit, in: context) {
        return (period, Array(words.dropLast(count)))
      }
    }
    if let first = words.first, first.contains(where: \.isNumber),
      first.allSatisfy({ $0.isNumber || "-/.:".contains($0) })
    {
      throw .notUnderstood(first, suggestion: nil)
    }
    return (nil, words)
  }

  /// The number of words of `the 24th of december 2026 to the 6th of january 2027`.
  private static let maxPeriodWords = 11

  /// Returns the period that all of some words name together; nil if they name none.
  private static func period(
    _ words: some Sequence<String>, of unit: CalendarUnit, in context: InputContext
  ) throws(InputError) -> CalendarPeriod? {
    let text = words.joined(separator: " ").lowercased()
    let reader = PeriodReader<InputError>(.calendar(of: unit), today: context.today) {
      (words) throws(InputError) in
      try calendarDate(words, in: context)
    }
    guard let dates = try reader.dates(text) else { return nil }
    let count = unit.distance(from: dates.lowerBound, to: dates.upperBound) + 1
    let period = CalendarPeriod(unit, containing: dates.lowerBound, count: count)
    guard count <= unit.limit, period.isValid else { throw .outOfRange(text) }
    return period
  }

  /// Returns the date that words name. A word such as `sun` is rather a part of a title.
  ///
  /// - Throws: `InputError.ambiguous`, `.noSuchDate` and `.wrongWeekday`.
  private static func calendarDate(
    _ words: [String], in context: InputContext
  ) throws(InputError) -> CivilDate? {
    let text = words.joined(separator: " ")
    let isDate =
      words.contains { $0.contains(where: \.isNumber) }
      || ["today", "tomorrow", "yesterday"].contains(text)
      || ["next", "in"].contains(words[0]) && words.count > 1
    guard isDate else { return nil }
    do throws(InputError) {
      return try Input.date(text, in: context)
    } catch {
      switch error {
      case .ambiguous, .noSuchDate, .wrongWeekday: throw error
      default: return nil
      }
    }
  }
}
