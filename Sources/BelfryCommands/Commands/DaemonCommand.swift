import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore
import BelfryTerminal
import Files
import Glibc
import Synchronization

struct DaemonCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "daemon",
    abstract: "Run the scheduler: ring, remind and sync until stopped.",
    discussion: """
      Each store has at most one daemon. The daemon detects changes by other commands, by git and by editors. SIGHUP \
      reloads the store, SIGTERM stops the daemon. It logs to standard error, one line per event, with the time unless \
      standard error is the systemd journal.

      If there is no store, the daemon waits for one, because its disk may be mounted later. It never creates one.

      To run the daemon whenever you are logged in: belfry service install
      """)

  @Flag(inversion: .prefixedNo, help: "Sync with the remotes of the store.")
  var sync = true

  @Flag(help: "Wake the machine from sleep for alarms (see 'belfry help service install').")
  var wake = false

  @Option(help: "The store's folder (default: BELFRY_STORE, else the data folder).")
  var store: String?

  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try CommandContext(store: self.store ?? root.store)
    let notifier = ServiceNotifier(environment: context.environment.variables, process: getpid())
    let store = try await DaemonCommand.open(context, notifier)
    guard let command = context.environment.executable else {
      throw CommandError(
        .failed, "the path of the belfry binary is unknown.", hint: "Check that /proc is mounted.")
    }
    Descriptors.raiseLimit()
    let opened = ElapsedTime()
    let zones = Mutex(context.storeContext.zones)
    let current: @Sendable () -> CommandContext = {
      var current = context.refreshed(after: opened)
      current.storeContext.zones = zones.withLock { $0 }
      return current
    }
    let daemon = Daemon(
      store,
      Daemon.Dependencies(
        command: command, clockOffset: context.clockOffset, syncs: sync, wakesMachine: wake,
        variables: { context.backgroundVariables(after: opened) },
        context: { rereadingZones in
          var present = context.present(after: opened).storeContext
          present.zones = zones.withLock { zones in
            if rereadingZones { zones = ZoneLibrary(variable: context.environment["TZ"]) }
            return zones
          }
          return present
        },
        hooks: {
          context.hooks(
            activeDeliveries: $0, registry: HookRegistry.folder(of: store), current: current)
        },
        gauge: context.gauge,
        checkSound: {
          await context.restoreSoundOutput()
          return await context.soundState()
        },
        notifier: notifier, promptFile: context.environment.promptFile(of: store.device),
        log: { DaemonLog(current()).write($0) }))
    try await daemon.run()
  }

  /// Opens the store, once there is one. It is never created, because its disk may be mounted later.
  private static func open(
    _ context: CommandContext, _ notifier: ServiceNotifier?
  ) async throws -> Store {
    var isWaiting = false
    while true {
      do {
        return try context.open(.evaluating, welcome: false)
      } catch StoreError.noStore(let path) {
        if !isWaiting {
          DaemonLog(context).write(.storeUnavailable(path: path))
          notifier?.ready("Waiting for the store at \(path)")
        }
        isWaiting = true
        notifier?.keepAlive()
        let seconds = min(2, notifier?.interval ?? 2)
        try await Task.sleep(for: .milliseconds(Int64(seconds * 1000)))
      }
    }
  }
}

/// The command that Belfry's git hooks run after a change.
struct Poke: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "poke",
    abstract: "Notify the daemon of a change, or run a tick.",
    discussion: """
      Belfry's git hooks run this command after every pull, merge, commit and checkout. Without a daemon it runs a tick.
      """, shouldDisplay: false)

  @Option(help: "The store's folder (default: BELFRY_STORE, else the data folder).")
  var store: String?

  @ParentCommand var root: Belfry

  func run() async throws {
    let context = try CommandContext(store: self.store ?? root.store)
    if let store = try Store.existing(context.storePath, context: context.storeContext),
      store.pokeDaemon()
    {
      return
    }
    try await TickCommand.run(context)
  }
}
