import BelfryCore
import BelfryInput
import BelfryStore

/// Words that select alarms: `+home`, `pending`, `due:week`, or a part of the title.
///
/// | word | alarms |
/// |---|---|
/// | `+home` | with the tag |
/// | `ringing`, `snoozed`, `pending`, `missed`, `paused`, `disabled`, `finished`, `active` | in the state |
/// | `enabled`, `skipped` | not disabled; with a skipped occurrence ahead |
/// | `due:today`, `due:tomorrow`, `due:week`, `due:month`, `due:december`, `due:DATE` | that ring next in the time, or are open now |
/// | any other word | with the text in the title or the note |
///
/// An alarm is selected if it matches all words of the first three rows, and any of the texts. Texts that together are a
/// part of a title or note, such as `pay rent`, are one text.
public struct AlarmFilter: Sendable {
  /// One word.
  public enum Term: Hashable, Sendable {
    case tag(AlarmTag)
    case state(AlarmStatus.State)
    case enabled
    case skipped
    /// The dates on which the alarm rings next; the first one includes what is open now.
    case due(ClosedRange<CivilDate>)
    case text(String)
  }

  /// The terms of the words.
  public let terms: [Term]
  private let today: CivilDate
  private let zone: TimeZoneRules

  /// Creates a filter. Any word that is no other term is a text.
  ///
  /// - Parameters:
  ///   - context: The current time and the local zone.
  ///   - readDate: Returns the date of a word such as `friday`.
  /// - Throws: `SelectionError.badTag`, and the errors of `readDate`.
  public init(
    _ words: [String], _ context: InputContext, readDate: (String) throws -> CivilDate
  ) throws {
    today = context.today
    zone = context.zone
    terms = try words.map {
      try AlarmFilter.term($0, context, readDate) ?? .text($0.lowercased())
    }
  }

  /// Returns the term of a word; nil for a text.
  ///
  /// - Throws: `SelectionError.badTag`, and the errors of `readDate`.
  static func term(
    _ word: String, _ context: InputContext, _ readDate: (String) throws -> CivilDate
  ) throws -> Term? {
    if word.hasPrefix("+"), word.count > 1 {
      do throws(TagError) {
        return .tag(try AlarmTag(String(word.dropFirst())))
      } catch {
        throw SelectionError.badTag(word: word, error)
      }
    }
    let lowered = word.lowercased()
    if lowered.hasPrefix(duePrefix) {
      return .due(try dates(String(lowered.dropFirst(duePrefix.count)), context, readDate))
    }
    switch lowered {
    case "enabled": return .enabled
    case "skipped": return .skipped
    default: return AlarmStatus.State(rawValue: lowered).map { .state($0) }
    }
  }

  private static let duePrefix = "due:"

  private static func dates(
    _ word: String, _ context: InputContext, _ readDate: (String) throws -> CivilDate
  ) throws -> ClosedRange<CivilDate> {
    let today = context.today
    switch word {
    case "today": return today...today
    case "tomorrow": return today.adding(days: 1)...today.adding(days: 1)
    case "week": return today...today.adding(days: 6)
    case "month": return today...today.adding(Period(1, .month)).adding(days: -1)
    default:
      if let period = period(word, context) { return period }
      let date = try readDate(word)
      return date...date
    }
  }

  /// Returns the dates of `this week`, `next month`, `december`, `2027` or `7 days`; nil for any other text.
  private static func period(_ text: String, _ context: InputContext) -> ClosedRange<CivilDate>? {
    let words = text.split(separator: " ").map(String.init)
    if text.contains(where: \.isNumber), text.contains(where: \.isLetter),
      let length = try? Input.period(text, in: context)
    {
      return context.today...context.today.adding(length).adding(days: -1)
    }
    guard let last = words.last else { return nil }
    let isYear = last.count == 4 && Int(last) ?? 0 > 1900
    let isMonth =
      words[0].count >= 3 && CivilDate.monthNames.contains { words[0].hasPrefix($0.lowercased()) }
    let unit: CalendarUnit
    switch (words.count, last) {
    case (1, _) where isYear: unit = .year
    case (1, _) where isMonth, (2, _) where isMonth && isYear: unit = .month
    case (2, "week") where ["this", "next"].contains(words[0]): unit = .week(.monday)
    case (2, "month") where ["this", "next"].contains(words[0]): unit = .month
    case (2, "year") where ["this", "next"].contains(words[0]): unit = .year
    default: return nil
    }
    guard let found = try? Input.calendarPeriod(words, of: unit, in: context), found.rest.isEmpty
    else { return nil }
    return found.period?.dates
  }

