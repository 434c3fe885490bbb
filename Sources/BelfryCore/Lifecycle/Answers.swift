/// What a person answers to an occurrence.
public enum Answer: Hashable, Sendable {
  /// Silences it.
  case stop
  /// It is done: now, or at a moment of the past; what is still to come only when `early` says so.
  case done(at: Instant? = nil, early: Bool = false)
  /// Fires again after so many seconds.
  case snooze(seconds: Int64)
  /// Leaves it out, and so many in all with those after it, or all before a wall-clock time.
  case skip(Skip = .count(1))
  /// What was skipped ahead comes again: the first, or all.
  case unskip(all: Bool = false)
  /// What was missed is seen.
  case dismiss

  public enum Skip: Hashable, Sendable {
    case count(Int)
    case until(CivilDateTime)
  }

  /// The most occurrences that one answer skips.
  public static let mostSkips = 366
}

/// Where one occurrence stands.
public enum Phase: String, CaseIterable, Sendable {
  case upcoming, ringing, snoozed, pending, missed
  /// Left out, and still ahead.
  case skippedAhead
  case skipped, done
  /// Done without anybody's word.
  case autoCompleted
  /// The alarm does not come then, or too long ago to tell.
  case unknown
}

/// Why an action is not possible.
public enum LifecycleError: Error, Equatable, Sendable {
  /// The alarm is in a state that the action does not start from.
  case notPossible(AlarmStatus.State, next: CivilDateTime?)
  /// The occurrence that was named is in a phase that the action does not start from.
  case wrongPhase(CivilDateTime, Phase)
  /// A one-time alarm has no other occurrence: to skip it is to delete it.
  case oneTime
  /// Nothing comes before that time.
  case nothingBefore(CivilDateTime)
  /// More than `Answer.mostSkips`.
  case tooMany
  /// The settings switch snoozing off.
  case snoozeIsOff
  /// It cannot have been done in the future.
  case inTheFuture
}

extension Timeline {
  /// What a person's answer does to the alarm.
  ///
  /// | answer | from | to |
  /// |---|---|---|
  /// | stop | ringing, snoozed | pending; on the free tier done |
  /// | done | ringing, snoozed, pending, missed; upcoming if early; by name done by itself | done |
  /// | snooze | ringing, snoozed | snoozed, fires again after the delay |
  /// | skip | ringing, snoozed, pending, upcoming; by name missed | skipped |
  /// | unskip | skipped and still ahead | upcoming |
  /// | dismiss | missed | missed, and no longer shown |
  ///
  /// Of several the first phase in that order counts, and of several pending ones the latest.
  ///
  /// - Parameter occurrence: the one that is meant; nil for the one that the alarm is about.
  public func answer(
    _ answer: Answer, to occurrence: CivilDateTime? = nil, at now: Instant, settings: Settings,
    ledger: DeliveryLedger
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
      targets = try self.targets(of: answer, status, at: now)
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

  /// Where one occurrence stands.
  public func phase(
    of civil: CivilDateTime, at now: Instant, status: AlarmStatus
  ) -> Phase {
    if status.current == civil, status.state == .ringing { return .ringing }
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
    let floor = alarm.progress.floor
    guard alarm.schedule.contains(civil), occurrence(civil).at > now,
      floor.map({ civil > $0 }) ?? true
    else { return .unknown }
    return .upcoming
  }

  /// The occurrences that an answer means when it names none.
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
    case .done(_, let early):
      let ahead = early ? status.next?.civil : nil
      guard let target = open ?? pending ?? status.missed.last ?? ahead else { throw refusal }
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

  private func skipped(
    by extent: Answer.Skip, _ open: CivilDateTime?, _ status: AlarmStatus, _ refusal: LifecycleError
  ) throws(LifecycleError) -> [CivilDateTime] {
    var targets = [open].compactMap { $0 }
    let from = status.next?.at.adding(seconds: -1)
    let ahead = from.map { AnySequence(upcoming(after: $0)) } ?? AnySequence([])
    switch extent {
    case .count(let count):
      guard count <= Answer.mostSkips else { throw .tooMany }
      targets += ahead.prefix(max(0, count - targets.count)).map(\.civil)
      if targets.isEmpty { throw refusal }
    case .until(let end):
      targets += ahead.prefix(Answer.mostSkips + 1).prefix { $0.civil < end }.map(\.civil)
      if targets.count > Answer.mostSkips { throw .tooMany }
      if targets.isEmpty { throw .nothingBefore(end) }
    }
    return targets
  }

  /// Brings one occurrence into the state that the answer leads to.
  private func apply(
    _ answer: Answer, to civil: CivilDateTime, at now: Instant, settings: Settings,
    in transition: inout Transition
  ) {
    var record = opened(civil)
    let action: LogEntry.Action
    var detail: String?
    var effective: Instant?
    if record.state == .pending, alarm.delivery.strict,
      let overdue = followUps(of: civil, record, at: now, settings: settings).overdue
    {
      // The ringing again that this answers was one of its follow-ups.
      record.followUps = overdue.number
    }
    switch answer {
    case .snooze(let seconds):
      let until = now.adding(seconds: seconds)
      record.move(to: .snoozed, at: now)
      record.until = until
      record.snoozes += 1
      if alarm.cascade != nil {
        let nap = CascadeRun.Snooze(at: now, until: until, by: deviceContext?.device)
        record.naps = Array((record.naps + [nap]).suffix(OccurrenceRecord.mostNaps))
      }
      action = .snoozed
      detail = "until \(until)"
    case .stop where record.state == .pending:
      // A strict alarm that rings again: it waits for its next follow-up.
      action = .stopped
    case .stop where settings.tier.confirmsCompletion:
      record.move(to: .pending, at: now)
      if alarm.cascade != nil { record.by = deviceContext?.device }
      action = .stopped
    case .stop:
      record.move(to: .done, at: now)
      action = .done
    case .done(let moment, _):
      record.move(to: .done, at: moment ?? now)
      action = .done
      effective = moment
    case .skip:
      record.move(to: .skipped, at: now)
      // A skip ahead is one of this schedule's occurrences, and means nothing to another's.
      if occurrence(civil).at > now { record.schedule = alarm.stamps[.schedule] }
      action = .skipped
    case .unskip:
      record.move(to: .open, at: now)
      action = .unskipped
    case .dismiss:
      // The next tick would have recorded it.
      if record.state != .missed {
        transition.events.append(Event(.missed, civil, revision: record.revision))
      }
      record.move(to: .missed, at: record.since ?? now, byPerson: false)
      record.dismissed = true
      action = .dismissed
    }
    transition.alarm.progress.occurrences[civil] = record
    transition.events.append(
      Event(action, civil, detail: detail, effective: effective, revision: record.revision))
  }
}

extension Answer {
  /// Whether the answer can be given to an occurrence that is named, in a phase.
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
