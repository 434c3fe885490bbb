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

/// The delivery ledger for a process that delivers: the daemon, a tick or a delivery helper.
///
/// Each change is one transaction under the lock of the ledger's file, so that only one of several processes claims a
/// delivery.
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
final class SharedLedger: Sendable {
  private struct State {
    /// The ledger as it was last read or written; nil if it never was.
    var known: DeliveryLedger?
    /// The ledger with the changes that are not written; nil if all are.
    var unwritten: DeliveryLedger?
    /// The number of the last access.
    var last = 0
    /// The running accesses.
    var running: Set<Int> = []
    /// The running accesses that have timed out.
    var abandoned: Set<Int> = []

    /// The ledger with the changes that are not written.
    var current: DeliveryLedger {
      var ledger = known ?? DeliveryLedger()
      if let unwritten { ledger.merge(unwritten) }
      return ledger
    }

    /// Removes the entries of a time that has not come, such as after the clock was set back. The ledger's file has a
    /// removal of its own (`StoreLedger`).
    ///
    /// - Parameter isPresent: true if `now` has just been read. Otherwise other processes may have made entries since.
    mutating func forgetFuture(at now: Instant, isPresent: Bool) {
      func past(_ ledger: DeliveryLedger?) -> DeliveryLedger? {
        isPresent ? ledger?.present(at: now) : ledger?.possible(at: now)
      }
      (known, unwritten) = (past(known), past(unwritten))
    }
  }
  private let state = Mutex(State())
  private let worker = BlockingWorker()
  private let timeout: Duration
  private let willAccess: @Sendable () -> Void
  private let recovered: @Sendable () -> Void
  /// The process that claims and records.
  let owner: LeaseOwner

  /// The default timeout, after which a delivery continues without the disk.
  static let timeout = Duration.seconds(2)

  /// Creates a ledger. It does not access the disk yet.
  ///
  /// - Parameters:
  ///   - owner: the process that claims and records.
  ///   - timeout: the timeout of each access.
  ///   - willAccess: called before each access to the disk, in the thread that may block.
  ///   - recovered: called when the disk responds after a timeout.
  init(
    owner: LeaseOwner, timeout: Duration = SharedLedger.timeout,
    willAccess: @escaping @Sendable () -> Void = {},
    recovered: @escaping @Sendable () -> Void = {}
  ) {
    self.owner = owner
    self.timeout = timeout
    self.willAccess = willAccess
    self.recovered = recovered
  }

  /// True if there are changes that are not written.
  var hasUnwritten: Bool { state.withLock { $0.unwritten != nil } }

  /// True if an access has timed out and still runs.
  var isStuck: Bool { state.withLock { !$0.abandoned.isEmpty } }

  /// Keeps the last known ledger in memory while its file cannot be read, so that nothing is delivered again.
  func holdInMemory() { state.withLock { $0.unwritten = $0.current } }

  /// Forgets the ledger in memory, because the store is another one.
  func forget() { state.withLock { ($0.known, $0.unwritten) = (nil, nil) } }

  // MARK: Reading

  /// Returns the ledger for an evaluation: the deliveries of processes that have died are due again.
  ///
  /// - Parameter isPresent: true if the store's time has just been read. Entries of a time that has not come are then
  ///   removed: after the clock was set back, their alarms ring at the right time.
  func read(_ store: Store, isPresent: Bool = true) -> DeliveryLedger {
    refresh(from: store, isPresent: isPresent)
    var ledger = state.withLock { $0.current }
    ledger.releaseExpired(at: store.context.now, for: owner)
    return ledger
  }

  /// Returns the ledger as it is recorded, with all claims; nil if the disk does not respond and never has.
  func recorded(_ store: Store) -> DeliveryLedger? {
    refresh(from: store, isPresent: false)
    return state.withLock { $0.known == nil ? nil : $0.current }
  }

  /// Reads the ledger from the disk, unless it does not respond.
  private func refresh(from store: Store, isPresent: Bool) {
    let read = access { isPresent ? store.ledger.purge() : store.ledger.read() }
    state.withLock { state in
      if let read { state.known = read }
      state.forgetFuture(at: store.context.now, isPresent: isPresent)
    }
  }

  // MARK: Changing

  /// Claims the deliveries that no other process has claimed or delivered.
  func claim(
    _ pending: [PendingDelivery], in store: Store
  ) -> StoreLedger.Update<Set<DeliveryID>> {
    change(store) { ledger, now, owner in ledger.claim(pending, at: now, for: owner) }
  }

  /// Records outcomes. Returns the error if the disk did not take them; they are in memory then.
  func record(_ recording: DeliveryEngine.Recording, in store: Store) -> (any Error)? {
    change(store) { ledger, now, owner in
      ledger.apply(recording, at: now, owner: owner.name)
    }.failure
  }

  /// Writes the changes that the disk has not taken. Returns the error if it still does not take them.
  func flush(_ store: Store) -> (any Error)? {
    hasUnwritten ? change(store) { _, _, _ in }.failure : nil
  }

  /// Changes the ledger on the disk, or in memory if that fails. The result contains the failure.
  private func change<Result: Sendable>(
    _ store: Store,
    _ body: @escaping @Sendable (inout DeliveryLedger, Instant, LeaseOwner) -> Result
  ) -> StoreLedger.Update<Result> {
    let (now, owner) = (store.context.now, owner)
    let unwritten = state.withLock { state in
      state.forgetFuture(at: now, isPresent: false)
      return state.unwritten
    }
    let change: @Sendable (inout DeliveryLedger) -> Result = { ledger in
      if let unwritten { ledger.merge(unwritten) }
      ledger.releaseExpired(at: now, for: owner)
      return body(&ledger, now, owner)
    }
    let update = access { store.ledger.update(change) }
    return state.withLock { state in
      if let update {
        if update.failure == nil { state.known = update.ledger }
        state.unwritten = update.failure == nil ? nil : update.ledger
        return update
      }
      var ledger = state.known ?? DeliveryLedger()
      let result = change(&ledger)
      state.unwritten = ledger
      return StoreLedger.Update(
        ledger: ledger, result: result, failure: DiskTimeout(limit: timeout))
    }
  }

  // MARK: The disk

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
