import BelfryCore

/// The alarms that a name matches.
public struct AlarmNames: Sendable {
  /// The rule by which a name matches, the strictest first.
  public enum Rule: Int, Comparable, Sendable {
    /// The whole title, case-insensitively, or the whole identifier.
    case whole
    /// The beginning of an identifier.
    case identifier
    /// The beginning of a word of the title, or of the note of an alarm that a partner has set.
    case word
    /// Any other part of the title or of such a note. It may match by chance.
    case part

    /// Returns true if `a` is stricter than `b`.
    public static func < (a: Rule, b: Rule) -> Bool { a.rawValue < b.rawValue }
  }

  /// The strictest rule that has a match.
  public let rule: Rule
  /// The alarms that match by the rule; at least one.
  public let summaries: [AlarmSummary]
  /// The invalid records that were found.
  public let problems: [RecordProblem]
}

extension Store {
  /// Returns true if a text is the whole title of an alarm, without regard to case.
  public func hasTitle(_ text: String) -> Bool {
    (try? alarms(named: text))?.rule == .whole
  }

  /// Returns the alarms that a name matches by the strictest rule that has a match.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - finishedLast: True to leave out finished alarms, whatever their rule, if the name also matches others, and not
  ///     only by chance.
  /// - Throws: `StoreError.noSuchAlarm` if none matches.
  public func alarms(named name: String, finishedLast: Bool = false) throws -> AlarmNames {
    if let id = Identifier(name), let alarm = try? alarm(id), !alarm.isDeleted {
      return AlarmNames(
        rule: .whole, summaries: [AlarmSummary(alarm, status: try status(alarm))], problems: [])
    }
    let index = try AlarmIndex(self)
    index.save()
    let wanted = name.lowercased()
    var matches = index.summaries(matching: wanted).filter { !$0.isDeleted }
      .map { ($0, AlarmNames.rule(wanted, $0.id, $0.title)) }
    if matches.isEmpty, !wanted.isEmpty {
      // All alarms of a partner have the same title.
      matches = index.summaries().compactMap { summary in
        guard !summary.isDeleted, summary.title.hasPrefix(PartnerOrigin.titlePrefix),
          let note = summary.note, note.lowercased().contains(wanted)
        else { return nil }
        return (summary, AlarmNames.rule(wanted, nil, note))
      }
    }
    let unfinished = matches.filter { !$0.0.status.isFinished }
    if finishedLast, unfinished.contains(where: { $0.1 < .part }) { matches = unfinished }
    guard let best = matches.map(\.1).min() else { throw StoreError.noSuchAlarm(name) }
    return AlarmNames(
      rule: best,
      summaries: matches.filter { $0.1 == best }.map(\.0)
        .sorted { ($0.title, $0.id) < ($1.title, $1.id) },
      problems: index.problems)
  }
}

extension Store {
  /// Returns the alarms that partners have set and whose title was not changed, deleted ones included.
  public func partnerAlarms() throws -> [AlarmSummary] {
    try AlarmIndex(self).summaries(matching: PartnerOrigin.titlePrefix.lowercased())
      .filter { $0.partner != nil }
  }
}

extension AlarmNames {
  /// Returns the strictest rule by which a text in lower case matches an alarm that contains it.
  fileprivate static func rule(_ wanted: String, _ id: Identifier?, _ text: String) -> Rule {
    let text = text.lowercased()
    if text == wanted { return .whole }
    if let id, id.text.hasPrefix(wanted) { return .identifier }
    let starts = text.indices.filter { index in
      index == text.startIndex || !text[text.index(before: index)].isWordPart
    }
    return starts.contains { text[$0...].hasPrefix(wanted) } ? .word : .part
  }
}

extension Character {
  /// True for a character inside of words.
  fileprivate var isWordPart: Bool { isLetter || isNumber || self == "'" || self == "’" }
}
