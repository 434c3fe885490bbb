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
    var builder = AgendaBuilder(
      dates, zone: store.context.zones.local, now: store.context.now)
    for calendar in store.calendars.all().calendars { builder.add(calendar.holidays) }
    let period = builder.instants
    var subjects: [Subject] = []
    var failure: (any Error)?
    var logs: [Identifier: AgendaLog] = [:]
    Chunks.both {
      do { subjects = try ReadAgenda.subjects(selected, store) } catch { failure = error }
    } and: {
      logs = self.logs(of: selected, in: period, days: ReadAgenda.lead, store)
    }
    if let failure { throw failure }
    if subjects.contains(where: { $0.lacksOutcomes(of: period, in: logs) }) {
      logs = self.logs(of: selected, in: period, days: ReadAgenda.longLead, store)
    }
    let (complete, all, now) = (logs, subjects, store.context.now)
    let items = Chunks.map(all.count, parallelFrom: ReadAgenda.parallelAlarms) { range in
      all[range].map { $0.items(in: period, complete, at: now) }
    }
    for (subject, items) in zip(subjects, items) {
      builder.add(subject.timeline.alarm, items, zone: subject.timeline.zone)
    }
    return builder.agenda
  }

  // MARK: Alarms

  /// An alarm with its status.
  private struct Subject: Sendable {
    let timeline: Timeline
    let status: AlarmStatus

    func items(
      in period: Range<Instant>, _ logs: [Identifier: AgendaLog], at now: Instant
    ) -> [Timeline.AgendaItem] {
      let log = logs[timeline.alarm.id]?.outcomesAndMoves(in: timeline)
      return timeline.agenda(
        period, outcomes: log?.outcomes ?? [:], moved: log?.moves ?? [:], status: status, at: now)
    }

    func lacksOutcomes(of period: Range<Instant>, in logs: [Identifier: AgendaLog]) -> Bool {
      guard let log = logs[timeline.alarm.id] else { return false }
      return timeline.lacksOutcomes(of: period, in: log.outcomes(in: timeline))
    }
  }

  private static func subjects(_ selected: [AlarmSummary], _ store: Store) throws -> [Subject] {
    let reader = store.alarmReader()
    return try selected.compactMap { summary in
      try reader.alarm(summary.id).map {
        Subject(timeline: store.timeline($0), status: summary.status)
      }
    }
  }

  // MARK: The log

  /// Returns the log of each alarm from some days before the period on. An occurrence may have been answered on any day
  /// since then.
  private func logs(
    of selected: [AlarmSummary], in period: Range<Instant>, days: Int, _ store: Store
  ) -> [Identifier: AgendaLog] {
    let first = dates.lowerBound.adding(days: -days)
    let today = TimeZoneRules.utc.civil(at: store.context.now).date
    if selected.isEmpty || first > today { return [:] }
    var logs = Dictionary(uniqueKeysWithValues: selected.map { ($0.id, AgendaLog()) })
    let only = selected.count == 1 ? selected[0].id : nil
    for entry in store.history.log(of: only, since: first, report: report) {
      logs[entry.alarm]?.add(entry)
    }
    return logs
  }
}
