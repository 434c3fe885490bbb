import BelfryCore

/// Schedules of which a part stands before the title: `mondays call mum at 6pm`.
extension Input {
  /// The words at the start of a line that belong to the schedule at its end.
  struct Front {
    /// The number of words.
    let count: Int
    /// True if the words name the alarm, too: `Weekly report`, `Monday meeting`.
    let isInTitle: Bool
  }

  /// Returns the longest part of a schedule before a title; nil if there is none.
  ///
  /// - Parameters:
  ///   - words: the words before the rest of the schedule.
  ///   - rest: the rest of the schedule.
  static func front(
    of words: ArraySlice<String>, before rest: ArraySlice<String>, in context: InputContext
  ) -> Front? {
    guard let first = words.first, beginsFront(first, words.dropFirst().first ?? "") else {
      return nil
    }
    for count in (1...words.count).reversed() {
      let front = words.prefix(count)
      // A number alone may count what the title names: `2 pills tomorrow`.
      guard let draft = try? schedule(front.joined(separator: " "), in: context),
        draft.rule != nil || plain(first) == "at" || front.contains(where: isTime),
        isUnderstood(front + rest, in: context)
      else { continue }
      return Front(count: count, isInTitle: count == 1 && isName(first))
    }
    return nil
  }

  /// Returns true if words are a schedule whose first word hardly is a title: `tomorrow 9am`, `daily 9am`.
  ///
  /// - Parameter words: the words. The first one may be a title with spaces, which is none.
  public static func isScheduleAlone(_ words: [String], in context: InputContext) -> Bool {
    guard let first = words.first, !first.contains(" "),
      beginsFront(first, words.dropFirst().first ?? "")
    else { return false }
    return isUnderstood(words[...], in: context)
  }

  /// Returns true if words are a schedule, or have several readings as one.
  private static func isUnderstood(
    _ words: ArraySlice<String>, in context: InputContext
  ) -> Bool {
    do throws(InputError) {
      _ = try schedule(words.joined(separator: " "), in: context)
      return true
    } catch {
      if case .ambiguous = error { return true }
      return false
    }
  }

  /// Returns true if a schedule may begin with a word, of which titles seldom have the meaning.
  private static func beginsFront(_ word: String, _ next: String) -> Bool {
    let word = plain(word)
    let next = plain(next)
    if word.first?.isNumber == true || ruleWords.contains(word) { return true }
    if frontWords.contains(word) || Vocabulary.weekdayGroup(word) != nil { return true }
    if Vocabulary.weekday(word) != nil {
      // `Sun cream at 9` and `Sat nav update at 9`
      return word.count > 4 || Vocabulary.weekday(next) != nil || isTime(next)
        || ["and", "&"].contains(next)
    }
    return Vocabulary.month(word) != nil && InputReader.dayNumber(next) != nil
  }

  private static let frontWords: Set = ["today", "tomorrow", "tonight", "on", "next", "in", "at"]

  /// Returns true for a word that often begins the name of what is due: `daily`, `Monday`.
  private static func isName(_ word: String) -> Bool {
    let word = plain(word)
    if ["weekday", "weekend"].contains(word) { return true }
    return ruleWords.contains(word) || Vocabulary.weekday(word) != nil && !Vocabulary.isPlural(word)
  }

  /// Returns true for a word that can only be a time of day: `9am`, `18:00`.
  private static func isTime(_ word: String) -> Bool {
    let word = plain(word)
    return word.first?.isNumber == true
      && (word.contains(":") || word.hasSuffix("am") || word.hasSuffix("pm"))
  }

  private static func plain(_ word: String) -> String {
    let word = word.lowercased()
    return word.hasSuffix(",") ? String(word.dropLast()) : word
  }
}
