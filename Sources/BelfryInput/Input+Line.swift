import BelfryCore

/// A line that names a new alarm: its title, its schedule and its tags.
public struct InputLine: Hashable, Sendable {
  /// The title; empty if the line has none.
  public let title: String
  /// The words of the schedule; empty if the line has none.
  public let schedule: String
  /// The tags without their sign, as they were typed.
  public let tags: [String]

  /// Creates a line from its parts.
  public init(title: String, schedule: String, tags: [String]) {
    self.title = title
    self.schedule = schedule
    self.tags = tags
  }
}

extension Input {
  /// Returns the parts of a line such as `call vet in 2 weeks at 9am +family`, or `every day at 9 pills`.
  ///
  /// The schedule is the longest one at the end of the line, or else at its start. What stands before the title belongs to
  /// it, too, if both make one schedule: `mondays call mum at 6pm`. A line whose title would contain a word of schedules, or
  /// nearly one, has no clear parts: a misspelled word must not become a part of the title.
  ///
  /// - Parameter words: The words. A word with spaces, as in `'Pay rent' every mon`, is a part of the title.
  /// The schedule may have several readings, or a mistake other than an unknown word.
  ///
  /// - Throws: `InputError` if the line has words of schedules, but no schedule that is understood.
  public static func line(_ words: [String], in context: InputContext) throws(InputError)
    -> InputLine
  {
    let tags = words.filter(isTag).map { String($0.dropFirst()) }
    let rest = words.filter { !isTag($0) }
    func line(_ title: some Sequence<String>, _ schedule: some Sequence<String>) -> InputLine {
      InputLine(
        title: withoutSigns(title), schedule: schedule.joined(separator: " "), tags: tags)
    }
    if rest.isEmpty { return line([], []) }
    if let split = try lineBehindColon(rest, in: context) {
      return InputLine(title: split.title, schedule: split.schedule, tags: tags)
    }
    if isScheduleAlone(rest, in: context) { return line([], rest) }
    var failure: InputError?
    // `every 2 years in may` says more than the first word that is not understood.
    var missingDay: InputError?
    func keepMissingDay(_ error: InputError) {
      if case .missing(.day, let word) = error, Vocabulary.month(word) != nil { missingDay = error }
    }
    var hasEnd = false
    for start in rest.indices.dropFirst() {
      // `Parents evening 8 dec`; and a list does not begin in its middle: `24, 26 november and 1 december`
      if startsWithPartOfDay(rest[start]) || isConjunction(rest[start]) { continue }
      var draft: ScheduleDraft?
      do throws(InputError) {
        draft = try schedule(rest[start...].joined(separator: " "), in: context)
      } catch  where error.isMisreading {
        // A correction, and what is wrong behind `every`, say more than the first word that is not understood.
        if failure == nil || startsSchedule(rest[start])
          || failure?.hasSuggestion == false && error.hasSuggestion
        {
          failure = error
        }
        keepMissingDay(error)
        continue
      } catch {
        // What has several readings, or the wrong number of times, is a schedule, too.
      }
      // `Book a hotel in New York friday 8pm`: the city is the title's.
      if rest[start].lowercased() == "in", draft?.zone != nil, start + 1 < rest.count,
        Vocabulary.number(rest[start + 1].lowercased()) == nil,
        rest[start + 1].first?.isNumber != true
      {
        continue
      }
      let front = front(of: rest[..<start], before: rest[start...], in: context)
      // `daily at 9 vitamin b 12`
      if front?.hasTime == true, isBareNumber(rest[start...]) { continue }
      hasEnd = true
      let title = rest[(front?.isInTitle == false ? front?.count ?? 0 : 0)..<start]
      guard title.dropFirst().allSatisfy({ !isNearSchedule($0) }),
        front != nil || !["every", "each"].contains(rest[0].lowercased())
      else { break }
      if title.startIndex > 0, let first = title.first, continuesSchedule(first) {
        failure = .notUnderstood(first, suggestion: nil)
        break
      }
      if let word = scheduleWord(endOf: Array(title), before: draft, rest[start]) {
        failure = .notUnderstood(word, suggestion: nil)
        break
      }
      // `Cancel it 30 days before 31 march` is not on that day.
      let last = rest[start - 1]
      if title.count > 1, prepositions.contains(last.lowercased()) {
        failure = .notUnderstood(last, suggestion: nil)
        break
      }
      return line(title, rest.prefix(front?.count ?? 0) + rest[start...])
    }
    for end in rest.indices.dropFirst().reversed() where !hasEnd {
      let front = rest[..<end]
      do throws(InputError) {
        _ = try schedule(front.joined(separator: " "), in: context)
      } catch {
        keepMissingDay(error)
        continue
      }
      let title = rest[end...].prefix(titleCount(rest[end...], behind: front, in: context))
      guard title.allSatisfy({ !isNearSchedule($0) }) else { break }
      if continuesSchedule(title[end]) {
        failure = .notUnderstood(title[end], suggestion: nil)
        break
      }
      return line(title, front + rest[title.endIndex...])
    }
    // A title alone has no word of a schedule.
    let isTitle = rest.dropFirst().allSatisfy { word in
      !isNearSchedule(word) && !word.contains { $0 == ":" || $0.isNumber }
    }
    if let failure = missingDay ?? failure, !isTitle { throw failure }
    return line(rest, [])
  }

