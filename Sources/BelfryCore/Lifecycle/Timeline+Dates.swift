extension Timeline {
  /// Returns the occurrences that ring on a date, in ascending order: those of the schedule and those with a record, such
  /// as a pending one of an earlier schedule. If there are none, those that were moved from that date.
  public func occurrences(on date: CivilDate) -> [CivilDateTime] {
    var own = Set(alarm.progress.occurrences.filter { !isOutdatedSkip($1, of: $0) }.map(\.key))
    var last = CivilDateTime(date, .midnight).previous
    while let next = scheduled.next(after: last), next.date == date {
      own.insert(next)
      last = next
    }
    own.formUnion(moved.map(\.civil))
    let ringing = own.filter { alarm.progress.time(of: $0).date == date }
    return inOrder(ringing.isEmpty ? own.filter { $0.date == date } : ringing)
  }

  /// Returns true if a record has nothing but a skip under an earlier schedule, which does not count.
  private func isOutdatedSkip(_ record: OccurrenceRecord, of civil: CivilDateTime) -> Bool {
    record.answer == .skipped && record.automatic.isEmpty && self.record(of: civil) == nil
  }

  /// Returns the occurrence that rings last at or before a civil time, settled or not; nil if there is none.
  public func latest(onOrBefore time: CivilDateTime) -> CivilDateTime? {
    let end = CivilDateTime(minuteNumber: time.minuteNumber + 1)
    let start = CivilDateTime(.earliest, .midnight)
    return completeOrder.last(before: RingingOrder.Position(time: end, civil: start))?.civil
  }

  /// Returns the occurrence that rings first after a civil time, settled or not; nil if there is none.
  public func first(after time: CivilDateTime) -> CivilDateTime? {
    let end = CivilDateTime(.latest, .midnight)
    return completeOrder.next(after: RingingOrder.Position(time: time, civil: end))?.civil
  }

  private var completeOrder: RingingOrder {
    RingingOrder(
      scheduled: scheduled, moved: moved, floor: nil,
      isReplacing: alarm.schedule.followsCompletion)
  }

  /// Returns the occurrence that a person names by a civil time: its own time, or the one to which it was moved.
  public func occurrence(named civil: CivilDateTime) -> CivilDateTime {
    if alarm.progress.moves[civil]?.time == nil,
      scheduled.contains(civil) || alarm.progress.occurrences[civil] != nil
    {
      return civil
    }
    return alarm.progress.moves.filter { $0.value.time == civil }.keys.max() ?? civil
  }
}
