import BelfryCore

extension InputReader {
  /// Returns a length of time in seconds: `90` (minutes), `20m`, `1h30m`, `10 min`, `2 days`, `1.5 h`; nil for none.
  ///
  /// - Throws: `InputError.outOfRange` for 0 and for more than 366 days.
  mutating func length() throws(InputError) -> Int64? {
    let start = position
    if accept("half an hour", "half hour") { return 1800 }
    if accept("an hour and a half") { return 5400 }
    var total: Int64 = 0
    var isGiven = false
    while let part = lengthPart(isFirst: !isGiven) {
      total += part
      isGiven = true
      if total > InputReader.maxLength { throw .outOfRange(source(from: start)) }
      let next: Int64? = attemptPart()
      if let next { total += next }
    }
    guard isGiven else {
      position = start
      return nil
    }
    guard (1...InputReader.maxLength).contains(total) else {
      throw .outOfRange(source(from: start))
    }
    return total
  }

  /// The maximum length in seconds.
  static let maxLength: Int64 = 366 * 86_400

  private mutating func attemptPart() -> Int64? {
    let start = position
    guard acceptSeparator(), let part = lengthPart(isFirst: false) else {
      position = start
      return nil
    }
    return part
  }

  private mutating func lengthPart(isFirst: Bool) -> Int64? {
    if let parts = InputReader.joinedParts(word) {
      advance()
      return parts
    }
    guard let number = InputReader.thousandths(word) else { return nil }
    if let unit = InputReader.seconds(peek(1)),
      word.first?.isNumber == true || peek(1).count > 2
    {
      advance(2)
      return number * unit / 1000
    }
    // A number alone is in minutes.
    guard isFirst, word.first?.isNumber == true else { return nil }
    advance()
    return number * 60 / 1000
  }

  /// Returns the length of a word such as `90s` or `1h30m`.
  private static func joinedParts(_ word: String) -> Int64? {
    guard !word.isEmpty else { return nil }
    var rest = word[...]
    var total: Int64 = 0
    while !rest.isEmpty {
      let number = rest.prefix { ($0.isASCII && $0.isNumber) || $0 == "." }
      rest = rest.dropFirst(number.count)
      let unit = rest.prefix { $0.isLetter }
      rest = rest.dropFirst(unit.count)
      // `1h30` is 90 minutes.
      let isMinutes = unit.isEmpty && rest.isEmpty && word.contains("h")
      guard !number.isEmpty, let count = thousandths(String(number)),
        let seconds = isMinutes ? 60 : seconds(String(unit))
      else { return nil }
      total += count * seconds / 1000
      if total > maxLength { return maxLength + 1 }
    }
    return total
  }

  /// Returns a number such as `1.5`, `3` or `two` in thousandths.
  private static func thousandths(_ word: String) -> Int64? {
    if let number = Vocabulary.number(word) { return Int64(number) * 1000 }
    let parts = word.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, (1...6).contains(parts[0].utf8.count), let whole = Int64(parts[0]),
      (1...3).contains(parts[1].utf8.count), let fraction = Int64(parts[1] + "00")
    else { return nil }
    return whole * 1000 + fraction
      / (parts[1].utf8.count == 3 ? 100 : parts[1].utf8.count == 2 ? 10 : 1)
  }

  private static func seconds(_ unit: String) -> Int64? {
    switch unit {
    case "s", "sec", "secs", "second", "seconds": 1
    default:
      switch Vocabulary.unit(unit) {
      case .minute: 60
      case .hour: 3600
      case .day: 86_400
      case .week: 604_800
      case .workday, .month, .quarter, .year, nil: nil
      }
    }
  }
}
