import BelfryCore
import BelfryStore

/// The delivery ledger, shared by all processes that deliver for a store. Each change is one locked transaction.
struct SharedLedger: Sendable {
  let store: Store
  let owner: LeaseOwner
  let writer: LedgerWriter

  /// Returns the ledger, in which the deliveries of processes that have died are due again.
  ///
  /// - Parameter isPresent: true if the store's time has just been read. Entries of a time that has not come are removed
  ///   then: after the clock was set back, their alarms ring at the right time.
  func read(isPresent: Bool = true) -> DeliveryLedger {
    var ledger = writer.ledger(store, purges: isPresent).possible(at: store.context.now)
    ledger.releaseExpired(at: store.context.now, for: owner)
    return ledger
  }

  /// Claims the deliveries that no other process has claimed or delivered.
  func claim(_ pending: [PendingDelivery]) -> StoreLedger.Update<Set<DeliveryID>> {
    update { ledger, now in ledger.claim(pending, at: now, for: owner) }
  }

  /// Records outcomes. Returns the error if the disk did not take them; they are in memory then.
  func record(_ recording: DeliveryEngine.Recording) -> (any Error)? {
    update { ledger, now in ledger.apply(recording, at: now, owner: owner.name) }.failure
  }

  /// Writes the changes that the disk has not taken. Returns the error if it still does not take them.
  func flush() -> (any Error)? {
    writer.hasUnwritten ? writer.update(store) { _ in }.failure : nil
  }

  private func update<Result: Sendable>(
    _ body: @escaping @Sendable (inout DeliveryLedger, Instant) -> Result
  ) -> StoreLedger.Update<Result> {
    let (now, owner) = (store.context.now, owner)
    return writer.update(store) { ledger in
      ledger = ledger.possible(at: now)
      ledger.releaseExpired(at: now, for: owner)
      return body(&ledger, now)
    }
  }
}
