/// This device's record of its deliveries. It is local and never synced.
///
/// ```
/// claimed ──▶ delivered ──▶ withdrawn ──▶ claimed, if the notification is needed again
///    │  └───▶ undelivered ──▶ claimed with exponential back-off
///    └─ the owner has died, or its lease has expired ──▶ claimed, at once
/// ```
///
/// The claim is written before any channel starts. Deliveries are at least once: a crash between claim and record
/// causes a redelivery.
public struct DeliveryLedger: Hashable, Sendable {
  /// The latest attempt of one delivery.
  public struct Entry: Hashable, Sendable {
    /// The time at which the notification was due: that of the occurrence, the end of a snooze, or that of a follow-up
    /// or an advance warning. A notification with another due time is another delivery.
    public let due: Instant
    /// The time of the latest attempt.
    public let at: Instant
    /// The number of attempts, including the latest.
    public var attempts: Int
    /// The result of the latest attempt.
    public var state: DeliveryState
    /// The process that works on the delivery; nil if none has to.
    public var owner: String?
    /// True if the log needs no further entry about the delivery.
    public var isLogged: Bool

    /// Creates an entry.
    public init(
      due: Instant, at: Instant, attempts: Int = 1, state: DeliveryState = .delivered,
      owner: String? = nil, isLogged: Bool = true
    ) {
      self.due = due
      self.at = at
      self.attempts = attempts
      self.state = state
      self.owner = owner
      self.isLogged = isLogged
    }
  }

  /// The entries about occurrences. An occurrence has few kinds of entries, and its latest one is read often.
  private var occurrences: [OccurrenceID: [DeliveryKey.OccurrenceKind: Entry]] = [:]
  /// The other entries.
  private var others: [DeliveryKey: Entry] = [:]

  /// Creates an empty ledger.
  public init() {}

  /// The entry of a delivery; nil if there is none.
  public subscript(key: DeliveryKey) -> Entry? {
    get {
      if case .occurrence(let id, let kind) = key { occurrences[id]?[kind] } else { others[key] }
    }
    set {
      guard case .occurrence(let id, let kind) = key else {
        others[key] = newValue
        return
      }
      occurrences[id, default: [:]][kind] = newValue
      if occurrences[id]?.isEmpty == true { occurrences[id] = nil }
      assert(occurrences[id]?.isEmpty != true, "an occurrence in the ledger has an entry")
    }
  }

  /// All entries, in no particular order.
  public var entries: [(key: DeliveryKey, entry: Entry)] {
    occurrences.flatMap { id, kinds in
      kinds.map { (DeliveryKey.occurrence(id, $0.key), $0.value) }
    } + others.map { ($0.key, $0.value) }
  }

  /// Returns the keys of the entries that fulfill a condition.
  func keys(where isIncluded: (Entry) -> Bool) -> [DeliveryKey] {
    var result: [DeliveryKey] = []
    for (id, kinds) in occurrences {
      for (kind, entry) in kinds where isIncluded(entry) { result.append(.occurrence(id, kind)) }
    }
    for (key, entry) in others where isIncluded(entry) { result.append(key) }
    return result
  }

  /// Returns the entry of a delivery that was due at a time; nil if there is none.
  public func entry(_ key: DeliveryKey, due: Instant) -> Entry? {
    self[key].flatMap { $0.due == due ? $0 : nil }
  }

  /// Returns the entry with the latest due time about an occurrence; nil if there is none.
  public func latest(of id: OccurrenceID) -> Entry? {
    occurrences[id]?.values.max { ($0.due, $0.at) < ($1.due, $1.at) }
  }

  /// Returns true if an occurrence has rung on this device or was followed up here.
  public func hasRung(_ id: OccurrenceID) -> Bool {
    occurrences[id]?.keys.contains { $0 != .advanceWarning } ?? false
  }
}

