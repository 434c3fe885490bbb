import BelfryCore
import TestSupport
import Testing

/// A year of ticks over random alarms, with random responses, sleeping devices, and a changing
/// tier.
@Suite struct YearSimulation {
  private static let start = instant("2026-01-01T00:00:00Z")
  private static let end = instant("2027-01-01T00:00:00Z")

  /// The state of one alarm's simulation: its record, its log, and its observed events.
  private struct World {
    var alarm: Alarm
    var ledger = DeliveryLedger()
    var log: [LogEntry] = []
    /// The fired instants, with the number of reopenings of the occurrence at that time.
    var fired: [String: Int] = [:]
    var followUps: [CivilDateTime: Int] = [:]
    /// Occurrences without an outcome: due while the alarm was off, or open when it was switched off.
    var excused: Set<CivilDateTime> = []
    var undoable: [(before: Alarm, after: Alarm, acted: Instant, entries: [LogEntry])] = []
    var number: UInt64 = 0
    var isOff = false

    var view: Timeline { Timeline(alarm, zone: .utc) }

    mutating func take(_ transition: Transition, at now: Instant) {
      alarm = transition.alarm
      for event in transition.events {
        number += 1
        log.append(
          LogEntry(
            event, of: alarm, id: Identifier(high: 1, low: number), at: now, device: laptop))
      }
    }
  }

  private static func alarm(_ random: inout SeededGenerator, _ number: UInt64) throws -> Alarm {
    let day = CivilDate(year: 2026, month: 1, day: random.int(1...28))
    let cadence = Recurrence.Cadence(interval: random.int(1...3), start: day)
    let recurrence: Recurrence = random.pick([
      .daily(cadence), .weekly([.monday, .friday], cadence), .weekly([.sunday], cadence),
      .monthly([.day(31)], cadence), .monthly([.day(1), .day(15), .last], cadence),
      .monthly([.weekday(-1, .friday)], cadence),
      .annual(months: [2], [.day(29)], .init(start: day)), .days(random.int(2...40), cadence),
      .once(CivilDate(year: 2026, month: random.int(2...12), day: 3)),
    ])
    var times = ["0\(random.int(0...9)):15"]
    if random.one(in: 3), recurrence.cadence != nil { times += ["12:00", "12:20"] }
    return Alarm.created(
      id: Identifier(high: 0, low: number), title: "Alarm \(number)", note: nil,
      schedule: try Schedule(recurrence, times: times.map { CivilTime($0)! }), zone: .floating,
      delivery: .init(persistent: random.one(in: 3), strict: random.one(in: 4)), at: start,
      device: laptop)
  }

  @Test func fiftyAlarmsBehaveForAYear() throws {
    var actions: [LogEntry.Action: Int] = [:]
    for seed in 0..<50 as Range<UInt64> {
      for entry in try year(seed) { actions[entry.action, default: 0] += 1 }
    }
    // Every possible event has happened, more than once.
    for action in [
      LogEntry.Action.fired, .stopped, .reminded, .snoozed, .done, .skipped, .missed, .dismissed,
      .undone, .unskipped, .moved,
    ] {
      #expect(actions[action, default: 0] >= 5, "\(action)")
    }
  }

  /// Simulates one alarm's year and returns its log.
  private func year(_ seed: UInt64) throws -> [LogEntry] {
    var random = SeededGenerator(seed: seed)
    var world = World(alarm: try YearSimulation.alarm(&random, seed))
    var settings = Settings(tier: .plus)
    var now = YearSimulation.start
    var wake = world.view.evaluate(at: now, settings: settings, ledger: DeliveryLedger()).nextWake
    while now < YearSimulation.end {
      // Usually the next wake-up of the last tick, sometimes much later because the device was asleep.
      let planned = max(wake ?? YearSimulation.end, now.adding(seconds: 60))
      now =
        random.one(in: 15) ? planned.adding(seconds: Int64(random.int(60...3 * 86_400))) : planned
      if random.one(in: 60) { settings.tier = settings.tier == .free ? .plus : .free }
      let view = world.view
      let evaluation = view.evaluate(at: now, settings: settings, ledger: world.ledger)
      world.take(evaluation.transition, at: now)
      for firing in evaluation.firings {
        let revision = world.alarm.progress.occurrences[firing.occurrence]?.revision ?? 0
        world.fired["\(firing.occurrence) \(firing.due.rfc3339) \(revision)", default: 0] += 1
        world.ledger.recordFiring(
          OccurrenceID(alarm: world.alarm.id, occurrence: firing.occurrence), due: firing.due,
          at: now)
        world.take(
          Transition(alarm: world.alarm, events: [Event(.fired, firing.occurrence)]), at: now)
        // Follow-ups of strict alarms ring.
        if world.view.record(of: firing.occurrence)?.state == .pending {
          world.followUps[firing.occurrence, default: 0] += 1
        }
      }
      for followUp in evaluation.followUps {
        let reminded = try #require(world.view.reminded(followUp), "seed \(seed)")
        world.take(reminded, at: now)
        world.followUps[followUp.occurrence, default: 0] += 1
        #expect(world.view.reminded(followUp) == nil)
      }
      for _ in 0..<random.int(1...3) { act(&world, &random, settings, &now) }
      let again = world.view.evaluate(at: now, settings: settings, ledger: world.ledger)
      let isIdle =
        again.firings.isEmpty && again.followUps.isEmpty && again.transition.events.isEmpty
      wake = isIdle ? again.nextWake : now
      if world.isOff { wake = now.adding(seconds: Int64(random.int(1...20)) * 86_400) }
    }
    try check(world, at: now, seed)
    return world.log
  }

