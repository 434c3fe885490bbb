import BelfryCore
import BelfryStore
import Synchronization

/// The disk did not take, or give, the delivery ledger in time.
struct DiskTimeout: Error, CustomStringConvertible {
  let limit: Duration

  var description: String {
    "the disk has not answered within \(limit.components.seconds) seconds"
  }
}

/// Reads and changes the delivery ledger without waiting long for the disk.
///
/// Alarms ring although the disk is full or hangs. A change that it does not take in time counts in memory, and goes to
/// the disk with the next change that it takes:
///
/// ```
/// change ──▶ on the disk within 2 s ──▶ durable
///    └─ refused, or not yet there ──▶ in memory ──▶ next change, or `flush` ──▶ durable
/// ```
///
/// A crash before that causes a redelivery.
final class LedgerWriter: Sendable {
  private struct State {
    /// The ledger as it was last read or written.
    var known = DeliveryLedger()
    /// The ledger with what the disk has not taken; nil when it has taken all.
    var unwritten: DeliveryLedger?
    /// The number of the last access.
    var last = 0
    /// The accesses that run, and those of them that were given up.
    var running: Set<Int> = []
    var abandoned: Set<Int> = []
  }
  private let state = Mutex(State())
  private let worker = BlockingWorker()
  private let timeout: Duration
  private let willAccess: @Sendable () -> Void
  private let recovered: @Sendable () -> Void

  /// The time to wait for the disk before a delivery goes on without it.
  static let timeout = Duration.seconds(2)

  /// - Parameters:
  ///   - timeout: how long the disk may take.
  ///   - willAccess: is called before each access to the disk, by the thread that may block.
  ///   - recovered: is called when the disk answers that had not in time.
  init(
    timeout: Duration = LedgerWriter.timeout, willAccess: @escaping @Sendable () -> Void = {},
    recovered: @escaping @Sendable () -> Void = {}
  ) {
    self.timeout = timeout
    self.willAccess = willAccess
    self.recovered = recovered
  }

  /// Returns true while there is something that the disk has not taken.
  var hasUnwritten: Bool { state.withLock { $0.unwritten != nil } }

  /// Returns true while the disk does not answer.
  var isStuck: Bool { state.withLock { !$0.abandoned.isEmpty } }

  /// Keeps the ledger as it was last known, for when its file cannot be read any more.
  func holdInMemory() {
    state.withLock { state in
      var ledger = state.known
      if let unwritten = state.unwritten { ledger.merge(unwritten) }
      state.unwritten = ledger
    }
  }

  /// Returns the ledger, with what the disk has not taken.
  func ledger(_ store: Store) -> DeliveryLedger {
    let read = access { store.currentLedger() }
    return state.withLock { state in
      if let read { state.known = read }
      var ledger = state.known
      if let unwritten = state.unwritten { ledger.merge(unwritten) }
      return ledger
    }
  }

  /// Changes the ledger: on the disk, or else in memory, with the reason.
  func update<Result: Sendable>(
    _ store: Store, _ body: @escaping @Sendable (inout DeliveryLedger) -> Result
  ) -> Store.LedgerUpdate<Result> {
    let unwritten = state.withLock { $0.unwritten }
    let update = access {
      store.updateLedger { ledger in
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
      return Store.LedgerUpdate(
        ledger: ledger, result: result, failure: DiskTimeout(limit: timeout))
    }
  }

  /// Runs an access to the disk, and returns its result; nil when it does not end in time, or one before it has not.
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
    // It may have ended in this moment.
    return isStuck ? nil : job.wait(within: timeout)
  }

  private func end(_ number: Int) {
    let hasRecovered = state.withLock { state in
      state.running.remove(number)
      return state.abandoned.remove(number) != nil && state.abandoned.isEmpty
    }
    if hasRecovered { recovered() }
  }
}
