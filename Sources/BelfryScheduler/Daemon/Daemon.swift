import BelfryCore
import BelfryStore
import CLinux
import Files
import Glibc

/// An event in the daemon's log.
public enum DaemonLogEvent: Sendable {
  /// The daemon has started, with the number of armed alarms and the time of the next wake-up.
  case started(alarms: Int, next: Instant?)
  /// A delivery has ended with an outcome, or has reached the user and continues.
  case delivered(DeliveryGroup, DeliveryOutcome)
  /// A channel failed while another one delivered, or after it had delivered, with the reasons.
  case channelFailed(DeliveryGroup, [String])
  /// The action of a firing has ended, with the reason if it failed.
  case actionEnded(Notification, ActionName, ActionFolder.Failure?)
  /// The user answered notifications; `failure` is the reason if the answer could not be recorded.
  case answered([Notification], DeliveredAnswer, failure: String?)
  /// An answer to notifications was refused. They stay.
  case answerRefused([Notification], DeliveredAnswer, AnswerRefusal)
  /// An answer is carried out, but could not be recorded at first. It is retried.
  case answerDelayed([Notification], DeliveredAnswer, reason: String)
  /// A task failed and is retried. Repeated failures are not logged.
  case failed(DaemonTask, reason: String)
  /// A task that had failed succeeds again.
  case recovered(DaemonTask)
  /// The warnings of a command, such as invalid records.
  case warned([CommandDiagnostic])
  /// The store was reloaded after SIGHUP, with the number of armed alarms.
  case reloaded(alarms: Int)
  /// The clock was set, or the machine woke from sleep.
  case clockChanged
  /// The store's folder is missing. The known alarms ring from memory.
  case storeUnavailable(path: String)
  /// The store's folder is back.
  case storeAvailable(path: String)
  /// Another store is in the place of the store, with its number of armed alarms. The daemon has changed over to it.
  case storeReplaced(path: String, alarms: Int)
  /// The store cannot be locked, so a second daemon cannot be detected.
  case lockUnavailable(reason: String)
  /// The named pipe for wake-ups is unavailable. The daemon detects changes by commands in the store's files only.
  case wakeupPipeFailed(reason: String)
  /// The daemon learns of changes of a remote at once.
  case remoteWatched(name: String)
  /// The connection to a watched remote was lost. The daemon syncs at intervals until it is back.
  case remoteWatchLost(name: String)
  /// The sounds of alarms cannot be heard.
  case soundInaudible(SoundOutput.State)
  /// The sounds of alarms can be heard again.
  case soundAudible
  /// The daemon has stopped.
  case stopped
}

/// The scheduler of one store: it delivers notifications when they are due, syncs, and records outcomes.
///
/// ```
///  clock, files, pokes, signals ──▶ evaluate due alarms ──▶ claim ──▶ hooks ──▶ record
///                                        │                                        │
///                              AlarmQueue (in memory)            `belfry tick --settle`, `belfry sync`
/// ```
///
/// The daemon delivers from memory and never waits for git. Child commands commit and sync; failed commands are
/// retried.
public final class Daemon: Sendable {
  /// The injected dependencies of a daemon.
  public struct Dependencies: Sendable {
    /// Returns the current context of the store. With `true`, the time zones are read again.
    public var context: @Sendable (_ rereadingZones: Bool) -> StoreContext
    /// Returns the hook channels, which register their deliveries in the argument.
    public var hooks: @Sendable (ActiveDeliveries) -> HookDelivery
    /// The path of the `belfry` binary, for child commands.
    public var command: String
    /// The difference between the system's clock and the context's, in milliseconds; 0 unless `BELFRY_NOW` is set.
    public var clockOffset: Int64
    /// True if the daemon syncs with remotes and mailboxes.
    public var syncs: Bool
    /// True if the daemon wakes the machine from sleep for due alarms.
    public var wakesMachine: Bool
    /// Returns additional environment variables for child commands.
    public var variables: @Sendable () -> [String: String]
    /// Writes an event to the log.
    public var log: @Sendable (DaemonLogEvent) -> Void
    /// The connection to the service manager; nil without one.
    public var notifier: ServiceNotifier?
    /// The reader of the battery; nil to send no battery warnings.
    public var gauge: BatteryGauge?
    /// The path of the file with the text for prompts of shells; nil for none.
    public var promptFile: String?
    /// Returns the audibility of the sounds of alarms; `unknown` if no check applies.
    public var checkSound: @Sendable () async -> SoundOutput.State

    /// Creates the dependencies.
    public init(
      command: String, clockOffset: Int64 = 0, syncs: Bool, wakesMachine: Bool,
      variables: @escaping @Sendable () -> [String: String] = { [:] },
      context: @escaping @Sendable (_ rereadingZones: Bool) -> StoreContext,
      hooks: @escaping @Sendable (ActiveDeliveries) -> HookDelivery,
      gauge: BatteryGauge? = nil,
      checkSound: @escaping @Sendable () async -> SoundOutput.State = { .unknown },
      notifier: ServiceNotifier? = nil, promptFile: String? = nil,
      log: @escaping @Sendable (DaemonLogEvent) -> Void
    ) {
      self.notifier = notifier
      self.promptFile = promptFile
      self.gauge = gauge
      self.checkSound = checkSound
      self.command = command
      self.clockOffset = clockOffset
      self.variables = variables
      self.syncs = syncs
      self.wakesMachine = wakesMachine
      self.context = context
      self.hooks = hooks
      self.log = log
    }
  }

