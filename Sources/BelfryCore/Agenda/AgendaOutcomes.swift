/// The outcomes of an alarm's occurrences in its log, for a calendar.
public struct AgendaOutcomes: Hashable, Sendable {
  /// The outcomes, by the occurrences' own times.
  public private(set) var outcomes: [CivilDateTime: Statistics.Outcome] = [:]
  /// The times to which occurrences were moved, by the occurrences' own times.
  public private(set) var moves: [CivilDateTime: CivilDateTime] = [:]

  /// Collects the outcomes of the occurrences of a period, and of others that were moved. The occurrences of a row are
  /// those of the present schedule.
  public init(_ statistics: Statistics, of timeline: Timeline, in period: Range<Instant>) {
    let start = CivilDateTime(
      timeline.zone.civil(at: period.lowerBound).date.adding(days: -1), .midnight)
    for occurrence in statistics.settled {
      if let time = occurrence.movedTo { moves[occurrence.civil] = time }
      if occurrence.civil >= start || occurrence.movedTo != nil {
        outcomes[occurrence.civil] = occurrence.outcome
      }
    }
    for row in statistics.rows {
      var next = timeline.scheduled.first(onOrAfter: max(row.first, start))
      while let civil = next, civil < row.last {
        if outcomes[civil] == nil { outcomes[civil] = row.outcome }
        next = timeline.scheduled.next(after: civil)
      }
    }
  }
}

extension Timeline {
  /// Returns true if a settled occurrence of a period has no outcome in a part of the log: a person may have answered it
  /// long before its time.
  public func lacksOutcomes(
    of period: Range<Instant>, in outcomes: [CivilDateTime: Statistics.Outcome]
  ) -> Bool {
    guard let floor = alarm.progress.floor else { return false }
    let from = max(alarm.progress.armed, period.lowerBound.adding(seconds: -1))
    var last = zone.civil(at: from)
    while let civil = scheduled.next(after: last), civil <= floor {
      last = civil
      let at = zone.instant(of: civil)
      if at >= period.upperBound { return false }
      if at > from, outcomes[civil] == nil, isBelowFloor(civil) { return true }
    }
    return false
  }
}
