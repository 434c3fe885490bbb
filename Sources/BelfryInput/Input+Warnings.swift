import BelfryCore

/// The advance warnings that a person names beside a schedule.
extension Input {
  /// The advance warnings of some words, and the other words.
  public struct WordsWithWarnings: Equatable, Sendable {
    /// The seconds before the occurrence, in the order of the words.
    public let lengths: [Int64]
    /// The words without those of the warnings.
    public let words: [String]
  }

  /// Returns the advance warnings in words such as `monthly on the 1st 9:00 remind 1 day before`, and the other words;
  /// nil if there are none.
  ///
  /// | words | warnings |
  /// |---|---|
  /// | `remind me a day before`, `warn 2h ahead` | one |
  /// | `with reminders 2 weeks and 1 day before` | two |
  /// | `and a reminder the day before` | a day before |
  /// | `with 2 weeks notice`, `2 weeks notice` | two weeks before |
  /// | `remind me a month before` | 30 days before |
  public static func warnings(in words: [String]) -> WordsWithWarnings? {
    for start in words.indices {
      for end in ((start + 2)...(start + maxWarningWords)).reversed() where end <= words.count {
        guard let lengths = warnings(Array(words[start..<end]).map { $0.lowercased() }) else {
          continue
        }
        var before = Array(words[..<start])
        // `monthly at 9:00, remind me a day before`
        if let last = before.last, last.count > 1, last.hasSuffix(",") {
          before[before.count - 1].removeLast()
        }
        return WordsWithWarnings(lengths: lengths, words: before + words[end...])
      }
    }
    return nil
  }

  /// The number of words of `and with reminders two weeks, three days and one day before`, with some to spare.
  private static let maxWarningWords = 16

  /// Returns the lengths of words that are warnings as a whole; nil for any others.
  private static func warnings(_ words: [String]) -> [Int64]? {
    var rest = words[...]
    func accept(_ choices: Set<String>) -> Bool {
      guard let word = rest.first, choices.contains(word) else { return false }
      rest.removeFirst()
      return true
    }
    _ = accept(["and", ",", "+"])
    let isWith = accept(["with"])
    if isWith, ["notice", "warning", "reminder"].contains(words.last ?? "") {
      _ = accept(["a", "an"])
      return lengths(rest.dropLast())
    }
    // `30 days notice`
    if words.last == "notice", rest.count > 2 { return lengths(rest.dropLast()) }
    _ = accept(["a", "an", "two", "three"])
    guard accept(["remind", "reminder", "reminders", "warn", "warning", "warnings", "notify"])
    else { return nil }
    _ = accept(["me", "us"])
    if rest.suffix(2) == ["in", "advance"] {
      rest = rest.dropLast(2)
    } else if let last = rest.last, isBefore(last) {
      rest = rest.dropLast()
    } else {
      return nil
    }
    return lengths(rest)
  }

  /// Returns the number of months in `a month` and `2 months`, each of which is 30 days before an occurrence.
  private static func months(_ words: [String]) -> Int64? {
    guard words.count == 2, Vocabulary.unit(words[1]) == .month, words[1].count > 2,
      let count = ["a", "an"].contains(words[0]) ? 1 : Vocabulary.number(words[0]),
      (1...12).contains(count)
    else { return nil }
    return Int64(count)
  }

  private static func isBefore(_ word: String) -> Bool {
    ["before", "beforehand", "earlier", "ahead"].contains(word)
  }

  /// Returns the seconds of `2 weeks, 3 days and the day`; nil for any other words.
  private static func lengths(_ words: ArraySlice<String>) -> [Int64]? {
    let separated = words.flatMap { $0.hasSuffix(",") ? [String($0.dropLast()), ","] : [$0] }
    let parts = separated.split(omittingEmptySubsequences: false) {
      [",", "and", "&"].contains($0)
    }
    let lengths = parts.filter { !$0.isEmpty }.map { part in
      var text = part.first == "the" ? ["a"] + part.dropFirst() : Array(part)
      // `2 weeks before and 1 day before`
      if text.count > 1, isBefore(text[text.count - 1]) { text.removeLast() }
      let isBare = text.count == 1 && text[0].allSatisfy(\.isNumber)
      return isBare
        ? nil : seconds(text.joined(separator: " ")) ?? months(text).map { $0 * 30 * 86_400 }
    }
    let known = lengths.compactMap(\.self)
    return known.isEmpty || known.count < lengths.count ? nil : known
  }
}
