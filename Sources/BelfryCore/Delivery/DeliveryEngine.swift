/// The state machine of the deliveries of one process.
///
/// The engine decides and a driver acts. The daemon drives it for as long as it runs, `tick` until it is idle, and
/// the delivery helper for the notifications that it was handed.
///
/// Deliveries start differently in each process: a driver calls those of the functions `evaluated`, `claimed`, `handed`
/// and `withdrawn` that it needs, and they return what it has to do. After the start, all drivers do the same: `handle`
/// takes an event and returns the effects that the driver performs, in order.
///
/// ```
///             due               claimed               recorded               ended
///  (absent) ─────────▶ claiming ─────────▶ delivering ─────────▶ ongoing ─────────────▶ (absent)
///      │ may be           │ refused            │ withdrawn           │ answered, ended
///      │ answered         ▼                    ▼                     ▼
///      └──▶ held ──▶   (absent)             (absent)              ongoing, until the answer is recorded
///            synced, or 8 s later
/// ```
///
/// | event | absent | held | claiming | delivering | ongoing |
/// |---|---|---|---|---|---|
/// | evaluated: due | claim, or hold and sync | claim in its time | – | – | – |
/// | evaluated: not due | – | drop | – | – | – |
/// | claimed | – | – | deliver, or drop | – | – |
/// | handed | deliver | – | – | – | – |
/// | withdrawn | – | – | – | remember | remember |
/// | finished | – | – | – | record soon | – |
/// | recording due | – | – | – | record, then ongoing or drop | – |
/// | answered | respond | respond | respond | respond, remember | respond, remember |
/// | answer recorded | – | – | – | remember | if ended: drop, release the lease soon |
/// | answer refused | record as withdrawn | – | – | remember | if ended: drop, release the lease soon |
/// | ended | – | – | – | remember | unless an answer is being recorded: drop, release the lease soon |
///
/// The channels retry by themselves, so that a delivery is in one phase as long as any of its processes may run. A
/// delivery that was withdrawn is recorded as such, and its alarm is evaluated again: an occurrence that rings again,
/// such as after an undo, is a new delivery. The lease of an answered delivery is kept until the answer is recorded, so
/// that no other process rings in between.
///
/// A delivery that may be answered on another device is held until a sync has fetched the answers. Without one it goes
/// on after `freshnessTimeout` seconds: a false alarm is better than a missed one.
public struct DeliveryEngine: Sendable {
  /// The phase of a delivery.
  public enum Phase: Hashable, Sendable {
    /// Waits for a sync since a time.
    case held(since: Instant)
    /// The claim is being written.
    case claiming
    /// The channels run, and no outcome is recorded.
    case delivering
    /// A channel has delivered, and the delivery continues until it is answered.
    case ongoing
  }

  private struct Delivery: Sendable {
    let pending: PendingDelivery
    var phase: Phase {
      didSet { assert(phase.rank >= oldValue.rank, "a delivery only moves forward") }
    }
    /// The outcome that the ledger does not have yet; nil if there is none.
    var outcome: DeliveryOutcome? {
      didSet { assert(outcome == nil || oldValue == nil, "a delivery has one outcome at a time") }
    }
    /// True if the process that has claimed the delivery records its outcome.
    var isHanded = false
    /// True after the last channel has ended.
    var hasEnded = false
    /// True after the channels were asked to end.
    var isWithdrawn = false
    /// True while an answer is being recorded.
    var isAnswering = false

    /// The time since which the delivery is held; nil if it is not held.
    var heldSince: Instant? { if case .held(let since) = phase { since } else { nil } }

    /// Returns true if the flags fit the phase. Debug builds check it after each event.
    var isConsistent: Bool {
      let isRunning = phase == .delivering || phase == .ongoing
      let isOutcomeExpected = phase == .delivering && !isHanded
      return (outcome == nil || isOutcomeExpected) && (isRunning || !isWithdrawn && !isAnswering)
        // Otherwise it would be over.
        && (phase != .ongoing || !hasEnded || isAnswering)
    }
  }

