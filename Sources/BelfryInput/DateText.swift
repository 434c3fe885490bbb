import BelfryCore

/// A date in one word: `2026-12-24`, `24.12.`, `24/12`, `20261224`.
enum DateText {
  /// The parts of a date. A date without a year is the next one.
  struct Parts: Equatable {
    let day: Int
    let month: Int
    let year: Int?
  }

  /// Returns the parts of a word; nil if it does not have the form of a date.
  ///
  /// - Throws: `InputError.ambiguous` for a text such as `3/4`, `noSuchDate` for one such as `31.2.`.
  static func parts(_ word: String) throws(InputError) -> Parts? {
    for separator: Character in ["-", ".", "/"] where word.contains(separator) {
      var fields = word.split(separator: separator, omittingEmptySubsequences: false)
      if separator == ".", fields.count == 3, fields[2].isEmpty { fields.removeLast() }
      if separator == "-", let parts = named(fields) { return try checked(parts, word) }
      guard (2...3).contains(fields.count),
        fields.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 4 && $0.utf8.allSatisfy(isDigit) })
      else { return nil }
      let numbers = fields.compactMap { Int($0) }
      if numbers.count == 3, fields[0].utf8.count == 4 {
        return try checked(Parts(day: numbers[2], month: numbers[1], year: numbers[0]), word)
      }
      let year = numbers.count == 3 ? numbers[2] : nil
      if let year, fields[2].utf8.count != 4 {
        guard separator != "-", fields[2].utf8.count == 2 else { return nil }
        if separator == "/" { return try slashed(numbers[0], numbers[1], 2000 + year, word) }
        return try checked(Parts(day: numbers[0], month: numbers[1], year: 2000 + year), word)
      }
      switch separator {
      case ".": return try checked(Parts(day: numbers[0], month: numbers[1], year: year), word)
      case "/": return try slashed(numbers[0], numbers[1], year, word)
      // `24-12-2026` is a date, but `12-24` may be a range.
      default:
        guard let year else { return nil }
        return try slashed(numbers[0], numbers[1], year, word)
      }
    }
    guard word.utf8.count == 8, word.utf8.allSatisfy(isDigit), let number = Int(word) else {
      return nil
    }
    return try checked(
      Parts(day: number % 100, month: number / 100 % 100, year: number / 10_000), word)
  }

  /// Returns the parts of `24-dec-2026`; nil for any other fields.
  private static func named(_ fields: [Substring]) -> Parts? {
    guard fields.count == 3, fields[0].utf8.count <= 2, fields[2].utf8.count == 4,
      let day = Int(fields[0]), let year = Int(fields[2]),
      let month = Vocabulary.month(String(fields[1]))
    else { return nil }
    return Parts(day: day, month: month, year: year)
  }

  private static func slashed(
    _ first: Int, _ second: Int, _ year: Int?, _ word: String
  ) throws(InputError) -> Parts {
    let dayFirst = Parts(day: first, month: second, year: year)
    let monthFirst = Parts(day: second, month: first, year: year)
    switch (isDate(dayFirst), isDate(monthFirst)) {
    case (true, true) where dayFirst != monthFirst:
      throw .ambiguous(word, readings: [text(dayFirst), text(monthFirst)])
    case (true, _): return dayFirst
    case (false, true): return monthFirst
    case (false, false): throw .noSuchDate(word)
    }
  }

  private static func checked(_ parts: Parts, _ word: String) throws(InputError) -> Parts {
    guard isDate(parts) else { throw .noSuchDate(word) }
    return parts
  }

  /// Returns true if a date exists in its year, or in any year if it has none.
  static func isDate(_ parts: Parts) -> Bool {
    // 2000 is a leap year.
    let year = parts.year ?? 2000
    return (1...12).contains(parts.month) && CivilDate.years.contains(year) && parts.day >= 1
      && parts.day <= CivilDate.length(ofMonth: parts.month, year: year)
  }

  /// Returns the text of a day and a month that is not ambiguous: `3 Apr`; nil if there is no such date.
  static func dayAndMonth(day: Int, month: Int) -> String? {
    let parts = Parts(day: day, month: month, year: nil)
    return isDate(parts) ? text(parts) : nil
  }

  private static func text(_ parts: Parts) -> String {
    "\(parts.day) \(CivilDate.monthNames[parts.month - 1])" + (parts.year.map { " \($0)" } ?? "")
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
}
