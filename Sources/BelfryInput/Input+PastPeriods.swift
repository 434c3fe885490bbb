import BelfryCore

// MARK: Periods of the past

extension Input {
  /// Returns the dates of a period of the past or the present; nil if a text is none.
  ///
  /// | text | dates |
  /// |---|---|
  /// | `today`, `yesterday` | the day |
  /// | `this week`, `month` | the whole unit that contains today; also `quarter` and `year` |
  /// | `last week`, `previous quarter` | the unit before it |
  /// | `last 30 days`, `past 6 months` | the days or months up to today |
  /// | `2026`, `2026-11`, `2026-Q4`, `q4 2026`, `2026-W48` | the year, month, quarter or ISO week |
  /// | `november`, `nov 2025` | the month; without a year the latest one that has begun |
  /// | `2026-11-23` | the day |
  /// | `2026-01-01..2026-03-31`, `january to march` | from the first to the last date of two periods |
  ///
  /// Weeks start on Monday.
  public static func dates(
    ofPeriod text: String, in context: InputContext
  ) -> ClosedRange<CivilDate>? {
    let words = text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
    let joined = words.joined(separator: " ")
    if let separator = joined.firstRange(of: "..") {
      return range(
        String(joined[..<separator.lowerBound]), String(joined[separator.upperBound...]), context)
    }
    if let index = words.firstIndex(where: { ["to", "until", "through"].contains($0) }) {
      let first = words[..<index].drop { $0 == "from" }
      return range(
        first.joined(separator: " "), words[(index + 1)...].joined(separator: " "), context)
    }
    return PeriodReader(words, context.today).dates
  }

  private static func range(
    _ first: String, _ last: String, _ context: InputContext
  ) -> ClosedRange<CivilDate>? {
    guard let start = dates(ofPeriod: first, in: context)?.lowerBound,
      let end = dates(ofPeriod: last, in: context)?.upperBound, start <= end
    else { return nil }
    return start...end
  }

  /// A limit of a period.
  public enum PeriodLimit: Sendable {
    /// The first date, which `--since` names.
    case first
    /// The last date, which `--until` names.
    case last
  }

  /// Returns a limit of a period: a date in the past, such as `monday`, `3 weeks ago` and `24 dec`, or the first or last
  /// date of a period that `dates(ofPeriod:in:)` reads, such as `2026` and `last month`.
  public static func date(
    _ limit: PeriodLimit, ofPeriod text: String, in context: InputContext
  ) throws(InputError) -> CivilDate {
    if let dates = dates(ofPeriod: text, in: context) {
      return limit == .first ? dates.lowerBound : dates.upperBound
    }
    return try moment(text, .past, in: context).civil(.past, in: context).date
  }

  /// A period in words that also name alarms.
  public struct WordsWithPeriod: Equatable, Sendable {
    /// The dates of the period; nil if no words are one.
    public let dates: ClosedRange<CivilDate>?
    /// The other words.
    public let words: [String]
  }

  /// Returns the first period in words, and the other words: `rent last month`, `this quarter +home`.
  ///
  /// Of several readings, the longest period counts.
  ///
  /// - Parameter isTitle: Returns true for the title of an alarm, which is no period.
  public static func period(
    in words: [String], _ context: InputContext, isTitle: (String) -> Bool
  ) -> WordsWithPeriod {
    for start in words.indices {
      for end in ((start + 1)...min(words.count, start + maxPeriodWords)).reversed() {
        let text = words[start..<end].joined(separator: " ")
        guard let dates = dates(ofPeriod: text, in: context), !isTitle(text),
          start == 0 && end == words.count || !isTitle(words.joined(separator: " "))
        else { continue }
        return WordsWithPeriod(dates: dates, words: Array(words[..<start] + words[end...]))
      }
    }
    return WordsWithPeriod(dates: nil, words: words)
  }

  /// The number of words of the longest period: `from last month to this month` with one word to spare.
  private static let maxPeriodWords = 7
}

/// The reading of words as one period.
private struct PeriodReader {
  private let words: [String]
  private let today: CivilDate

  init(_ words: [String], _ today: CivilDate) {
    (self.words, self.today) = (words, today)
  }

  var dates: ClosedRange<CivilDate>? {
    switch words.count {
    case 1: named(words[0]) ?? month(words[0], year: nil)
    case 2:
      relative(words[0], words[1]) ?? quarter(words[0], year: words[1])
        ?? quarter(words[1], year: words[0])
        ?? PeriodReader.year(words[1]).flatMap { month(words[0], year: $0) }
    case 3: latest(words[0], words[1], words[2])
    default: nil
    }
  }

