import BelfryCore
import Glibc

/// The delivery ledger of this device: its file, the backup of the last checkpoint, and a spare file in memory.
public struct StoreLedger: StorePart {
  let store: Store

  /// Returns the ledger without the deliveries that a clock ahead of time recorded.
  public func read() -> DeliveryLedger { stored().possible(at: context.now) }

  /// Removes the deliveries of a time that has not come from the ledger's file, and returns the ledger without them. The
  /// time of the context must be present.
  ///
  /// Such a delivery would later, when its time has come, prevent the alarm from ringing.
  public func purge() -> DeliveryLedger {
    let recorded = stored()
    let present = recorded.present(at: context.now)
    if recorded != present {
      _ = update(keepsLater: false) { $0 = $0.present(at: context.now) }
    }
    return present
  }

  private func stored() -> DeliveryLedger {
    // After a power failure, a file that was not flushed can be empty.
    var ledger = local.ledger.intact() ?? local.ledgerBackup.read()
    if let spare { ledger.merge(spare.read()) }
    return ledger
  }

  /// The ledger in memory, which is used if the disk is full or read-only. Without it, an alarm would ring
  /// again at every tick. Nil if there is no folder in memory.
  private var spare: LocalFile<DeliveryLedger>? {
    context.runtimeFolder.map { LocalState.spareLedger("\($0)/belfry-ledger-\(device).json") }
  }

  /// The result of an update of the ledger.
  public struct Update<Result> {
    /// The updated ledger.
    public let ledger: DeliveryLedger
    /// The value that the update's body returned.
    public let result: Result
    /// The reason that the ledger could not be locked or written; nil if it was written.
    public let failure: (any Error)?

    /// Creates a result.
    public init(ledger: DeliveryLedger, result: Result, failure: (any Error)?) {
      self.ledger = ledger
      self.result = result
      self.failure = failure
    }
  }

  /// The timeout for the ledger's lock, in milliseconds. Other processes hold it only during a write.
  private static let timeout = 2_000

  /// Updates the ledger under its lock.
  ///
  /// A failure prevents no alarm from ringing: if the ledger cannot be locked or written, `body` runs nevertheless, and
  /// the reason is returned.
  ///
  /// The time of the context can be that of the start of this process, which has slept since with the machine. So `body`
  /// does not see the entries that are later than possible, and the file keeps them: `purge` removes them.
  public func update<Result>(_ body: (inout DeliveryLedger) -> Result) -> Update<Result> {
    update(keepsLater: true, body)
  }

  private func update<Result>(
    keepsLater: Bool, _ body: (inout DeliveryLedger) -> Result
  ) -> Update<Result> {
    local.ledger.locked(holder: context.process, timeout: StoreLedger.timeout) { lockFailure in
      var failure = lockFailure
      let before = stored()
      var ledger = before.possible(at: context.now)
      let result = body(&ledger)
      var written = ledger
      if keepsLater { written.keepLater(of: before, than: context.now) }
      do {
        if written != before { try write(written, isLocked: lockFailure == nil) }
      } catch let reason {
        failure = reason
      }
      return Update(ledger: ledger, result: result, failure: failure)
    }
  }

  /// Commits log entries for unlogged deliveries, and marks the deliveries as logged.
  ///
  /// Both happen under the store's lock. If several commands record at the same time, only the first one adds an entry.
  ///
  /// - Parameter body: Receives the ledger under the lock, and returns the changes to commit and the deliveries that
  ///   they log.
  public func logDeliveries(
    _ body: (DeliveryLedger) throws -> (changes: [Store.Change], logged: [DeliveryKey])
  ) throws {
    try store.locked {
      let (changes, logged) = try body(read())
      if !changes.isEmpty {
        let writer = try store.reconciledWriter(.branch)
        for change in changes { try writer.commit(change) }
      }
      if logged.isEmpty { return }
      let update = self.update { ledger in
        for key in logged { ledger[key]?.isLogged = true }
      }
      if let failure = update.failure { throw failure }
    }
  }

  /// Writes the ledger to its file, or else to the file in memory.
  private func write(_ ledger: DeliveryLedger, isLocked: Bool) throws {
    var recent = ledger
    // Every tick reads the whole ledger, so it must stay small. An alarm that rings unanswered for more than 40 days is
    // delivered again.
    recent.forget(before: context.now.adding(seconds: -40 * 86_400))
    do {
      try local.ledger.write(recent, isLocked: isLocked)
      if let spare { _ = unlink(spare.path) }
    } catch {
      guard let spare else { throw error }
      do {
        try spare.write(recent, isLocked: isLocked)
      } catch _ {
        throw error
      }
    }
  }
}

extension StoreLedger.Update: Sendable where Result: Sendable {}

extension Store {
  /// The delivery ledger of this device.
  public var ledger: StoreLedger { StoreLedger(store: self) }
}
