import BelfryActions
import BelfryCore
import BelfryStore

/// One evaluation of the store against the clock, with all deliveries that are due.
///
/// ```
/// evaluate the due alarms ─▶ commit outcomes ─▶ claim ─▶ run the hooks ─▶ record the outcomes
///   ─▶ commit firings and follow-ups ─▶ carry out answers ─▶ send the missed summary
/// ```
///
/// A tick drives a `DeliveryEngine` until it is idle. Several ticks may run at the same time, beside a daemon: the
/// claims ensure that each delivery is made once, and the store's lock that each outcome is recorded once. No lock is
/// held during a delivery, so that a tick that hangs delays no other. A crash between claiming and recording causes a
/// redelivery.
public struct Tick: Sendable {
  let store: Store
  let delivery: any NotificationDelivery
  private let ledger: SharedLedger
  private let width: Int
  private let lockTimeout: Duration

  /// Creates a tick. It does not run yet.
  ///
  /// - Parameters:
  ///   - width: the maximum number of simultaneous deliveries. It is large, so that one that hangs does not delay others.
  ///   - lockTimeout: the time to wait for a locked store before alarms are delivered without a commit.
  public init(
    _ store: Store, delivery: any NotificationDelivery, leaseOwner: LeaseOwner = .thisProcess,
    width: Int = 256, lockTimeout: Duration = .seconds(1)
  ) {
    self.init(
      store, delivery: delivery, ledger: SharedLedger(owner: leaseOwner), width: width,
      lockTimeout: lockTimeout)
  }

  init(
    _ store: Store, delivery: any NotificationDelivery, ledger: SharedLedger, width: Int = 256,
    lockTimeout: Duration = .seconds(1)
  ) {
    self.width = width
    self.lockTimeout = lockTimeout
    self.store = store
    self.delivery = delivery
    self.ledger = ledger
  }

  /// The maximum time of the evaluation.
  private static let timeout = Duration.seconds(120)

  /// Runs the tick.
  ///
  /// - Parameter delivers: false to record outcomes only, beside a daemon that delivers.
  /// - Throws: `StoreError` if the settings or the alarms cannot be read. Other errors are in the report.
  public func run(delivers: Bool = true) async throws -> TickReport {
    var report = TickReport()
    HookRegistry(folder: HookRegistry.folder(of: store), leaseOwner: ledger.owner)
      .terminateOrphans()
    let (settings, problem) = try store.settings()
    let entries = ledger.read(store)
    let evaluation = BackgroundJob {
      Result { try StoreEvaluation.commit(in: store, settings: settings, ledger: entries) }
    }
    var driver = Driver(tick: self, settings: settings)
    // A store that is locked, or whose disk hangs, delays no alarm. The evaluation reports why it cannot be read.
    let lockTimeout = ledger.isStuck ? .zero : lockTimeout
    if delivers, await evaluation.value(within: lockTimeout) == nil,
      let alarms = try? store.alarmsToEvaluate()
    {
      await driver.deliver(
        StoreEvaluation(alarms, in: store, settings: settings, ledger: entries))
    }
    guard let result = try await evaluation.value(within: Tick.timeout)?.get() else {
      report.failures.append(DiskTimeout(limit: Tick.timeout))
      return report
    }
    if delivers { await driver.deliver(result) }
    driver.record()
    report.add(result, problem, store)
    report.delivered = driver.delivered.sorted {
      ($0.pending.due, $0.pending.notification.title)
        < ($1.pending.due, $1.pending.notification.title)
    }.map { (notification: $0.pending.notification, outcome: $0.outcome) }
    report.answered = driver.answered
    report.failures += driver.failures
    report.wakes.merge(driver.wakes) { $1 }
    await summarize(&report)
    // A tick that only settles belongs to a daemon, and proves nothing when the daemon has ended.
    if delivers, !ledger.isStuck { store.noteTick() }
    return report
  }

  /// Delivers one summary of all missed occurrences. It is not retried, because `belfry list` shows them.
  private func summarize(_ report: inout TickReport) async {
    let items = report.missed.map {
      Notification.MissedSummary.Item(
        id: $0.id, title: $0.title, due: $0.due, payload: $0.payload, movedTo: $0.movedTo)
    }
    let now = store.context.now
    guard let summary = Notification.MissedSummary(items, at: now) else { return }
    report.summary = await delivery.deliver(
      PendingDelivery(due: now, notification: .missedSummary(summary)), snooze: 0)
  }

  // MARK: Driving the engine

  /// Performs the effects of the engine.
  private struct Driver {
    let tick: Tick
    let settings: Settings
    var engine: DeliveryEngine
    var delivered: [(pending: PendingDelivery, outcome: DeliveryOutcome)] = []
    var answered: [(alarm: Alarm, event: Event)] = []
    var failures: [any Error] = []
    var wakes: [Identifier: Instant] = [:]
    private var isRecordingDue = false
    /// The answers to carry out after all deliveries, because they need the store's lock.
    private var answers: [(deliveries: [PendingDelivery], answer: DeliveredAnswer)] = []
    /// The alarms to evaluate again after the answers.
    private var alarms: Set<Identifier> = []

    init(tick: Tick, settings: Settings) {
      self.tick = tick
      self.settings = settings
      engine = DeliveryEngine(owner: tick.ledger.owner.name)
    }

