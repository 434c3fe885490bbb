import BelfryCore
import BelfryStore

/// The reading of the occurrences on some dates, past and future, for calendars of every form.
///
/// Disabled alarms are left out, unless the words select the state. Their past occurrences are then shown.
public struct ReadAgenda {
  private let dates: ClosedRange<CivilDate>
  private let filter: AlarmFilter?
  /// Receives the path and the error of each log file that is not a valid entry.
  private let report: (String, RecordError) -> Void

  /// The number of days before the period that are read of the log: answers ahead of time can be there.
  private static let lead = 3
  /// The same number if outcomes are lacking, because occurrences were skipped long before their time.
  private static let longLead = 400
  /// The number of alarms from which on their occurrences are computed on all cores.
  private static let parallelAlarms = 64

  /// Creates the reading.
  ///
  /// - Parameters:
  ///   - dates: The dates on this device's wall clock.
  ///   - filter: Selects the alarms; nil for all.
  ///   - report: Receives the path and the error of each log file that is not a valid entry.
  public init(
    _ dates: ClosedRange<CivilDate>, _ filter: AlarmFilter? = nil,
    report: @escaping (String, RecordError) -> Void = { _, _ in }
  ) {
    self.dates = dates
    self.filter = filter
    self.report = report
  }

  /// Returns the alarms of a list that the calendar shows.
  public func select(_ alarms: [AlarmSummary]) -> [AlarmSummary] {
    let includesDisabled = filter?.terms.contains(.state(.disabled)) ?? false
    return matching(alarms).filter { includesDisabled || $0.state != .disabled }
  }

  /// Returns the alarms of a list that the words select, with disabled ones.
  public func matching(_ alarms: [AlarmSummary]) -> [AlarmSummary] {
    let present = alarms.filter { !$0.isDeleted }
    return filter?.selected(of: present) ?? present
  }

  /// Returns the agenda of the selected alarms.
  ///
  /// - Complexity: Reads the records of the alarms, and the days of the log from the period on.
  public func perform(in store: Store, _ selected: [AlarmSummary]) throws -> Agenda {
    let builder = builder(store)
    var alarms: [Evaluated] = []
    var failure: (any Error)?
    var logs: [Identifier: Statistics.Tally] = [:]
    Chunks.both {
      do { alarms = try ReadAgenda.alarms(selected, store) } catch { failure = error }
    } and: {
      logs = self.logs(of: selected, days: ReadAgenda.lead, store)
    }
    if let failure { throw failure }
    func subjects(_ logs: [Identifier: Statistics.Tally]) -> [Subject] {
      ReadAgenda.subjects(alarms, in: builder.instants, store) {
        logs[$0]?.statistics(skipBreaksStreak: false)
      }
    }
    var all = subjects(logs)
    if all.contains(where: { $0.lacksOutcomes(of: builder.instants) }) {
      all = subjects(self.logs(of: selected, days: ReadAgenda.longLead, store))
    }
    return agenda(of: all, builder, at: store.context.now)
  }

  /// Returns the agenda of alarms whose statistics are of the whole log.
  ///
  /// - Complexity: Reads the records of the alarms only.
  public func perform(in store: Store, _ statistics: [AlarmStatistics]) throws -> Agenda {
    let builder = builder(store)
    let logs = Dictionary(
      uniqueKeysWithValues: statistics.map { ($0.summary.id, $0.statistics) })
    let alarms = try ReadAgenda.alarms(statistics.map(\.summary), store)
    let all = ReadAgenda.subjects(alarms, in: builder.instants, store) { logs[$0] }
    return agenda(of: all, builder, at: store.context.now)
  }

  /// Returns a builder with the holidays of the dates.
  private func builder(_ store: Store) -> AgendaBuilder {
    var builder = AgendaBuilder(
      dates, zone: store.context.zones.local, now: store.context.now)
    for calendar in store.calendars.all().calendars { builder.add(calendar.holidays) }
    return builder
  }

  /// Adds the occurrences of alarms to a builder.
  private func agenda(
    of all: [Subject], _ builder: AgendaBuilder, at now: Instant
  ) -> Agenda {
    let period = builder.instants
    let empty = AgendaBuilder(dates, zone: builder.zone, now: now)
    let parts = Chunks.map(all.count, parallelFrom: ReadAgenda.parallelAlarms) { range in
      var part = empty
      for subject in all[range] {
        part.add(
          subject.timeline.alarm, subject.items(in: period, at: now), zone: subject.timeline.zone)
      }
      return [part]
    }
    var builder = builder
    for part in parts { builder.add(part) }
    return builder.agenda
  }

  // MARK: Alarms

  /// An alarm with its status.
  private typealias Evaluated = (alarm: Alarm, status: AlarmStatus)

  /// An alarm with its status and its outcomes.
  private struct Subject: Sendable {
    let timeline: Timeline
    let status: AlarmStatus
    /// The outcomes in the log; nil if the log has no day that counts.
    let log: AgendaOutcomes?

    func items(in period: Range<Instant>, at now: Instant) -> [Timeline.AgendaItem] {
      timeline.agenda(
        period, outcomes: log?.outcomes ?? [:], moved: log?.moves ?? [:], status: status, at: now)
    }

    func lacksOutcomes(of period: Range<Instant>) -> Bool {
      log.map { timeline.lacksOutcomes(of: period, in: $0.outcomes) } ?? false
    }
  }

  private static func alarms(_ selected: [AlarmSummary], _ store: Store) throws -> [Evaluated] {
    let reader = store.alarmReader()
    return try selected.compactMap { summary in
      try reader.alarm(summary.id).map { (alarm: $0, status: summary.status) }
    }
  }

  /// Returns alarms with the outcomes in their logs.
  ///
  /// - Parameter log: Returns the log of an alarm; nil if it was not read.
  private static func subjects(
    _ alarms: [Evaluated], in period: Range<Instant>, _ store: Store,
    log: @Sendable (Identifier) -> Statistics?
  ) -> [Subject] {
    Chunks.map(alarms.count, parallelFrom: parallelAlarms) { range in
      alarms[range].map { alarm, status in
        let timeline = store.timeline(alarm)
        return Subject(
          timeline: timeline, status: status,
          log: log(alarm.id).map { AgendaOutcomes($0, of: timeline, in: period) })
      }
    }
  }

  // MARK: The log

  /// Returns the log of each alarm from some days before the period on. An occurrence may have been answered on any day
  /// since then.
  private func logs(
    of selected: [AlarmSummary], days: Int, _ store: Store
  ) -> [Identifier: Statistics.Tally] {
    let first = dates.lowerBound.adding(days: -days)
    let today = TimeZoneRules.utc.civil(at: store.context.now).date
    if selected.isEmpty || first > today { return [:] }
    var logs = Dictionary(uniqueKeysWithValues: selected.map { ($0.id, Statistics.Tally()) })
    let only = selected.count == 1 ? selected[0].id : nil
    for entry in store.history.log(of: only, since: first, report: report) {
      logs[entry.alarm]?.add(entry)
    }
    return logs
  }
}
