import BelfryCore
import BelfryStore
import Synchronization

/// A timeout of the disk during an access to the delivery ledger.
struct DiskTimeout: Error, CustomStringConvertible {
  /// The timeout.
  let limit: Duration

  var description: String {
    "the disk did not respond within \(limit.components.seconds) s"
  }
}

/// A reader and writer of the delivery ledger with a timeout for the disk.
///
/// Alarms ring even if the disk is full or hangs. A change that cannot be written in time stays in memory, and is
/// written with the next successful change:
///
/// ```
/// change ──▶ written within 2 s
///    └─ failed or timed out ──▶ in memory ──▶ written with the next change or `flush`
/// ```
///
/// A crash before that causes a redelivery.
final class LedgerWriter: Sendable {
  private struct State {
    /// The ledger as it was last read or written.
    var known = DeliveryLedger()
    /// The ledger with the changes that are not written; nil if all are.
    var unwritten: DeliveryLedger?
    /// The number of the last access.
    var last = 0
    /// The running accesses.
    var running: Set<Int> = []
    /// The running accesses that have timed out.
    var abandoned: Set<Int> = []
  }
  private let state = Mutex(State())
  private let worker = BlockingWorker()
  private let timeout: Duration
  private let willAccess: @Sendable () -> Void
  private let recovered: @Sendable () -> Void

  /// The default timeout, after which a delivery continues without the disk.
  static let timeout = Duration.seconds(2)

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - timeout: the timeout of each access.
  ///   - willAccess: called before each access to the disk, in the thread that may block.
  ///   - recovered: called when the disk responds after a timeout.
  init(
    timeout: Duration = LedgerWriter.timeout, willAccess: @escaping @Sendable () -> Void = {},
    recovered: @escaping @Sendable () -> Void = {}
  ) {
    self.timeout = timeout
    self.willAccess = willAccess
    self.recovered = recovered
  }

  /// True if there are changes that are not written.
  var hasUnwritten: Bool { state.withLock { $0.unwritten != nil } }

  /// True if an access has timed out and still runs.
  var isStuck: Bool { state.withLock { !$0.abandoned.isEmpty } }

  /// Keeps the last known ledger in memory, because its file can no longer be read.
  func holdInMemory() {
    state.withLock { state in
      var ledger = state.known
      if let unwritten = state.unwritten { ledger.merge(unwritten) }
      state.unwritten = ledger
    }
  }

  /// Forgets the ledger in memory, because the store is another one.
  func forget() { state.withLock { ($0.known, $0.unwritten) = (DeliveryLedger(), nil) } }

  /// Returns the ledger, including changes that are not written.
  ///
  /// - Parameter purges: true to remove the entries of a time that has not come, if the store's time is present.
  func ledger(_ store: Store, purges: Bool = false) -> DeliveryLedger {
    let read = access { purges ? store.ledger.purge() : store.ledger.read() }
    return state.withLock { state in
      if let read { state.known = read }
      var ledger = state.known
      if purges { state.unwritten = state.unwritten?.present(at: store.context.now) }
      if let unwritten = state.unwritten { ledger.merge(unwritten) }
      return purges ? ledger.present(at: store.context.now) : ledger
    }
  }

  /// Changes the ledger on the disk, or in memory if that fails. The result contains the failure.
  func update<Result: Sendable>(
    _ store: Store, _ body: @escaping @Sendable (inout DeliveryLedger) -> Result
  ) -> StoreLedger.Update<Result> {
    let unwritten = state.withLock { $0.unwritten }
    let update = access {
      store.ledger.update { ledger in
        if let unwritten { ledger.merge(unwritten) }
        return body(&ledger)
      }
    }
    return state.withLock { state in
      if let update {
        if update.failure == nil { state.known = update.ledger }
        state.unwritten = update.failure == nil ? nil : update.ledger
        return update
      }
      var ledger = state.known
      if let unwritten { ledger.merge(unwritten) }
      let result = body(&ledger)
      state.unwritten = ledger
      return StoreLedger.Update(
        ledger: ledger, result: result, failure: DiskTimeout(limit: timeout))
    }
  }

  /// Runs an access to the disk and returns its result; nil if it times out, or if an earlier access still hangs.
  private func access<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> Value? {
    let number: Int? = state.withLock { state in
      if !state.abandoned.isEmpty { return nil }
      state.last += 1
      state.running.insert(state.last)
      return state.last
    }
    guard let number else { return nil }
    let job = worker.start { [willAccess] in
      willAccess()
      let value = work()
      self.end(number)
      return value
    }
    if let value = job.wait(within: timeout) { return value }
    let isStuck = state.withLock { state in
      if state.running.contains(number) { state.abandoned.insert(number) }
      return state.abandoned.contains(number)
    }
    // The job may have ended after the timeout.
    return isStuck ? nil : job.wait(within: timeout)
  }

  /// Records the end of an access.
  private func end(_ number: Int) {
    let hasRecovered = state.withLock { state in
      state.running.remove(number)
      return state.abandoned.remove(number) != nil && state.abandoned.isEmpty
    }
    if hasRecovered { recovered() }
  }
}