  /// Reads a single word.
  private func named(_ word: String) -> ClosedRange<CivilDate>? {
    if let unit = PeriodReader.unit(word), unit != .day, !word.hasSuffix("s") {
      return unit.dates(around: today)
    }
    switch word {
    case "today": return today...today
    case "yesterday": return DateBuckets.Unit.day.dates(-1, from: today)
    default: break
    }
    if let year = PeriodReader.year(word) {
      return DateBuckets.Unit.year.dates(around: CivilDate(year: year, month: 1, day: 1))
    }
    if let date = CivilDate(word) { return date...date }
    if let number = PeriodReader.quarter(word) {
      let start = CivilDate(year: today.year, month: number * 3 - 2, day: 1)
      let isAhead = start > today
      return DateBuckets.Unit.quarter.dates(isAhead ? -4 : 0, from: start)
    }
    let parts = word.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let year = PeriodReader.year(parts[0]) else { return nil }
    if let dates = quarter(parts[1], year: parts[0]) { return dates }
    if parts[1].hasPrefix("w") { return week(parts[1].dropFirst(), year: year) }
    guard parts[1].utf8.count == 2, let month = Int(parts[1]), (1...12).contains(month) else {
      return nil
    }
    return DateBuckets.Unit.month.dates(around: CivilDate(year: year, month: month, day: 1))
  }

  /// Reads a week of ISO 8601. The first one has the year's first Thursday.
  private func week(_ digits: Substring, year: Int) -> ClosedRange<CivilDate>? {
    guard (1...2).contains(digits.utf8.count), let number = Int(digits), (1...53).contains(number)
    else { return nil }
    let first = CivilDate(year: year, month: 1, day: 4)
    let dates = DateBuckets.Unit.week.dates(number - 1, from: first)
    return dates.lowerBound.adding(days: 3).year == year ? dates : nil
  }

  /// Reads `this week` and `last quarter`.
  private func relative(_ which: String, _ word: String) -> ClosedRange<CivilDate>? {
    guard let unit = PeriodReader.unit(word), !word.hasSuffix("s") else { return nil }
    switch which {
    case "this", "current": return unit.dates(around: today)
    case "last", "previous", "past": return unit.dates(-1, from: today)
    default: return nil
    }
  }

  /// Reads `last 30 days`: the days of a number of units up to today.
  private func latest(
    _ which: String, _ number: String, _ word: String
  ) -> ClosedRange<CivilDate>? {
    guard ["last", "past", "previous"].contains(which), let count = Vocabulary.number(number),
      (1...10_000).contains(count), let unit = PeriodReader.unit(word)
    else { return nil }
    let start: CivilDate
    switch unit {
    case .day: start = today.adding(days: 1 - count)
    case .week: start = today.adding(days: 1 - 7 * count)
    case .month, .quarter, .year:
      let months = count * (unit == .month ? 1 : unit == .quarter ? 3 : 12)
      guard months < today.year * 12 else { return nil }
      let month = DateBuckets.Unit.month.dates(-months, from: today).lowerBound
      let length = CivilDate.length(ofMonth: month.month, year: month.year)
      // The day after that of the same number: 28 Dec for a year up to 27 Dec.
      start = month.adding(days: min(today.day, length))
    }
    return start...today
  }

  private func quarter(_ word: String, year text: String) -> ClosedRange<CivilDate>? {
    guard let number = PeriodReader.quarter(word), let year = PeriodReader.year(text) else {
      return nil
    }
    return DateBuckets.Unit.quarter.dates(
      around: CivilDate(year: year, month: number * 3 - 2, day: 1))
  }

  /// Reads the name of a month. Without a year it is the latest one that has begun.
  private func month(_ word: String, year: Int?) -> ClosedRange<CivilDate>? {
    guard let month = Vocabulary.month(word) else { return nil }
    let latest = today.month >= month ? today.year : today.year - 1
    return DateBuckets.Unit.month.dates(
      around: CivilDate(year: year ?? latest, month: month, day: 1))
  }

  private static func unit(_ word: String) -> DateBuckets.Unit? {
    guard word.count > 2 else { return nil }
    switch Vocabulary.unit(word) {
    case .day: return .day
    case .week: return .week
    case .month: return .month
    case .quarter: return .quarter
    case .year: return .year
    case .minute, .hour, .workday, nil: return nil
    }
  }

  private static func quarter(_ word: String) -> Int? {
    guard word.utf8.count == 2, word.hasPrefix("q"), let number = Int(word.dropFirst()),
      (1...4).contains(number)
    else { return nil }
    return number
  }

  private static func year(_ word: String) -> Int? {
    guard word.utf8.count == 4, word.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
      let year = Int(word), (1900...9998).contains(year)
    else { return nil }
    return year
  }
}
