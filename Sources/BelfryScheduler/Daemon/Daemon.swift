import BelfryCore
import BelfryStore
import CLinux
import Glibc

/// What a daemon does, for a log.
public enum DaemonLogEvent: Sendable {
  case started(alarms: Int, next: Instant?)
  case told(Notification, DeliveryOutcome)
  /// One way to reach the person did not work, while another did, and why.
  case wayFailed(Notification, [String])
  case answered(Notification, DeliveredAnswer, failure: String?)
  /// What could not be noted, or be done by a command, and why.
  case failed(String, why: String)
  case recovered(String)
  /// What a command warned of: records that are not valid, and the like.
  case warned([String])
  case reloaded(alarms: Int)
  case clockChanged
  /// The store's folder has gone; what is known rings from memory.
  case storeLeft(path: String)
  case storeReturned(path: String)
  /// The store cannot be locked, so that a second daemon would go unnoticed.
  case unlocked(why: String)
  /// Commands cannot wake the daemon: it notices what they change by the files alone.
  case unreachable(why: String)
  case stopped
}

/// Rings, asks and warns when it is time, for one store.
///
/// ```
///  clock, files, pokes, signals ──▶ look at what is due ──▶ claim ──▶ hooks ──▶ note
///                                        │                                        │
///                              alarmQueue (in memory)            `belfry tick --settle`, `belfry sync`
/// ```
///
/// It rings from what it remembers and never waits for git: everything that is to be recorded is done by commands
/// of their own, and again until it succeeds.
public final class Daemon: Sendable {
  /// What the daemon needs from whoever starts it.
  public struct Dependencies: Sendable {
    /// The store's context, as of now; with the time zones read anew where they may have changed.
    public var context: @Sendable (_ rereadingZones: Bool) -> StoreContext
    /// The hooks, attended by somebody.
    public var hooks: @Sendable (ActiveDeliveries) -> HookDelivery
    /// The binary, for what commands do.
    public var command: String
    /// How far the system's clock is ahead of the context's, in milliseconds: 0 but for a clock that is made up.
    public var clockOffset: Int64
    /// Whether it syncs.
    public var syncs: Bool
    /// Whether it wakes a machine that sleeps for what is due.
    public var wakesMachine: Bool
    /// What commands get beside the variables of this process.
    public var variables: @Sendable () -> [String: String]
    public var log: @Sendable (DaemonLogEvent) -> Void
    /// The service manager that watches the event loop; nil when there is none.
    public var notifier: ServiceNotifier?
    /// What reads the battery; nil where nobody is to.
    public var gauge: BatteryGauge?

    public init(
      command: String, clockOffset: Int64 = 0, syncs: Bool, wakesMachine: Bool,
      variables: @escaping @Sendable () -> [String: String] = { [:] },
      context: @escaping @Sendable (_ rereadingZones: Bool) -> StoreContext,
      hooks: @escaping @Sendable (ActiveDeliveries) -> HookDelivery,
      gauge: BatteryGauge? = nil, notifier: ServiceNotifier? = nil,
      log: @escaping @Sendable (DaemonLogEvent) -> Void
    ) {
      self.notifier = notifier
      self.gauge = gauge
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
  private let heartbeat = Heartbeat()

  public init(_ store: Store, _ dependencies: Dependencies) {
    self.store = store
    self.dependencies = dependencies
  }

  /// Runs until it is told to stop. Throws `StoreError.daemonRuns` when the store has one already.
  public func run() async throws {
    // Threads that come and go with two hundred hooks would each keep memory of their own.
    _ = mallopt(M_ARENA_MAX, 2)
    let files = store.daemonFiles
    var lock = try takeLock()
    defer { withExtendedLifetime(lock) {} }
    let source = try WakeSource(
      store: store.path, branch: store.branchFolders, poke: files.poke,
      wakesMachine: dependencies.wakesMachine)
    if let failure = source.pokeFailure { dependencies.log(.unreachable(why: "\(failure)")) }
    if let failure = source.wakerFailure {
      dependencies.log(.failed("waking the machine", why: "\(failure)"))
    }
    let (events, sender) = AsyncStream.makeStream(of: DaemonEvent.self)
    source.start { sender.yield(.wake($0)) }
    let activeDeliveries = ActiveDeliveries { sender.yield(.news($0)) }
    var watch = DaemonLoop(
      store: store, dependencies: dependencies, activeDeliveries: activeDeliveries
    ) {
      sender.yield($0)
    }
    watch.begin()
    _ = malloc_trim(0)
    dependencies.notifier?.ready("Watching \(store.path)")
    arm(source, watch, lock)
    for await event in events {
      if case .wake(.stop) = event { break }
      watch.handle(event)
      if watch.takeReturn() {
        if lock?.isInPlace != true { lock = try takeLock() }
        source.reopen(poke: files.poke)
      }
      dependencies.notifier?.keepAlive()
      arm(source, watch, lock)
    }
    dependencies.notifier?.stopping()
    await activeDeliveries.close()
    dependencies.log(.stopped)
  }

  /// The lock of the store's daemon; nil, which is reported, where the store cannot be locked.
  private func takeLock() throws -> DaemonLock? {
    switch try store.lockForDaemon() {
    case .success(let lock): return lock
    case .failure(let failure):
      dependencies.log(.unlocked(why: "\(failure)"))
      return nil
    }
  }

  private func arm(_ source: WakeSource, _ watch: DaemonLoop, _ lock: DaemonLock?) {
    func real(_ moment: Instant) -> Instant {
      Instant(milliseconds: moment.milliseconds + dependencies.clockOffset)
    }
    var wake = watch.nextWake
    if let interval = dependencies.notifier?.interval {
      let now = dependencies.context(false).now.milliseconds
      wake = min(wake, Instant(milliseconds: now + Int64(interval * 1000)))
    }
    source.arm(real(wake), ring: watch.nextRing.map(real))
    if let lock { heartbeat.beat(lock, until: real(wake)) }
  }
}

/// Something that a daemon has to see to.
enum DaemonEvent: Sendable {
  case wake(WakeSource.Wake)
  case news(ActiveDeliveries.News)
  /// The disk answers, which had not in time.
  case diskAnswers
  case told(PendingDelivery, DeliveryOutcome?)
  /// What was told is to be noted.
  case note
  /// The answer to a notice is in the store, or was given up.
  case recorded(Notification)
  /// What the history knows of alarms that have no valid file.
  case history([ArmedRecord])
  case settled(failure: String?)
  /// What a command said on standard error, though it succeeded.
  case warned([String])
  case synced(failure: String?)
  /// The mailboxes of partners have been looked into, or could not be.
  case mailed(failure: String?)
  /// A call has been seen to, or could not be.
  case calledOut(Callout, failure: String?)
  /// How the battery stands.
  case sampled(BatteryGauge.Sampling)
  /// What came of telling somebody of the battery.
  case batteryWarned(BatteryAlerting.PendingDelivery, Notification, DeliveryOutcome)
}
