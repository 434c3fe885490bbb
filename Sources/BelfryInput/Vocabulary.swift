import BelfryCore

/// The words with a meaning of their own, in lower case.
enum Vocabulary {
  static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
  ]

  /// Returns the number of a month by its English name or at least three letters of it.
  static func month(_ word: String) -> Int? {
    guard word.count >= 3 else { return nil }
    return months.firstIndex { $0.hasPrefix(word) }.map { $0 + 1 }
  }

  /// Returns a weekday by its English name, its plural, or at least two letters of it.
  static func weekday(_ word: String) -> Weekday? {
    guard word.count >= 2 else { return nil }
    let singular = isPlural(word) ? String(word.dropLast()) : word
    return Weekday.allCases.first { "\($0)".hasPrefix(singular) }
  }

  /// Returns true for the plural of a weekday: `mondays`.
  static func isPlural(_ word: String) -> Bool { word.hasSuffix("days") }

  /// Returns the weekdays of a group: `weekends`.
  static func weekdayGroup(_ word: String) -> [Weekday]? {
    switch word {
    case "weekday", "weekdays": Weekday.allCases.filter { $0 <= .friday }
    case "weekend", "weekends": [.saturday, .sunday]
    default: nil
    }
  }

  private static let numbers = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
  ]

  /// Returns a positive number in digits or words; `a` and `an` are 1.
  static func number(_ word: String) -> Int? {
    if word == "a" || word == "an" { return 1 }
    if let index = numbers.firstIndex(of: word) { return index + 1 }
    guard word.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), word.utf8.count <= 6 else {
      return nil
    }
    return Int(word)
  }

  private static let ordinals = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
  ]

  /// Returns the number of an ordinal: `third` and `3rd` are 3.
  static func ordinal(_ word: String) -> Int? {
    if let index = ordinals.firstIndex(of: word) { return index + 1 }
    guard word.utf8.count >= 3, ["st", "nd", "rd", "th"].contains(String(word.suffix(2))) else {
      return nil
    }
    return number(String(word.dropLast(2))).flatMap { word.first?.isNumber == true ? $0 : nil }
  }

  /// A unit of an interval.
  enum Unit: Equatable {
    case minute, hour, day, workday, week, month, quarter, year
  }

  /// Returns a unit by its name or abbreviation.
  static func unit(_ word: String) -> Unit? {
    switch word {
    case "m", "min", "mins", "minute", "minutes": .minute
    case "h", "hr", "hrs", "hour", "hours": .hour
    case "d", "day", "days": .day
    case "workday", "workdays": .workday
    case "w", "wk", "wks", "week", "weeks": .week
    case "mo", "mos", "month", "months": .month
    case "q", "quarter", "quarters": .quarter
    case "y", "yr", "yrs", "year", "years": .year
    default: nil
    }
  }

  /// The words that suggestions can name.
  static let suggestions: [String] =
    months + numbers + ordinals + Weekday.allCases.map { "\($0)" } + [
      "every", "other", "daily", "weekly", "monthly", "quarterly", "yearly", "weekdays", "weekends",
      "workday", "workdays", "today", "tomorrow", "until", "except", "holidays", "starting", "from",
      "times", "after", "before", "noon", "midnight", "minutes", "hours", "days", "weeks", "months",
      "years", "last", "next", "month", "week", "year", "quarter",
    ]
}
