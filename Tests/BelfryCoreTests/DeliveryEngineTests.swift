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

  /// Evaluates the alarm in a process that can sync. Returns the deliveries to claim, and true if it has to sync.
  private func evaluate(
    _ engine: inout DeliveryEngine, due: Bool = true, at time: Instant = now,
    _ answerFreshness: DeliveryEngine.AnswerFreshness
  ) -> (claims: [PendingDelivery], needsSync: Bool) {
    engine.evaluated(
      due ? [pending] : [], of: [DeliveryEngineTests.alarm], answerFreshness: answerFreshness,
      now: time)
  }

  /// Returns an engine whose only delivery is in a phase.
  private func engine(in phase: Phase) -> DeliveryEngine {
    var engine = DeliveryEngine(owner: "me")
    if phase == .absent { return engine }
    if phase == .held {
      _ = evaluate(&engine, .stale)
      return engine
    }
    let claims = engine.evaluated([pending])
    if phase == .claiming { return engine }
    _ = engine.claimed(claims, granted: [pending.id])
    if phase == .delivering { return engine }
    _ = engine.handle(.finished(pending.id, ongoing))
    if phase == .finished { return engine }
    _ = engine.handle(.recordingDue)
    return engine
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

  /// Expects the result of a step and the phase afterwards, by the phase before it. In phases without an entry, the
  /// result is empty and the phase stays.
  private func expect<Result: Equatable & Sequence>(
    _ table: [Phase: (result: Result, after: DeliveryEngine.Phase?)] = [:],
    _ location: SourceLocation = #_sourceLocation, _ step: (inout DeliveryEngine) -> Result
  ) {
    for phase in Phase.allCases {
      var engine = engine(in: phase)
      let before = engine.phases[pending.id]
      let result = step(&engine)
      let row = table[phase]
      let isExpected = row.map { $0.result == result } ?? result.allSatisfy { _ in false }
      #expect(isExpected, "\(phase.rawValue): \(result)", sourceLocation: location)
      #expect(
        engine.phases[pending.id] == (row == nil ? before : row?.after), "\(phase.rawValue)",
        sourceLocation: location)
    }
  }

  private func expect(
    _ event: DeliveryEngine.Event,
    _ table: [Phase: (result: [DeliveryEngine.Effect], after: DeliveryEngine.Phase?)] = [:],
    _ location: SourceLocation = #_sourceLocation
  ) {
    expect(table, location) { $0.handle(event) }
  }

  @Test func aDueDeliveryIsClaimed() {
    expect([.absent: ([pending], .claiming), .held: ([pending], .claiming)]) {
      $0.evaluated([pending])
    }
    for freshness in [DeliveryEngine.AnswerFreshness.fresh, .unavailable] {
      expect([.absent: ([pending], .claiming), .held: ([pending], .claiming)]) {
        let (claims, needsSync) = evaluate(&$0, freshness)
        #expect(!needsSync)
        return claims
      }
    }
  }

  @Test func aDueDeliveryWithStaleStateIsHeld() {
    expect([.absent: (["sync"], .held(since: now))]) { engine -> [String] in
      let (claims, needsSync) = evaluate(&engine, .stale)
      #expect(claims.isEmpty)
      return needsSync ? ["sync"] : []
    }
  }

  @Test func aDeliveryThatIsNotDueIsDropped() {
    expect([.held: ([], nil)]) { evaluate(&$0, due: false, .stale).claims }
  }

  @Test func aWithdrawalChangesNoPhase() {
    expect { engine -> [DeliveryEngine.Effect] in
      engine.withdrawn([pending.id])
      return []
    }
  }

  @Test func aWithdrawnDeliveryIsRecordedAsSuchAndItsAlarmEvaluatedAgain() {
    for phase in [Phase.finished, .ongoing] {
      var engine = engine(in: phase)
      engine.withdrawn([pending.id])
      _ = engine.handle(.ended(pending.id))
      guard case .record(let recording) = engine.handle(.recordingDue).first else {
        Issue.record("nothing was recorded")
        continue
      }
      #expect(recording.withdrawn == [pending.id])
      #expect(recording.released.isEmpty)
      #expect(recording.alarms == [DeliveryEngineTests.alarm])
      #expect(engine.phases.isEmpty)
      // The occurrence rings again, such as after an undo.
      #expect(engine.evaluated([pending]) == [pending])
    }
  }

  @Test func aGrantedClaimIsDelivered() {
    expect([.claiming: ([DeliveryGroup(pending)], .delivering)]) {
      $0.claimed([pending], granted: [pending.id])
    }
  }

  @Test func aRefusedClaimIsDropped() {
    expect([.claiming: ([], nil)]) { $0.claimed([pending], granted: []) }
  }

  @Test func aFinishedDeliveryIsRecordedSoon() {
    expect(
      .finished(pending.id, .undelivered(["no hook"])),
      [.delivering: ([.recordSoon], .delivering)])
  }

  @Test func recordingHasItsEffectsInEachPhase() {
    expect(.recordingDue, [.finished: ([recorded(ongoing)], .ongoing)])
    let outcome = DeliveryEngine.RecordedOutcome(pending, ongoing)
    #expect(
      DeliveryEngine.Recording(outcomes: [outcome]).alarms == [DeliveryEngineTests.alarm])
    // The lease has ended, and the alarm's state is the same.
    #expect(DeliveryEngine.Recording(released: [pending.id]).alarms.isEmpty)
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
    expect(.answerRecorded([pending.id], isAccepted: true))
    var engine = engine(in: .absent)
    _ = engine.handle(refused)
    #expect(
      engine.handle(.recordingDue)
        == [.record(DeliveryEngine.Recording(withdrawn: [pending.id]))])
  }

  @Test(arguments: [true, false])
  func theLeaseOfAnAnsweredDeliveryIsKeptUntilTheAnswerIsRecorded(_ isAccepted: Bool) {
    for phase in [Phase.finished, .ongoing] {
      var engine = engine(in: phase)
      _ = engine.handle(.answered([pending], .answer(.stop)))
      _ = engine.handle(.ended(pending.id))
      if phase == .finished {
        #expect(engine.handle(.recordingDue).first == recorded(ongoing))
      }
      #expect(engine.phases == [pending.id: .ongoing])
      // It is not delivered again in between.
      #expect(engine.evaluated([pending]) == [])
      let recorded = DeliveryEngine.Event.answerRecorded([pending.id], isAccepted: isAccepted)
      #expect(engine.handle(recorded) == [.recordSoon])
      #expect(
        engine.handle(.recordingDue)
          == [.record(DeliveryEngine.Recording(withdrawn: [pending.id]))])
    }
  }

  @Test func theEndOfAnOngoingDeliveryReleasesItsLease() {
    expect(.ended(pending.id), [.ongoing: ([.recordSoon], nil)])
    var engine = engine(in: .ongoing)
    _ = engine.handle(.ended(pending.id))
    #expect(!engine.isIdle)
    #expect(
      engine.handle(.recordingDue)
        == [.record(DeliveryEngine.Recording(released: [pending.id]))])
    #expect(engine.isIdle)
  }

  @Test func theAlarmsOfHeldDeliveriesAreKnown() {
    for phase in Phase.allCases {
      #expect(
        engine(in: phase).heldAlarms == (phase == .held ? [DeliveryEngineTests.alarm] : []))
    }
  }

  @Test func postponedChangesAreRecordedLater() {
    var engine = engine(in: .absent)
    #expect(
      engine.handle(.postponed(released: [pending.id], withdrawn: [])) == [.recordSoon])
    #expect(
      engine.handle(.recordingDue)
        == [.record(DeliveryEngine.Recording(released: [pending.id]))])
  }

  // MARK: Sequences

  @Test func aHeldDeliveryContinuesWithoutASyncAfterItsTimeout() {
    var engine = engine(in: .held)
    let later = now.adding(seconds: DeliveryEngine.freshnessTimeout)
    #expect(engine.nextWake == later)
    #expect(engine.overdueAlarms(at: later.adding(seconds: -1)).isEmpty)
    let early = evaluate(&engine, at: later.adding(seconds: -1), .stale)
    #expect(early.claims.isEmpty && !early.needsSync)
    #expect(engine.overdueAlarms(at: later) == [DeliveryEngineTests.alarm])
    #expect(evaluate(&engine, at: later, .stale).claims == [pending])
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
        _ = engine.handle(event)
      }
      #expect(engine.handle(.recordingDue).first == recorded(expected), "\(outcome)")
    }
  }

  @Test func aResponseThatEndsTheDeliveryIsCarriedOutAfterTheRecording() {
    var engine = engine(in: .delivering)
    _ = engine.handle(.finished(pending.id, .delivered(.answer(.stop))))
    _ = engine.handle(.ended(pending.id))
    #expect(
      engine.handle(.recordingDue) == [
        recorded(.delivered(.answer(.stop))), .respond([pending], .answer(.stop)),
      ])
    #expect(engine.phases.isEmpty)
  }

  @Test func aDeliveryWithALaterDueTimeIsAnotherOne() {
    var engine = engine(in: .ongoing)
    let later = DeliveryEngineTests.firing(at: now.adding(seconds: 600))
    #expect(engine.evaluated([later]) == [later])
    #expect(engine.phases == [pending.id: .ongoing, later.id: .claiming])
  }

  @Test func outcomesAreRecordedTogether() {
    var engine = DeliveryEngine(owner: "me")
    let all = [
      DeliveryEngineTests.firing(), DeliveryEngineTests.firing(at: now.adding(seconds: 1)),
    ]
    _ = engine.claimed(engine.evaluated(all), granted: Set(all.map(\.id)))
    #expect(engine.handle(.finished(all[1].id, .withdrawn)) == [.recordSoon])
    #expect(engine.handle(.finished(all[0].id, .delivered(nil))) == [])
    guard case .record(let recording) = engine.handle(.recordingDue).first else {
      Issue.record("nothing was recorded")
      return
    }
    #expect(recording.outcomes.map(\.pending) == all)
  }

  // MARK: Handed deliveries

  @Test func theProcessThatClaimedADeliveryRecordsItsOutcome() {
    var engine = DeliveryEngine(owner: "helper")
    let answer = DeliveredAnswer.answer(.stop)
    engine.handed(DeliveryGroup(pending))
    #expect(engine.handle(.finished(pending.id, .ongoing(owner: "helper"))) == [])
    #expect(engine.phases == [pending.id: .ongoing])
    #expect(engine.handle(.answered([pending], answer)) == [.respond([pending], answer)])
    #expect(engine.handle(.ended(pending.id)) == [])
    let recorded = DeliveryEngine.Event.answerRecorded([pending.id], isAccepted: true)
    #expect(engine.handle(recorded) == [.recordSoon])
    #expect(
      engine.handle(.recordingDue).first
        == .record(DeliveryEngine.Recording(withdrawn: [pending.id])))
  }

  @Test(arguments: [DeliveryOutcome.undelivered(["no hook"]), .withdrawn])
  func aHandedDeliveryWithoutANotificationIsDropped(_ outcome: DeliveryOutcome) {
    var engine = DeliveryEngine(owner: "helper")
    engine.handed(DeliveryGroup(pending))
    #expect(engine.handle(.finished(pending.id, outcome)) == [])
    #expect(engine.handle(.ended(pending.id)) == [])
    #expect(engine.phases.isEmpty)
  }
}
