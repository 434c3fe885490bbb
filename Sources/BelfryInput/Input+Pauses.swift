import BelfryCore

/// The words of a pause, which also name alarms: `gym from thursday until saturday`.
extension Input {
  /// The beginning and the end of a pause in words, and the words that name alarms.
  public struct WordsWithPause: Equatable, Sendable {
    /// The words that name alarms.
    public var names: [String]
    /// The words of the beginning; nil if it is now.
    public var start: String?
    /// The words of the end; nil if it is missing.
    public var end: String?

    /// Creates the parts.
    public init(names: [String], start: String? = nil, end: String? = nil) {
      (self.names, self.start, self.end) = (names, start, end)
    }
  }

  /// Returns the parts of the words of a pause.
  ///
  /// | words | beginning | end |
  /// |---|---|---|
  /// | `gym until friday`, `until friday gym` | | `friday` |
  /// | `gym 2w`, `gym for 3 days`, `2w gym` | | `in 2w`, `in 3 days` |
  /// | `gym from thursday until saturday`, also with `to` or `-`, and before the names | `thursday` | `saturday` |
  /// | `gym 24 dec until 2 jan` | `24 dec` | `2 jan` |
  /// | `gym from thursday for 3 days` | `thursday` | `in 3 days` |
  /// | `gym next week`, `gym this weekend` | its first date | the date after it |
  /// | `gym today` | | tomorrow's date |
  public static func pause(_ words: [String], in context: InputContext) -> WordsWithPause {
    pauseWithEnd(words, in: context) ?? pauseWithLength(words) ?? pauseOfUnit(words, in: context)
      ?? pauseWithoutEnd(words, in: context)
  }

  // MARK: Until an end

  /// The words before an end, and those that are before one only behind a beginning: `go to 9 until friday`.
  private static let ends: Set = ["until", "till", "til"]
  private static let separators = ends.union(["to", "through", "thru", "-", "–"])

  /// Reads the end behind the last word such as `until` that has one.
  private static func pauseWithEnd(
    _ words: [String], in context: InputContext
  ) -> WordsWithPause? {
    for index in words.indices.reversed() where separators.contains(words[index].lowercased()) {
      let rest = Array(words[(index + 1)...])
      guard let count = leadingMomentCount(rest, in: context) else { continue }
      let before = withoutEnd(Array(words[..<index]), in: context)
      // Behind the end, only the names follow that are not before it.
      guard ends.contains(words[index].lowercased()) || before.start != nil,
        count == rest.count || before.names.isEmpty
      else { continue }
      return WordsWithPause(
        names: before.names + rest[count...], start: before.start,
        end: rest[..<count].joined(separator: " "))
    }
    return nil
  }

  /// Returns the names and the beginning in words before the end.
  private static func withoutEnd(_ words: [String], in context: InputContext) -> WordsWithPause {
    if let from = words.lastIndex(where: { $0.lowercased() == "from" }) {
      let start = Array(words[(from + 1)...])
      if leadingMomentCount(start, in: context) == start.count {
        return WordsWithPause(
          names: Array(words[..<from]), start: start.joined(separator: " "))
      }
    }
    // `gym 24 dec`
    for start in words.indices {
      let rest = Array(words[start...])
      let text = rest.joined(separator: " ")
      // A number alone is rather a part of a title.
      guard !text.allSatisfy(\.isNumber), leadingMomentCount(rest, in: context) == rest.count
      else { continue }
      return WordsWithPause(names: Array(words[..<start]), start: text)
    }
    return WordsWithPause(names: words)
  }

  /// Reads `gym from thursday`, whose end is missing.
  private static func pauseWithoutEnd(
    _ words: [String], in context: InputContext
  ) -> WordsWithPause {
    // Behind `until`, words that are no end are reported as such.
    if let index = words.lastIndex(where: { ends.contains($0.lowercased()) }) {
      let end = words[(index + 1)...].joined(separator: " ")
      var parts = withoutEnd(Array(words[..<index]), in: context)
      parts.end = end.isEmpty ? nil : end
      return parts
    }
    guard words.contains(where: { $0.lowercased() == "from" }) else {
      return WordsWithPause(names: words)
    }
    return withoutEnd(words, in: context)
  }

  // MARK: For a length

  private static func pauseWithLength(_ words: [String]) -> WordsWithPause? {
    func length(_ words: ArraySlice<String>) -> String? {
      let length = words.drop { $0.lowercased() == "for" }.joined(separator: " ")
      return length.contains(where: \.isLetter) && isLength(length) ? "in \(length)" : nil
    }
    // `gym 2w`, `gym for 3 days`, `gym from thursday for 3 days`
    for start in words.indices {
      guard let end = length(words[start...]) else { continue }
      let before = Array(words[..<start])
      guard let from = before.lastIndex(where: { $0.lowercased() == "from" }),
        from + 1 < before.count
      else { return WordsWithPause(names: before, end: end) }
      return WordsWithPause(
        names: Array(before[..<from]), start: before[(from + 1)...].joined(separator: " "), end: end
      )
    }
    // `2w gym`
    for end in words.indices.dropFirst().reversed() {
      if let text = length(words[..<end]) {
        return WordsWithPause(names: Array(words[end...]), end: text)
      }
    }
    return nil
  }

  // MARK: In a week or month

  /// Reads `next week`, `this weekend` and `today`, with the names before or after them.
  private static func pauseOfUnit(
    _ words: [String], in context: InputContext
  ) -> WordsWithPause? {
    for count in [2, 1] where words.count >= count {
      for (unit, names) in [
        (words.suffix(count), words.dropLast(count)), (words.prefix(count), words.dropFirst(count)),
      ] {
        let text = unit.joined(separator: " ").lowercased()
        guard let dates = datesOfPause(text, in: context) else { continue }
        let isNow = dates.lowerBound <= context.today
        return WordsWithPause(
          names: Array(names), start: isNow ? nil : "\(dates.lowerBound)",
          end: "\(dates.upperBound.adding(days: 1))")
      }
    }
    return nil
  }

  private static func datesOfPause(
    _ text: String, in context: InputContext
  ) -> ClosedRange<CivilDate>? {
    let today = context.today
    switch text {
    case "today": return today...today
    case "this week": return CalendarUnit.isoWeek.dates(0, from: today)
    case "next week": return CalendarUnit.isoWeek.dates(1, from: today)
    case "this month": return CalendarUnit.month.dates(0, from: today)
    case "next month": return CalendarUnit.month.dates(1, from: today)
    case "this weekend":
      let sunday = CalendarUnit.isoWeek.dates(0, from: today).upperBound
      return max(today, sunday.adding(days: -1))...sunday
    default: return nil
    }
  }
}
