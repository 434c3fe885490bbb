import BelfryCore
import BelfryStore

/// The attempts of this device to call one target. The devices coordinate through claims at the remote.
///
/// The attempts end when the call is answered, when the call is no longer needed, or when no attempt is left. Attempts
/// whose call does not go out are retried with back-off, without a limit.
///
/// ```
/// read the claims ─▶ CallElection.move ─▶ wait │ claim ─▶ record the attempt ─▶ call ─▶ record the outcome
///        ▲                                     │                                                   │
///        └─────────────────────────────────────┴───────────────────────────────────────────────────┘
/// ```
public struct CallAttempt: Sendable {
  /// The injected effects.
  public struct Dependencies: Sendable {
    /// Returns the current time.
    public var now: @Sendable () -> Instant
    /// Suspends the task for some seconds.
    public var sleep: @Sendable (_ seconds: Int64) async throws -> Void
    /// Returns true while the call is needed: the alarm still rings, or its rehearsal still runs.
    public var isWanted: @Sendable () -> Bool
    /// Calls once and returns the outcome.
    public var call: @Sendable () async -> CallOutcome
    /// Records the outcome of an attempt for the user.
    public var record: @Sendable (_ attempt: Int, CallOutcome) -> Void

    /// Creates the dependencies.
    public init(
      now: @escaping @Sendable () -> Instant,
      sleep: @escaping @Sendable (_ seconds: Int64) async throws -> Void,
      isWanted: @escaping @Sendable () -> Bool,
      call: @escaping @Sendable () async -> CallOutcome,
      record: @escaping @Sendable (_ attempt: Int, CallOutcome) -> Void
    ) {
      self.now = now
      self.sleep = sleep
      self.isWanted = isWanted
      self.call = call
      self.record = record
    }
  }

  private let file: CallProgressFile
  private let callout: Callout
  private let election: CallElection
  private let leases: CallClaims?
  private let dependencies: Dependencies

  /// The number of claims that the remote refuses before this device calls without one.
  private static let maxRefusals = 3
  /// The time between two reads of the claims, in seconds. It is longer during a long back-off.
  private static let pollInterval: Int64 = 5

  /// Creates the attempts for a callout; nil if this device is not one of the callers.
  ///
  /// - Parameters:
  ///   - callers: the devices that may call, in order of precedence.
  ///   - leases: the claims at the remote; nil without a remote.
  public init?(
    _ store: Store, _ callout: Callout, callers: [Identifier], leases: CallClaims?,
    _ dependencies: Dependencies
  ) {
    guard let rank = callers.firstIndex(of: store.device) else { return nil }
    file = CallProgressFile(store)
    self.callout = callout
    self.leases = leases
    self.dependencies = dependencies
    election = CallElection(rank: rank, callers: callers.count, due: callout.due)
  }

  /// Calls until the call is answered, no longer needed, or out of attempts.
  ///
  /// - Throws: An error if an attempt cannot be recorded, since a device must not make an unrecorded attempt.
  public func run() async throws {
    var progress = file[callout.id] ?? CallProgress(at: dependencies.now())
    var observed = ObservedClaims()
    var refusals = 0
    while !progress.isOver {
      guard dependencies.isWanted() else { break }
      var claims = await readClaims(&observed)
      // A remote that can only be read cannot coordinate the devices. The call must be placed nevertheless.
      if refusals >= CallAttempt.maxRefusals,
        claims?.contains(where: { $0.outcome == .answered }) != true
      {
        claims = nil
      }
      let now = dependencies.now()
      let move = election.move(
        at: now, leases: claims, tried: progress.attempts, retryAt: progress.retryAt)
      switch move {
      case .over: progress.isOver = true
      case .wait(let until):
        let seconds = max(1, until.seconds(since: now))
        try await dependencies.sleep(min(max(CallAttempt.pollInterval, seconds / 10), seconds))
      case .claim(let term):
        // After a lost claim, the next read shows that of another device.
        var isMine = false
        do {
          isMine = try await leases?.claim(term, at: now) ?? false
        } catch {
          refusals += 1
        }
        guard isMine else {
          try await dependencies.sleep(1)
          continue
        }
        let outcome = try await call(&progress, number: term).claim
        observed.seen[term] = dependencies.now()
        observed.own[term] = outcome
        // Without the note, another device calls again after the lease.
        try? await leases?.note(outcome, of: term, at: dependencies.now())
      case .call:
        let number = election.own[progress.attempts] + progress.failures
        _ = try await call(&progress, number: number)
      }
    }
    progress.at = dependencies.now()
    if progress.isOver { try file.save(progress, of: callout.id) }
  }

  /// Makes one attempt, and records it in the progress.
  private func call(_ progress: inout CallProgress, number: Int) async throws -> CallOutcome {
    progress.attempts += 1
    progress.retryAt = nil
    progress.at = dependencies.now()
    // Recorded before the call: after a crash, the device must not exceed its number of attempts.
    try file.save(progress, of: callout.id)
    let outcome = await dependencies.call()
    dependencies.record(number, outcome)
    progress.at = dependencies.now()
    switch outcome.claim {
    case .answered: progress.isOver = true
    case .failed: break
    case .unplaced:
      progress.attempts -= 1
      progress.failures += 1
      // A rehearsal reports a hook that fails, and need not reach anybody.
      progress.isOver = callout.isTest && progress.failures >= CallElection.maxAttempts
      progress.retryAt = progress.at.adding(
        seconds: CallElection.backoff(after: progress.failures))
      try file.save(progress, of: callout.id)
    }
    return outcome
  }

  /// The observations and outcomes of claims that only this process has.
  private struct ObservedClaims {
    /// The time at which this device first saw each claim.
    var seen: [Int: Instant] = [:]
    /// The outcomes of its own claims.
    var own: [Int: CallElection.Claim.Outcome] = [:]
  }

  /// Returns the claims at the remote; nil if it cannot be reached.
  ///
  /// - Parameter observed: It is updated. An outcome that the remote does not have yet is noted there again.
  private func readClaims(_ observed: inout ObservedClaims) async -> [CallElection.Claim]? {
    guard let leases, let claims = try? await leases.read() else { return nil }
    let now = dependencies.now()
    var result: [CallElection.Claim] = []
    for (term, outcome) in claims {
      let own = observed.own[term]
      if let own, outcome == nil { try? await leases.note(own, of: term, at: now) }
      let seen = observed.seen[term] ?? now
      observed.seen[term] = seen
      result.append(
        CallElection.Claim(term: term, seen: seen, outcome: outcome ?? own, isOwn: own != nil))
    }
    return result
  }
}

extension CallOutcome {
  /// The outcome in the claim at the remote. A call that timed out may have gone out, but it reached nobody for certain.
  fileprivate var claim: CallElection.Claim.Outcome {
    switch self {
    case .answered: .answered
    case .busy, .noAnswer: .failed
    case .hookMissing, .failed: .unplaced
    }
  }
}