  /// Performs a random action of a user, or none.
  private func act(
    _ world: inout World, _ random: inout SeededGenerator, _ settings: Settings,
    _ now: inout Instant
  ) {
    now = now.adding(seconds: Int64(random.int(1...1200)))
    let before = world.alarm
    let answers: [Answer] = [
      .stop, .stop, .done(), .done(at: now.adding(seconds: -30)), .done(early: random.one(in: 5)),
      .snooze(seconds: Int64(random.int(60...7200))), .skip(.count(random.int(1...3))), .unskip(),
      .dismiss,
    ]
    switch random.int(0...22) {
    case 21, 22:
      guard
        let civil = random.one(in: 2)
          ? try? world.view.occurrenceToMove(at: now, settings: settings, ledger: world.ledger)
          : world.view.upcoming(after: now).prefix(3).map(\.civil).last,
        let transition = try? world.view.moving(
          civil,
          to: world.view.zone.civil(at: now.adding(seconds: Int64(random.int(60...12 * 86_400)))),
          at: now, device: laptop, settings: settings, ledger: world.ledger)
      else { return }
      let count = world.log.count
      world.take(transition, at: now)
      world.undoable.append((before, world.alarm, now, Array(world.log[count...])))
    case 0...14:
      guard
        let transition = try? world.view.answer(
          random.pick(answers), at: now, settings: settings, ledger: world.ledger)
      else { return }
      let count = world.log.count
      world.take(transition, at: now)
      world.undoable.append((before, world.alarm, now, Array(world.log[count...])))
    case 15 where random.one(in: 3): switchOff(&world, at: now)
    case 16 where random.one(in: 2):
      guard let last = world.undoable.popLast(),
        let restored = try? world.view.undoing(
          last.after, before: last.before, acted: last.acted, at: now, device: laptop)
      else { return }
      world.take(
        Transition(
          alarm: restored,
          events: last.entries.map { Event(undoing: $0, in: restored, at: now) }), at: now)
    default: break
    }
  }

  private func switchOff(_ world: inout World, at now: Instant) {
    let before = world.alarm
    var after = before
    after.enabled.toggle()
    // Open occurrences end here, and occurrences do not begin while the alarm is off.
    var last = before.progress.armed
    while let next = Timeline(before, zone: .utc).nextScheduled(after: last), next.at <= now {
      excuse(next.civil)
      last = next.at
    }
    for civil in before.progress.moves.keys { excuse(civil) }
    func excuse(_ civil: CivilDateTime) {
      let view = Timeline(before, zone: .utc)
      if view.occurrence(civil).at <= now,
        view.record(of: civil).map({ !$0.state.isSettled }) ?? true
      {
        world.excused.insert(civil)
      }
    }
    world.alarm = after.stamped(against: before, at: now, device: laptop)
    world.isOff = !after.enabled
    world.undoable = []
  }

  private func check(_ world: World, at now: Instant, _ seed: UInt64) throws {
    let view = world.view
    let story = Statistics(world.log)
    // None fires twice, and each has at most three follow-ups.
    #expect(
      world.fired.values.allSatisfy { $0 == 1 },
      "seed \(seed): \(world.fired.filter { $0.value > 1 })")
    let undone = Set(world.log.filter { $0.action == .undone }.compactMap(\.occurrence))
    for (civil, count) in world.followUps where !undone.contains(civil) {
      #expect(count <= 3, "seed \(seed): \(civil)")
    }
    // The log agrees with the records.
    for (civil, record) in world.alarm.progress.occurrences {
      let expected: Statistics.Outcome? =
        switch view.record(of: civil)?.state {
        case .done: record.auto ? .autoCompleted : .done
        case .skipped: .skipped
        case .missed: .missed
        case .open, .snoozed, .pending, nil: nil
        }
      if expected != nil || !world.excused.contains(civil) {
        #expect(story.outcomes[civil] == expected, "seed \(seed): \(civil) \(record)")
      }
    }
    // Every due occurrence has one outcome or is still open.
    var last = YearSimulation.start
    while let next = view.nextScheduled(after: last), next.at <= now {
      last = next.at
      let due = view.occurrence(next.civil)
      if due.at > now { continue }
      let record = view.record(of: next.civil)
      let isOpen =
        (next.civil > world.alarm.progress.floor ?? civil("2025-01-01T00:00")
          || due.movedTo != nil) && !(record?.state.isSettled ?? false)
      let isExcused =
        world.excused.contains(next.civil) || due.at <= world.alarm.progress.armed
      #expect(
        (story.outcomes[next.civil] != nil) != isOpen || isExcused,
        "seed \(seed): \(next.civil) \(String(describing: record)) floor \(String(describing: world.alarm.progress.floor)) \(world.log.filter { $0.occurrence == next.civil }.map { "\($0.action) \($0.at)" })"
      )
    }
    #expect(
      world.alarm.progress.occurrences.count < 40 || world.alarm.delivery.strict, "seed \(seed)")
  }
}

extension Timeline {
  /// Returns the next occurrence of the schedule, whatever its outcome.
  fileprivate func nextScheduled(after moment: Instant) -> Occurrence? {
    scheduled.next(after: zone.civil(at: moment)).map {
      Occurrence(civil: $0, at: zone.instant(of: $0))
    }
  }
}
