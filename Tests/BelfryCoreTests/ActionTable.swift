import BelfryCore
import TestSupport
import Testing

/// Every state of an alarm combined with every action: the resulting state of the affected occurrence, or a refusal.
@Suite struct ActionTable {
  enum Situation: String, CaseIterable {
    case upcoming, ringing, snoozed, pending, ringingAgain, missed, skippedAhead, done
    case autoCompleted, disabled, deleted, finished
  }

  enum Action: String, CaseIterable {
    case stop, done, doneEarly, snooze, skip, unskip, dismiss

    var answer: Answer {
      switch self {
      case .stop: .stop
      case .done: .done()
      case .doneEarly: .done(early: true)
      case .snooze: .snooze(seconds: 540)
      case .skip: .skip()
      case .unskip: .unskip()
      case .dismiss: .dismiss
      }
    }
  }

  /// `state day`, where the day is that of the occurrence: 23 is the Monday, 27 the Friday after it, 30 the Monday
  /// after that. `-` means that the action is refused (exit status 4 on the command line).
  ///
  /// Columns: stop, done, done --early, snooze, skip, unskip, dismiss.
  static let table: [(Situation, [String])] = [
    (.upcoming, ["-", "-", "done 23", "-", "skipped 23", "-", "-"]),
    (.ringing, ["pending 23", "done 23", "done 23", "snoozed 23", "skipped 23", "-", "-"]),
    (.snoozed, ["pending 23", "done 23", "done 23", "snoozed 23", "skipped 23", "-", "-"]),
    (.pending, ["-", "done 23", "done 23", "-", "skipped 23", "-", "-"]),
    (.ringingAgain, ["pending 23", "done 23", "done 23", "snoozed 23", "skipped 23", "-", "-"]),
    (.missed, ["-", "done 23", "done 23", "-", "skipped 27", "-", "missed 23"]),
    (.skippedAhead, ["-", "-", "done 27", "-", "skipped 27", "open 23", "-"]),
    (.done, ["-", "-", "done 27", "-", "skipped 27", "-", "-"]),
    (.autoCompleted, ["-", "-", "done 30", "-", "skipped 30", "-", "-"]),
    (.disabled, ["-", "-", "-", "-", "-", "-", "-"]),
    (.deleted, ["-", "-", "-", "-", "-", "-", "-"]),
    (.finished, ["-", "-", "-", "-", "-", "-", "-"]),
  ]

  private static let due = instant("2026-11-23T09:00:00Z")
  private static let plus = Settings(tier: .plus)

  /// Returns an alarm in a situation, the current instant, and this device's delivery ledger.
  private static func make(
    _ situation: Situation, strict: Bool = false
  ) throws -> (Alarm, Instant, DeliveryLedger) {
    var alarm = try rent()
    alarm.delivery.strict = strict || situation == .ringingAgain
    var ledger = DeliveryLedger()
    let monday = civil("2026-11-23T09:00")
    func answer(_ answer: Answer, at now: Instant) throws {
      alarm = try timeline(alarm).answer(answer, at: now, settings: plus, ledger: ledger).alarm
    }
    let before = due.adding(seconds: -60)
    if situation == .upcoming { return (alarm, before, ledger) }
    if situation == .skippedAhead {
      try answer(.skip(), at: before)
      return (alarm, before, ledger)
    }
    if situation == .finished {
      alarm.schedule = try schedule(.once(date("2026-11-23")), "09:00")
    }
    ledger.recordFiring(OccurrenceID(alarm: alarm.id, occurrence: monday), due: due, at: due)
    switch situation {
    case .ringing: break
    case .snoozed: try answer(.snooze(seconds: 540), at: due)
    case .pending: try answer(.stop, at: due)
    case .ringingAgain:
      try answer(.stop, at: due)
      ledger.recordFiring(
        OccurrenceID(alarm: alarm.id, occurrence: monday), due: due.adding(seconds: 1800),
        at: due.adding(seconds: 1800))
      return (alarm, due.adding(seconds: 1860), ledger)
    case .missed:
      alarm =
        timeline(alarm).evaluate(
          at: due.adding(seconds: 1800), settings: plus, ledger: ledger
        ).transition.alarm
      return (alarm, due.adding(seconds: 1801), ledger)
    case .done, .finished: try answer(.done(), at: due)
    case .autoCompleted:
      try answer(.stop, at: due)
      let friday = instant("2026-11-27T09:00:00Z")
      alarm =
        timeline(alarm).evaluate(at: friday, settings: plus, ledger: ledger).transition.alarm
      ledger.recordFiring(
        OccurrenceID(alarm: alarm.id, occurrence: civil("2026-11-27T09:00")), due: friday,
        at: friday)
      try answer(.done(), at: friday)
      return (alarm, friday, ledger)
    case .disabled:
      let earlier = alarm
      alarm.enabled = false
      alarm = alarm.stamped(against: earlier, at: due, device: laptop)
    case .deleted: alarm = alarm.deleted()
    case .upcoming, .skippedAhead: break
    }
    return (alarm, due.adding(seconds: 1), ledger)
  }