  /// The currency of other devices' answers.
  public enum AnswerFreshness: Hashable, Sendable {
    /// There is no remote, or it cannot be synced with.
    case unavailable
    /// A sync has just ended.
    case fresh
    /// The last sync is too long ago.
    case stale
  }

  /// Something that has happened after the start of a delivery.
  public enum Event: Sendable {
    /// The outcome of a delivery: a channel has delivered, or all have failed.
    case finished(DeliveryID, DeliveryOutcome)
    /// The user has answered deliveries after their outcome.
    case answered([PendingDelivery], DeliveredAnswer)
    /// The answer to deliveries was recorded, or has turned out not to be possible.
    case answerRecorded(Set<DeliveryID>, isAccepted: Bool)
    /// The last channel of a delivery has ended.
    case ended(DeliveryID)
    /// The time for recording has come.
    case recordingDue
    /// The ends of deliveries could not be recorded yet, and have to be recorded later.
    case postponed(released: Set<DeliveryID>, withdrawn: Set<DeliveryID>)
  }

  /// The time in seconds for which a delivery waits for a sync.
  public static let freshnessTimeout: Int64 = 8

  private let owner: String
  private var deliveries: [DeliveryID: Delivery] = [:]
  /// The changes that no effect has reported yet.
  private var unrecorded = Recording()
  private var isRecordingSoon = false

  /// Creates an engine without deliveries.
  ///
  /// - Parameter owner: the name of this process in the ledger.
  public init(owner: String) {
    self.owner = owner
  }

  // MARK: State

  /// The phases of the deliveries in progress.
  public var phases: [DeliveryID: Phase] { deliveries.mapValues(\.phase) }

  /// True if no claim, outcome or release is outstanding. Deliveries may be ongoing.
  public var isIdle: Bool {
    unrecorded.isEmpty && deliveries.values.allSatisfy { $0.phase == .ongoing }
  }

  /// The time at which the first held delivery goes on without a sync; nil if none is held.
  public var nextWake: Instant? {
    deliveries.values.compactMap(\.heldSince).min()?.adding(
      seconds: DeliveryEngine.freshnessTimeout)
  }

  /// The alarms with held deliveries. They have to be evaluated again after a sync.
  public var heldAlarms: Set<Identifier> { alarms { _ in true } }

  /// Returns the alarms whose held deliveries have waited long enough. They have to be evaluated again.
  public func overdueAlarms(at now: Instant) -> Set<Identifier> {
    let limit = now.adding(seconds: -DeliveryEngine.freshnessTimeout)
    return alarms { $0 <= limit }
  }

  /// Returns the alarms with deliveries that are held since a time that fulfills a condition.
  private func alarms(heldSince isIncluded: (Instant) -> Bool) -> Set<Identifier> {
    Set(
      deliveries.compactMap { id, delivery in
        delivery.heldSince.map(isIncluded) == true ? id.key.alarm : nil
      })
  }

  // MARK: Starting

  /// Returns those of some due deliveries that the driver has to claim for all processes to see, before it calls
  /// `claimed`.
  ///
  /// - Parameter pending: deliveries that are due. Those in progress are not claimed again.
  public mutating func evaluated(_ pending: [PendingDelivery]) -> [PendingDelivery] {
    let claims = pending.filter { pending in
      if let known = deliveries[pending.id], known.heldSince == nil { return false }
      deliveries[pending.id] = Delivery(pending: pending, phase: .claiming)
      return true
    }
    assert(Set(claims.map(\.id)).count == claims.count, "a delivery is claimed once")
    return claims
  }

