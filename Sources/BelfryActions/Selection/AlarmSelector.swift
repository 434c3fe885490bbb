import BelfryCore
import BelfryInput
import BelfryStore

/// The selection of alarms by words that a person writes: names, parts of names, filter words.
public struct AlarmSelector {
  let store: Store
  private let context: InputContext
  /// Returns the date of a word such as `friday`.
  private let readDate: (String) throws -> CivilDate
  /// Returns true if a person confirms an alarm whose name a text matches only inside of a word.
  private let confirm: (String, AlarmSummary) -> Bool
  /// Receives the invalid records that were found.
  private let report: ([RecordProblem]) -> Void

  /// Creates a selector of alarms of a store.
  ///
  /// - Parameters:
  ///   - context: The current time and the local zone.
  ///   - readDate: Returns the date of a word such as `friday`; nil for `Input.date`.
  ///   - confirm: Returns true if a person confirms an alarm whose name a text matches only inside of a word.
  ///   - report: Receives the invalid records that were found.
  public init(
    in store: Store, _ context: InputContext, readDate: ((String) throws -> CivilDate)? = nil,
    confirm: @escaping (String, AlarmSummary) -> Bool = { _, _ in false },
    report: @escaping ([RecordProblem]) -> Void = { _ in }
  ) {
    self.store = store
    self.context = context
    self.readDate = readDate ?? { try Input.date($0, in: context) }
    self.confirm = confirm
    self.report = report
  }

  // MARK: One alarm

  /// Returns the alarm that a text names: by its title, the beginning of its identifier, or of a word of its title. Of
  /// several, those that are not finished come first.
  ///
  /// - Throws: `StoreError.noSuchAlarm`, `SelectionError.misspelled`, `.ambiguous`, `.partOfWord`.
  public func find(_ name: String) throws -> AlarmSummary {
    let matches = try matches(name)
    return try choose(matches, matches.summaries, name) { $0.isFinished ? 1 : 0 }
  }

  /// Returns the alarm that a text names to a verb. Of several, it means the one that the verb applies to, in the order
  /// of `AnswerVerb.rank`.
  ///
  /// - Parameter isMeant: Returns true for an alarm that has the occurrence that a person names. If some of several alarms
  ///   have it, only these count.
  /// - Throws: `StoreError.noSuchAlarm`, `SelectionError.misspelled`, `.ambiguous`, `.partOfWord`.
  public func find(
    _ name: String, for verb: AnswerVerb, where isMeant: ((AlarmSummary) -> Bool)? = nil
  ) throws -> AlarmSummary {
    let matches = try matches(name, finishedLast: true)
    let meant = matches.summaries.filter { isMeant?($0) ?? false }
    return try choose(matches, meant.isEmpty ? matches.summaries : meant, name, rank: verb.rank)
  }

  /// Returns the alarms that a text names, to be shown: one as `find(_:)` chooses it, or each of several that are equally
  /// likely.
  ///
  /// - Throws: `StoreError.noSuchAlarm`, `SelectionError.misspelled`, `.partOfWord`.
  private func findEach(_ name: String) throws -> [AlarmSummary] {
    do {
      return [try find(name)]
    } catch SelectionError.ambiguous(_, let matches) {
      return matches.sortedByTitle()
    }
  }

  private func matches(_ name: String, finishedLast: Bool = false) throws -> AlarmNames {
    do {
      return try store.alarms(named: name, finishedLast: finishedLast)
    } catch StoreError.noSuchAlarm {
      guard let nearest = nearest(to: name) else { throw StoreError.noSuchAlarm(name) }
      throw SelectionError.misspelled(name: name, nearest)
    }
  }

  /// Returns the alarm whose title, or a word of whose title, differs from a name by one typing error, or by two if it has
  /// six letters or more; nil if there is none.
  public func nearest(to name: String) -> AlarmSummary? {
    let name = name.lowercased()
    let limit = min(2, name.count / 3)
    guard limit > 0, let summaries = try? store.overview().summaries else { return nil }
    func errors(_ summary: AlarmSummary) -> Int {
      let title = summary.title.lowercased()
      let words = title.split { !($0.isLetter || $0.isNumber) }
      return ([title[...]] + words).filter { abs($0.count - name.count) <= limit }
        .map { EditDistance.typingErrors($0, name) }.min() ?? .max
    }
    return summaries.filter { !$0.isDeleted }.map { (errors($0), $0) }
      .filter { $0.0 <= limit }
      .min {
        ($0.0, $0.1.isFinished ? 1 : 0, $0.1.title) < ($1.0, $1.1.isFinished ? 1 : 0, $1.1.title)
      }?.1
  }

  /// Returns the only one of some matches with the lowest rank.
  private func choose(
    _ matches: AlarmNames, _ summaries: [AlarmSummary], _ name: String, rank: (AlarmStatus) -> Int
  ) throws -> AlarmSummary {
    report(matches.problems)
    let ranks = summaries.map { rank($0.status) }
    let best = zip(summaries, ranks).filter { $0.1 == ranks.min() }.map(\.0)
    guard best.count == 1, let summary = best.first else {
      throw SelectionError.ambiguous(name: name, best)
    }
    if matches.rule < .part || confirm(name, summary) { return summary }
    throw SelectionError.partOfWord(name: name, summary)
  }

