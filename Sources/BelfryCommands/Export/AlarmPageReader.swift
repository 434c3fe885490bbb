import BelfryActions
import BelfryCore
import BelfryExchange
import BelfryStore
import BelfryTerminal

/// A reader of the content of the page that `export --format html` writes.
struct AlarmPageReader {
  private let store: Store
  private let times: TimeText
  private let skipBreaksStreak: Bool

  /// The maximum number of missed occurrences that the page lists.
  private static let maxMissed = 40

  init(_ store: Store, _ times: TimeText, skipBreaksStreak: Bool) {
    self.store = store
    self.times = times
    self.skipBreaksStreak = skipBreaksStreak
  }

  /// A page with the facts about its content.
  struct Reading {
    var page: AlarmPage
    /// The records that are not valid.
    var problems: [RecordProblem]
    /// The time before which the page does not change unless the store does.
    var validUntil: Instant
  }

  /// Reads the store.
  func read() throws -> Reading {
    let overview = try store.overview()
    let summaries = overview.summaries.sortedByTitle()
    let all = store.history.statistics(of: summaries, skipBreaksStreak: skipBreaksStreak)
    let year = AlarmPage.year(upTo: times.today)
    let responses = all.map { item in
      Array(item.responses.reversed().prefix { $0.civil.date >= year.lowerBound }.reversed())
    }
    // The statistics are of the whole log, which is not read again.
    let calendar = try ReadAgenda(AlarmPage.calendarDates(at: times.today))
      .perform(in: store, all)
    var page = AlarmPage(
      updated: "\(times.full(times.now)) (\(times.zones.local.name))", today: times.today,
      week: times.week.map { ($0, TimeText.name($0)) }, calendar: calendar,
      time: { [times] in times.time($0) }, title: { $0.shownTitle })
    page.responses = Array(responses.joined())
    page.rows = zip(all, responses).map { row($0, $1) }
    page.open = summaries.flatMap(open)
    page.next = summaries.compactMap { summary in
      summary.nextRinging.map { (at: $0.at, title: summary.shownTitle) }
    }.min { $0.at < $1.at }.map { (title: $0.title, time: short($0.at)) }
    (page.missed, page.earlierMissed) = missed(all, responses)
    let midnight = times.zones.local.instant(
      of: CivilDateTime(times.today.adding(days: 1), .midnight))
    return Reading(
      page: page, problems: overview.problems,
      validUntil: summaries.reduce(midnight) { min($0, $1.status.validUntil) })
  }

  // MARK: Lists

  private func row(
    _ item: AlarmStatistics, _ responses: [Statistics.Response]
  ) -> AlarmPage.Row {
    let summary = item.summary
    let zone = times.isLocal(summary.zone) ? "" : " \(summary.zone)"
    return AlarmPage.Row(
      title: summary.shownTitle, tags: summary.tags.sorted().map { "\($0)" }, note: summary.note,
      state: summary.state,
      schedule: times.rule(summary.rule.recurrence, times: summary.rule.times) + zone,
      next: summary.nextRinging.map { short($0.at) } ?? "",
      responses: ResponseSummary(responses), streak: item.statistics.streak)
  }

  /// Returns an instant without a word that depends on the day on which it is read: `Mon 23 Nov 09:00`.
  private func short(_ instant: Instant) -> String {
    let civil = times.zones.local.civil(at: instant)
    return
      "\(TimeText.name(civil.date.weekday)) \(times.shortDate(civil.date)) \(times.time(civil.time))"
  }

  private func occurrence(
    _ summary: AlarmSummary, _ civil: CivilDateTime, _ state: String
  ) -> AlarmPage.Occurrence {
    AlarmPage.Occurrence(
      title: summary.shownTitle, time: times.full(civil, zone: summary.zone), civil: civil,
      state: state)
  }

  /// Returns the occurrences that wait for an answer: of those that are pending, and of those that were missed, the
  /// latest one.
  private func open(_ summary: AlarmSummary) -> [AlarmPage.Occurrence] {
    let status = summary.status
    var result: [AlarmPage.Occurrence] = []
    if status.state == .ringing {
      result += ([status.current].compactMap { $0 } + status.alsoRinging)
        .map { occurrence(summary, $0, "ringing") }
    }
    if let snooze = status.snooze {
      result.append(
        occurrence(summary, snooze.occurrence, "snoozed until \(short(snooze.until))"))
    }
    if let pending = status.pending.last {
      let next = pending.nextFollowUp.map { ", next follow-up \(short($0))" } ?? ""
      let state = "pending\(earlier(status.pending.count))\(next)"
      result.append(occurrence(summary, pending.occurrence, state))
    }
    if let latest = status.missed.last {
      result.append(occurrence(summary, latest, "missed\(earlier(status.missed.count))"))
    }
    return result
  }

  /// Returns the words for the occurrences of an alarm before the latest one, of which there can be hundreds.
  private func earlier(_ count: Int) -> String {
    count < 2 ? "" : ", and \(count - 1) earlier"
  }

  /// Returns the latest missed occurrences that are not open, and the number of earlier ones.
  private func missed(
    _ all: [AlarmStatistics], _ responses: [[Statistics.Response]]
  ) -> ([AlarmPage.Occurrence], earlier: Int) {
    let found = zip(all, responses).flatMap { item, responses in
      let open = Set(item.summary.status.missed)
      return responses.filter { $0.outcome == .missed && !open.contains($0.civil) }
        .map { (summary: item.summary, civil: $0.civil) }
    }.sorted { ($0.civil, $1.summary.title) > ($1.civil, $0.summary.title) }
    let shown = found.prefix(AlarmPageReader.maxMissed)
    return (shown.map { occurrence($0.summary, $0.civil, "missed") }, found.count - shown.count)
  }
}
