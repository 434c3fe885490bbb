import BelfryCore
import BelfryExchange
import BelfryInput

extension InputParser {
  /// Returns true for the text of an `RRULE` of iCalendar.
  static func isRule(_ word: String) -> Bool { RecurrenceRuleText.isRule(word) }

  /// Returns the schedule of an iCalendar rule, with a time behind it: `FREQ=WEEKLY;BYDAY=MO at 9am`; nil for any other
  /// text.
  ///
  /// - Throws: `CommandError` if no schedule has the same occurrences.
  func ruleText(_ text: String) throws -> ScheduleDraft? {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard let rule = words.first, RecurrenceRuleText.isRule(rule) else { return nil }
    var draft = ScheduleDraft()
    if words.count > 1 { draft = try schedule(words.dropFirst().joined(separator: " ")) }
    let time = draft.times?.first ?? context.standardTime
    let start = CivilDateTime(draft.start ?? context.today, time)
    do throws(ExchangeError) {
      let rule = try RecurrenceRuleText(rule, start: start, zone: context.zone)
      draft.rule = .complete(rule.recurrence)
      draft.times = draft.times ?? rule.times
      if !rule.months.isEmpty { draft.months = draft.months ?? rule.months }
      draft.end = draft.end ?? rule.until.map { .until($0) } ?? rule.count.map { .count($0) }
      return draft
    } catch {
      throw InputErrorText(.foreign(.rrule, reason: error.reason), rule, .schedule, nil)
        .commandError
    }
  }
}