  /// Returns the alarms that several texts name, without duplicates. Several words may be one title: `done pay rent`.
  private func findAll(
    _ names: [String], _ find: (String) throws -> [AlarmSummary]
  ) throws -> [AlarmSummary] {
    let title = names.joined(separator: " ")
    if names.count > 1, let matches = try? store.alarms(named: title), matches.rule == .whole {
      return try find(title)
    }
    var found: [AlarmSummary] = []
    for summary in try names.flatMap(find) where !found.contains(where: { $0.id == summary.id }) {
      found.append(summary)
    }
    return found
  }

  // MARK: Several alarms

  /// Selected alarms.
  public struct Selection: Sendable {
    /// The alarms, without duplicates.
    public let summaries: [AlarmSummary]
    /// True if a filter has selected them; false if they were named.
    public let isFiltered: Bool
    /// True if the person may have meant several.
    public let isBulk: Bool

    /// The identifiers of the alarms.
    public var ids: [Identifier] { summaries.map(\.id) }
  }

  /// Returns the alarms of some words for a verb. Without words, the only alarm that rings, or the only one to which the
  /// verb applies.
  ///
  /// - Parameters:
  ///   - words: Names, or filter words; see `AlarmFilter`.
  ///   - all: Select all alarms to which the verb applies.
  ///   - isMeant: Returns true for an alarm that has the occurrence that a person names; see `find(_:for:where:)`.
  /// - Returns: At least one alarm.
  /// - Throws: `SelectionError` if no alarm is selected, or it is not clear which one is meant.
  public func select(
    _ words: [String], all: Bool, for verb: AnswerVerb,
    where isMeant: ((AlarmSummary) -> Bool)? = nil
  ) throws -> Selection {
    if !all, AlarmSelector.isAll(words), !store.hasTitle(words[0]) {
      return try select([], all: true, for: verb)
    }
    let (names, filters) = try split(words)
    if !names.isEmpty {
      guard filters.isEmpty, !all else { throw SelectionError.mixed }
      let found = try findAll(names) { [try find($0, for: verb, where: isMeant)] }
      return Selection(summaries: found, isFiltered: false, isBulk: names.count > 1)
    }
    let matching = try summaries(filters)
    let candidates = matching.filter { verb.applies(to: $0.status) }
    if candidates.isEmpty {
      throw SelectionError.nothing(verb, filters: filters, matching: matching)
    }
    if all || !filters.isEmpty {
      return Selection(summaries: candidates, isFiltered: true, isBulk: true)
    }
    let ringing = candidates.filter { $0.status.state == .ringing }
    guard let only = ringing.count == 1 ? ringing.first : candidates.first,
      ringing.count == 1 || candidates.count == 1
    else { throw SelectionError.unclear(verb, candidates) }
    return Selection(summaries: [only], isFiltered: false, isBulk: false)
  }

  /// Returns true for the word `all`, which can also be a title.
  public static func isAll(_ words: [String]) -> Bool { words.map { $0.lowercased() } == ["all"] }

  /// Returns the alarms of some words: named ones, those of a filter, or all without words.
  ///
  /// - Parameter readingOnly: True to select each alarm that a name may mean, because nothing is changed.
  /// - Returns: The alarms; none if no alarm matches a filter.
  /// - Throws: `StoreError.noSuchAlarm`; `SelectionError` if names and filter words are mixed, or a name is not clear.
  public func select(_ words: [String], readingOnly: Bool = false) throws -> Selection {
    let (names, filters) = try split(words)
    guard names.isEmpty else {
      if !filters.isEmpty { throw SelectionError.mixed }
      let found = try findAll(names) { readingOnly ? try findEach($0) : [try find($0)] }
      return Selection(summaries: found, isFiltered: false, isBulk: found.count > 1)
    }
    return Selection(summaries: try summaries(filters), isFiltered: true, isBulk: true)
  }

  /// Returns the alarms of some words, of which at least one must exist.
  ///
  /// - Throws: `SelectionError.noMatch` if no alarm matches; the errors of `select(_:)`.
  public func selectAny(_ words: [String], readingOnly: Bool = false) throws -> Selection {
    let selection = try select(words, readingOnly: readingOnly)
    if selection.summaries.isEmpty { throw SelectionError.noMatch(words: words) }
    return selection
  }

  /// Returns a filter of words.
  ///
  /// - Throws: `SelectionError.badTag`, and errors of dates.
  public func filter(_ words: [String]) throws -> AlarmFilter {
    try AlarmFilter(words, context, readDate: readDate)
  }

  private func summaries(_ filters: [String]) throws -> [AlarmSummary] {
    let overview = try store.overview()
    report(overview.problems)
    let filter = try filter(filters)
    return filter.selected(of: overview.summaries)
  }

  /// Returns the words that name alarms, and those that filter. A title that is also a filter word is a name.
  private func split(_ words: [String]) throws -> (names: [String], filters: [String]) {
    var (names, filters): ([String], [String]) = ([], [])
    for word in words {
      if try isFilter(word) { filters.append(word) } else { names.append(word) }
    }
    return (names, filters)
  }

  /// Returns true for a filter word that is not also the title of an alarm.
  func isFilter(_ word: String) throws -> Bool {
    try AlarmFilter.term(word, context, readDate) != nil
      && !store.hasTitle(word)
  }
}