  @Test(arguments: Situation.allCases, Action.allCases)
  func everyActionHasItsExpectedResultInEveryState(_ situation: Situation, _ action: Action) throws
  {
    let row = try #require(ActionTable.table.first { $0.0 == situation })
    let column = try #require(Action.allCases.firstIndex(of: action))
    let (alarm, now, ledger) = try ActionTable.make(situation)
    let view = timeline(alarm)
    var result = "-"
    do {
      let transition = try view.answer(
        action.answer, at: now, settings: ActionTable.plus, ledger: ledger)
      let event = try #require(transition.events.last)
      let occurrence = try #require(event.occurrence)
      let record = transition.alarm.progress.occurrences[occurrence]
      result = "\(record?.state.rawValue ?? "nothing") \(occurrence.date.components.day)"
    } catch is LifecycleError {}
    #expect(result == row.1[column])
  }

  @Test func situationsHaveTheExpectedStates() throws {
    for (situation, state) in [
      (Situation.upcoming, AlarmStatus.State.active), (.ringing, .ringing), (.snoozed, .snoozed),
      (.pending, .pending), (.ringingAgain, .ringing), (.missed, .missed), (.skippedAhead, .active),
      (.done, .active), (.autoCompleted, .active), (.disabled, .disabled), (.deleted, .disabled),
      (.finished, .finished),
    ] {
      let (alarm, now, ledger) = try ActionTable.make(situation)
      #expect(
        timeline(alarm).status(at: now, settings: ActionTable.plus, ledger: ledger).state
          == state,
        "\(situation)")
    }
  }

  @Test(arguments: Situation.allCases)
  func aStopIsDoneOnTheFreeTier(_ situation: Situation) throws {
    guard situation == .ringing || situation == .snoozed else { return }
    let (alarm, now, ledger) = try ActionTable.make(situation)
    let transition = try timeline(alarm).answer(
      .stop, at: now, settings: Settings(), ledger: ledger)
    #expect(transition.events.map(\.action) == [.done])
  }

  /// Actions on a named occurrence have the same results, except that done also applies to an occurrence that was done
  /// automatically, and skip to a missed one.
  @Test func aNamedOccurrenceAcceptsMoreActions() throws {
    let allowed: [Phase: Set<Action>] = [
      .upcoming: [.doneEarly, .skip], .ringing: [.stop, .done, .doneEarly, .snooze, .skip],
      .snoozed: [.stop, .done, .doneEarly, .snooze, .skip], .pending: [.done, .doneEarly, .skip],
      .missed: [.done, .doneEarly, .skip, .dismiss], .skippedAhead: [.unskip], .skipped: [],
      .done: [], .autoCompleted: [.done, .doneEarly], .unknown: [],
    ]
    let phases: [(Situation, String, Phase)] = [
      (.upcoming, "2026-11-23T09:00", .upcoming), (.ringing, "2026-11-23T09:00", .ringing),
      (.snoozed, "2026-11-23T09:00", .snoozed), (.pending, "2026-11-23T09:00", .pending),
      (.ringingAgain, "2026-11-23T09:00", .ringing), (.missed, "2026-11-23T09:00", .missed),
      (.skippedAhead, "2026-11-23T09:00", .skippedAhead), (.done, "2026-11-23T09:00", .done),
      (.autoCompleted, "2026-11-23T09:00", .autoCompleted), (.done, "2026-11-24T09:00", .unknown),
      (.done, "2026-11-20T09:00", .unknown),
    ]
    for (situation, text, phase) in phases {
      for action in Action.allCases {
        let (alarm, now, ledger) = try ActionTable.make(situation)
        var isAllowed = true
        do {
          _ = try timeline(alarm).answer(
            action.answer, to: civil(text), at: now, settings: ActionTable.plus, ledger: ledger)
        } catch {
          #expect(error == .wrongPhase(civil(text), phase))
          isAllowed = false
        }
        #expect(isAllowed == allowed[phase]?.contains(action), "\(phase) \(action)")
      }
    }
  }
}
