import BelfryCore
import TestSupport
import Testing

/// Claims, leases and retries in the delivery ledger.
@Suite struct DeliveryLedgerTests {
  private let now = Instant(rfc3339: "2026-11-23T09:00:00Z")!
  private let id = OccurrenceID(
    alarm: Identifier("dbbjx53dsdxuce4rkkujxmt7fb")!,
    occurrence: CivilDateTime("2026-11-23T09:00")!)
  private let me = LeaseOwner(name: "me") { $0 != "dead" }

  private func firing(due: Instant) -> PendingDelivery {
    PendingDelivery(
      due: due,
      notification: .firing(
        Notification.Content(id: id, title: "Rent", at: due), Notification.Firing(isLate: false)))
  }

  private func followUp(_ number: Int, due: Instant) -> PendingDelivery {
    PendingDelivery(
      due: due,
      notification: .followUp(
        Notification.Content(id: id, title: "Rent", at: due),
        FollowUp(occurrence: id.occurrence, since: now, number: number, count: 3, due: due)))
  }

  private func entry(
    _ state: DeliveryState, due: Instant? = nil, at: Instant? = nil, owner: String? = nil
  ) -> DeliveryLedger.Entry {
    DeliveryLedger.Entry(due: due ?? now, at: at ?? now, state: state, owner: owner)
  }

  @Test("A process whose time is that of its start keeps the later entries of others")
  func laterEntries() {
    var stored = DeliveryLedger()
    let (early, late) = (firing(due: now), followUp(1, due: now.adding(seconds: 3600)))
    stored[early.key] = entry(.claimed, owner: "me")
    stored[late.key] = entry(
      .delivered, due: late.due, at: now.adding(seconds: 3600), owner: "other")
    var ledger = stored.possible(at: now)
    #expect(ledger[late.key] == nil)
    ledger.record(.delivered(nil), of: early, at: now)
    ledger.keepLater(of: stored, than: now)
    #expect(ledger[late.key] == stored[late.key])
    #expect(ledger[early.key]?.state == .delivered)
  }

  @Test func aDeliveryIsClaimedOnce() {
    var ledger = DeliveryLedger()
    let pending = firing(due: now)
    #expect(ledger.claim([pending], at: now, for: me) == [pending.id])
    #expect(ledger[pending.key]?.state == .claimed)
    #expect(ledger[pending.key]?.owner == "me")
    #expect(ledger[pending.key]?.isLogged == false)
    let other = LeaseOwner(name: "other") { _ in true }
    #expect(ledger.claim([pending], at: now, for: other).isEmpty)
    #expect(ledger.claim([pending], at: now, for: me).isEmpty)
  }