  private let store: Store
  private let dependencies: Dependencies
  private let heartbeat = LatestValueWriter<(lock: FileLock, deadline: Instant)> {
    $0.lock.setModificationTime($0.deadline)
  }

  /// Creates the daemon of a store. It does not run yet.
  public init(_ store: Store, _ dependencies: Dependencies) {
    self.store = store
    self.dependencies = dependencies
  }

  /// Runs until SIGTERM or SIGINT.
  ///
  /// - Throws: `StoreError.daemonRuns` if another process is the store's daemon; `FileError` if no timer or file watch
  ///   can be created.
  public func run() async throws {
    // By default, malloc keeps an arena for each of the many short-lived threads.
    _ = mallopt(M_ARENA_MAX, 2)
    // A daemon that this one replaces may still be ending.
    var lock = try takeLock(of: store, timeout: 2000)
    defer { withExtendedLifetime(lock) {} }
    let source = try WakeSource(
      store: store.path, branch: store.branch.filesAndConfiguration, poke: store.pokePath,
      wakesMachine: dependencies.wakesMachine)
    if let failure = source.pipeFailure {
      dependencies.log(.wakeupPipeFailed(reason: "\(failure)"))
    }
    if let failure = source.wakeTimerFailure {
      dependencies.log(.failed(.wakeTimer, reason: "\(failure)"))
    }
    let (events, sender) = AsyncStream.makeStream(of: DaemonEvent.self)
    source.start { sender.yield(.wake($0)) }
    let activeDeliveries = ActiveDeliveries { sender.yield(.deliveryChanged($0)) }
    var loop = DaemonLoop(
      store: store, dependencies: dependencies, activeDeliveries: activeDeliveries
    ) {
      sender.yield($0)
    }
    let prompt = dependencies.promptFile.map { PromptFile($0) }
    defer { prompt?.remove() }
    loop.begin()
    prompt?.show(loop.attention)
    source.watch(zones: loop.zoneFiles)
    loop.seesAllChanges = source.seesAllChanges
    loop.seesReplacement = source.seesReplacement
    _ = malloc_trim(0)
    dependencies.notifier?.ready("Watching \(store.path)")
    arm(source, loop, lock)
    for await event in events {
      if case .wake(.stop) = event { break }
      if case .wake(.branch) = event {
        source.watch(branch: loop.store.branch.filesAndConfiguration)
      }
      loop.handle(event)
      prompt?.show(loop.attention)
      source.watch(zones: loop.zoneFiles)
      let reopening = loop.takeReopening()
      if !reopening.isEmpty {
        if lock?.isInPlace != true { lock = try takeLock(of: loop.store) }
        source.reopen(
          poke: loop.store.pokePath, branch: loop.store.branch.filesAndConfiguration)
        // Not earlier: a user who reads it may rely on the lock and the watches.
        for event in reopening { dependencies.log(event) }
      }
      dependencies.notifier?.keepAlive()
      loop.seesAllChanges = source.seesAllChanges
      loop.seesReplacement = source.seesReplacement
      arm(source, loop, lock)
    }
    dependencies.notifier?.stopping()
    loop.stopWatching()
    // The end of running hooks can take some time.
    prompt?.remove()
    await activeDeliveries.close()
    dependencies.log(.stopped)
  }

  /// Returns the lock of a store's daemon; nil if the store cannot be locked, which is logged.
  ///
  /// - Parameter timeout: the time to wait for the end of another daemon, in milliseconds.
  private func takeLock(of store: Store, timeout: Int = 0) throws -> FileLock? {
    switch try DaemonHandle(store).lock(timeout: timeout) {
    case .success(let lock): return lock
    case .failure(let failure):
      dependencies.log(.lockUnavailable(reason: "\(failure)"))
      return nil
    }
  }

  /// Sets the timers for the next wake-up, and records it as the deadline of the next heartbeat.
  private func arm(_ source: WakeSource, _ loop: DaemonLoop, _ lock: FileLock?) {
    func real(_ moment: Instant) -> Instant {
      Instant(milliseconds: moment.milliseconds + dependencies.clockOffset)
    }
    var wakes = [loop.nextWake].compactMap { $0 }
    if let interval = dependencies.notifier?.interval {
      let now = dependencies.context(false).now.milliseconds
      wakes.append(Instant(milliseconds: now + Int64(interval * 1000)))
    }
    let wake = wakes.min().map(real)
    source.arm(wake, ring: loop.nextRing.map(real))
    if let lock { heartbeat.submit((lock, wake ?? Daemon.latestDeadline)) }
  }

  /// The deadline of the next heartbeat if nothing is due, in 2100. File systems do not store the times of all centuries.
  private static let latestDeadline = Instant(seconds: 4_102_444_800)
}
