import BelfryCore

/// Schedules of which a part stands before the title: `mondays call mum at 6pm`.
extension Input {
  /// The words at the start of a line that belong to the schedule at its end.
  struct Front {
    /// The number of words.
    let count: Int
    /// True if the words name the alarm, too: `Weekly report`, `Monday meeting`.
    let isInTitle: Bool
    /// True if the words have a time of day.
    let hasTime: Bool
  }

  /// Returns the longest part of a schedule before a title; nil if there is none.
  ///
  /// - Parameters:
  ///   - words: the words before the rest of the schedule.
  ///   - rest: the rest of the schedule.
  static func front(
    of words: ArraySlice<String>, before rest: ArraySlice<String>, in context: InputContext
  ) -> Front? {
    for count in (1..<(words.count + 1)).reversed() {
      let front = words.prefix(count)
      let isInTitle = count == 1 && isName(front[0])
      guard !isLength(front), let draft = try? schedule(front.joined(separator: " "), in: context),
        count > 1 || beginsFront(front[0], words.dropFirst().first, draft),
        // A number alone may count what the title names: `2 pills tomorrow`.
        draft.rule != nil || plain(front[0]) == "at" || front.contains(where: isTime),
        isUnderstood(front + rest, in: context),
        // `quarterly VAT 10 of jan,apr,jul,oct` has its whole schedule at the end.
        !isInTitle || isSchedule(front + rest, in: context) || !isSchedule(rest, in: context)
      else { continue }
      return Front(count: count, isInTitle: isInTitle, hasTime: draft.times != nil)
    }
    return nil
  }

  /// Returns the number of words after the schedule at the start of a line that are only the title, because those behind
  /// them continue the schedule: `every tue 7pm training may to september`. Returns the number of all if none do.
  static func titleCount(
    _ words: ArraySlice<String>, behind front: ArraySlice<String>, in context: InputContext
  ) -> Int {
    let tail = words.indices.dropFirst().first { isSchedule(front + words[$0...], in: context) }
    return (tail ?? words.endIndex) - words.startIndex
  }

  /// Returns the parts of a line with a colon between its schedule and its title: `tomorrow: call the bank at 9`.
  ///
  /// The last words belong to the schedule if they continue it.
  ///
  /// - Parameter words: the words without tags.
  /// - Returns: Nil if no schedule stands before a colon, as in `Rent: monthly on the 1st`.
  /// - Throws: `InputError` if a word of the title is one of schedules, or probably a misspelling of one.
  public static func lineBehindColon(
    _ words: [String], in context: InputContext
  ) throws(InputError) -> InputLine? {
    guard let colon = words.firstIndex(where: { $0.hasSuffix(":") }), colon + 1 < words.count
    else { return nil }
    let last = words[colon].dropLast()
    let front = (words[..<colon] + (last.isEmpty ? [] : [String(last)]))[...]
    let rest = words[(colon + 1)...]
    guard isUnderstood(front, in: context) else { return nil }
    if isUnderstood(front + rest, in: context) {
      return InputLine(title: "", schedule: (front + rest).joined(separator: " "), tags: [])
    }
    let hasTime =
      (try? schedule(front.joined(separator: " "), in: context)).map { $0.times != nil } ?? true
    var end = rest.endIndex
    for start in rest.indices.dropFirst() {
      let tail = rest[start...]
      if isConjunction(tail[start]) || startsWithPartOfDay(tail[start]) { continue }
      if isUnderstood(front + tail, in: context), !(hasTime && isBareNumber(tail)) {
        end = start
        break
      }
      // `Monday: review tomorrow 9am` has another schedule at its end.
      if !isBareNumber(tail), isUnderstood(tail, in: context) { return nil }
    }
    let title = rest[..<end]
    if let word = title.dropFirst().first(where: isNearSchedule) {
      throw .notUnderstood(word, suggestion: nil)
    }
    return InputLine(
      title: withoutSigns(title), schedule: (front + rest[end...]).joined(separator: " "), tags: [])
  }

  /// Returns true if all words are a schedule, so that the title is missing: `tomorrow 9am`, `last workday 9am`.
  ///
  /// - Parameter words: the words. The first one may be a title with spaces, which is none.
  public static func isScheduleAlone(_ words: [String], in context: InputContext) -> Bool {
    // `Morning daily 8:00` has a title.
    guard words.count > 1, !words[0].contains(" "), !startsWithPartOfDay(words[0]) else {
      return false
    }
    return isUnderstood(words[...], in: context)
  }

  /// Returns true if words are a bare number, which may belong to a title: `vitamin b 12`.
  static func isBareNumber(_ words: ArraySlice<String>) -> Bool {
    words.count == 1 && words.allSatisfy { $0.allSatisfy(\.isNumber) }
  }

  /// Returns true if words are a schedule with one reading.
  private static func isSchedule(_ words: ArraySlice<String>, in context: InputContext) -> Bool {
    (try? schedule(words.joined(separator: " "), in: context)) != nil
  }

  /// Returns true if words are a schedule, or have several readings as one.
  private static func isUnderstood(
    _ words: ArraySlice<String>, in context: InputContext
  ) -> Bool {
    var text = words.joined(separator: " ").lowercased()
    // What follows words with several readings may be no schedule.
    for _ in 0..<maxAmbiguities {
      do throws(InputError) {
        _ = try schedule(text, in: context)
        return true
      } catch {
        guard case .ambiguous(let words, let readings) = error else { return false }
        guard let reading = readings.first,
          let range = text.firstRange(of: words.lowercased())
        else { return true }
        text.replaceSubrange(range, with: reading)
      }
    }
    return true
  }

  /// The number of ambiguities of one line that are settled.
  private static let maxAmbiguities = 3

  /// Returns true if a schedule may begin with a single word, of which titles seldom have the meaning.
  private static func beginsFront(_ word: String, _ next: String?, _ draft: ScheduleDraft) -> Bool {
    let word = plain(word)
    if word.first?.isNumber == true || ["today", "tomorrow", "tonight"].contains(word) {
      return true
    }
    if Vocabulary.weekday(word) != nil, !Vocabulary.isPlural(word) {
      // `Sun cream at 9` and `Sat nav update at 9`
      return word.count > 4 || ["mon", "tue", "tues", "thu", "thur", "fri"].contains(word)
    }
    switch draft.rule {
    case nil, .once, .dates: return false
    default: return true
    }
  }

  /// Returns true for `2 weeks`, which may be a part of the title, while `in 2 weeks` is not.
  private static func isLength(_ words: ArraySlice<String>) -> Bool {
    words.count == 2 && Vocabulary.number(plain(words[0])) != nil
      && Vocabulary.unit(plain(words[1])) != nil
  }

  /// Returns true for a word that often begins the name of what is due: `daily`, `Monday`.
  private static func isName(_ word: String) -> Bool {
    let word = plain(word)
    if ["weekday", "weekend"].contains(word) || word.hasSuffix("ly") { return true }
    return Vocabulary.weekday(word) != nil && !Vocabulary.isPlural(word)
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
