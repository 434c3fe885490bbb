/// A user's answer to an occurrence.
public enum Answer: Hashable, Sendable {
  /// Silences the occurrence.
  case stop
  /// Marks the occurrence as done, now or at a past time. `early` permits an occurrence that is not due yet.
  case done(at: Instant? = nil, early: Bool = false)
  /// Silences the occurrence and rings again after a number of seconds.
  case snooze(seconds: Int64)
  /// Skips one or more occurrences.
  case skip(Skip = .count(1))
  /// Restores the first of the skipped occurrences that are still ahead, or all of them.
  case unskip(all: Bool = false)
  /// Dismisses a missed occurrence.
  case dismiss

  /// The extent of a skip.
  public enum Skip: Hashable, Sendable {
    /// A total number of occurrences, the open one included.
    case count(Int)
    /// The open occurrence and all that precede a civil time.
    case until(CivilDateTime)
  }

  /// Returns the snooze up to a moment, never shorter than that, because a length has whole seconds; nil if the moment is not
  /// in the future.
  public static func snooze(until end: Instant, at now: Instant) -> Answer? {
    end > now ? .snooze(seconds: -now.seconds(since: end)) : nil
  }

  /// The maximum number of occurrences that one answer skips.
  public static let maxSkips = 366
}

/// The phase of one occurrence.
public enum Phase: String, CaseIterable, Sendable {
  /// Not due yet.
  case upcoming
  /// Due and not answered.
  case ringing
  /// Silenced until the end of a snooze.
  case snoozed
  /// Stopped but not confirmed.
  case pending
  /// Not answered in time.
  case missed
  /// Skipped and still ahead.
  case skippedAhead
  /// Skipped, and its time has passed.
  case skipped
  /// Confirmed by a user.
  case done
  /// Completed without a user's confirmation.
  case autoCompleted
  /// No occurrence of the alarm, or settled too long ago to have a record.
  case unknown
}

/// The reason why an action is not possible.
public enum LifecycleError: Error, Hashable, Sendable {
  /// The alarm's state does not permit the action. `next` is the next occurrence.
  case notPossible(AlarmStatus.State, next: CivilDateTime?)
  /// The phase of the named occurrence does not permit the action.
  case wrongPhase(CivilDateTime, Phase)
  /// The alarm is a one-time alarm, which has no other occurrence. Deleting it has the effect of a skip.
  case oneTime
  /// No occurrence precedes the civil time.
  case nothingBefore(CivilDateTime)
  /// The skip covers more than `Answer.maxSkips` occurrences.
  case tooMany
  /// The settings disable snoozing.
  case snoozeIsOff
  /// The time of completion lies in the future.
  case inTheFuture
}

extension Timeline {
  /// Returns the alarm after a user's answer.
  ///
  /// | answer | from | to |
  /// |---|---|---|
  /// | stop | ringing, snoozed | pending; done on the free tier |
  /// | done | ringing, snoozed, pending, missed; upcoming if early or if the schedule follows completions; auto-completed if named | done |
  /// | snooze | ringing, snoozed | snoozed, rings again after the delay |
  /// | skip | ringing, snoozed, pending, upcoming; missed if named | skipped |
  /// | unskip | skipped and still ahead | upcoming |
  /// | dismiss | missed | missed, no longer shown |
  ///
  /// If occurrences are in several of these phases, the first phase in that order counts. Of several pending
  /// occurrences, the latest counts. If the time of completion is given, the occurrence that was due nearest to it counts.
  ///
  /// - Parameters:
  ///   - occurrence: the occurrence to answer; nil for the current one.
  ///   - everyOpen: true if `done` without an occurrence settles all that ring or are pending.
  /// - Throws: `LifecycleError` if the state of the alarm or the phase of the occurrence does not permit the answer.
  public func answer(
    _ answer: Answer, to occurrence: CivilDateTime? = nil, everyOpen: Bool = false,
    at now: Instant, settings: Settings, ledger: DeliveryLedger
  ) throws(LifecycleError) -> Transition {
    let status = self.status(at: now, settings: settings, ledger: ledger)
    if status.state == .disabled { throw .notPossible(.disabled, next: nil) }
    if case .skip = answer, case .once = alarm.schedule.recurrence { throw .oneTime }
    if case .snooze = answer, !settings.snoozeEnabled { throw .snoozeIsOff }
    if case .done(let moment?, _) = answer, moment > now { throw .inTheFuture }

    let targets: [CivilDateTime]
    if let occurrence {
      let phase = self.phase(of: occurrence, at: now, status: status)
      guard answer.startsByName(from: phase) else { throw .wrongPhase(occurrence, phase) }
      targets = [occurrence]
    } else {
      let chosen = try self.targets(of: answer, status, at: now)
      targets = everyOpen ? openOccurrences(for: answer, status) ?? chosen : chosen
    }
    var transition = Transition(alarm: alarm, events: [])
    if let target = targets.first, status.current == target,
      status.state == .ringing || status.state == .snoozed
    {
      supersede(before: self.occurrence(target), now: now, in: &transition)
    }
    for target in targets {
      apply(answer, to: target, at: now, settings: settings, in: &transition)
    }
    compact(&transition, now: now)
    return transition
  }