  /// Returns words of `list` or `next` with a period in place of a word `due:`, such as `today`, `this week` and `december`.
  ///
  /// - Parameter isTitle: Returns true for the title of an alarm, which is no period.
  public static func readingPeriods(
    _ words: [String], _ context: InputContext, isTitle: (String) -> Bool
  ) -> [String] {
    for length in [2, 1] {
      for start in words.indices where start + length <= words.count {
        let text = words[start..<(start + length)].joined(separator: " ").lowercased()
        let isDay = ["today", "tomorrow"].contains(text)
        guard isDay || period(text, context) != nil, !isTitle(text),
          !isTitle(words.joined(separator: " "))
        else { continue }
        return Array(words[..<start]) + [duePrefix + text] + Array(words[(start + length)...])
      }
    }
    return words
  }

  /// The dates that all words `due:` select; nil without such a word.
  public var dueDates: ClosedRange<CivilDate>? {
    var dates: ClosedRange<CivilDate>?
    for case .due(let range) in terms {
      dates = dates.map { $0.overlaps(range) ? $0.clamped(to: range) : range } ?? range
    }
    return dates
  }

  /// Returns true for a word that selects dates.
  public static func isDue(_ word: String) -> Bool { word.lowercased().hasPrefix(duePrefix) }

  /// Returns the alarms that the words select, in their order.
  public func selected(of summaries: [AlarmSummary]) -> [AlarmSummary] {
    var texts: [String] = []
    var others: [Term] = []
    for term in terms {
      if case .text(let text) = term { texts.append(text) } else { others.append(term) }
    }
    let candidates = summaries.filter { summary in
      others.allSatisfy { matches(summary, $0) }
    }
    if texts.isEmpty { return candidates }
    if texts.count > 1 {
      let phrase = Term.text(texts.joined(separator: " "))
      let found = candidates.filter { matches($0, phrase) }
      if !found.isEmpty { return found }
    }
    return candidates.filter { summary in
      texts.contains { matches(summary, .text($0)) }
    }
  }

  /// Returns the texts that match none of some alarms, if there are several texts.
  public func unmatched(in summaries: [AlarmSummary]) -> [String] {
    let texts = terms.compactMap { term in
      if case .text(let text) = term { text } else { nil }
    }
    guard texts.count > 1, !summaries.isEmpty else { return [] }
    return texts.filter { text in !summaries.contains { matches($0, .text(text)) } }
  }

  private func matches(_ summary: AlarmSummary, _ term: Term) -> Bool {
    let status = summary.status
    switch term {
    case .tag(let tag): return summary.tags.contains(tag)
    case .state(.pending): return status.state == .pending || !status.pending.isEmpty
    case .state(.missed): return status.state == .missed || !status.missed.isEmpty
    case .state(let state): return status.state == state
    case .enabled: return status.state != .disabled
    case .skipped: return !status.skipped.isEmpty
    case .text(let text):
      return summary.title.lowercased().contains(text)
        || summary.note?.lowercased().contains(text) == true
    case .due(let dates):
      if dates.lowerBound == today, status.isOpen { return true }
      return status.nextRinging.map { dates.contains(zone.civil(at: $0.at).date) } ?? false
    }
  }
}

extension AlarmStatus {
  /// True if an occurrence rings, is snoozed, pending or missed.
  fileprivate var isOpen: Bool {
    switch state {
    case .ringing, .snoozed, .pending, .missed: true
    case .active, .disabled, .finished, .paused: !pending.isEmpty || !missed.isEmpty
    }
  }
}
