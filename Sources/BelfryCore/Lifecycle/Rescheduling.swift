extension Timeline {
  /// Returns the alarm after an edit of its schedule or zone, with what people have heard and said under the earlier one.
  ///
  /// 1. An occurrence that rings goes on if the new schedule has it, too, unless a cascade rings, whose steps count from the
  ///    edit. Any other one that rang is pending, because a new schedule is no confirmation. It is missed if nobody can have
  ///    heard it here, and on the free tier, which has no pending state.
  /// 2. If the dates and the number of times of day stay, a move goes over to the occurrence in the same place: that of
  ///    Friday at 18:00 was moved to Saturday, then that of Friday at 18:30 is.
  /// 3. In this case, a skip ahead of time counts as long as the time of the occurrence stays. At a new time, it rings.
  ///
  /// - Precondition: `alarm` is the stamped edit.
  /// - Parameters:
  ///   - before: the timeline before the edit.
  ///   - status: the status before the edit.
  ///   - confirms: true if the tier has a pending state.
  public func rescheduled(
    from before: Timeline, _ status: AlarmStatus, at now: Instant, confirms: Bool
  ) -> Transition {
    var transition = Transition(alarm: alarm, events: [])
    if status.state == .ringing || status.state == .snoozed {
      // In another zone, an occurrence can be due once more.
      for civil in status.alsoRinging + [status.current].compactMap({ $0 })
      where record(of: civil) == nil && occurrence(civil).at <= now {
        if goesOn(civil, from: before) {
          // With a later time, it would ring once more: see `reopeningTime(of:at:)`.
          transition.alarm.progress.occurrences[civil] =
            writableRecord(of: civil).reopened(since: occurrence(civil).at)
        } else {
          keepUnconfirmed(
            civil, at: now, isPending: confirms && !status.isUndelivered, in: &transition)
        }
      }
    }
    guard before.alarm.schedule.recurrence == alarm.schedule.recurrence,
      before.alarm.zone == alarm.zone,
      before.alarm.schedule.times.count == alarm.schedule.times.count
    else { return transition }
    keepSkips(from: before, at: now, in: &transition)
    carryMoves(from: before, at: now, in: &transition)
    return transition
  }

  /// Returns true if an occurrence that rings is also one of the new schedule, at the same time.
  private func goesOn(_ civil: CivilDateTime, from before: Timeline) -> Bool {
    before.alarm.zone == alarm.zone && scheduled.contains(civil)
      && before.occurrence(civil).at == occurrence(civil).at
      && alarm.cascade?.plan.isActive != true
  }

  private func keepUnconfirmed(
    _ civil: CivilDateTime, at now: Instant, isPending: Bool, in transition: inout Transition
  ) {
    guard isPending else { return settle(civil, as: .missed, now: now, in: &transition) }
    var record = writableRecord(of: civil)
    makePending(&record, at: now)
    transition.alarm.progress.occurrences[civil] = record
    transition.events.append(Event(.stopped, civil, revision: record.revision))
  }

  private func keepSkips(
    from before: Timeline, at now: Instant, in transition: inout Transition
  ) {
    for civil in before.occurrences(in: .skipped) where before.occurrence(civil).at > now {
      guard before.alarm.progress.occurrences[civil]?.schedule != nil, scheduled.contains(civil)
      else { continue }
      transition.alarm.progress.occurrences[civil]?.schedule = alarm.timingStamp(of: civil)
    }
  }

  private func carryMoves(
    from before: Timeline, at now: Instant, in transition: inout Transition
  ) {
    for (civil, move) in before.alarm.progress.moves.sorted(by: { $0.key < $1.key }) {
      guard let time = move.time, before.occurrence(civil).at > now,
        before.record(of: civil) == nil, let new = successor(of: civil, in: before),
        new != civil, alarm.progress.moves[new] == nil
      else { continue }
      transition.alarm.progress.moves[new] = OccurrenceMove(
        to: time, stamp: alarm.mergeState.stamps[.schedule])
      transition.events.append(Event(.moved, new, payload: .move(from: new, to: time)))
    }
  }

  /// Returns the occurrence on the same date in the place of an earlier schedule's; nil if there is none.
  private func successor(of civil: CivilDateTime, in before: Timeline) -> CivilDateTime? {
    guard let place = before.alarm.schedule.times.firstIndex(of: civil.time) else { return nil }
    let new = CivilDateTime(civil.date, alarm.schedule.times[place])
    return scheduled.contains(new) ? new : nil
  }
}
