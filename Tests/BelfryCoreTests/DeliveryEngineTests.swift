import BelfryCore
import Testing

/// Every event in every phase of a delivery, without input or output.
@Suite struct DeliveryEngineTests {
  private static let now = Instant(rfc3339: "2026-11-23T09:00:00Z")!
  private static let alarm = Identifier("dbbjx53dsdxuce4rkkujxmt7fb")!

  private static func firing(
    mayBeAnswered: Bool = false, at due: Instant = now
  ) -> PendingDelivery {
    let id = OccurrenceID(alarm: alarm, occurrence: CivilDateTime("2026-11-23T09:00")!)
    return PendingDelivery(
      due: due,
      notification: .firing(
        Notification.Content(id: id, title: "Rent", at: due), Notification.Firing(isLate: false)),
      mayBeAnswered: mayBeAnswered)
  }

  /// A phase of a delivery; `finished` is the part of the phase `delivering` that has an unrecorded outcome.
  enum Phase: String, CaseIterable, CustomTestStringConvertible {
    case absent, held, claiming, delivering, finished, ongoing
    var testDescription: String { rawValue }
  }

  private let pending = DeliveryEngineTests.firing(mayBeAnswered: true)
  private let now = DeliveryEngineTests.now
  private var ongoing: DeliveryOutcome { .ongoing(owner: "me") }

  private func evaluated(
    due: Bool = true, unwanted: Bool = false,
    answerFreshness: DeliveryEngine.AnswerFreshness = .unavailable
  ) -> DeliveryEngine.Event {
    .evaluated(
      DeliveryEngine.EvaluatedAlarms(
        alarms: [DeliveryEngineTests.alarm], pending: due ? [pending] : [],
        unwanted: unwanted ? [pending.id] : [], answerFreshness: answerFreshness))
  }

  /// Returns an engine whose only delivery is in a phase.
  private func engine(in phase: Phase) -> DeliveryEngine {
    var engine = DeliveryEngine(owner: "me")
    var events: [DeliveryEngine.Event] = []
    switch phase {
    case .absent: break
    case .held: events = [evaluated(answerFreshness: .stale)]
    case .claiming: events = [evaluated()]
    case .delivering: events = [evaluated(), claimed()]
    case .finished: events = [evaluated(), claimed(), .finished(pending.id, ongoing)]
    case .ongoing:
      events = [evaluated(), claimed(), .finished(pending.id, ongoing), .recordingDue]
    }
    for event in events { _ = engine.handle(event, now: now) }
    return engine
  }

  private func claimed(_ isGranted: Bool = true) -> DeliveryEngine.Event {
    .claimed([pending.id], granted: isGranted ? [pending.id] : [])
  }

  private func recorded(_ outcome: DeliveryOutcome?) -> DeliveryEngine.Effect {
    .record(
      DeliveryEngine.Recording(outcomes: [DeliveryEngine.RecordedOutcome(pending, outcome)]))
  }