  /// Returns the phase of one occurrence.
  public func phase(
    of civil: CivilDateTime, at now: Instant, status: AlarmStatus
  ) -> Phase {
    if status.state == .ringing, status.current == civil || status.alsoRinging.contains(civil) {
      return .ringing
    }
    if status.snooze?.occurrence == civil { return .snoozed }
    if let record = record(of: civil) {
      switch record.state {
      case .pending: return .pending
      case .missed: return .missed
      case .done: return record.auto ? .autoCompleted : .done
      case .skipped: return occurrence(civil).at > now ? .skippedAhead : .skipped
      case .open, .snoozed: break
      }
    }
    if status.missed.contains(civil) { return .missed }
    if occurrence(civil).at <= now { return outdatedPhase(of: civil) ?? .unknown }
    guard scheduled.contains(civil), !isBelowFloor(civil) else { return .unknown }
    // An answer to a later occurrence would drop the earlier ones, which are the same obligation.
    if alarm.schedule.followsCompletion, next(after: now)?.civil != civil { return .unknown }
    return .upcoming
  }

  /// Returns the phase of an occurrence that a clock ended before the definition was edited; nil if there is none. It
  /// stands if a later occurrence has ended since: the occurrence no longer rings.
  private func outdatedPhase(of civil: CivilDateTime) -> Phase? {
    guard let record = alarm.progress.occurrences[civil], record.answer == .open,
      let state = record.automatic.keys.max()
    else { return nil }
    return switch state {
    case .missed: .missed
    case .done: .autoCompleted
    case .skipped: .skipped
    case .open, .snoozed, .pending: nil
    }
  }

  /// Returns the occurrences to which an answer applies if it names none.
  private func targets(
    of answer: Answer, _ status: AlarmStatus, at now: Instant
  ) throws(LifecycleError) -> [CivilDateTime] {
    let refusal = LifecycleError.notPossible(status.state, next: status.next?.civil)
    let isOpen = status.state == .ringing || status.state == .snoozed
    let open = isOpen ? status.current : nil
    let pending = status.pending.last?.occurrence
    switch answer {
    case .stop, .snooze:
      guard let open else { throw refusal }
      return [open]
    case .done(let moment, let early):
      let ahead = early || isCompletedEarly(at: now) ? status.next?.civil : nil
      guard
        let target = moment.flatMap({ nearest(to: $0, open, status) }) ?? open ?? pending
          ?? status.missed.last ?? ahead
      else { throw refusal }
      return [target]
    case .skip(let extent): return try skipped(by: extent, open ?? pending, status, refusal)
    case .unskip(let all):
      let skipped = skippedAhead(at: now)
      if skipped.isEmpty { throw refusal }
      return all ? skipped : Array(skipped.prefix(1))
    case .dismiss:
      if status.missed.isEmpty { throw refusal }
      return status.missed
    }
  }

  /// Returns the occurrences that ring or are pending, the current one first, for a completion now; nil if there are none,
  /// and for any other answer.
  private func openOccurrences(for answer: Answer, _ status: AlarmStatus) -> [CivilDateTime]? {
    guard case .done(nil, _) = answer else { return nil }
    let isOpen = status.state == .ringing || status.state == .snoozed
    var open = isOpen ? [status.current].compactMap { $0 } + status.alsoRinging : []
    open += status.pending.reversed().map(\.occurrence).filter { !open.contains($0) }
    return open.isEmpty ? nil : open
  }

  /// Returns true if a completion means the next occurrence although none is open: if the schedule counts from the
  /// completions, as of a filter that is changed before it is due. A second completion on one day is a repetition.
  private func isCompletedEarly(at now: Instant) -> Bool {
    guard alarm.schedule.followsCompletion else { return false }
    return alarm.completed(in: zone, at: now).map { $0 < zone.civil(at: now).date } ?? true
  }

  /// Returns the unconfirmed occurrence that was due nearest to a moment at which something was done; nil for none.
  ///
  /// `done pills --at "yesterday 19:30"` must not settle the occurrence that rings now.
  private func nearest(
    to moment: Instant, _ open: CivilDateTime?, _ status: AlarmStatus
  ) -> CivilDateTime? {
    // All unconfirmed occurrences after a completion are the same obligation.
    if alarm.schedule.followsCompletion { return nil }
    let candidates =
      [open].compactMap { $0 } + status.pending.reversed().map(\.occurrence)
      + status.missed.reversed()
    // Of equally near ones, the first in the usual order counts.
    return candidates.min { one, other in
      abs(occurrence(one).at.seconds(since: moment))
        < abs(occurrence(other).at.seconds(since: moment))
    }
  }

