/// The states of an alarm's occurrences in a period, past and future.
extension Timeline {
  /// An occurrence with its state in a calendar.
  public struct AgendaItem: Hashable, Sendable {
    /// The occurrence.
    public let occurrence: Occurrence
    /// Its state.
    public let state: Agenda.State

    /// Creates an item from its parts.
    public init(_ occurrence: Occurrence, _ state: Agenda.State) {
      self.occurrence = occurrence
      self.state = state
    }
  }

  /// Returns the occurrences of a period with their states, in no particular order.
  ///
  /// 1. An occurrence that the status names rings, is snoozed, pending or missed.
  /// 2. For any other one, its record counts, else the outcome in the log: records keep only recent occurrences.
  /// 3. A due occurrence without a record, apart from the current one, is missed, or skipped in a pause: the next tick
  ///    records it.
  /// 4. The occurrences that will fire are upcoming. Those that a pause will skip are paused. A disabled alarm has none.
  ///
  /// - Parameters:
  ///   - period: the instants of the period.
  ///   - outcomes: the outcomes in the log.
  ///   - moved: the times to which occurrences were moved, in the log. Records keep only recent moves.
  ///   - status: the status of the alarm at `now`.
  public func agenda(
    _ period: Range<Instant>, outcomes: [CivilDateTime: Statistics.Outcome],
    moved: [CivilDateTime: CivilDateTime] = [:], status: AlarmStatus, at now: Instant
  ) -> [AgendaItem] {
    var states = outcomes.mapValues { Agenda.State($0) }
    let isActive = alarm.enabled && !alarm.isDeleted
    if isActive { addPast(to: &states, since: period.lowerBound, at: now) }
    for civil in alarm.progress.occurrences.keys {
      if let record = record(of: civil) { states[civil] = Agenda.State(record) }
    }
    addOpen(status, to: &states)
    func occurrence(_ civil: CivilDateTime) -> Occurrence {
      guard alarm.progress.moves[civil] == nil, let time = moved[civil] else {
        return self.occurrence(civil)
      }
      return Occurrence(civil: civil, movedTo: time, at: zone.instant(of: time))
    }
    var items = states.map { AgendaItem(occurrence($0.key), $0.value) }
      .filter { period.contains($0.occurrence.at) }
    if !isActive { return items }
    items += upcoming(in: period, at: now).filter { states[$0.civil] == nil }
      .map { AgendaItem($0, .upcoming) }
    items += paused(in: period, at: now).filter { states[$0.civil] == nil }
      .map { AgendaItem($0, .paused) }
    return items
  }

  /// Adds the due occurrences that have no record yet.
  private func addPast(
    to states: inout [CivilDateTime: Agenda.State], since start: Instant, at now: Instant
  ) {
    for occurrence in due(at: now) {
      if occurrence.at < start { break }
      if states[occurrence.civil] == nil, record(of: occurrence.civil) == nil {
        states[occurrence.civil] = isPaused(occurrence.civil) ? .skipped : .missed
      }
    }
    for civil in reopened(at: now) where states[civil] == nil { states[civil] = .missed }
  }

  /// Sets the states of the occurrences that need an answer.
  private func addOpen(_ status: AlarmStatus, to states: inout [CivilDateTime: Agenda.State]) {
    for civil in status.missed { states[civil] = .missed }
    for pending in status.pending { states[pending.occurrence] = .pending }
    if let snooze = status.snooze { states[snooze.occurrence] = .snoozed }
    guard status.state == .ringing else { return }
    for civil in [status.current].compactMap({ $0 }) + status.alsoRinging {
      states[civil] = .ringing
    }
  }

  /// Returns the occurrences of a period that will fire.
  private func upcoming(in period: Range<Instant>, at now: Instant) -> [Occurrence] {
    guard period.upperBound > now else { return [] }
    // A schedule that follows completions has later occurrences that depend on the earlier ones.
    let start = alarm.schedule.followsCompletion ? now : period.lowerBound.adding(seconds: -1)
    var result: [Occurrence] = []
    for occurrence in upcoming(after: max(now, start)) {
      if occurrence.at >= period.upperBound { break }
      if occurrence.at >= period.lowerBound { result.append(occurrence) }
    }
    return result
  }

  /// Returns the occurrences of a period that the pause will skip.
  private func paused(in period: Range<Instant>, at now: Instant) -> [Occurrence] {
    guard let pause = alarm.pause else { return [] }
    let from = max(now, period.lowerBound.adding(seconds: -1))
    let start = max(zone.civil(at: from), pause.from.previous)
    var last = RingingOrder.Position(time: start, civil: start)
    let order = ringingOrder
    var result: [Occurrence] = []
    while let position = order.next(after: last), pause.covers(position.time) {
      last = position
      let occurrence = occurrence(position.civil)
      if occurrence.at >= period.upperBound { break }
      if occurrence.at > from, isPaused(position.civil) { result.append(occurrence) }
    }
    return result
  }
}

extension Agenda.State {
  /// Creates the state of an occurrence with an outcome in the log.
  init(_ outcome: Statistics.Outcome) {
    switch outcome {
    case .missed: self = .missed
    case .skipped: self = .skipped
    case .autoCompleted: self = .autoCompleted
    case .done: self = .done
    }
  }

  /// Creates the state of an occurrence with a record that counts.
  fileprivate init(_ record: OccurrenceRecord) {
    switch record.state {
    case .done: self = record.auto ? .autoCompleted : .done
    case .skipped: self = .skipped
    case .pending: self = .pending
    // The status names the occurrence that is snoozed. An earlier one is missed once it is settled.
    case .open, .missed, .snoozed: self = .missed
    }
  }
}
