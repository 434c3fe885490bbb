/// What this device has told people of, by alarm and occurrence: local, never synced.
///
/// ```
/// claimed ──▶ delivered           the claim is durable before anybody is told
///    │  └───▶ undelivered ──▶ claimed (once more, later)
///    └─ the process died or hangs ──▶ claimed (at once)
/// ```
public struct DeliveryLedger: Hashable, Sendable {
  public struct Key: Hashable, Comparable, Sendable {
    public let alarm: Identifier
    public let occurrence: CivilDateTime

    public init(alarm: Identifier, occurrence: CivilDateTime) {
      self.alarm = alarm
      self.occurrence = occurrence
    }

    public static func < (a: Key, b: Key) -> Bool {
      (a.alarm, a.occurrence) < (b.alarm, b.occurrence)
    }
  }

  /// One telling of an occurrence.
  public struct Firing: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
      case ringing
      /// The question whether it was done; the first is 1.
      case followUp(Int)
      /// Word of it ahead of its time.
      case warning
      /// A rehearsal of its cascade.
      case rehearsal
    }

    public enum DeliveryState: String, Sendable {
      /// Somebody is about to tell, or died over it.
      case claimed
      case delivered
      /// No way worked.
      case undelivered
    }

    public let kind: Kind
    /// The moment it was due: its own time, the end of a snooze, or that of a follow-up or a warning. Another one
    /// is another telling.
    public let due: Instant
    /// When it was last tried.
    public let at: Instant
    /// How often it was tried, the last time included.
    public var attempts: Int
    public var state: DeliveryState
    /// The process that is about it; nil when nobody has to be.
    public var leaseOwner: String?
    /// Whether the log tells of it, as far as it is to.
    public var isLogged: Bool

    public init(
      _ kind: Kind = .ringing, due: Instant, at: Instant, attempts: Int = 1,
      state: DeliveryState = .delivered, leaseOwner: String? = nil, isLogged: Bool = true
    ) {
      self.kind = kind
      self.due = due
      self.at = at
      self.attempts = attempts
      self.state = state
      self.leaseOwner = leaseOwner
      self.isLogged = isLogged
    }

    /// How often a question or a warning that reaches nobody is tried; what rings is tried for as long as it rings.
    public static let mostAttempts = 5

    /// Whether it needs no telling now: it was told, or tried often enough, or is not to be tried again yet.
    func isSettled(at now: Instant) -> Bool {
      state != .undelivered || attempts >= Firing.mostAttempts || retry > now
    }

    /// When a question or a warning is to be tried again; nil when it is not.
    func nextAttempt(after now: Instant) -> Instant? {
      state == .undelivered && attempts < Firing.mostAttempts && retry > now ? retry : nil
    }

    /// When what reached nobody is to be tried again: after half a minute, then twice as long each time, up to
    /// ten minutes.
    public var retry: Instant {
      at.adding(seconds: min(600, 30 << Int64(min(max(attempts, 1) - 1, 5))))
    }
  }

  public private(set) var ledger: [Key: Firing]

  public init(_ ledger: [Key: Firing] = [:]) {
    self.ledger = ledger
  }

  /// What is known of the telling that was due at a moment; nil when there was none.
  public func firing(
    _ alarm: Identifier, _ occurrence: CivilDateTime, due: Instant
  ) -> Firing? {
    let firing = ledger[Key(alarm: alarm, occurrence: occurrence)]
    return firing?.due == due ? firing : nil
  }

  public subscript(key: Key) -> Firing? {
    get { ledger[key] }
    set { ledger[key] = newValue }
  }

  /// Notes that an occurrence has rung.
  public mutating func record(
    _ alarm: Identifier, _ occurrence: CivilDateTime, due: Instant, at: Instant
  ) {
    self[Key(alarm: alarm, occurrence: occurrence)] = Firing(due: due, at: at)
  }

  /// Adds the deliveries of another ledger. Of two deliveries for one occurrence the later one is kept, and at the same
  /// moment that of `other`. It counts as logged if either ledger has it as logged.
  public mutating func merge(_ other: DeliveryLedger) {
    ledger.merge(other.ledger) { ours, theirs in
      var result = ours.at <= theirs.at ? theirs : ours
      if ours.due == theirs.due, ours.kind == theirs.kind {
        result.isLogged = ours.isLogged || theirs.isLogged
      }
      return result
    }
  }

  /// The notes without those that were made by a clock that was ahead: what rang for it before its time rings again.
  public func possible(at now: Instant) -> DeliveryLedger {
    let latest = now.adding(seconds: CascadeRun.skew)
    return DeliveryLedger(ledger.filter { $0.value.at <= latest })
  }

  /// Forgets what rang before a moment; only what may still be ringing matters.
  public mutating func forget(before moment: Instant) {
    ledger = ledger.filter { $0.value.at >= moment }
  }

  /// The time in seconds that a live process may take between its claim and the recorded outcome. Every hook and every
  /// retry has ended long before; whoever takes longer hangs, and must not keep others from delivering.
  public static let leaseLength: Int64 = 300

  /// Returns the ledger without the claims that nobody works on any more. Such a delivery is due again at once, as one
  /// attempt more:
  ///
  /// 1. its process has died, before or after it reached the person;
  /// 2. its process lives, but its claim is older than `leaseLength`, or lies as far in the future.
  ///
  /// - Parameters:
  ///   - now: the present moment.
  ///   - own: the keeper that asks. Its own claims do not expire: it knows what it is doing.
  ///   - isAlive: returns true while a keeper's process runs.
  public func released(
    at now: Instant, by own: String? = nil, isAlive: (String) -> Bool
  ) -> DeliveryLedger {
    var result = self
    for (key, firing) in ledger {
      guard let leaseOwner = firing.leaseOwner, leaseOwner != own else { continue }
      let isExpired =
        firing.state == .claimed
        && abs(now.seconds(since: firing.at)) > DeliveryLedger.leaseLength
      if !isExpired, isAlive(leaseOwner) { continue }
      // Due at once: half a minute and more before its own retry would be.
      result.ledger[key] = Firing(
        firing.kind, due: firing.due, at: firing.due.adding(seconds: -86_400),
        attempts: firing.attempts, state: .undelivered, isLogged: firing.isLogged)
    }
    return result
  }
}
