import BelfryCore
import BelfryStore
import Foundation
import TestSupport
import Testing

@testable import BelfryScheduler

/// The delivery ledger of several processes, and without a disk.
@Suite struct SharedLedgerTests {
  private let sandbox: Sandbox
  private let store: Store
  private let pending: PendingDelivery
  private let disk = Gate()

  init() throws {
    sandbox = try Sandbox()
    let now = try #require(Instant(rfc3339: "2026-11-23T09:00:00Z"))
    store = try sandbox.openStore(at: now)
    let id = OccurrenceID(
      alarm: try #require(Identifier("rentaaaaaaaaaaaaaaaaaaaaaa")),
      occurrence: try #require(CivilDateTime("2026-11-23T09:00")))
    pending = PendingDelivery(
      due: now,
      notification: .firing(
        Notification.Content(id: id, title: "Rent", at: now), Notification.Firing(isLate: false)))
  }

  /// Returns the ledger of a process, as long as all processes live. An access takes as long as `disk` is closed.
  private func ledger(_ name: String, timeout: Duration = .seconds(120)) -> SharedLedger {
    SharedLedger(owner: LeaseOwner(name: name) { _ in true }, timeout: timeout) { [disk] in
      disk.pass()
    }
  }

  private func store(secondsLater seconds: Int64) -> Store {
    var context = store.context
    context.now = context.now.adding(seconds: seconds)
    return store.with(context)
  }

  @Test("Of two processes, one gets a claim")
  func exclusiveClaims() {
    let (first, second) = (ledger("first"), ledger("second"))
    #expect(first.claim([pending], in: store).result == [pending.id])
    #expect(second.claim([pending], in: store).result.isEmpty)
    #expect(second.recorded(store)?[pending.key]?.owner == "first")
    let outcome = DeliveryEngine.RecordedOutcome(pending, .delivered(nil))
    #expect(first.record(DeliveryEngine.Recording(outcomes: [outcome]), in: store) == nil)
    #expect(second.claim([pending], in: store).result.isEmpty)
    #expect(second.read(store)[pending.key]?.state == .delivered)
  }

  @Test("While the disk hangs, a claim is in memory, and written afterwards")
  func hangingDisk() async throws {
    let ledger = ledger("first", timeout: .milliseconds(50))
    disk.close()
    #expect(ledger.recorded(store) == nil)
    let update = ledger.claim([pending], in: store)
    #expect(update.result == [pending.id] && update.failure is DiskTimeout)
    #expect(ledger.isStuck && ledger.hasUnwritten)
    // It is claimed once.
    #expect(ledger.claim([pending], in: store).result.isEmpty)
    #expect(ledger.read(store)[pending.key]?.state == .claimed)
    disk.open()
    for _ in 0..<6_000 where ledger.flush(store) != nil {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(!ledger.hasUnwritten)
    #expect(self.ledger("second").claim([pending], in: store).result.isEmpty)
  }

  @Test("After the clock was set back, a claim in memory prevents no delivery")
  func clockSetBack() {
    let ledger = ledger("first", timeout: .milliseconds(50))
    disk.close()
    defer { disk.open() }
    let later = store(secondsLater: 3)
    #expect(ledger.claim([pending], in: later).result == [pending.id])
    #expect(ledger.read(later)[pending.key] != nil)
    #expect(ledger.read(store, isPresent: false)[pending.key] != nil)
    #expect(ledger.read(store)[pending.key] == nil)
    #expect(ledger.claim([pending], in: store).result == [pending.id])
  }

  @Test("A claim that a clock far ahead has made prevents no delivery")
  func clockFarAhead() {
    let ahead = store(secondsLater: 30 * 86_400)
    #expect(ledger("first").claim([pending], in: ahead).result == [pending.id])
    #expect(ledger("second").claim([pending], in: store).result == [pending.id])
    let inMemory = ledger("third", timeout: .milliseconds(50))
    disk.close()
    defer { disk.open() }
    #expect(inMemory.claim([pending], in: ahead).result == [pending.id])
    #expect(inMemory.claim([pending], in: store).result == [pending.id])
  }
}
