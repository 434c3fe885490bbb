import BelfryCore
import BelfryStore
import Foundation
import Glibc
import Synchronization
import TestSupport

@testable import BelfryScheduler
@testable import BelfryTerminal

/// A daemon with a manual clock. Its hooks record their notifications, and its commands are real and use the same
/// clock.
final class DaemonBench: @unchecked Sendable {
  // Safe, because one test uses it from one task at a time. Other threads send events through `queue`.
  let sandbox: Sandbox
  private let queue = Mutex<[DaemonEvent]>([])
  private let clock: Mutex<Instant>
  private let zone: Mutex<String>
  private let logEvents = Mutex<[DaemonLogEvent]>([])
  private var loop: DaemonLoop?
  private var standIn: Process?
  private(set) var activeDeliveries = ActiveDeliveries { _ in }
  /// Blocks every write of the ledger, as a disk that hangs does.
  let disk = Gate()

  private let hookTimeout: Int
  private let pauseUnit: Duration

  /// - Parameters:
  ///   - hookTimeout: The timeout of a hook, in seconds. It is long, because this process reads the output of its hooks
  ///     late while many other tests keep its threads busy.
  ///   - pauseUnit: The unit of the pauses between two attempts of a channel, which pass in real time.
  init(
    at now: String, zone: String = "UTC", hookTimeout: Int = 1_000,
    pauseUnit: Duration = .seconds(1)
  ) async throws {
    self.hookTimeout = hookTimeout
    self.pauseUnit = pauseUnit
    sandbox = try Sandbox()
    clock = Mutex(Instant(rfc3339: now)!)
    self.zone = Mutex(zone)
    // It records its notification, and keeps running if requested.
    let hook = """
      #!/bin/sh
      cat >/dev/null
      printf '%s\\n' "$BELFRY_KIND $BELFRY_TITLE $BELFRY_OCCURRENCE ${BELFRY_LATE:-}" >> '\(sandbox.rang)'
      [ ! -e '\(sandbox.root)/stay' ] || { echo delivered; exec sleep 300; }
      """
    for name in ["notify", "follow-up"] {
      try sandbox.write(hook, to: "\(sandbox.hooks)/\(name)", mode: 0o755)
    }
    try sandbox.write(
      """
      #!/bin/sh
      export HOME="${BENCH_HOME:-\(sandbox.home)}" PATH=/usr/bin:/bin GIT_CONFIG_NOSYSTEM=1
      export BELFRY_DEVICE="${BENCH_DEVICE:-laptop}"
      export BELFRY_NOW="$(cat '\(sandbox.root)/clock')" TZ="$(cat '\(sandbox.root)/zone')" BELFRY_LOCK_TIMEOUT=0
      exec '\(Sandbox.binary)' "$@"
      """, to: sandbox.root + "/command", mode: 0o755)
    try await belfry("tier", "plus")
  }

  /// True if the daemons of the bench rely on reports of changed files. Set it before `start`.
  var seesAllChanges = false

  /// The time of the daemon's next wake-up; nil for never.
  var nextWake: Instant? { loop?.nextWake }

  /// The events that the daemon logs once it has locked a store that it has opened again.
  var reopening: [DaemonLogEvent] { loop?.takeReopening() ?? [] }

  var now: Instant { clock.withLock { $0 } }

  /// Runs belfry with the bench's clock.
  @discardableResult
  func belfry(_ arguments: String...) async throws -> Sandbox.Output {
    try writeClock()
    return try await sandbox.run(sandbox.root + "/command", arguments)
  }

  /// Runs belfry with the bench's clock, on a device of its own if a name and a home folder are given.
  func belfry(
    _ arguments: [String], device: String? = nil, home: String? = nil
  ) async throws -> Sandbox.Output {
    try writeClock()
    var variables: [String: String] = [:]
    variables["BENCH_DEVICE"] = device
    variables["BENCH_HOME"] = home
    return try await sandbox.run(sandbox.root + "/command", arguments, environment: variables)
  }

  /// Sets the clock. No daemon notices it.
  func set(_ now: Instant) throws {
    clock.withLock { $0 = now }
    try writeClock()
  }

  /// Runs a tick in this process, with the hooks of the bench, which must end by themselves.
  func tick() async throws -> TickReport {
    try writeClock()
    let store = try Store.open(sandbox.store, context: context()).store
    let leaseOwner = LeaseOwner.thisProcess
    let hooks = hooks(ActiveDeliveries { _ in }, leaseOwner: leaseOwner)
    return try await Tick(store, delivery: CompleteDelivery(hooks: hooks), leaseOwner: leaseOwner)
      .run()
  }

  private func hooks(_ active: ActiveDeliveries, leaseOwner: LeaseOwner) -> HookDelivery {
    HookDelivery(
      own: sandbox.hooks, shipped: [], timeout: hookTimeout, activeDeliveries: active,
      leaseOwner: leaseOwner, pauseUnit: pauseUnit,
      times: { [times = TimeText(now: context().now, zones: context().zones)] in times })
  }

