import BelfryCore
import Glibc

/// The ledger of this device's deliveries.
extension Store {
  /// The deliveries of this device, without those that a clock ahead has recorded.
  public func firings() -> Firings { recordedFirings().possible(at: context.now) }

  /// The same; removes for good what a clock ahead has recorded. Once its time had come it would hide that the alarm has
  /// not rung since.
  public func presentFirings() -> Firings {
    let recorded = recordedFirings()
    let present = recorded.possible(at: context.now)
    if recorded != present { _ = updateFirings { _ in } }
    return present
  }

  private func recordedFirings() -> Firings {
    var firings = local.readFirings(local.firings)
    if let spare = spareFirings { firings.merge(local.readFirings(spare)) }
    return firings
  }

  /// Where firings are noted while the disk takes nothing: rather there than to ring at every tick.
  private var spareFirings: String? {
    context.runtimeFolder.map { "\($0)/belfry-firings-\(device).json" }
  }

  /// What came of changing what this device has rung for.
  public struct FiringsUpdate<Result> {
    public let firings: Firings
    public let result: Result
    /// Why it could not be noted, when it could not.
    public let failure: (any Error)?

    public init(firings: Firings, result: Result, failure: (any Error)?) {
      self.firings = firings
      self.result = result
      self.failure = failure
    }
  }

  /// How long the notes of firings are waited for, in milliseconds: nobody holds them for longer than a write takes.
  private static let firingsPatience = 2_000

  /// Changes what this device has rung for, durably, while nobody else does.
  ///
  /// Nothing keeps an alarm from ringing: where the notes cannot be locked or written, `body` has had its say all the
  /// same, and the reason is returned.
  public func updateFirings<Result>(_ body: (inout Firings) -> Result) -> FiringsUpdate<Result> {
    var failure: (any Error)?
    var lock: StoreLock?
    do {
      lock = try StoreLock(
        local.firingsLock, holder: context.process, patience: Store.firingsPatience)
    } catch let reason {
      failure = reason
    }
    let before = recordedFirings()
    var firings = before.possible(at: context.now)
    let result = body(&firings)
    do {
      if firings != before { try write(firings) }
    } catch let reason {
      failure = reason
    }
    withExtendedLifetime(lock) {}
    return FiringsUpdate(firings: firings, result: result, failure: failure)
  }

  /// Commits log entries of deliveries that the log lacks, and marks those deliveries as logged.
  ///
  /// Both happen under the store's lock: of commands that record at the same time only the first adds an entry.
  ///
  /// - Parameter body: gets the ledger as it is under the lock, and returns what to commit and what is logged by that.
  public func logDeliveries(
    _ body: (Firings) throws -> (changes: [Change], logged: [Firings.Key])
  ) throws {
    try locked {
      let (changes, logged) = try body(firings())
      if !changes.isEmpty {
        let writer = try StoreWriter(self)
        for change in changes { try writer.commit(change) }
      }
      if logged.isEmpty { return }
      let noted = updateFirings { firings in
        for key in logged { firings[key]?.isLogged = true }
      }
      if let failure = noted.failure { throw failure }
    }
  }

  /// Notes what has rung, durably.
  private func write(_ firings: Firings) throws {
    var kept = firings
    // Every tick reads them all. One that rings on unanswered for longer than that rings once more.
    kept.forget(before: context.now.adding(seconds: -40 * 86_400))
    do {
      try local.write(kept, to: local.firings)
      if let spareFirings { _ = unlink(spareFirings) }
    } catch {
      guard let spareFirings else { throw error }
      do {
        try local.write(kept, to: spareFirings)
      } catch _ {
        throw error
      }
    }
  }
}

extension Store.FiringsUpdate: Sendable where Result: Sendable {}
