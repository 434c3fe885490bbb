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
    _ words: [String], of unit: CalendarPeriod.Unit, in context: InputContext
  ) throws(InputError) -> (period: CalendarPeriod?, rest: [String]) {
    let reader = CalendarPeriodReader(unit, context)
    for count in stride(from: min(words.count, maxPeriodWords), to: 0, by: -1) {
      if let period = try reader.period(words.prefix(count)) {
        return (period, Array(words.dropFirst(count)))
      }
      if count < words.count, let period = try reader.period(words.suffix(count)) {
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
}

/// A reader of the words of one period.
private struct CalendarPeriodReader {
  private let unit: CalendarPeriod.Unit
  private let context: InputContext

  init(_ unit: CalendarPeriod.Unit, _ context: InputContext) {
    self.unit = unit
    self.context = context
  }

  /// An end of a period.
  private enum Point {
    /// The units with these dates.
    case dates(ClosedRange<CivilDate>)
    /// A month of any year.
    case month(Int)
    /// A week of any year, by its number in ISO 8601.
    case week(Int)
  }

  /// Returns the period that all of some words name together; nil if they name none.
  func period(_ words: some Sequence<String>) throws(InputError) -> CalendarPeriod? {
    let text = words.joined(separator: " ").lowercased()
    let tokens = CalendarPeriodReader.tokens(text)
    if tokens.isEmpty { return nil }
    let dates: ClosedRange<CivilDate>
    if let separator = tokens.firstIndex(where: CalendarPeriodReader.isSeparator) {
      guard let start = try point(Array(tokens[..<separator])),
        let end = try point(Array(tokens[(separator + 1)...]))
      else { return nil }
      dates = range(start, end)
    } else {
      guard let point = try point(tokens) else { return nil }
      dates = nearest(point)
    }
    let count = unit.distance(from: dates.lowerBound, to: dates.upperBound) + 1
    let period = CalendarPeriod(unit, containing: dates.lowerBound, count: count)
    guard count <= unit.limit, period.isValid else { throw .outOfRange(text) }
    return period
  }

  // MARK: Words

  private static func isSeparator(_ token: String) -> Bool {
    ["to", "until", "till", "through", "-", ".."].contains(token)
  }

  /// Returns the words of a text, with separators as words of their own: `dec-feb`, `2026-12..2027-02`.
  private static func tokens(_ text: String) -> [String] {
    text.replacing("–", with: "-").replacing("..", with: " .. ").split(separator: " ")
      .flatMap { word -> [String] in
        let parts = word.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        let isRange =
          parts.count == 2
          && (parts.allSatisfy { Vocabulary.month($0) != nil }
            || parts.allSatisfy { year($0) != nil })
        return isRange ? [parts[0], "-", parts[1]] : [String(word)]
      }
  }

  private static func year(_ word: String) -> Int? {
    guard word.utf8.count == 4, let year = digits(word), CivilDate.years.contains(year) else {
      return nil
    }
    return year
  }

  private static func digits(_ word: some StringProtocol) -> Int? {
    (1...4).contains(word.utf8.count) && word.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
      ? Int(word) : nil
  }

  // MARK: Points

  private func point(_ tokens: [String]) throws(InputError) -> Point? {
    if tokens.isEmpty { return nil }
    if let point = relative(tokens) { return point }
    switch unit {
    case .week: if let point = week(tokens) { return point }
    case .month: if let point = month(tokens) { return point }
    case .year:
      if tokens.count == 1, let year = CalendarPeriodReader.year(tokens[0]) {
        return .dates(dates(year))
      }
    }
    // A word such as `sun` is rather a part of a title.
    let text = tokens.joined(separator: " ")
    let isDate =
      tokens.contains { $0.contains(where: \.isNumber) }
      || ["today", "tomorrow", "yesterday"].contains(text)
      || ["next", "in"].contains(tokens[0]) && tokens.count > 1
    guard isDate else { return nil }
    do throws(InputError) {
      let date = try Input.date(text, in: context)
      return .dates(date...date)
    } catch {
      switch error {
      case .ambiguous, .noSuchDate, .wrongWeekday: throw error
      default: return nil
      }
    }
  }

  /// Reads `next`, `last month`, `this year`.
  private func relative(_ tokens: [String]) -> Point? {
    let units: [String: CalendarPeriod.Unit] = [
      "week": .week(.monday), "month": .month, "year": .year,
    ]
    let named = tokens.count == 2 ? units[tokens[1]] : unit
    let distance =
      switch tokens[0] {
      case "this", "now": 0
      case "next": 1
      case "last", "previous", "prev": -1
      default: Int?.none
      }
    guard tokens.count <= 2, let named, let distance else { return nil }
    let isOwn = named == unit || tokens.count == 2 && unit.isWeek && named.isWeek
    let counted = isOwn ? unit : named
    let date = counted.adding(distance, to: counted.start(of: context.today))
    return .dates(date...date)
  }

  /// Reads `2026-w51`, `w51` and `51`.
  private func week(_ tokens: [String]) -> Point? {
    guard tokens.count == 1 else { return nil }
    let parts = tokens[0].split(separator: "w", omittingEmptySubsequences: false)
    guard let number = parts.last.flatMap({ CalendarPeriodReader.digits($0) }),
      (1...53).contains(number)
    else { return nil }
    if parts.count == 1 { return parts[0].utf8.count <= 2 ? .week(number) : nil }
    guard parts.count == 2 else { return nil }
    if parts[0].isEmpty { return .week(number) }
    let year = parts[0].hasSuffix("-") ? parts[0].dropLast() : parts[0]
    return CalendarPeriodReader.year(String(year)).flatMap {
      CalendarPeriodReader.monday(week: number, of: $0)
    }
    .map { .dates($0...$0) }
  }

  /// Reads `december`, `dec 2026`, `2026-12`, `12/2026`, `12 2026`, `12` and `2026`.
  private func month(_ tokens: [String]) -> Point? {
    var words = tokens
    if tokens.count == 1 {
      for separator: Character in ["-", "/", "."] where tokens[0].contains(separator) {
        words = tokens[0].split(separator: separator).map(String.init)
      }
    }
    func number(_ word: String) -> Int? {
      if let month = Vocabulary.month(word) { return month }
      guard word.utf8.count <= 2, let month = CalendarPeriodReader.digits(word),
        (1...12).contains(month)
      else { return nil }
      return month
    }
    if words.count == 1 {
      if let year = CalendarPeriodReader.year(words[0]) { return .dates(dates(year)) }
      return number(words[0]).map { .month($0) }
    }
    guard words.count == 2 else { return nil }
    if words[1] == "of" { return nil }
    for (month, year) in [(words[0], words[1]), (words[1], words[0])] {
      if let month = number(month), let year = CalendarPeriodReader.year(year) {
        let date = CivilDate(year: year, month: month, day: 1)
        return .dates(date...date)
      }
    }
    return nil
  }

  /// Returns the dates of a year.
  private func dates(_ year: Int) -> ClosedRange<CivilDate> {
    CivilDate(year: year, month: 1, day: 1)...CivilDate(year: year, month: 12, day: 31)
  }

  // MARK: Points without a year

  /// Returns the Monday of a week of ISO 8601; nil if the year has no such week.
  private static func monday(week: Int, of year: Int) -> CivilDate? {
    // The first week contains 4 January.
    let fourth = CivilDate(year: year, month: 1, day: 4)
    let monday = fourth.adding(days: 7 * (week - 1) - fourth.weekday.rawValue)
    return monday.adding(days: 3).year == year ? monday : nil
  }

  /// Returns the date of a point in a year; nil if the year has no such week.
  private func date(_ point: Point, in year: Int) -> CivilDate? {
    switch point {
    case .dates(let dates): dates.lowerBound
    case .month(let month): CivilDate(year: year, month: month, day: 1)
    case .week(let week): CalendarPeriodReader.monday(week: week, of: year)
    }
  }

  /// Returns the dates of a point without a year in the years around another date.
  private func candidates(_ point: Point, around date: CivilDate) -> [CivilDate] {
    // A year without a 53rd week is followed by one with it within 7 years.
    (-7...7).map { date.year + $0 }.filter { CivilDate.years.contains($0) }
      .compactMap { self.date(point, in: $0) }
  }

  /// Returns the dates of a point; without a year, those nearest to today, and of two the later ones.
  private func nearest(_ point: Point) -> ClosedRange<CivilDate> {
    if case .dates(let dates) = point { return dates }
    let today = context.today
    let best = candidates(point, around: today).min { a, b in
      let (one, two) = (
        abs(unit.distance(from: today, to: a)), abs(unit.distance(from: today, to: b))
      )
      return one == two ? a > b : one < two
    }
    return (best ?? today)...(best ?? today)
  }

  /// Returns the dates from one point to another. The order of two dates does not matter.
  private func range(_ start: Point, _ end: Point) -> ClosedRange<CivilDate> {
    switch (start, end) {
    case (.dates(let one), .dates(let two)):
      return min(one.lowerBound, two.lowerBound)...max(one.upperBound, two.upperBound)
    case (_, .dates(let two)):
      let first = candidates(start, around: two.lowerBound).last { $0 <= two.upperBound }
      return (first ?? two.lowerBound)...two.upperBound
    default:
      let one = nearest(start)
      let last = candidates(end, around: one.lowerBound).first { $0 >= one.lowerBound }
      return one.lowerBound...max(one.upperBound, last ?? one.upperBound)
    }
  }
}

extension CalendarPeriod.Unit {
  fileprivate var isWeek: Bool {
    if case .week = self { return true }
    return false
  }
}
