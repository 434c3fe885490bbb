import BelfryCore
import BelfryStore

/// Sees to it that one target is called: agrees with the other devices on who does, calls, and tells what came of it,
/// until somebody has answered, nobody is to be called any more, or all tries are used.
///
/// ```
/// ask the remote ──▶ CallElection.move ──▶ wait │ claim ──▶ note the try, durably ──▶ call ──▶ tell what came of it
///        ▲                                  │                                               │
///        └──────────────────────────────────┴───────────────────────────────────────────────┘
/// ```
public struct CallAttempt: Sendable {
  /// What a round needs from the outside.
  public struct Dependencies: Sendable {
    public var now: @Sendable () -> Instant
    public var sleep: @Sendable (_ seconds: Int64) async throws -> Void
    /// Whether somebody is still to be called: nobody has stopped the alarm.
    public var isWanted: @Sendable () -> Bool
    /// Calls once; returns what came of it.
    public var call: @Sendable () async -> CallOutcome
    /// Keeps, for people, what came of a call.
    public var record: @Sendable (_ attempt: Int, CallOutcome) -> Void

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

  private let store: Store
  private let callout: Callout
  private let election: CallElection
  private let leases: CallClaims?
  private let dependencies: Dependencies

  /// Between two looks at the remote, in seconds.
  private static let patience: Int64 = 5

  /// Nil when this device is none of those that may call.
  public init?(
    _ store: Store, _ callout: Callout, callers: [Identifier], leases: CallClaims?,
    _ dependencies: Dependencies
  ) {
    guard let rank = callers.firstIndex(of: store.device) else { return nil }
    self.store = store
    self.callout = callout
    self.leases = leases
    self.dependencies = dependencies
    election = CallElection(rank: rank, callers: callers.count, due: callout.due)
  }

  /// Throws only what keeps this device from noting its tries: without a note it must not call.
  public func run() async throws {
    var note = store.callNote(callout.key) ?? Store.CallNote(at: dependencies.now())
    var seen: [Int: Instant] = [:]
    while !note.isOver {
      guard dependencies.isWanted() else { break }
      let known = await ask(&seen)
      let now = dependencies.now()
      switch election.move(at: now, leases: known, tried: note.tried) {
      case .over: note.isOver = true
      case .wait(let until):
        let seconds = min(CallAttempt.patience, max(1, until.seconds(since: now)))
        try await dependencies.sleep(seconds)
      case .claim(let term):
        // Who was faster, or that nobody can be asked any more, shows at the next look.
        guard let leases, (try? await leases.claim(term, at: now)) == true else {
          try await dependencies.sleep(1)
          continue
        }
        let outcome = try await call(&note)
        seen[term] = dependencies.now()
        try? await leases.note(outcome.claim, of: term, at: dependencies.now())
        if outcome == .answered { note.isOver = true }
      case .call:
        if try await call(&note) == .answered { note.isOver = true }
      }
    }
    note.at = dependencies.now()
    if note.isOver { try keep(note) }
  }

  private func call(_ note: inout Store.CallNote) async throws -> CallOutcome {
    note.tried += 1
    note.at = dependencies.now()
    // Before the call: one that dies over it must not call once more than it may.
    try keep(note)
    let attempt = election.own[note.tried - 1]
    let outcome = await dependencies.call()
    dependencies.record(attempt, outcome)
    return outcome
  }

  private func keep(_ note: Store.CallNote) throws {
    try store.keep(note, of: callout.key)
  }

  /// What the remote has of the tries; nil when it cannot be asked.
  private func ask(_ seen: inout [Int: Instant]) async -> [CallElection.Claim]? {
    guard let leases, let known = try? await leases.read() else { return nil }
    let now = dependencies.now()
    return known.map { term, outcome in
      seen[term] = seen[term] ?? now
      return CallElection.Claim(term: term, seen: seen[term] ?? now, outcome: outcome)
    }
  }
}