/// The result of an attempt to deliver.
public enum DeliveryState: String, Hashable, Sendable {
  /// A process is about to deliver, or has died while it did.
  case claimed
  /// At least one channel has delivered.
  case delivered
  /// Every channel failed.
  case undelivered
  /// The channels were ended, because the notification was answered or no longer needed. If it is needed again, such as
  /// after an undo, it is delivered again.
  case withdrawn
}

// MARK: - Retries

extension DeliveryLedger.Entry {
  /// The number of attempts for a notification that does not ring. A firing is retried for as long as it rings.
  public static let maxAttempts = 5

  /// The time of the next attempt after a failed one: 30 s later, then with exponential back-off up to 10 min.
  public var retry: Instant {
    at.adding(seconds: min(600, 30 << Int64(min(max(attempts, 1) - 1, 5))))
  }

  /// The time from which another attempt is permitted; nil while none is needed.
  ///
  /// A withdrawn delivery rings again at once. After many attempts it waits, so that no error makes it ring all the time.
  public var nextAttempt: Instant? {
    switch state {
    case .claimed, .delivered: nil
    case .undelivered: retry
    case .withdrawn: attempts > DeliveryLedger.Entry.maxAttempts ? retry : due
    }
  }

  /// Returns true if a notification that does not ring needs no attempt at `now`.
  func needsNoAttempt(at now: Instant) -> Bool {
    state != .undelivered || attempts >= DeliveryLedger.Entry.maxAttempts || retry > now
  }

  /// Returns the time of the next attempt for a notification that does not ring; nil if there is none after `now`.
  func nextAttempt(after now: Instant) -> Instant? {
    state == .undelivered && attempts < DeliveryLedger.Entry.maxAttempts && retry > now
      ? retry : nil
  }
}

// MARK: - Joining and pruning

extension DeliveryLedger {
  /// Adds the entries of another ledger. Of two entries the later attempt is kept, and at the same time that of `other`.
  /// The entry is logged if either ledger has it as logged.
  public mutating func merge(_ other: DeliveryLedger) {
    for (key, theirs) in other.entries {
      guard let ours = self[key] else {
        self[key] = theirs
        continue
      }
      var result = ours.at <= theirs.at ? theirs : ours
      if ours.due == theirs.due { result.isLogged = ours.isLogged || theirs.isLogged }
      self[key] = result
    }
    assert(
      other.entries.allSatisfy { item in self[item.key].map { $0.at >= item.entry.at } ?? false },
      "no later attempt is lost")
  }

  /// Returns the ledger without the entries that a clock far ahead of time has recorded. Their notifications are
  /// delivered again.
  ///
  /// The tolerance is for a command that has run for some time: it reads entries that others have made since its start.
  public func possible(at now: Instant) -> DeliveryLedger {
    removing(after: now.adding(seconds: CascadeRun.skew))
  }

  /// Returns the ledger without the entries of a time that has not come, as seen by a process that has just read the
  /// time. Their notifications are delivered again, such as after the clock was set back by a minute.
  ///
  /// The tolerance of two seconds is for another process that reads the time a little later.
  public func present(at now: Instant) -> DeliveryLedger {
    removing(after: now.adding(seconds: 2))
  }

  private func removing(after latest: Instant) -> DeliveryLedger { removing { $0.at > latest } }

  /// Adds the entries of another ledger that `possible(at:)` leaves out, unless this one has a newer one for the same
  /// delivery.
  public mutating func keepLater(of other: DeliveryLedger, than now: Instant) {
    let latest = now.adding(seconds: CascadeRun.skew)
    for (key, entry) in other.entries where entry.at > latest && self[key] == nil {
      self[key] = entry
    }
  }

  /// Removes the entries whose latest attempt was before a time.
  public mutating func forget(before time: Instant) {
    self = removing { $0.at < time }
  }

  private func removing(_ isRemoved: (Entry) -> Bool) -> DeliveryLedger {
    var result = self
    for key in keys(where: isRemoved) { result[key] = nil }
    return result
  }
}