  /// Returns the deliveries to claim, like the other function, in a process that can sync: deliveries that may be
  /// answered on another device are held until a sync.
  ///
  /// - Parameters:
  ///   - pending: all deliveries of `alarms` that are due.
  ///   - alarms: the alarms that were evaluated. Their held deliveries that are not due any more are dropped.
  ///   - answerFreshness: the currency of other devices' answers.
  /// - Returns: the deliveries to claim; and true if another one is held now, so that the driver has to sync as soon as
  ///   possible, and then to evaluate `heldAlarms` again.
  public mutating func evaluated(
    _ pending: [PendingDelivery], of alarms: Set<Identifier>, answerFreshness: AnswerFreshness,
    now: Instant
  ) -> (claims: [PendingDelivery], needsSync: Bool) {
    let due = Set(pending.map(\.id))
    for (id, delivery) in deliveries where delivery.heldSince != nil && !due.contains(id) {
      if id.key.alarm.map(alarms.contains) == true { deliveries[id] = nil }
    }
    var needsSync = false
    let ready = pending.filter { pending in
      guard pending.mayBeAnswered, answerFreshness == .stale else { return true }
      guard let known = deliveries[pending.id] else {
        deliveries[pending.id] = Delivery(pending: pending, phase: .held(since: now))
        needsSync = true
        return false
      }
      return known.heldSince.map { now.seconds(since: $0) >= DeliveryEngine.freshnessTimeout }
        ?? false
    }
    return (evaluated(ready), needsSync)
  }

  /// Records that claims were written, and returns the deliveries whose channels the driver has to run. It reports
  /// `finished` for each of them, then `answered` and `ended` as they happen.
  ///
  /// - Parameter granted: the claims that this process has got.
  public mutating func claimed(
    _ claims: [PendingDelivery], granted: Set<DeliveryID>
  ) -> [DeliveryGroup] {
    assert(granted.isSubset(of: claims.map(\.id)), "only what was claimed is granted")
    var started: [PendingDelivery] = []
    for pending in claims where deliveries[pending.id]?.phase == .claiming {
      if granted.contains(pending.id) {
        deliveries[pending.id]?.phase = .delivering
        started.append(pending)
      } else {
        deliveries[pending.id] = nil
      }
    }
    let groups = DeliveryGroup.groups(of: started.sorted(by: PendingDelivery.isBefore))
    assert(
      groups.flatMap(\.ids).count == started.count
        && Set(groups.flatMap(\.ids)).count == started.count,
      "each granted delivery is in one group")
    return groups
  }

  /// Records that the process that has claimed deliveries has handed them over. The driver runs their channels, and
  /// reports as after `claimed`.
  public mutating func handed(_ group: DeliveryGroup) {
    for pending in group.deliveries {
      deliveries[pending.id] = Delivery(pending: pending, phase: .delivering, isHanded: true)
    }
  }

  /// Records that the driver ends the channels of deliveries because they no longer reflect their alarms' states.
  /// Ignores those that the engine does not know.
  public mutating func withdrawn(_ ids: Set<DeliveryID>) {
    for id in ids where isRunning(id) { deliveries[id]?.isWithdrawn = true }
  }

  /// Returns true if the channels of a delivery may run.
  private func isRunning(_ id: DeliveryID) -> Bool {
    switch deliveries[id]?.phase {
    case .delivering, .ongoing: true
    case .held, .claiming, nil: false
    }
  }

  // MARK: Ending

  /// Returns the effects of an event.
  public mutating func handle(_ event: Event) -> [Effect] {
    defer {
      assert(deliveries.allSatisfy { $0 == $1.pending.id }, "each delivery is under its identity")
      assert(deliveries.values.allSatisfy(\.isConsistent), "the flags fit the phase")
      assert(unrecorded.outcomes.isEmpty, "an outcome stays with its delivery until it is recorded")
      assert(isRecordingSoon || !hasUnrecorded, "all changes will be recorded")
    }
    switch event {
    case .finished(let id, let outcome): return finished(id, outcome)
    case .answered(let answered, let answer):
      for pending in answered where isRunning(pending.id) {
        deliveries[pending.id]?.isAnswering = true
        deliveries[pending.id]?.isWithdrawn = true
      }
      return [.respond(answered, answer)]
    case .answerRecorded(let ids, let isAccepted): return answerRecorded(ids, isAccepted)
    case .ended(let id): return ended(id)
    case .recordingDue: return record()
    case .postponed(let released, let withdrawn):
      unrecorded.released.formUnion(released)
      unrecorded.withdrawn.formUnion(withdrawn)
      return recordSoon()
    }
  }