    private var now: Instant { tick.store.context.now }

    /// Delivers everything that an evaluation has found due.
    mutating func deliver(_ evaluation: StoreEvaluation) async {
      let claims = engine.evaluated(evaluation.pendingDeliveries)
      if claims.isEmpty { return }
      let update = tick.ledger.claim(claims, in: tick.store)
      if let failure = update.failure { failures.append(failure) }
      await run(engine.claimed(claims, granted: update.result), ledger: update.ledger)
      recordIfDue()
    }

    private mutating func process(_ event: DeliveryEngine.Event) {
      for effect in engine.handle(event) {
        switch effect {
        case .recordSoon: isRecordingDue = true
        case .record(let recording):
          if let failure = tick.ledger.record(recording, in: tick.store), failures.isEmpty {
            failures.append(failure)
          }
          alarms.formUnion(recording.alarms)
        case .respond(let deliveries, let answer): answers.append((deliveries, answer))
        }
      }
    }

    private mutating func recordIfDue() {
      if !isRecordingDue { return }
      isRecordingDue = false
      process(.recordingDue)
    }

    /// Runs deliveries side by side, until each has an outcome.
    ///
    /// - Parameter ledger: the ledger with the claims of this tick.
    private mutating func run(_ groups: [DeliveryGroup], ledger: DeliveryLedger) async {
      let (tick, settings) = (tick, settings)
      await withTaskGroup(of: (DeliveryGroup, DeliveryOutcome).self) { group in
        for (index, deliveries) in groups.enumerated() {
          if index >= tick.width, let (ended, outcome) = await group.next() {
            finish(ended, outcome)
          }
          // The user may have answered since the evaluation.
          let planner = DeliveryPlanner(store: tick.store, settings: settings)
          let wanted = deliveries.only { planner.wants($0, ledger: ledger) }
          let unwanted = Set(deliveries.ids).subtracting(wanted?.ids ?? [])
          if let unwanted = deliveries.only(unwanted.contains) { finish(unwanted, .withdrawn) }
          guard let wanted else { continue }
          group.addTask {
            (wanted, await tick.delivery.deliver(wanted, snooze: settings.snooze))
          }
        }
        for await (deliveries, outcome) in group { finish(deliveries, outcome) }
      }
    }

    private mutating func finish(_ group: DeliveryGroup, _ outcome: DeliveryOutcome) {
      for pending in group.deliveries {
        if outcome != .withdrawn { delivered.append((pending, outcome)) }
        process(.finished(pending.id, outcome))
        // Another process reports its channels' ends itself.
        if outcome != .ongoing(owner: tick.ledger.owner.name) { process(.ended(pending.id)) }
      }
    }

    /// Performs the effects that need the store's lock: commits, then answers, then a second evaluation.
    mutating func record() {
      do {
        if tick.ledger.isStuck { throw DiskTimeout(limit: SharedLedger.timeout) }
        try DeliveryLog(store: tick.store, settings: settings).commit()
        for case (let deliveries, .answer(let answer)) in answers {
          for pending in deliveries {
            if try respond(to: pending.key, answer) { continue }
            // It rings again, if it still has to.
            process(.answerRecorded([pending.id], isAccepted: false))
          }
        }
        recordIfDue()
        try evaluate()
      } catch {
        failures.append(error)
      }
    }

    /// Records an answer. Returns false if it is not possible.
    private mutating func respond(to key: DeliveryKey, _ answer: Answer) throws -> Bool {
      guard let alarm = key.alarm, let occurrence = key.occurrence else { return true }
      // In the log an answer comes after the firing, even if both have the same time. An answer on another device may have
      // been faster.
      let changes = try AnswerAlarms(
        answer, toPossible: [OccurrenceID(alarm: alarm, occurrence: occurrence)],
        settings: settings, logTime: Instant(milliseconds: now.milliseconds + 1)
      ).perform(in: tick.store)
      guard let change = changes.first, let event = change.events.last else { return false }
      answered.append((change.alarm, event))
      return true
    }

    /// Determines the next evaluation of alarms that were delivered, since an answer may have changed it.
    private mutating func evaluate() throws {
      if alarms.isEmpty { return }
      // The tick's time is that of its start, so that other processes may have made entries since.
      let ledger = tick.ledger.read(tick.store, isPresent: false)
      for id in alarms {
        guard let alarm = try tick.store.alarm(id) else { continue }
        wakes[id] =
          tick.store.timeline(alarm).evaluate(at: now, settings: settings, ledger: ledger).nextWake
      }
    }
  }
}

extension TickReport {
  fileprivate mutating func add(
    _ evaluation: StoreEvaluation, _ problem: RecordProblem?, _ store: Store
  ) {
    missed = evaluation.missed
    autoCompleted = evaluation.completed
    wakes = evaluation.wakes
    let progress = CallProgressFile(store)
    callouts = evaluation.callouts.filter {
      progress[$0.id]?.isOver != true && !progress.isLocked($0.id)
    }
    otherWake = evaluation.stored?.nextChange
    problems = (evaluation.stored?.problems ?? []) + [problem].compactMap { $0 }
    if let failure = evaluation.stored?.failure { failures.insert(failure, at: 0) }
  }
}
