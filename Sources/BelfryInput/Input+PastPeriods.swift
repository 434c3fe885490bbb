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
  /// | `november`, `q3`, `nov 2025` | the month or quarter; without a year the latest one that has begun |
  /// | `2026-11-23` | the day |
  /// | `2026-01-01..2026-03-31`, `january to march` | from the first to the last date of two periods |
  ///
  /// Weeks start on Monday.
  public static func dates(
    ofPeriod text: String, in context: InputContext
  ) -> ClosedRange<CivilDate>? {
    PeriodReader<Never>(.past, today: context.today) { words in
      guard words.count == 1 else { return nil }
      switch words[0] {
      case "today": return context.today
      case "yesterday": return context.today.adding(days: -1)
      default: return CivilDate(words[0])
      }
    }.dates(text.lowercased())
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

  /// Returns words without `since monday`, and the time behind `since`, which `date(_:ofPeriod:in:)` reads as a first date;
  /// nil if there is none. A part of a day behind the time is left out: what `since yesterday evening` means is in the day.
  public static func since(
    in words: [String], _ context: InputContext
  ) -> (rest: [String], time: String)? {
    guard let since = words.firstIndex(where: { $0.lowercased() == "since" }) else { return nil }
    let behind = Array(words[(since + 1)...])
    for count in stride(from: min(behind.count, maxPeriodWords), to: 0, by: -1) {
      let text = behind[..<count].joined(separator: " ")
      guard (try? date(.first, ofPeriod: text, in: context)) != nil else { continue }
      let others = behind[count...].drop(while: startsWithPartOfDay)
      return (Array(words[..<since]) + Array(others), text)
    }
    return nil
  }

  /// The number of words of the longest period: `from last month to this month` with one word to spare.
  private static let maxPeriodWords = 7
}
