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
/// | `due:today`, `due:tomorrow`, `due:week`, `due:month`, `due:DATE` | that ring next in the time, or are open now |
/// | any other word | with the text in the title or the note |
///
/// An alarm is selected if it matches all words.
struct AlarmFilter {
  /// One word.
  enum Term: Hashable {
    case tag(AlarmTag)
    case state(AlarmStatus.State)
    case enabled
    case skipped
    /// The dates on which the alarm rings next; the first one includes what is open now.
    case due(ClosedRange<CivilDate>)
    case text(String)
  }

  private(set) var terms: [Term]
  private let today: CivilDate
  private let zone: TimeZoneRules

  /// Creates a filter. Any word that is no other term is a text.
  ///
  /// - Throws: `CommandError` if a tag or a date is not valid.
  init(_ words: [String], _ parser: InputParser) throws {
    today = parser.context.today
    zone = parser.context.zone
    terms = try words.map { try AlarmFilter.term($0, parser) ?? .text($0.lowercased()) }
  }

  /// Returns the term of a word; nil for a text.
  ///
  /// - Throws: `CommandError` if a tag or a date is not valid.
  static func term(_ word: String, _ parser: InputParser) throws -> Term? {
    if word.hasPrefix("+"), word.count > 1 {
      do throws(TagError) {
        return .tag(try AlarmTag(String(word.dropFirst())))
      } catch {
        throw CommandError(
          .usage, "'\(Printable.text(word))' is not a tag: \(error.reason).",
          hint: "Write it as +home.")
      }
    }
    let lowered = word.lowercased()
    if lowered.hasPrefix(duePrefix) {
      return .due(try dates(String(lowered.dropFirst(duePrefix.count)), parser))
    }
    switch lowered {
    case "enabled": return .enabled
    case "skipped": return .skipped
    default: return AlarmStatus.State(rawValue: lowered).map { .state($0) }
    }
  }

  private static let duePrefix = "due:"

  private static func dates(
    _ word: String, _ parser: InputParser
  ) throws -> ClosedRange<CivilDate> {
    let today = parser.context.today
    switch word {
    case "today": return today...today
    case "tomorrow": return today.adding(days: 1)...today.adding(days: 1)
    case "week": return today...today.adding(days: 6)
    case "month": return today...today.adding(Period(1, .month)).adding(days: -1)
    default:
      let date = try parser.date(word, of: "due:")
      return date...date
    }
  }

  /// Returns true if an alarm matches all words.
  func matches(_ summary: AlarmSummary) -> Bool { terms.allSatisfy { matches(summary, $0) } }

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
  var isOpen: Bool {
    switch state {
    case .ringing, .snoozed, .pending, .missed: true
    case .active, .disabled, .finished, .paused: !pending.isEmpty || !missed.isEmpty
    }
  }
}