  @Test func aClaimDependsOnTheLatestEntryOfTheOccurrence() {
    let later = now.adding(seconds: 1800)
    let table: [(DeliveryLedger.Entry?, isClaimed: Bool)] = [
      (nil, true),
      (entry(.delivered, due: now.adding(seconds: -600)), true),
      (entry(.delivered, due: later), false),
      (entry(.claimed, due: later, owner: "me"), false),
      (entry(.undelivered, due: later), true),
      (entry(.withdrawn, due: later), true),
      (entry(.withdrawn), true),
      (entry(.delivered), false),
      (entry(.undelivered), false),
      (entry(.undelivered, at: now.adding(seconds: -31)), true),
    ]
    for (known, isClaimed) in table {
      var ledger = DeliveryLedger()
      ledger[.occurrence(id, .firing)] = known
      #expect(
        ledger.claim([firing(due: now)], at: now, for: me).isEmpty != isClaimed,
        "\(String(describing: known))")
    }
  }

  @Test func aFollowUpThatWasSentSupersedesTheFiring() {
    var ledger = DeliveryLedger()
    let followUp = followUp(1, due: now.adding(seconds: 1800))
    #expect(ledger.claim([followUp], at: followUp.due, for: me) == [followUp.id])
    #expect(ledger.claim([firing(due: now)], at: followUp.due, for: me).isEmpty)
    // Each keeps its own entry.
    ledger.recordFiring(id, due: now, at: now)
    #expect(ledger.entries.count == 2)
    #expect(ledger.latest(of: id)?.due == followUp.due)
    #expect(ledger.hasRung(id))
  }

  @Test func anAdvanceWarningIsNotAFiring() {
    var ledger = DeliveryLedger()
    ledger[.occurrence(id, .advanceWarning)] = entry(.delivered, due: now.adding(seconds: -3600))
    #expect(!ledger.hasRung(id))
    #expect(ledger.claim([firing(due: now)], at: now, for: me).count == 1)
  }

  @Test(arguments: [
    // owner, seconds since the claim, is due again
    ("dead", 0, true), ("other", 300, false), ("other", 301, true), ("other", -301, true),
    ("me", 301, false),
  ])
  func aLeaseEndsWithItsProcessOrAfterFiveMinutes(_ owner: String, _ age: Int64, _ isDue: Bool) {
    var ledger = DeliveryLedger()
    let pending = firing(due: now)
    ledger[pending.key] = entry(
      .claimed, at: now.adding(seconds: -age), owner: owner)
    #expect(ledger.claim([pending], at: now, for: me).isEmpty != isDue)
    if isDue { #expect(ledger[pending.key]?.attempts == 2) }
  }

  @Test func aDeliveredNotificationOfADeadProcessIsDueAgain() {
    var ledger = DeliveryLedger()
    let pending = firing(due: now)
    ledger[pending.key] = entry(.delivered, owner: "dead")
    #expect(ledger.claim([pending], at: now, for: me) == [pending.id])
  }

  @Test func outcomesChangeTheEntry() {
    let pending = firing(due: now)
    let table: [(DeliveryOutcome?, DeliveryState, owner: String?, isLogged: Bool)] = [
      (.delivered(nil), .delivered, nil, false),
      (.delivered(.remind), .delivered, nil, false),
      (.ongoing(owner: "helper"), .delivered, "helper", false),
      (.undelivered(["no hook"]), .undelivered, nil, false),
      (.withdrawn, .withdrawn, nil, true),
      (nil, .withdrawn, nil, true),
    ]
    for (outcome, state, owner, isLogged) in table {
      var ledger = DeliveryLedger()
      _ = ledger.claim([pending], at: now, for: me)
      ledger.record(outcome, of: pending, at: now.adding(seconds: 5))
      let entry = ledger[pending.key]
      #expect(entry?.state == state, "\(String(describing: outcome))")
      #expect(entry?.owner == owner)
      #expect(entry?.isLogged == isLogged)
      #expect(entry?.at == now.adding(seconds: 5))
    }
  }

  @Test func onlyTheOwnerReleasesALease() {
    var ledger = DeliveryLedger()
    let pending = firing(due: now)
    ledger.record(.ongoing(owner: "me"), of: pending, at: now)
    ledger.release(pending.id, owner: "other")
    #expect(ledger[pending.key]?.owner == "me")
    ledger.release(DeliveryID(key: pending.key, due: now.adding(seconds: 1)), owner: "me")
    #expect(ledger[pending.key]?.owner == "me")
    ledger.release(pending.id, owner: "me")
    #expect(ledger[pending.key]?.owner == nil)
  }

  @Test func aWithdrawnDeliveryIsMadeAgainIfItIsNeededAgain() {
    var ledger = DeliveryLedger()
    let pending = firing(due: now)
    ledger.withdraw(pending.id, owner: "me")
    #expect(ledger[pending.key] == nil)
    ledger.record(.ongoing(owner: "me"), of: pending, at: now)
    ledger.withdraw(pending.id, owner: "other")
    #expect(ledger[pending.key]?.state == .delivered)
    ledger.withdraw(pending.id, owner: "me")
    #expect(ledger[pending.key]?.state == .withdrawn)
    #expect(ledger[pending.key]?.owner == nil)
    #expect(ledger.claim([pending], at: now, for: me) == [pending.id])
    #expect(ledger[pending.key]?.attempts == 2)
  }

  @Test func aDeliveryThatIsWithdrawnAgainAndAgainBacksOff() {
    func again(_ attempts: Int) -> Instant? {
      DeliveryLedger.Entry(due: now, at: now, attempts: attempts, state: .withdrawn).nextAttempt
    }
    #expect(again(DeliveryLedger.Entry.maxAttempts) == now)
    #expect(again(DeliveryLedger.Entry.maxAttempts + 1) == now.adding(seconds: 600))
  }

  @Test func retriesBackOff() {
    let delays = (1...7).map { attempts in
      DeliveryLedger.Entry(due: now, at: now, attempts: attempts, state: .undelivered)
        .retry.seconds(since: now)
    }
    #expect(delays == [30, 60, 120, 240, 480, 600, 600])
  }

  @Test func theLaterAttemptSurvivesAMerge() {
    let key = DeliveryKey.occurrence(id, .firing)
    var early = DeliveryLedger()
    early[key] = DeliveryLedger.Entry(due: now, at: now, isLogged: true)
    var late = DeliveryLedger()
    late[key] = DeliveryLedger.Entry(
      due: now, at: now.adding(seconds: 30), attempts: 2, isLogged: false)
    for (first, second) in [(early, late), (late, early)] {
      var merged = first
      merged.merge(second)
      #expect(merged[key]?.attempts == 2)
      #expect(merged[key]?.isLogged == true)
    }
  }

  @Test func oldAndImpossibleEntriesAreRemoved() {
    var ledger = DeliveryLedger()
    ledger.recordFiring(id, due: now, at: now)
    ledger[.rehearsal(alarm: id.alarm, requested: now)] = entry(.delivered)
    #expect(ledger.possible(at: now.adding(seconds: -3600)) == DeliveryLedger())
    // Another process may have read the time a little later, or this one some time ago.
    #expect(ledger.possible(at: now.adding(seconds: -60)) == ledger)
    #expect(ledger.present(at: now.adding(seconds: -60)) == DeliveryLedger())
    #expect(ledger.present(at: now.adding(seconds: -1)) == ledger)
    ledger.forget(before: now.adding(seconds: 1))
    #expect(ledger == DeliveryLedger())
  }
}