  private mutating func finished(_ id: DeliveryID, _ outcome: DeliveryOutcome) -> [Effect] {
    guard let delivery = deliveries[id], delivery.phase == .delivering, delivery.outcome == nil
    else { return [] }
    guard delivery.isHanded else {
      deliveries[id]?.outcome = outcome
      return recordSoon()
    }
    switch outcome {
    case .delivered, .ongoing: deliveries[id]?.phase = .ongoing
    case .undelivered, .withdrawn:
      deliveries[id] = nil
      return []
    }
    return delivery.hasEnded ? ended(id) : []
  }

  private mutating func ended(_ id: DeliveryID) -> [Effect] {
    deliveries[id]?.hasEnded = true
    guard let delivery = deliveries[id], delivery.phase == .ongoing, !delivery.isAnswering else {
      return []
    }
    deliveries[id] = nil
    if delivery.isWithdrawn {
      unrecorded.withdrawn.insert(id)
    } else {
      unrecorded.released.insert(id)
    }
    return recordSoon()
  }

  private mutating func answerRecorded(_ ids: Set<DeliveryID>, _ isAccepted: Bool) -> [Effect] {
    var effects: [Effect] = []
    for id in ids {
      if let delivery = deliveries[id] {
        deliveries[id]?.isAnswering = false
        if delivery.hasEnded { effects += ended(id) }
      } else if !isAccepted {
        unrecorded.withdrawn.insert(id)
        effects += recordSoon()
      }
    }
    return effects
  }

  // MARK: Recording

  private mutating func recordSoon() -> [Effect] {
    if isRecordingSoon { return [] }
    isRecordingSoon = true
    return [.recordSoon]
  }

  /// True if the ledger does not have all changes yet.
  private var hasUnrecorded: Bool {
    !unrecorded.isEmpty || deliveries.values.contains { $0.outcome != nil }
  }

  private mutating func record() -> [Effect] {
    isRecordingSoon = false
    var recording = unrecorded
    unrecorded = Recording()
    var answered: [DeliveredAnswer: [PendingDelivery]] = [:]
    var answers: [DeliveredAnswer] = []
    let finished = deliveries.values.filter { $0.outcome != nil }
      .sorted { PendingDelivery.isBefore($0.pending, $1.pending) }
    for delivery in finished {
      let id = delivery.pending.id
      let outcome = recordedOutcome(of: delivery)
      assert(outcome != .withdrawn, "the ledger has a withdrawn delivery as one without an outcome")
      recording.outcomes.append(RecordedOutcome(delivery.pending, outcome))
      if case .delivered(let answer?) = delivery.outcome {
        if answered[answer] == nil { answers.append(answer) }
        answered[answer, default: []].append(delivery.pending)
      }
      deliveries[id]?.outcome = nil
      deliveries[id]?.phase = .ongoing
      if outcome == .ongoing(owner: owner) { continue }
      deliveries[id] = nil
      if outcome == .delivered(nil), delivery.isWithdrawn { recording.withdrawn.insert(id) }
    }
    assert(!hasUnrecorded, "a recording has all changes")
    if recording.isEmpty { return [] }
    return [.record(recording)] + answers.map { .respond(answered[$0] ?? [], $0) }
  }

  /// Returns the outcome as the ledger has to have it, given the events since it was reported.
  private func recordedOutcome(of delivery: Delivery) -> DeliveryOutcome? {
    guard let outcome = delivery.outcome, outcome != .withdrawn else { return nil }
    let isOver = delivery.hasEnded && !delivery.isAnswering
    switch outcome {
    // One channel has ended, and another one continues.
    case .delivered(nil) where !isOver: return .ongoing(owner: owner)
    case .ongoing(owner) where isOver: return .delivered(nil)
    case .delivered, .ongoing, .undelivered, .withdrawn: return outcome
    }
  }
}

extension DeliveryEngine.Phase {
  /// The position in the order of phases, which a delivery never goes back.
  fileprivate var rank: Int {
    switch self {
    case .held: 0
    case .claiming: 1
    case .delivering: 2
    case .ongoing: 3
    }
  }
}

extension PendingDelivery {
  /// Returns true if `a` is delivered before `b`: it was due earlier, or at the same time and sorts before.
  static func isBefore(_ a: PendingDelivery, _ b: PendingDelivery) -> Bool {
    (a.due, a.notification.title) < (b.due, b.notification.title)
  }
}
