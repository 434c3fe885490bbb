import BelfryCore
import BelfryStore

/// The daemon's driver of the delivery engine: it writes claims and outcomes, runs the channels, and records answers.
///
/// The effects that concern other parts of the daemon are returned to the event loop: `evaluate`, `commit`, `sync`, and
/// `respond`, which changes the alarms in memory first.
struct DeliveryDriver {
  private(set) var engine: DeliveryEngine
  let channels: HookDelivery
  private let recorder: AnswerRecorder
  private let tasks: BackgroundTasks
  private let log: @Sendable (DaemonLogEvent) -> Void
  private let writer: LedgerWriter
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
    channels: HookDelivery, recorder: AnswerRecorder, tasks: BackgroundTasks, writer: LedgerWriter,
    log: @escaping @Sendable (DaemonLogEvent) -> Void
  ) {
    self.channels = channels
    self.recorder = recorder
    self.tasks = tasks
    self.writer = writer
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

  private func shared(_ store: Store) -> SharedLedger {
    SharedLedger(store: store, owner: channels.leaseOwner, writer: writer)
  }

  /// Returns the ledger as the next evaluation needs it.
  func ledger(_ store: Store) -> DeliveryLedger { shared(store).read() }

  /// The time of the next wake-up; nil if there is none.
  var nextWake: Instant? {
    [engine.nextWake, retry.nextWake, memory.due].compactMap { $0 }.min()
  }

  /// Returns the running deliveries of some alarms.
  func running(of alarms: Set<Identifier>) -> [DeliveryID] {
    channels.activeDeliveries.identities.filter { $0.key.alarm.map(alarms.contains) ?? false }
  }

  /// Handles an event: performs the effects, and returns those that concern the event loop.
  mutating func handle(
    _ event: DeliveryEngine.Event, _ environment: Environment, _ failures: inout FailureLog
  ) -> [DeliveryEngine.Effect] {
    var others: [DeliveryEngine.Effect] = []
    switch event {
    case .finished, .ended: memory.recordDeliveries(1, at: environment.now)
    default: break
    }
    for effect in engine.handle(event, now: environment.now) {
      switch effect {
      case .claim(let pending):
        let update = shared(environment.store).claim(pending)
        others += report(update.failure, environment, &failures)
        others += handle(
          .claimed(Set(pending.map(\.id)), granted: update.result), environment, &failures)
      case .deliver(let group):
        let (channels, snooze) = (channels, environment.snooze)
        tasks.start { .delivered(group, await channels.deliver(group, snooze: snooze)) }
      case .withdraw(let ids): channels.activeDeliveries.withdraw(ids.contains)
      case .recordSoon:
        let delay =
          tasks.count > DeliveryDriver.manyTasks
          ? DeliveryDriver.longDelay : DeliveryDriver.shortDelay
        tasks.start {
          try? await Task.sleep(for: .milliseconds(delay))
          return .recordingDue
        }
      case .record(let recording):
        others += report(shared(environment.store).record(recording), environment, &failures)
      case .sync, .commit, .evaluate, .respond: others.append(effect)
      }
    }
    return others
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

  /// Logs the result of a write and schedules the next attempt. Requests a commit once the disk has taken everything.
  private mutating func report(
    _ failure: (any Error)?, _ environment: Environment, _ failures: inout FailureLog
  ) -> [DeliveryEngine.Effect] {
    failures.report(.ledger, failure.map { "\($0)" })
    return retry.record(writer, at: environment.now) ? [.commit] : []
  }

  /// Writes what the disk has not taken, if an attempt is due.
  mutating func flushIfDue(
    _ environment: Environment, _ failures: inout FailureLog
  ) -> [DeliveryEngine.Effect] {
    guard retry.isDue(at: environment.now) else { return [] }
    return report(shared(environment.store).flush(), environment, &failures)
  }

  /// Repeats the write soon, because the store's disk has taken something.
  mutating func flushSoon(at now: Instant) { retry.retryNow(writer, at: now) }

  /// Repeats the write, because the disk responds again.
  mutating func diskRecovered(at now: Instant) { retry.diskRecovered(at: now) }

  /// Schedules a release of memory after the start.
  mutating func releaseMemorySoon(at now: Instant) { memory.request(at: now) }

  /// Returns free memory to the system some time after the start or many deliveries.
  mutating func releaseMemoryIfDue(at now: Instant) { memory.releaseIfDue(at: now) }

  /// Keeps the ledger in memory while its file cannot be read, so that nothing is delivered again.
  func holdLedgerInMemory() { writer.holdInMemory() }

  /// Forgets the ledger in memory, because the store is another one.
  func forgetLedger() { writer.forget() }
}