  @Test func anEngineStartsInEachPhase() {
    let phases = Phase.allCases.map { engine(in: $0).phases[pending.id] }
    #expect(
      phases == [nil, .held(since: now), .claiming, .delivering, .delivering, .ongoing])
  }

  /// The effects of an event by phase, and the phase afterwards.
  private typealias Row = (effects: [DeliveryEngine.Effect], after: DeliveryEngine.Phase?)

  private func expect(
    _ event: DeliveryEngine.Event, _ table: [Phase: Row],
    _ location: SourceLocation = #_sourceLocation
  ) {
    for phase in Phase.allCases {
      var engine = engine(in: phase)
      let effects = engine.handle(event, now: now)
      let row = table[phase] ?? ([], self.engine(in: phase).phases[pending.id])
      #expect(effects == row.effects, "\(phase.rawValue)", sourceLocation: location)
      #expect(
        engine.phases[pending.id] == row.after, "\(phase.rawValue)", sourceLocation: location)
    }
  }

  @Test func aDueDeliveryIsClaimed() {
    expect(
      evaluated(),
      [.absent: ([.claim([pending])], .claiming), .held: ([.claim([pending])], .claiming)])
  }

  @Test func aDueDeliveryWithStaleStateIsHeld() {
    expect(evaluated(answerFreshness: .stale), [.absent: ([.sync], .held(since: now))])
  }

  @Test func aDeliveryThatIsNotDueIsDropped() {
    expect(evaluated(due: false), [.held: ([], nil)])
  }

  @Test func anUnwantedDeliveryIsWithdrawn() {
    let withdrawal = [DeliveryEngine.Effect.withdraw([pending.id])]
    expect(
      evaluated(due: false, unwanted: true),
      [
        // Channels may run although the engine does not know of them.
        .absent: (withdrawal, nil), .claiming: (withdrawal, .claiming),
        .held: (withdrawal, nil), .delivering: (withdrawal, .delivering),
        .finished: (withdrawal, .delivering), .ongoing: (withdrawal, .ongoing),
      ])
  }

  @Test func aWithdrawnDeliveryIsRecordedAsSuchAndItsAlarmEvaluatedAgain() {
    for phase in [Phase.finished, .ongoing] {
      var engine = engine(in: phase)
      _ = engine.handle(evaluated(due: false, unwanted: true), now: now)
      _ = engine.handle(.ended(pending.id), now: now)
      let effects = engine.handle(.recordingDue, now: now)
      guard case .record(let recording) = effects.first else {
        Issue.record("nothing was recorded")
        continue
      }
      #expect(recording.withdrawn == [pending.id])
      #expect(recording.released.isEmpty)
      #expect(effects.last == .evaluate([DeliveryEngineTests.alarm]))
      #expect(engine.phases.isEmpty)
      // The occurrence rings again, such as after an undo.
      #expect(engine.handle(evaluated(), now: now) == [.claim([pending])])
    }
  }

  @Test func aGrantedClaimIsDelivered() {
    expect(claimed(), [.claiming: ([.deliver(DeliveryGroup(pending))], .delivering)])
  }

  @Test func aRefusedClaimIsDropped() {
    expect(claimed(false), [.claiming: ([], nil)])
  }

  @Test func aFinishedDeliveryIsRecordedSoon() {
    expect(
      .finished(pending.id, .undelivered(["no hook"])),
      [.delivering: ([.recordSoon], .delivering)])
  }

  @Test func recordingHasItsEffectsInEachPhase() {
    expect(
      .recordingDue,
      [.finished: ([recorded(ongoing), .commit, .evaluate([DeliveryEngineTests.alarm])], .ongoing)])
  }

  @Test func aResponseIsCarriedOutInAnyPhase() {
    let answer = DeliveredAnswer.answer(.stop)
    let effects = [DeliveryEngine.Effect.respond([pending], answer)]
    expect(
      .answered([pending], answer),
      Dictionary(
        uniqueKeysWithValues: Phase.allCases.map {
          ($0, (effects, engine(in: $0).phases[pending.id]))
        }))
  }

  @Test func aRefusedAnswerToAnEndedDeliveryIsRecordedAsWithdrawn() {
    let refused = DeliveryEngine.Event.answerRecorded([pending.id], isAccepted: false)
    expect(refused, [.absent: ([.recordSoon], nil)])
    expect(.answerRecorded([pending.id], isAccepted: true), [:])
    var engine = engine(in: .absent)
    _ = engine.handle(refused, now: now)
    #expect(
      engine.handle(.recordingDue, now: now) == [
        .record(DeliveryEngine.Recording(withdrawn: [pending.id])),
        .evaluate([DeliveryEngineTests.alarm]),
      ])
  }

  @Test(arguments: [true, false])
  func theLeaseOfAnAnsweredDeliveryIsKeptUntilTheAnswerIsRecorded(_ isAccepted: Bool) {
    for phase in [Phase.finished, .ongoing] {
      var engine = engine(in: phase)
      _ = engine.handle(.answered([pending], .answer(.stop)), now: now)
      _ = engine.handle(.ended(pending.id), now: now)
      if phase == .finished {
        #expect(engine.handle(.recordingDue, now: now).first == recorded(ongoing))
      }
      #expect(engine.phases == [pending.id: .ongoing])
      // It is not delivered again in between.
      #expect(engine.handle(evaluated(), now: now) == [])
      let recorded = DeliveryEngine.Event.answerRecorded([pending.id], isAccepted: isAccepted)
      #expect(engine.handle(recorded, now: now) == [.recordSoon])
      #expect(
        engine.handle(.recordingDue, now: now) == [
          .record(DeliveryEngine.Recording(withdrawn: [pending.id])),
          .evaluate([DeliveryEngineTests.alarm]),
        ])
    }
  }

  @Test func theEndOfAnOngoingDeliveryReleasesItsLease() {
    expect(.ended(pending.id), [.ongoing: ([.recordSoon], nil)])
    var engine = engine(in: .ongoing)
    _ = engine.handle(.ended(pending.id), now: now)
    #expect(!engine.isSettled)
    #expect(
      engine.handle(.recordingDue, now: now)
        == [.record(DeliveryEngine.Recording(released: [pending.id]))])
    #expect(engine.isSettled)
  }

  @Test func aSyncReleasesHeldDeliveries() {
    expect(.synced, [.held: ([.evaluate([DeliveryEngineTests.alarm])], .held(since: now))])
  }

  @Test func postponedChangesAreRecordedLater() {
    var engine = engine(in: .absent)
    #expect(
      engine.handle(.postponed(released: [pending.id], withdrawn: []), now: now) == [.recordSoon])
    #expect(
      engine.handle(.recordingDue, now: now)
        == [.record(DeliveryEngine.Recording(released: [pending.id]))])
  }

  // MARK: Sequences

  @Test func aHeldDeliveryContinuesWithoutASyncAfterItsTimeout() {
    var engine = engine(in: .held)
    let later = now.adding(seconds: DeliveryEngine.freshnessTimeout)
    #expect(engine.nextWake == later)
    #expect(engine.overdueAlarms(at: later.adding(seconds: -1)).isEmpty)
    #expect(engine.handle(evaluated(answerFreshness: .stale), now: later.adding(seconds: -1)) == [])
    #expect(engine.overdueAlarms(at: later) == [DeliveryEngineTests.alarm])
    #expect(engine.handle(evaluated(answerFreshness: .stale), now: later) == [.claim([pending])])
    #expect(engine.nextWake == nil)
  }

  @Test func theOutcomeIsRecordedInItsStateWhenTheChannelsEnded() {
    let other = DeliveryOutcome.ongoing(owner: "helper")
    let answered = DeliveryOutcome.delivered(.answer(.stop))
    let cases: [(DeliveryOutcome, [DeliveryEngine.Event], DeliveryOutcome?)] = [
      // One channel has ended, and the other one continues.
      (.delivered(nil), [], ongoing),
      (.delivered(nil), [.ended(pending.id)], .delivered(nil)),
      (ongoing, [.ended(pending.id)], .delivered(nil)),
      (other, [], other),
      (answered, [.ended(pending.id)], answered),
      (.withdrawn, [.ended(pending.id)], nil),
    ]
    for (outcome, events, expected) in cases {
      var engine = engine(in: .delivering)
      for event in [.finished(pending.id, outcome)] + events {
        _ = engine.handle(event, now: now)
      }
      #expect(engine.handle(.recordingDue, now: now).first == recorded(expected), "\(outcome)")
    }
  }

  @Test func aResponseThatEndsTheDeliveryIsCarriedOutAfterTheCommit() {
    var engine = engine(in: .delivering)
    _ = engine.handle(.finished(pending.id, .delivered(.answer(.stop))), now: now)
    _ = engine.handle(.ended(pending.id), now: now)
    #expect(
      engine.handle(.recordingDue, now: now) == [
        recorded(.delivered(.answer(.stop))), .commit, .respond([pending], .answer(.stop)),
        .evaluate([DeliveryEngineTests.alarm]),
      ])
    #expect(engine.phases.isEmpty)
  }

  @Test func aDeliveryWithALaterDueTimeIsAnotherOne() {
    var engine = engine(in: .ongoing)
    let later = DeliveryEngineTests.firing(at: now.adding(seconds: 600))
    let event = DeliveryEngine.Event.evaluated(
      DeliveryEngine.EvaluatedAlarms(alarms: [DeliveryEngineTests.alarm], pending: [later]))
    #expect(engine.handle(event, now: later.due) == [.claim([later])])
    #expect(engine.phases == [pending.id: .ongoing, later.id: .claiming])
  }

  @Test func outcomesAreRecordedTogether() {
    var engine = DeliveryEngine(owner: "me")
    let all = [
      DeliveryEngineTests.firing(), DeliveryEngineTests.firing(at: now.adding(seconds: 1)),
    ]
    _ = engine.handle(
      .evaluated(
        DeliveryEngine.EvaluatedAlarms(alarms: [DeliveryEngineTests.alarm], pending: all)),
      now: now)
    let ids = Set(all.map(\.id))
    _ = engine.handle(.claimed(ids, granted: ids), now: now)
    #expect(engine.handle(.finished(all[1].id, .withdrawn), now: now) == [.recordSoon])
    #expect(engine.handle(.finished(all[0].id, .delivered(nil)), now: now) == [])
    guard case .record(let recording) = engine.handle(.recordingDue, now: now).first else {
      Issue.record("nothing was recorded")
      return
    }
    #expect(recording.outcomes.map(\.pending) == all)
  }

  // MARK: Handed deliveries

  @Test func theProcessThatClaimedADeliveryRecordsItsOutcome() {
    var engine = DeliveryEngine(owner: "helper")
    let answer = DeliveredAnswer.answer(.stop)
    let group = DeliveryGroup(pending)
    #expect(engine.handle(.handed(group), now: now) == [.deliver(group)])
    #expect(engine.handle(.finished(pending.id, .ongoing(owner: "helper")), now: now) == [])
    #expect(engine.phases == [pending.id: .ongoing])
    #expect(engine.handle(.answered([pending], answer), now: now) == [.respond([pending], answer)])
    #expect(engine.handle(.ended(pending.id), now: now) == [])
    let recorded = DeliveryEngine.Event.answerRecorded([pending.id], isAccepted: true)
    #expect(engine.handle(recorded, now: now) == [.recordSoon])
    #expect(
      engine.handle(.recordingDue, now: now).first
        == .record(DeliveryEngine.Recording(withdrawn: [pending.id])))
  }

  @Test(arguments: [DeliveryOutcome.undelivered(["no hook"]), .withdrawn])
  func aHandedDeliveryWithoutANotificationIsDropped(_ outcome: DeliveryOutcome) {
    var engine = DeliveryEngine(owner: "helper")
    _ = engine.handle(.handed(DeliveryGroup(pending)), now: now)
    #expect(engine.handle(.finished(pending.id, outcome), now: now) == [])
    #expect(engine.handle(.ended(pending.id), now: now) == [])
    #expect(engine.phases.isEmpty)
  }
}
