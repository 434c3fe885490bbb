import ArgumentParser
import BelfryCore
import BelfryDocuments
import BelfryScheduler
import BelfryStore
import BelfryTerminal

struct ServiceStatus: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show whether the scheduler runs.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Service

  func run() async throws {
    let context = try common.context(parent.root)
    let state = try await ServiceState(context)
    if common.json {
      try Console.write(state.document)
    } else {
      for line in state.lines(context.style) { Console.line(line) }
    }
    if let failure = state.failure { throw failure }
  }
}

/// The installed parts of the background service, and whether they run.
struct ServiceState {
  private let units: [(name: String, state: String)]
  /// True if there is a store. Without one, a daemon waits for it.
  private let hasStore: Bool
  private let isInCrontab: Bool
  /// True if a cron process runs; nil without the crontab line, or if it is unknown.
  private let cronRuns: Bool?
  private let daemon: DaemonHandle.State
  private let lingers: Bool?
  private let lastTick: Instant?
  private let user: String
  private let now: Instant
  private let zones: ZoneLibrary

  init(_ context: CommandContext) async throws {
    let manager = try ServiceManager(context)
    units = await manager.systemd.states()
    isInCrontab = await manager.crontab.isInstalled
    let store = try Store.existing(context.storePath, context: context.storeContext)
    hasStore = store != nil
    daemon = store.map { DaemonHandle($0).state(probes: true) } ?? .absent
    cronRuns = isInCrontab ? manager.cronRuns : nil
    lingers = await manager.systemd.lingers()
    lastTick = store?.lastTick
    user = manager.systemd.user
    now = context.storeContext.now
    zones = context.storeContext.zones
  }

  /// True if units or a crontab line are installed, even if nothing runs them.
  var isInstalled: Bool { isInCrontab || !units.isEmpty }

  var document: ServiceStatusDocument {
    ServiceStatusDocument(
      units: Dictionary(uniqueKeysWithValues: units.map { ($0.name, $0.state) }),
      crontab: isInCrontab, cronRuns: cronRuns, daemon: daemon.isRunning,
      daemonResponds: daemon == .absent ? nil : daemon.isRunning, lingers: lingers,
      lastTick: lastTick.map { zones.text($0) })
  }

  func lines(_ style: Style) -> [String] {
    var lines = units.map { "\($0.name): \($0.state)." }
    if isInCrontab, cronRuns != false { lines.append("cron runs a tick every minute.") }
    if case .running(let process) = daemon {
      lines.append("The daemon runs: \(Printable.text(process)).")
    }
    if let lastTick {
      let output = AlarmOutput(now: now, zones: zones, style: style)
      lines.append("Last tick: \(output.when(lastTick)).")
    }
    if lingers == false, !units.isEmpty {
      lines.append(
        "It stops when you log out. To keep it running: sudo loginctl enable-linger \(user)")
    }
    return lines
  }

  /// The error if nothing rings; nil if the scheduler runs.
  var failure: CommandError? {
    if case .unresponsive(let process) = daemon {
      return CommandError(
        .notPossible, "the daemon does not respond, so nothing rings: \(Printable.text(process)).",
        hint: DaemonRemedy.restart)
    }
    let isTimed = units.contains {
      ($0.name.hasSuffix(".timer") || !hasStore) && $0.state == "active"
    }
    if daemon.isRunning || isTimed || (isInCrontab && cronRuns != false) { return nil }
    if isInCrontab {
      return CommandError(
        .notPossible, "no cron process runs, so nothing rings.", hint: CronProcess.remedy)
    }
    return CommandError(
      .notPossible, "the scheduler does not run, so nothing rings.",
      hint: units.first.map { "Start it: systemctl --user restart \($0.name)" }
        ?? "Start it: belfry service install")
  }
}
