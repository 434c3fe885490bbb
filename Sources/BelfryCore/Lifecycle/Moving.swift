/// The reason why an occurrence cannot be moved.
public enum MoveError: Error, Hashable, Sendable {
  /// The alarm is disabled, or it has no occurrence to move.
  case notPossible(AlarmStatus.State)
  /// The phase of the occurrence does not permit the move.
  case wrongPhase(CivilDateTime, Phase)
  /// The new time has passed.
  case past(CivilDateTime)
  /// Another occurrence of the alarm rings at the new time.
  case taken(CivilDateTime)
  /// The alarm is paused at the new time.
  case paused(until: CivilDateTime)
  /// The occurrence rings at that time already.
  case unchanged(CivilDateTime)
}

/// The move of one occurrence to another time.
///
/// | state of the occurrence | after the move |
/// |---|---|
/// | upcoming | rings at the new time, not at its own |
/// | ringing, snoozed, pending | silent until the new time, then it rings again |
/// | missed, skipped and still ahead | rings at the new time |
/// | done, skipped and past | cannot be moved |
///
/// The order in which occurrences ring, supersede each other and end follows the new time. Everything that names the
/// occurrence (outcome, log, streak) keeps its own time.
extension Timeline {
  /// Returns the occurrence that a person means who names none: the one that rings or is snoozed, else the latest pending
  /// or missed one, else the next.
  ///
  /// - Throws: `MoveError.notPossible` if there is none.
  public func occurrenceToMove(
    at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) throws(MoveError) -> CivilDateTime {
    let status = self.status(at: now, settings: settings, ledger: ledger)
    let isOpen = status.state == .ringing || status.state == .snoozed
    let open = isOpen ? status.current : nil
    let waiting = status.pending.last?.occurrence ?? status.missed.last
    guard status.state != .disabled, let target = open ?? waiting ?? status.next?.civil else {
      throw .notPossible(status.state)
    }
    return target
  }

  /// Returns the alarm with one occurrence moved to another time.
  ///
  /// - Parameters:
  ///   - civil: the occurrence, by its own time.
  ///   - time: the civil time at which it rings; its own time to move it back.
  /// - Throws: `MoveError` if the state of the alarm, the phase of the occurrence or the new time does not permit it.
  public func moving(
    _ civil: CivilDateTime, to time: CivilDateTime, at now: Instant, device: Identifier,
    settings: Settings, ledger: DeliveryLedger
  ) throws(MoveError) -> Transition {
    let status = self.status(at: now, settings: settings, ledger: ledger)
    if status.state == .disabled { throw .notPossible(.disabled) }
    let phase = self.phase(of: civil, at: now, status: status)
    switch phase {
    case .upcoming, .ringing, .snoozed, .pending, .missed, .skippedAhead: break
    case .skipped, .done, .autoCompleted, .unknown: throw .wrongPhase(civil, phase)
    }
    let earlier = alarm.progress.time(of: civil)
    if time == earlier { throw .unchanged(time) }
    guard zone.instant(of: time) > now else { throw .past(time) }
    if let pause = alarm.pause, pause.covers(time) { throw .paused(until: pause.until) }
    if rings(at: time, except: civil) { throw .taken(time) }

    var transition = Transition(alarm: alarm, events: [])
    if status.current == civil, phase == .ringing || phase == .snoozed {
      supersede(before: occurrence(civil), now: now, in: &transition)
    }
    let stamp = Stamp.next(after: alarm.latestStamp, now: now, device: device)
    transition.alarm.progress.moves[civil] = OccurrenceMove(
      to: time == civil ? nil : time, stamp: stamp)
    var revision = 0
    if let record = transition.alarm.progress.occurrences[civil] {
      let reopened = record.movedOn
      revision = reopened.revision
      transition.alarm.progress.occurrences[civil] = reopened
    }
    transition.events.append(
      Event(.moved, civil, payload: .move(from: earlier, to: time), revision: revision))
    let moved = with(transition.alarm)
    moved.compact(&transition, now: now)
    assert(moved.occurrence(civil).at > now, "a moved occurrence is ahead")
    return transition
  }

  /// Returns true if another occurrence of the alarm rings at a civil time.
  private func rings(at time: CivilDateTime, except civil: CivilDateTime) -> Bool {
    let order = ringingOrder
    var position = RingingOrder.Position(time: time.previous, civil: time.previous)
    while let next = order.next(after: position), next.time <= time {
      if next.time == time, next.civil != civil { return true }
      position = next
    }
    return false
  }
}

extension OccurrenceRecord {
  /// The record of an occurrence that is moved: open, as an explicit reopening, with the knowledge of the answers that it
  /// replaces.
  fileprivate var movedOn: OccurrenceRecord {
    var result = OccurrenceRecord(.open, revision: revision + 1)
    result.seen = seen
    return result
  }
}
