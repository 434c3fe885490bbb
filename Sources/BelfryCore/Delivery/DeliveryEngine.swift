/// The state machine of the deliveries of one process.
///
/// The engine decides and a driver acts: `handle` takes an event and returns the effects that the driver performs, in
/// order. The daemon drives it for as long as it runs, `tick` until it is settled, and the delivery helper for the
/// notifications that it was handed.
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
/// | evaluated: unwanted | withdraw | withdraw | withdraw | withdraw | withdraw |
/// | claimed | – | – | deliver, or drop | – | – |
/// | handed | deliver | – | – | – | – |
/// | finished | – | – | – | record soon | – |
/// | recording due | – | – | – | record, then ongoing or drop | – |
/// | answered | respond | respond | respond | respond, remember | respond, remember |
/// | answer recorded | – | – | – | remember | if ended: drop, release the lease soon |
/// | answer refused | record as withdrawn | – | – | remember | if ended: drop, release the lease soon |
/// | ended | – | – | – | remember | unless an answer is being recorded: drop, release the lease soon |
/// | synced | – | evaluate | – | – | – |
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
    var phase: Phase
    /// The outcome that the ledger does not have yet; nil if there is none.
    var outcome: DeliveryOutcome?
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

  /// Something that has happened.
  public enum Event: Sendable {
    /// Alarms were evaluated.
    case evaluated(EvaluatedAlarms)
    /// Claims were written. `granted` are those that this process has got.
    case claimed(Set<DeliveryID>, granted: Set<DeliveryID>)
    /// The process that has claimed deliveries has handed them over.
    case handed(DeliveryGroup)
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
    /// A sync has ended.
    case synced
  }

  /// The result of evaluating alarms.
  public struct EvaluatedAlarms: Sendable {
    /// The alarms that were evaluated.
    public var alarms: Set<Identifier>
    /// All deliveries of these alarms that are due.
    public var pending: [PendingDelivery]
    /// The deliveries in progress that no longer reflect the alarms' states.
    public var unwanted: Set<DeliveryID>
    /// The currency of other devices' answers.
    public var answerFreshness: AnswerFreshness
    /// The delivery ledger that the evaluation was based on.
    public var ledger: DeliveryLedger

    /// Creates a result.
    public init(
      alarms: Set<Identifier>, pending: [PendingDelivery], unwanted: Set<DeliveryID> = [],
      answerFreshness: AnswerFreshness = .unavailable, ledger: DeliveryLedger = DeliveryLedger()
    ) {
      self.alarms = alarms
      self.pending = pending
      self.unwanted = unwanted
      self.answerFreshness = answerFreshness
      self.ledger = ledger
    }
  }

  /// The time in seconds for which a delivery waits for a sync.
  public static let freshnessTimeout: Int64 = 8

  private let owner: String
  private var deliveries: [DeliveryID: Delivery] = [:]
  /// The changes that no effect has reported yet.
  private var unrecorded = Recording()
  private var isRecordingSoon = false
  /// The delivery ledger as this process knows it.
  public private(set) var ledger = DeliveryLedger()

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
  public var isSettled: Bool {
    unrecorded.isEmpty && deliveries.values.allSatisfy { $0.phase == .ongoing }
  }

  /// The time at which the first held delivery goes on without a sync; nil if none is held.
  public var nextWake: Instant? {
    deliveries.values.compactMap(\.heldSince).min()?.adding(
      seconds: DeliveryEngine.freshnessTimeout)
  }

  /// Returns the alarms whose held deliveries have waited long enough. They have to be evaluated again.
  public func overdueAlarms(at now: Instant) -> Set<Identifier> {
    let limit = now.adding(seconds: -DeliveryEngine.freshnessTimeout)
    return Set(
      deliveries.compactMap { id, delivery in
        delivery.heldSince.map { $0 <= limit } == true ? id.key.alarm : nil
      })
  }

  /// Returns the effects of an event.
  public mutating func handle(_ event: Event, now: Instant) -> [Effect] {
    switch event {
    case .evaluated(let result): return evaluated(result, now)
    case .claimed(let all, let granted): return claimed(all, granted: granted)
    case .handed(let group):
      for pending in group.deliveries {
        deliveries[pending.id] = Delivery(pending: pending, phase: .delivering, isHanded: true)
      }
      return [.deliver(group)]
    case .finished(let id, let outcome): return finished(id, outcome)
    case .answered(let answered, let answer):
      for pending in answered where isRunning(pending.id) {
        deliveries[pending.id]?.isAnswering = true
        deliveries[pending.id]?.isWithdrawn = true
      }
      return [.respond(answered, answer)]
    case .answerRecorded(let ids, let isAccepted): return answerRecorded(ids, isAccepted)
    case .ended(let id): return ended(id)
    case .recordingDue: return record(now)
    case .postponed(let released, let withdrawn):
      unrecorded.released.formUnion(released)
      unrecorded.withdrawn.formUnion(withdrawn)
      return recordSoon()
    case .synced:
      let held = deliveries.filter { $0.value.heldSince != nil }
      let alarms = Set(held.keys.compactMap(\.key.alarm))
      return alarms.isEmpty ? [] : [.evaluate(alarms)]
    }
  }

  // MARK: Starting

  private mutating func evaluated(_ result: EvaluatedAlarms, _ now: Instant) -> [Effect] {
    ledger = result.ledger
    let due = Set(result.pending.map(\.id))
    for (id, delivery) in deliveries where delivery.heldSince != nil && !due.contains(id) {
      if id.key.alarm.map(result.alarms.contains) == true { deliveries[id] = nil }
    }
    var claims: [PendingDelivery] = []
    var needsSync = false
    for pending in result.pending {
      let known = deliveries[pending.id]
      if let known, known.heldSince == nil { continue }
      if pending.mayBeAnswered, result.answerFreshness == .stale {
        guard let since = known?.heldSince else {
          deliveries[pending.id] = Delivery(pending: pending, phase: .held(since: now))
          needsSync = true
          continue
        }
        if now.seconds(since: since) < DeliveryEngine.freshnessTimeout { continue }
      }
      deliveries[pending.id] = Delivery(pending: pending, phase: .claiming)
      claims.append(pending)
    }
    for id in result.unwanted where isRunning(id) { deliveries[id]?.isWithdrawn = true }
    var effects: [Effect] = needsSync ? [.sync] : []
    if !claims.isEmpty { effects.append(.claim(claims)) }
    if !result.unwanted.isEmpty { effects.append(.withdraw(result.unwanted)) }
    return effects
  }

  /// Returns true if the channels of a delivery may run.
  private func isRunning(_ id: DeliveryID) -> Bool {
    switch deliveries[id]?.phase {
    case .delivering, .ongoing: true
    case .held, .claiming, nil: false
    }
  }

  private mutating func claimed(
    _ all: Set<DeliveryID>, granted: Set<DeliveryID>
  ) -> [Effect] {
    var started: [PendingDelivery] = []
    for id in all {
      guard let delivery = deliveries[id], delivery.phase == .claiming else { continue }
      if granted.contains(id) {
        deliveries[id]?.phase = .delivering
        started.append(delivery.pending)
      } else {
        deliveries[id] = nil
      }
    }
    return DeliveryGroup.groups(of: started.sorted(by: PendingDelivery.isBefore)).map {
      .deliver($0)
    }
  }

  // MARK: Ending

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

  private mutating func record(_ now: Instant) -> [Effect] {
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
      recording.outcomes.append(RecordedOutcome(delivery.pending, outcome))
      ledger.record(outcome, of: delivery.pending, at: now)
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
    if recording.isEmpty { return [] }
    var effects: [Effect] = [.record(recording)]
    if !recording.outcomes.isEmpty { effects.append(.commit) }
    effects += answers.map { .respond(answered[$0] ?? [], $0) }
    let alarms = Set(
      (recording.outcomes.map(\.pending.id) + recording.withdrawn).compactMap(\.key.alarm))
    if !alarms.isEmpty { effects.append(.evaluate(alarms)) }
    return effects
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

extension PendingDelivery {
  /// Returns true if `a` is delivered before `b`: it was due earlier, or at the same time and sorts before.
  static func isBefore(_ a: PendingDelivery, _ b: PendingDelivery) -> Bool {
    (a.due, a.notification.title) < (b.due, b.notification.title)
  }
}