  /// Returns the title of some words without the signs between it and the schedule: `Rent: 1 dec`, `24 dec - call mum`.
  public static func withoutSigns(_ words: some Sequence<String>) -> String {
    var words = Array(words)
    while words.count > 1, let last = words.last, signs.contains(last) { words.removeLast() }
    while words.count > 1, let first = words.first, signs.contains(first) { words.removeFirst() }
    if let last = words.last, last.count > 1, [",", ";", ":"].contains(last.last) {
      words[words.count - 1].removeLast()
    }
    return words.joined(separator: " ")
  }

  /// Returns true for a word that joins the elements of a list, with which no schedule begins.
  static func isConjunction(_ word: String) -> Bool {
    ["and", "&", ","].contains(word.lowercased())
  }

  private static let signs: Set = ["-", "–", "—", ":", ",", ";", "|"]

  /// Returns true for a word such as `evening`, which belongs to the title before it: `Parents evening 8 dec`.
  public static func startsWithPartOfDay(_ word: String) -> Bool {
    Vocabulary.partOfDay(word.lowercased()) != nil
  }

  /// The words between which and a date a schedule may be missing.
  private static let prepositions: Set = [
    "before", "after", "by", "until", "till", "since", "from", "to", "of", "per", "within", "ahead",
  ]

  /// Returns true for a word with which a title hardly begins behind a part of a schedule, which it seems to continue.
  private static func continuesSchedule(_ word: String) -> Bool {
    let word = word.lowercased()
    return prepositions.contains(word) || continuations.contains(word)
      || Vocabulary.partOfDay(word) != nil
      || ["in", "at", "on", "for", "except", "but", "not", "starting", "beginning"].contains(word)
  }

  /// Returns the word at the end of a title that more likely belongs to the schedule behind it: `Trip seven am` tomorrow,
  /// `Books last day of the year` 9am; nil for none.
  private static func scheduleWord(
    endOf title: [String], before schedule: ScheduleDraft?, _ next: String
  ) -> String? {
    guard title.count > 1, let last = title.last else { return nil }
    let words = title.map { $0.lowercased() }
    let word = words[words.count - 1]
    let previous = words[words.count - 2]
    if continuations.contains(word) { return last }
    if let foreign = zip(title, words).suffix(3).dropFirst(title.count > 3 ? 0 : 1)
      .first(where: { Vocabulary.isForeign($1) && $1.count > 3 || $1 == "um" })
    {
      return foreign.0
    }
    let parts = word.split(separator: "-").map(String.init)
    if parts.count > 1,
      parts.allSatisfy({ Vocabulary.month($0) != nil })
        || parts.allSatisfy({ Vocabulary.weekday($0) != nil })
    {
      return last
    }
    // `Rent 1., 15. monthly`
    if case .monthly(nil, _)? = schedule?.rule, InputReader.dayNumber(word) != nil,
      Vocabulary.number(word) == nil
    {
      return last
    }
    let hasDate = schedule?.rule != nil
    if let unit = Vocabulary.unit(word), word.count > 2, unit != .minute {
      return !hasDate || beforeUnits.contains(previous) || Vocabulary.number(previous) != nil
        || Vocabulary.ordinal(previous) != nil ? last : nil
    }
    if let date = date(in: words, before: next.lowercased()) { return date }
    if Vocabulary.month(word) != nil, word.count > 3 {
      return !hasDate || ["to", "until", "till", "in", "of"].contains(previous) ? last : nil
    }
    return Vocabulary.number(word) != nil && ["half", "past", "to"].contains(previous) ? last : nil
  }

