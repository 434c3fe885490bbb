import BelfryCore
import BelfryStore

/// The daemon's driver of the delivery engine: it writes claims and outcomes, runs the channels, and records answers.
///
/// It returns the work for other parts of the daemon to the event loop.
struct DeliveryDriver {
  private(set) var engine: DeliveryEngine
  let channels: HookDelivery
  let ledger: SharedLedger
  private let recorder: AnswerRecorder
  private let tasks: BackgroundTasks
  private let log: @Sendable (DaemonLogEvent) -> Void
  private var retry = LedgerRetry()
  private var memory = MemoryRelease()
  /// The number of the last answer.
  private var lastAnswer = 0

  /// The delay between an outcome and its record, in milliseconds. It combines several outcomes into one write.
  private static let shortDelay = 30
  private static let longDelay = 200
  /// The number of running tasks from which the long delay is used.
  private static let manyTasks = 8

  /// Creates a driver without deliveries.
  init(
    channels: HookDelivery, ledger: SharedLedger, recorder: AnswerRecorder, tasks: BackgroundTasks,
    log: @escaping @Sendable (DaemonLogEvent) -> Void
  ) {
    self.channels = channels
    self.ledger = ledger
    self.recorder = recorder
    self.tasks = tasks
    self.log = log
    engine = DeliveryEngine(owner: channels.leaseOwner.name)
  }

  /// The state of the event loop that the effects need.
  struct Environment {
    let store: Store
    /// The length of a snooze, in seconds.
    let snooze: Int64
    var now: Instant { store.context.now }
  }

  /// The work for the event loop, in this order.
  struct Work {
    /// True if a delivery waits for a sync.
    var needsSync = false
    /// True if the ledger has deliveries that the log may lack.
    var needsCommit = false
    /// The answers to carry out: in the alarms in memory first, then with `record(_:to:at:)`.
    var answers: [(deliveries: [PendingDelivery], answer: DeliveredAnswer)] = []
    /// The alarms to evaluate again.
    var alarms: Set<Identifier> = []
  }

  /// The time of the next wake-up; nil if there is none.
  var nextWake: Instant? {
    [engine.nextWake, retry.nextWake, memory.due].compactMap { $0 }.min()
  }

  /// Returns the running deliveries of some alarms.
  func running(of alarms: Set<Identifier>) -> [DeliveryID] {
    channels.activeDeliveries.identities.filter { $0.key.alarm.map(alarms.contains) ?? false }
  }

  /// Claims and starts the deliveries that an evaluation has found due.
  ///
  /// - Parameters:
  ///   - pending: all deliveries of `alarms` that are due.
  ///   - answerFreshness: the currency of other devices' answers.
  mutating func deliver(
    _ pending: [PendingDelivery], of alarms: Set<Identifier>,
    answerFreshness: DeliveryEngine.AnswerFreshness, _ environment: Environment,
    _ failures: inout FailureLog
  ) -> Work {
    let (claims, needsSync) = engine.evaluated(
      pending, of: alarms, answerFreshness: answerFreshness, now: environment.now)
    var work = Work(needsSync: needsSync)
    if claims.isEmpty { return work }
    let update = ledger.claim(claims, in: environment.store)
    work.needsCommit = report(update.failure, environment, &failures)
    for group in engine.claimed(claims, granted: update.result) { start(group, environment) }
    return work
  }

  /// Starts deliveries that need no claim in the ledger.
  mutating func deliver(handed group: DeliveryGroup, _ environment: Environment) {
    engine.handed(group)
    start(group, environment)
  }

  private func start(_ group: DeliveryGroup, _ environment: Environment) {
    let (channels, snooze) = (channels, environment.snooze)
    tasks.start { .delivered(group, await channels.deliver(group, snooze: snooze)) }
  }

  /// Ends the channels of deliveries, also of those that the engine does not know.
  mutating func withdraw(_ ids: Set<DeliveryID>) {
    if ids.isEmpty { return }
    engine.withdrawn(ids)
    channels.activeDeliveries.withdraw(ids.contains)
  }

  /// Handles an event: performs the effects, and returns the work for the event loop.
  mutating func handle(
    _ event: DeliveryEngine.Event, _ environment: Environment, _ failures: inout FailureLog
  ) -> Work {
    var work = Work()
    switch event {
    case .finished, .ended: memory.recordDeliveries(1, at: environment.now)
    default: break
    }
    for effect in engine.handle(event) {
      switch effect {
      case .recordSoon:
        let delay =
          tasks.count > DeliveryDriver.manyTasks
          ? DeliveryDriver.longDelay : DeliveryDriver.shortDelay
        tasks.start {
          try? await Task.sleep(for: .milliseconds(delay))
          return .recordingDue
        }
      case .record(let recording):
        let failure = ledger.record(recording, in: environment.store)
        let hasRecovered = report(failure, environment, &failures)
        work.needsCommit = hasRecovered || !recording.outcomes.isEmpty
        work.alarms = recording.alarms
      case .respond(let deliveries, let answer): work.answers.append((deliveries, answer))
      }
    }
    return work
  }

  /// Records an answer in a child command, and logs the result. Returns the answer with a number.
  mutating func record(
    _ answer: DeliveredAnswer, to deliveries: [PendingDelivery], at now: Instant
  ) -> GivenAnswer {
    lastAnswer += 1
    let given = GivenAnswer(number: lastAnswer, answer: answer, deliveries: deliveries, at: now)
    let (recorder, log, notifications) = (recorder, log, deliveries.map(\.notification))
    tasks.start {
      let result = await recorder.record(answer, to: deliveries.map(\.key), at: now) {
        log(.answerDelayed(notifications, answer, reason: $0))
      }
      switch result {
      case .recorded: log(.answered(notifications, answer, failure: nil))
      case .failed(let reason): log(.answered(notifications, answer, failure: reason))
      case .refused(let reason):
        log(.answerRefused(notifications, answer, .command(reason)))
      }
      return .answerRecorded(given, result)
    }
    return given
  }

  // MARK: The ledger's disk

  /// Logs the result of a write and schedules the next attempt. Returns true if the disk has now taken everything that
  /// it had not, which the log then lacks.
  private mutating func report(
    _ failure: (any Error)?, _ environment: Environment, _ failures: inout FailureLog
  ) -> Bool {
    failures.report(.ledger, failure.map { "\($0)" })
    return retry.record(ledger, at: environment.now)
  }

  /// Writes what the disk has not taken, if an attempt is due.
  mutating func flushIfDue(_ environment: Environment, _ failures: inout FailureLog) -> Work {
    guard retry.isDue(at: environment.now) else { return Work() }
    let failure = ledger.flush(environment.store)
    return Work(needsCommit: report(failure, environment, &failures))
  }

  /// Repeats the write soon, because the store's disk has taken something.
  mutating func flushSoon(at now: Instant) { retry.retryNow(ledger, at: now) }

  /// Repeats the write, because the disk responds again.
  mutating func diskRecovered(at now: Instant) { retry.diskRecovered(at: now) }

  /// Schedules a release of memory after the start.
  mutating func releaseMemorySoon(at now: Instant) { memory.request(at: now) }

  /// Returns free memory to the system some time after the start or many deliveries.
  mutating func releaseMemoryIfDue(at now: Instant) { memory.releaseIfDue(at: now) }
}
