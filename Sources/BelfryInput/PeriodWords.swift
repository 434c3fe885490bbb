import BelfryCore

/// The words of periods.
enum PeriodWords {
  /// Returns the number of units from today that a word names.
  static func distance(_ word: String) -> Int? {
    switch word {
    case "this", "current", "now": 0
    case "next": 1
    case "last", "previous", "prev", "past": -1
    default: nil
    }
  }

  /// Returns the unit of a word: `month`, and `months` behind a number.
  static func unit(_ word: String, isPlural: Bool = false) -> CalendarUnit? {
    guard word.count > 2, isPlural || !word.hasSuffix("s") else { return nil }
    switch Vocabulary.unit(word) {
    case .day: return .day
    case .week: return .isoWeek
    case .month: return .month
    case .quarter: return .quarter
    case .year: return .year
    case .minute, .hour, .workday, nil: return nil
    }
  }

  /// Returns a year of four digits.
  static func year(_ word: String) -> Int? {
    guard word.utf8.count == 4, let year = digits(word), CivilDate.years.contains(year) else {
      return nil
    }
    return year
  }

  /// Returns a month by its name, or by its number if numbers are read.
  static func month(_ word: String, isNumber: Bool) -> PeriodPoint? {
    if let month = Vocabulary.month(word) { return .month(month) }
    guard isNumber, word.utf8.count <= 2, let month = digits(word), (1...12).contains(month) else {
      return nil
    }
    return .month(month)
  }

  /// Reads `q4`.
  static func quarter(_ word: String) -> PeriodPoint? {
    guard word.utf8.count == 2, word.hasPrefix("q"), let number = digits(String(word.dropFirst())),
      (1...4).contains(number)
    else { return nil }
    return .quarter(number)
  }

  /// Returns the number of at most four digits.
  static func digits(_ word: String) -> Int? {
    (1...4).contains(word.utf8.count) && word.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
      ? Int(word) : nil
  }

  /// Returns the parts of a word around a sign.
  static func parts(_ word: String, at sign: Character) -> [String] {
    word.split(separator: sign).map(String.init)
  }
}
