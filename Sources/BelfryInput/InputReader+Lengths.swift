import BelfryCore

extension InputReader {
  /// Returns a length of time in seconds: `90` (minutes), `20m`, `1h30m`, `10 min`, `2 days`, `1.5 h`; nil for none.
  ///
  /// - Throws: `InputError.outOfRange` for 0 and for more than 366 days.
  mutating func length() throws(InputError) -> Int64? {
    let start = position
    if let length = spokenLength() { return length }
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

  /// Reads lengths with fractions in words: `half a day`, `one and a half hours`, `a quarter of an hour`, `1/2 hour`,
  /// `1:30`, and with a decimal comma: `1,5 hours`.
  private mutating func spokenLength() -> Int64? {
    if accept("an hour and a half") { return 5400 }
    let start = position
    if accept(
      "a quarter of an hour", "quarter of an hour", "a quarter hour", "quarter hour", "1/4 hour")
    {
      return 900
    }
    if accept("three quarters of an hour", "3/4 hour") { return 2700 }
    if accept("half an", "half a", "half", "1/2"), let unit = InputReader.seconds(word) {
      advance()
      return unit / 2
    }
    position = start
    if let number = Vocabulary.number(word), peek(1) == "and", peek(2) == "a", peek(3) == "half",
      let unit = InputReader.seconds(peek(4))
    {
      advance(5)
      return Int64(number) * unit + unit / 2
    }
    if let length = hoursAndMinutes() ?? decimal() { return length }
    position = start
    return nil
  }

  /// Reads `1:30`: hours and minutes.
  private mutating func hoursAndMinutes() -> Int64? {
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
      let hours = Vocabulary.number(String(parts[0])),
      let minutes = Vocabulary.number(String(parts[1])), minutes < 60
    else { return nil }
    advance()
    return Int64(hours * 60 + minutes) * 60
  }

  /// Reads a number with a decimal comma and its unit: `1,5 hours`, `0,5h`.
  private mutating func decimal() -> Int64? {
    guard isDecimal, let whole = Int64(word) else { return nil }
    let next = peek(2)
    let digits = next.prefix { $0.isASCII && $0.isNumber }
    let joined = String(next.dropFirst(digits.count))
    guard let number = InputReader.thousandths("\(whole).\(digits)"),
      let unit = InputReader.seconds(joined.isEmpty ? peek(3) : joined)
    else { return nil }
    advance(joined.isEmpty ? 4 : 3)
    return number * unit / 1000
  }

  /// True if the next words are a number with a decimal comma: `1,5`.
  private var isDecimal: Bool {
    guard position + 2 < tokens.count, peek(1) == ",", tokens[position + 1].isJoined,
      tokens[position + 2].isJoined, !word.isEmpty, word.utf8.count <= 4
    else { return false }
    return word.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } && peek(2).first?.isNumber == true
  }

  // MARK: Lengths from now

  /// Throws an error for `2029` without a unit, which may be a year.
  func refuseYear() throws(InputError) {
    if word.utf8.count == 4, let number = Vocabulary.number(word), (2000..<2100).contains(number),
      Vocabulary.unit(peek(1)) == nil
    {
      throw .numberAlone(word)
    }
  }

  /// True if the next word has a sign, as `+3d`.
  var hasSign: Bool { word.hasPrefix("+") && word.count > 1 }

  /// The next word without its sign.
  var unsignedWord: String { hasSign ? String(word.dropFirst()) : word }

  /// True if the input begins with a length and its unit, `2w` or `3 days`, and has nothing but a time behind it.
  var isQuantity: Bool {
    guard position == 0, word.first?.isNumber == true else { return false }
    var reader = self
    let isJoined = InputReader.joinedParts(word) != nil && word.last?.isLetter == true
    guard isJoined || InputReader.seconds(peek(1)) != nil || isDecimal else { return false }
    guard (try? reader.length()) ?? nil != nil else { return false }
    if reader.isAtEnd { return true }
    _ = reader.accept("at", "@")
    return (try? reader.time(.any)) ?? nil != nil && reader.isAtEnd
  }

  private mutating func attemptPart() -> Int64? {
    let start = position
    guard acceptSeparator(), let part = lengthPart(isFirst: false) else {
      position = start
      return nil
    }
    return part
  }

  private mutating func lengthPart(isFirst: Bool) -> Int64? {
    let word = unsignedWord
    if let parts = InputReader.joinedParts(word) {
      advance()
      if word.hasSuffix("h"), !word.contains("."),
        let minutes = minutesBehindHours(from: position - 1)
      {
        return parts + minutes
      }
      return parts
    }
    // Never 301 minutes for `1,5h`.
    if isDecimal { return nil }
    guard let number = InputReader.thousandths(word) else { return nil }
    if let unit = InputReader.seconds(peek(1)),
      word.first?.isNumber == true || peek(1).count > 2
    {
      advance(2)
      // `1 hour and a half`, `1 h 15`
      if accept("and a half") { return number * unit / 1000 + unit / 2 }
      if unit == 3600, let minutes = minutesBehindHours(from: position - 2) {
        return number * unit / 1000 + minutes
      }
      return number * unit / 1000
    }
    // A number alone is in minutes.
    guard isFirst, word.first?.isNumber == true else { return nil }
    advance()
    return number * 60 / 1000
  }

  /// Reads the minutes of `1 h 15` and `1h 15`, in seconds. In `every 8 hours 21 times` the number is none of the length.
  private mutating func minutesBehindHours(from start: Int) -> Int64? {
    guard start == 0 || !["every", "each"].contains(tokens[start - 1].text),
      word.utf8.count == 2, let minutes = digits(word), minutes < 60,
      InputReader.seconds(peek(1)) == nil, Vocabulary.month(peek(1)) == nil,
      !["times", "time", "am", "pm", "o'clock", "uhr"].contains(peek(1))
    else { return nil }
    advance()
    return Int64(minutes) * 60
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
