import BelfryInput
import BelfryStore

/// The words of a command, divided into those that select alarms and those behind them: a schedule, a title, a note.
public struct DividedWords: Hashable, Sendable {
  /// The words that select alarms, for `AlarmSelector.selectAny(_:)`.
  public let selection: [String]
  /// The words behind them.
  public let rest: [String]
}

extension AlarmSelector {
  /// Divides words that select alarms from a schedule behind them: `rent pills | every day 9am`.
  ///
  /// | beginning | alarms |
  /// |---|---|
  /// | filter words: `+home due:week` | those that match all of them |
  /// | a name | the alarm, and those of the names that follow, up to a schedule or a word that names none |
  ///
  /// - Parameter isSchedule: Returns true if some words are a schedule. It also gets words such as `+home` behind a name.
  /// - Throws: `SelectionError.scheduleOrAlarm` if the schedule is also the title of an alarm.
  public func divide(
    _ words: [String], isSchedule: ([String]) -> Bool
  ) throws -> DividedWords {
    if let divided = try dividedFilters(words) { return divided }
    var count = min(1, words.count)
    while count < words.count {
      let rest = Array(words[count...])
      if isSchedule(rest) {
        let text = rest.joined(separator: " ")
        if let alarm = try wholeTitle(text) {
          throw SelectionError.scheduleOrAlarm(words: text, alarm)
        }
        break
      }
      guard isName(words[count]) else { break }
      count += 1
    }
    return DividedWords(selection: Array(words[..<count]), rest: Array(words[count...]))
  }

  /// Divides words that select alarms from a text behind them: `rent | call the bank`.
  ///
  /// Filter words at the beginning select alarms. Otherwise a last word with a space, which was quoted, is the text if
  /// all words before it are names. Without one, the first word is the name, or more if they are a whole title.
  public func divideText(_ words: [String]) throws -> DividedWords {
    if let divided = try dividedFilters(words) { return divided }
    guard words.count > 1, let last = words.last else {
      return DividedWords(selection: words, rest: [])
    }
    if last.contains(where: \.isWhitespace), words.dropLast().allSatisfy(isName) {
      return DividedWords(selection: words.dropLast(), rest: [last])
    }
    let count =
      try (1..<words.count).last { try wholeTitle(words[..<$0].joined(separator: " ")) != nil } ?? 1
    return DividedWords(selection: Array(words[..<count]), rest: Array(words[count...]))
  }

  /// Returns the words, divided behind the filter words at their beginning; nil if there are none.
  private func dividedFilters(_ words: [String]) throws -> DividedWords? {
    let filters = try words.prefix { try isFilter($0) }
    if filters.isEmpty { return nil }
    return DividedWords(selection: Array(filters), rest: Array(words.dropFirst(filters.count)))
  }

  /// Returns true if a word is the beginning of a title, of a word of one, or of an identifier.
  public func isName(_ word: String) -> Bool {
    (try? store.alarms(named: word)).map { $0.rule < .part } ?? false
  }

  private func wholeTitle(_ text: String) throws -> AlarmSummary? {
    guard let matches = try? store.alarms(named: text), matches.rule == .whole else { return nil }
    return matches.summaries.first
  }
}