  /// Returns the end of a date in a title, which is probably one of several; nil if there is none.
  ///
  /// | title | schedule |
  /// |---|---|
  /// | `Physio 24, 26 november or` | `1 dec 9am` |
  /// | `Physio 24,`, `Physio 24` | `26 nov 9am` |
  /// | `Physio 24.11. /` | `26.11. 9am` |
  private static func date(in title: [String], before schedule: String) -> String? {
    func isDay(_ word: String) -> Bool { InputReader.dayNumber(word) != nil }
    func isMonth(_ word: String) -> Bool { Vocabulary.month(word) != nil }
    let words = title.filter { $0 != "of" }
      .map { $0.hasSuffix(",") || $0.hasSuffix(";") ? String($0.dropLast()) : $0 }
    for (word, next) in zip(words, words.dropFirst())
    where isDay(word) && isMonth(next) || isMonth(word) && isDay(next) {
      return next
    }
    func isDate(_ word: String) -> Bool { ((try? DateText.parts(word)) ?? nil) != nil }
    // `2.1` is also a version.
    let isBefore = isDate(schedule)
    if let date = words.first(where: { isDate($0) && (isBefore || $0.hasSuffix(".")) }) {
      return date
    }
    guard let last = words.last, isDay(last) else { return nil }
    let isListed = title.last?.last == "," || title.last?.last == ";"
    return isListed || isDay(schedule) || isMonth(schedule) ? last : nil
  }

  /// The words that only continue in a schedule, if one stands behind them.
  private static let continuations: Set = [
    "next", "last", "this", "odd", "even", "alternate", "alternating", "other", "twice", "thrice",
    "biennially", "biweekly", "am", "pm", "a.m.", "p.m.", "o'clock", "half", "quarter", "past",
    "between", "except", "starting", "every", "each", "or", "and", "&", "/", "+",
  ]

  /// The words before a unit that make it a part of a schedule.
  private static let beforeUnits: Set = [
    "a", "an", "per", "each", "every", "other", "next", "last", "this", "of",
  ]

  /// Returns true for a word with which a schedule that repeats begins: `daily`, `mondays`.
  public static func beginsRule(_ word: String) -> Bool {
    let word = word.lowercased()
    return ruleWords.contains(word) || Vocabulary.weekday(word) != nil && Vocabulary.isPlural(word)
  }

  /// Returns true for `+home` and `#home`. `+3d` is a length.
  public static func isTag(_ word: String) -> Bool {
    guard let sign = word.first, sign == "+" || sign == "#", let first = word.dropFirst().first
    else {
      return false
    }
    return first.isLetter
  }

  /// Returns true for a word that schedules have, or that is probably a misspelling of one.
  static func isNearSchedule(_ word: String) -> Bool {
    let word = word.lowercased()
    // `RRULE:FREQ=DAILY` and lines of cron
    if word.contains(where: { $0 == "=" || $0 == "*" }) { return true }
    if startsSchedule(word) { return word.first?.isNumber != true }
    if word.count < 4 { return ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].contains(word) }
    if Vocabulary.weekday(word) != nil || Vocabulary.weekdayGroup(word) != nil { return true }
    return EditDistance.nearest(to: word, in: Vocabulary.frequent) != nil
  }

  /// Returns the whole text with a word that is understood in place of one that is not; nil if there is none.
  static func correction(
    of word: String, in text: String, _ context: InputContext
  ) -> String? {
    let words = text.split(separator: " ").map(String.init)
    guard let position = words.firstIndex(where: { $0.lowercased().hasPrefix(word.lowercased()) })
    else { return nil }
    let lowered = words[position].lowercased()
    let limit = min(2, lowered.count / 3)
    let similar = Vocabulary.suggestions.map { ($0, EditDistance.between($0, lowered)) }
      .filter { $0.1 <= limit }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
    // A number alone is an hour.
    let hours = Int(lowered).map { (0..<24).contains($0) ? ["at \($0)"] : [] } ?? []
    for candidate in Vocabulary.synonyms(of: lowered) + hours + similar.prefix(maxCorrections) {
      var corrected = words
      corrected[position] = candidate
      let phrase = corrected.joined(separator: " ")
      if (try? understood(phrase, in: context).schedule(in: context)) != nil { return phrase }
    }
    return nil
  }

  private static let maxCorrections = 8
}

extension InputError {
  /// True if the input is understood with another word in place of one.
  var hasSuggestion: Bool {
    if case .notUnderstood(_, .some) = self { true } else { false }
  }

  /// True if an input is probably no schedule, unlike one with several readings or with a mistake in it.
  public var isMisreading: Bool {
    switch self {
    case .empty, .notUnderstood, .missing, .foreignWord, .unknownZone: true
    case .unsupported(let reason):
      [.sun, .season, .payday, .namedDay, .parity, .place, .reminder, .condition].contains(reason)
    default: false
    }
  }
}
