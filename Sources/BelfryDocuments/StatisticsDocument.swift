import BelfryCore
import BelfryScheduler
import BelfryStore

/// The statistics of an alarm: the document of `stats ALARM`, and an element of `stats`.
package struct StatisticsDocument: JSONDocument {
  /// The id of the alarm.
  let alarm: String
  /// The title of the alarm.
  let title: String
  /// The first date of the period.
  let from: String?
  /// The last date of the period.
  let until: String?
  /// The number of occurrences in the current streak.
  let streak: Int
  /// The number of occurrences in the longest streak.
  let longestStreak: Int
  /// The number of confirmed occurrences.
  let done: Int
  /// The number of skipped occurrences.
  let skipped: Int
  /// The number of missed occurrences.
  let missed: Int
  /// The number of occurrences that were completed automatically.
  let autoCompleted: Int
  /// The number of occurrences that were done on time.
  let onTime: Int
  /// The part of the occurrences, without skipped ones, that was done on time.
  let onTimePercent: Int?
  /// The time of the last completion.
  let lastDone: String?
  /// The median time from an occurrence to its completion, in seconds.
  let medianLatenessSeconds: Int64?
  /// The lower quartile of that time, in seconds.
  let lowerQuartileLatenessSeconds: Int64?
  /// The upper quartile of that time, in seconds.
  let upperQuartileLatenessSeconds: Int64?
  /// The longest such time, in seconds.
  let maxLatenessSeconds: Int64?
  /// The occurrences by the weekday of their due time.
  let byWeekday: [Group]
  /// The occurrences by the hour of their due time.
  let byHour: [Group]
  /// The occurrences by month.
  let byMonth: [Group]

  /// The occurrences of a weekday, an hour or a month.
  package struct Group: Codable, Sendable {
    /// The weekday (`mon`), the hour (`09`) or the month (`2026-11`).
    let key: String
    /// The number of confirmed occurrences.
    let done: Int
    /// The number of skipped occurrences.
    let skipped: Int
    /// The number of missed occurrences.
    let missed: Int
    /// The number of occurrences that were completed automatically.
    let autoCompleted: Int
    /// The number of occurrences that were done on time.
    let onTime: Int
    /// The median time from an occurrence to its completion, in seconds.
    let medianLatenessSeconds: Int64?

    fileprivate init(_ key: String, _ summary: ResponseSummary) {
      self.key = key
      done = summary.done
      skipped = summary.skipped
      missed = summary.missed
      autoCompleted = summary.autoCompleted
      onTime = summary.onTime
      medianLatenessSeconds = summary.median
    }
  }

  /// - Parameter dates: the dates of the period; nil for all.
  package init(
    _ item: AlarmStatistics, on dates: ClosedRange<CivilDate>?, zones: ZoneLibrary
  ) {
    let (summary, statistics, responses) = (item.summary, item.statistics, item.responses)
    let all = ResponseSummary(responses)
    alarm = summary.id.text
    title = summary.title
    from = dates.flatMap { $0.lowerBound > .earliest ? "\($0.lowerBound)" : nil }
    until = dates.flatMap { $0.upperBound < .latest ? "\($0.upperBound)" : nil }
    streak = statistics.streak
    longestStreak = statistics.longestStreak
    done = all.done
    skipped = all.skipped
    missed = all.missed
    autoCompleted = all.autoCompleted
    onTime = all.onTime
    onTimePercent = all.onTimePercent
    lastDone = statistics.lastDone.map { zones.text($0) }
    medianLatenessSeconds = all.median
    lowerQuartileLatenessSeconds = all.quartiles?.lower
    upperQuartileLatenessSeconds = all.quartiles?.upper
    maxLatenessSeconds = all.delays.last
    func groups(_ summaries: [ResponseSummary], _ key: (Int) -> String) -> [Group] {
      summaries.enumerated().compactMap { number, summary in
        summary.count == 0 ? nil : Group(key(number), summary)
      }
    }
    byWeekday = groups(ResponseSummary.byWeekday(responses)) { Weekday.allCases[$0].abbreviation }
    byHour = groups(ResponseSummary.byHour(responses)) { $0 < 10 ? "0\($0)" : "\($0)" }
    guard let first = responses.first?.civil.date, let last = responses.last?.civil.date else {
      byMonth = []
      return
    }
    let months = DateBuckets(first...last, by: .month)
    byMonth = groups(ResponseSummary.by(months, responses)) {
      String("\(months.dates($0).lowerBound)".dropLast(3))
    }
  }
}