  /// Returns the occurrences that a skip covers.
  private func skipped(
    by extent: Answer.Skip, _ open: CivilDateTime?, _ status: AlarmStatus, _ refusal: LifecycleError
  ) throws(LifecycleError) -> [CivilDateTime] {
    var targets = [open].compactMap { $0 }
    let from = status.next?.at.adding(seconds: -1)
    let ahead = from.map { AnySequence(upcoming(after: $0)) } ?? AnySequence([])
    switch extent {
    case .count(let count):
      guard count <= Answer.maxSkips else { throw .tooMany }
      targets += ahead.prefix(max(0, count - targets.count)).map(\.civil)
      if targets.isEmpty { throw refusal }
    case .until(let end):
      targets += ahead.prefix(Answer.maxSkips + 1).prefix { $0.time < end }.map(\.civil)
      if targets.count > Answer.maxSkips { throw .tooMany }
      if targets.isEmpty { throw .nothingBefore(end) }
    }
    return targets
  }

  /// Applies an answer to one occurrence.
  private func apply(
    _ answer: Answer, to civil: CivilDateTime, at now: Instant, settings: Settings,
    in transition: inout Transition
  ) {
    var record = writableRecord(of: civil)
    let action: LogEntry.Action
    var payload: LogPayload?
    var effective: Instant?
    let earlier = self.record(of: civil)
    if let earlier {
      countRingingFollowUp(of: civil, earlier, in: &record, at: now, settings: settings)
    }
    switch answer {
    case .snooze(let seconds):
      let until = now.adding(seconds: seconds)
      snooze(&record, until: until, at: now)
      action = .snoozed
      payload = .snooze(until: until)
    case .stop where earlier?.state == .pending:
      // The follow-up of a strict alarm rings. The occurrence stays pending, and the next follow-up asks again.
      action = .stopped
    case .stop where settings.tier.confirmsCompletion:
      makePending(&record, at: now)
      action = .stopped
    case .stop:
      record.move(to: .done, at: now, on: device)
      record.answerCompleted = completion(of: answer, to: civil, at: now)
      action = .done
    case .done(let moment, _):
      record.move(to: .done, at: moment ?? now, on: device)
      record.answerCompleted = completion(of: answer, to: civil, at: now)
      action = .done
      effective = moment
    case .skip:
      record.move(to: .skipped, at: now, on: device)
      record.answerCompleted = completion(of: answer, to: civil, at: now)
      // A skip ahead of time applies only under the present schedule, and to the present time of the occurrence.
      if occurrence(civil).at > now { record.schedule = alarm.timingStamp(of: civil) }
      action = .skipped
    case .unskip:
      record.move(to: .open, at: now, on: device)
      action = .unskipped
    case .dismiss:
      // The next tick would have recorded the miss.
      if earlier?.state != .missed {
        transition.events.append(Event(.missed, civil, revision: record.revision))
      }
      record.move(to: .missed, at: earlier?.since ?? now, on: device)
      action = .dismissed
    }
    transition.alarm.progress.occurrences[civil] = record
    transition.events.append(
      Event(action, civil, payload: payload, effective: effective, revision: record.revision))
  }

  /// Counts the ringing follow-up of a strict alarm as sent, because an answer ends its ringing.
  private func countRingingFollowUp(
    of civil: CivilDateTime, _ earlier: OccurrenceRecord, in record: inout OccurrenceRecord,
    at now: Instant, settings: Settings
  ) {
    if earlier.state == .pending, alarm.delivery.strict,
      let overdue = followUps(of: civil, earlier, at: now, settings: settings).overdue
    {
      record.followUps = overdue.number
    }
  }

  /// Makes an occurrence pending, as a stop on this device does.
  func makePending(_ record: inout OccurrenceRecord, at now: Instant) {
    record.move(to: .pending, at: now, on: device)
    if alarm.cascade != nil { record.by = deviceContext?.device }
  }

  private func snooze(_ record: inout OccurrenceRecord, until: Instant, at now: Instant) {
    record.move(to: .snoozed, at: now, on: device)
    record.snooze.until = until
    record.snooze.count += 1
    if alarm.cascade != nil {
      let snooze = CascadeRun.Snooze(at: now, until: until, by: deviceContext?.device)
      record.snooze.history = Array(
        (record.snooze.history + [snooze]).suffix(OccurrenceRecord.maxSnoozeHistory))
    }
  }
}

extension Answer {
  /// Returns true if the answer is possible for a named occurrence in a phase.
  func startsByName(from phase: Phase) -> Bool {
    switch self {
    case .stop, .snooze: phase == .ringing || phase == .snoozed
    case .done(_, let early):
      [.ringing, .snoozed, .pending, .missed, .autoCompleted].contains(phase)
        || (early && phase == .upcoming)
    case .skip: [.upcoming, .ringing, .snoozed, .pending, .missed].contains(phase)
    case .unskip: phase == .skippedAhead
    case .dismiss: phase == .missed
    }
  }
}