  func writeClock() throws {
    try sandbox.write(now.rfc3339Milliseconds, to: sandbox.root + "/clock")
    try sandbox.write(zone.withLock { $0 }, to: sandbox.root + "/zone")
  }

  /// Returns the store context, as the daemon opens it.
  private func context() -> StoreContext {
    StoreContext(
      now: now, zones: ZoneLibrary(variable: zone.withLock { $0 }), deviceName: "laptop",
      machine: (try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8))?.filter(
        \.isHexDigit) ?? "",
      user: geteuid(),
      makeIdentifier: TestIdentifier.make, random: { $0.lowerBound },
      // A process that another test starts at this moment has the lock until it runs its program.
      lockTimeout: 2_000)
  }

  // MARK: The daemon

  /// Starts the daemon. An earlier daemon ends as if it was killed.
  func start() async throws {
    try writeClock()
    let store = try Store.open(sandbox.store, context: context()).store
    activeDeliveries = ActiveDeliveries { self.send(.deliveryChanged($0)) }
    let leaseOwner = try newLeaseOwner()
    var loop = DaemonLoop(
      store: store,
      dependencies: Daemon.Dependencies(
        command: sandbox.root + "/command", syncs: false, wakesMachine: false,
        context: { _ in self.context() },
        hooks: { self.hooks($0, leaseOwner: leaseOwner) },
        gauge: BatteryGauge(
          supplies: PowerSupplies(root: sandbox.power),
          log: BatteryLog(path: sandbox.root + "/state/battery")),
        log: { item in self.logEvents.withLock { $0.append(item) } }),
      activeDeliveries: activeDeliveries,
      willAccessLedger: { self.disk.pass() }, send: { self.send($0) })
    loop.seesAllChanges = seesAllChanges
    loop.begin()
    self.loop = loop
    try await settle()
  }

  /// Returns a lease owner that the daemon's commands recognize as alive: a process that stands for the daemon. The
  /// previous one ends.
  private func newLeaseOwner() throws -> LeaseOwner {
    endStandIn()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sleep")
    process.arguments = ["10000"]
    (process.standardOutput, process.standardError) = (nil, nil)
    try process.run()
    standIn = process
    return .process(process.processIdentifier)
  }

  private func endStandIn() {
    // Foundation blocks SIGTERM in its child processes.
    if let standIn { _ = kill(standIn.processIdentifier, SIGKILL) }
    standIn?.waitUntilExit()
  }

  deinit { endStandIn() }

  private func send(_ event: DaemonEvent) { queue.withLock { $0.append(event) } }

  /// Lets the daemon handle a wake-up and its consequences.
  func handle(_ wake: WakeSource.Wake) async throws {
    try writeClock()
    loop?.handle(.wake(wake))
    try await settle()
  }

  /// Handles the events of hooks and commands until there are none left.
  private func settle() async throws {
    while true {
      let events = queue.withLock { queue in
        defer { queue = [] }
        return queue
      }
      for event in events { loop?.handle(event) }
      if events.isEmpty, loop?.taskCount ?? 0 == 0 { return }
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  /// Handles events until a condition is fulfilled. Returns false after two minutes.
  func settle(until condition: () throws -> Bool) async throws -> Bool {
    for _ in 0..<2_400 {
      try await settle()
      if try condition() { return true }
      try await Task.sleep(for: .milliseconds(50))
    }
    return false
  }

  /// Advances the clock in steps, and wakes the daemon at its own wake-up times.
  ///
  /// - Parameter settled: called after each step.
  func wait(
    until text: String, settled: () async throws -> Void = {}
  ) async throws {
    let end = Instant(rfc3339: text)!
    while let wake = loop?.nextWake, wake <= end {
      clock.withLock { $0 = max($0, wake) }
      try await handle(.time)
      try await settled()
    }
    clock.withLock { $0 = end }
    try writeClock()
  }

  /// Sets the clock, as a user does or as a wake-up from sleep does.
  func jump(to text: String) async throws {
    clock.withLock { $0 = Instant(rfc3339: text)! }
    try await handle(.clockChanged)
  }

  func move(to zone: String) async throws {
    self.zone.withLock { $0 = zone }
    try await handle(.zone)
  }

  /// The notifications that the hooks recorded.
  var rings: [String] {
    sandbox.rings.map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// The times at which the ledger could not be written, and could be written again.
  var ledgerFailures: [String] {
    log.compactMap { item in
      switch item {
      case .failed(.ledger, _): "fails"
      case .recovered(.ledger): "works"
      default: nil
      }
    }
  }

  var log: [DaemonLogEvent] { logEvents.withLock { $0 } }
}

/// Hooks whose delivery ends with the last of them, because nobody records a later end.
private struct CompleteDelivery: NotificationDelivery {
  let hooks: HookDelivery

  func deliver(_ group: DeliveryGroup, snooze: Int64) async -> DeliveryOutcome {
    let outcome = await hooks.deliver(group, snooze: snooze)
    guard case .ongoing = outcome else { return outcome }
    while hooks.activeDeliveries.identities.contains(where: group.ids.contains) {
      try? await Task.sleep(for: .milliseconds(5))
    }
    return .delivered(nil)
  }
}
