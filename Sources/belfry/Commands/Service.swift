import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore
import Git
import Glibc
import Subprocess

struct Service: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Install, remove and check the background service.",
    discussion: """
      Alarms ring only while the scheduler runs. With systemd it is a user service with the daemon, or with --timer a
      timer that runs a tick every minute; without systemd, a line in your crontab.

        belfry service install
        belfry service status
      """,
    subcommands: [ServiceInstall.self, ServiceUninstall.self, ServiceStatus.self],
    defaultSubcommand: ServiceStatus.self)

  @ParentCommand var root: Belfry
}

struct ServiceInstall: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install", abstract: "Start the scheduler now and at every login.",
    discussion: """
      A user service runs while you are logged in. To run it from boot, also while nobody is logged in (on a server),
      enable lingering for your user:

        sudo loginctl enable-linger "$USER"

      --wake wakes the machine from sleep for alarms. systemd 254 and later allow this for users who are logged in.
      With an earlier version: sudo setcap cap_wake_alarm+ep PATH-OF-BELFRY

      --sandbox restricts the daemon and its hooks (no new privileges, fewer system calls). In the sandbox, hooks that
      use sudo or a setgid mail program fail, and so does the setcap above.
      """)

  @Flag(help: "Run a tick every minute from a systemd timer, without a daemon.")
  var timer = false

  @Flag(help: "Wake the machine from sleep for alarms.")
  var wake = false

  @Flag(help: "Run the daemon and its hooks in a systemd sandbox.")
  var sandbox = false

  @Flag(help: "Show the units and the crontab line; install nothing.")
  var dryRun = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Service

  func run() async throws {
    let context = try common.context(parent.root)
    // The service never creates a store.
    if !dryRun { _ = try context.open(welcome: false) }
    let manager = try ServiceManager(context)
    let units = manager.units(timer ? .timer : .daemon, wakes: wake, isSandboxed: sandbox)
    if dryRun { return try show(units) }
    let method = try await manager.install(units)
    let cronRuns = method == .cron ? manager.cronRuns : nil
    if common.json {
      try Console.write(
        ServiceInstallDocument(
          installed: method.rawValue, form: units.form.rawValue, cronRuns: cronRuns))
    } else {
      await tell(method, units, manager)
    }
    guard cronRuns == false else { return }
    throw CommandError(
      .notPossible, "your crontab runs Belfry, but no cron process runs, so nothing rings.",
      hint: CronProcess.remedy)
  }

  private func tell(
    _ method: ServiceManager.Method, _ units: ServiceUnits, _ manager: ServiceManager
  ) async {
    switch method {
    case .systemd:
      Console.line("Installed \(units.main). It runs now, and whenever you are logged in.")
      if await manager.lingers() != true {
        Console.line(
          "To run it also while you are logged out: sudo loginctl enable-linger \(manager.user)")
      }
      Console.line("To see its log: journalctl --user -u \(units.files.last?.name ?? units.main)")
    case .cron:
      Console.line("systemd does not run for your user, so cron runs a tick every minute:")
      Console.line("  \(units.crontab)")
      if timer || wake || sandbox {
        Console.error("belfry: warning: --timer, --wake and --sandbox need systemd.")
      }
    }
  }

  private func show(_ units: ServiceUnits) throws {
    if common.json {
      return try Console.write(ServiceUnitsDocument(units))
    }
    for (name, text) in units.files {
      Console.line("# \(name)")
      Console.write(text)
      Console.line("")
    }
    Console.line("# the crontab line, without systemd")
    Console.line(units.crontab)
  }
}

struct ServiceUninstall: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uninstall", abstract: "Stop and remove the background service.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Service

  func run() async throws {
    let manager = try ServiceManager(try common.context(parent.root))
    let removed = try await manager.uninstall()
    if common.json {
      return try Console.write(ServiceRemovalDocument(removed: removed))
    }
    Console.line(
      removed.isEmpty
        ? "The service is not installed." : "Removed \(removed.joined(separator: ", ")).")
  }
}

struct ServiceStatus: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show whether the scheduler runs.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Service

  func run() async throws {
    let context = try common.context(parent.root)
    let manager = try ServiceManager(context)
    let status = await manager.status()
    let store = try Store.existing(context.storePath, context: context.storeContext)
    let daemon = store?.daemonState(probes: true) ?? .absent
    let cronRuns = status.isInCrontab ? manager.cronRuns : nil
    let lingers = await manager.lingers()
    if common.json {
      try Console.write(
        ServiceStatusDocument(
          units: Dictionary(uniqueKeysWithValues: status.units.map { ($0.name, $0.state) }),
          crontab: status.isInCrontab, cronRuns: cronRuns, daemon: daemon.isRunning,
          daemonResponds: daemon == .absent ? nil : daemon.isRunning, lingers: lingers,
          lastTick: store?.lastTick.map { context.storeContext.zones.text($0) }))
    } else {
      tell(status, daemon, cronRuns, lingers, store, context, manager)
    }
    if case .unresponsive(let process) = daemon {
      throw CommandError(
        .notPossible, "the daemon does not respond, so nothing rings: \(Printable.text(process)).",
        hint: DaemonRemedy.restart)
    }
    let isTimed = status.units.contains { $0.name.hasSuffix(".timer") && $0.state == "active" }
    if daemon.isRunning || isTimed || (status.isInCrontab && cronRuns != false) { return }
    if status.isInCrontab {
      throw CommandError(
        .notPossible, "no cron process runs, so nothing rings.", hint: CronProcess.remedy)
    }
    throw CommandError(
      .notPossible, "the scheduler does not run, so nothing rings.",
      hint: status.units.isEmpty
        ? "Start it: belfry service install"
        : "Start it: systemctl --user restart \(status.units[0].name)")
  }

  private func tell(
    _ status: (units: [(name: String, state: String)], isInCrontab: Bool), _ daemon: DaemonState,
    _ cronRuns: Bool?, _ lingers: Bool?, _ store: Store?, _ context: CommandContext,
    _ manager: ServiceManager
  ) {
    for (name, state) in status.units { Console.line("\(name): \(state).") }
    if status.isInCrontab, cronRuns != false {
      Console.line("cron runs a tick every minute.")
    }
    if case .running(let process) = daemon {
      Console.line("The daemon runs: \(Printable.text(process)).")
    }
    if let last = store?.lastTick {
      Console.line(
        "Last tick: \(AlarmOutput(now: context.storeContext.now, zones: context.storeContext.zones, style: context.style).when(last))."
      )
    }
    if lingers == false, !status.units.isEmpty {
      Console.line(
        "It stops when you log out. To keep it running: sudo loginctl enable-linger \(manager.user)"
      )
    }
  }
}

/// The hint about a daemon that does not respond.
enum DaemonRemedy {
  static let restart =
    "Restart it: systemctl --user restart belfry. If you started it yourself, end it with kill -9 and start it again."
}

/// The installation of the background service: systemd user units, or a line of the user's crontab.
struct ServiceManager {
  /// A way to run the service.
  enum Method: String {
    case systemd, cron
  }

  private let context: CommandContext
  private let command: String
  private let folder: String
  /// The name of the user who runs Belfry.
  let user: String

  /// Creates a manager of the current user's service.
  ///
  /// - Throws: `CommandError` if the path of the binary is unknown.
  init(_ context: CommandContext) throws {
    self.context = context
    guard let command = context.executable else {
      throw CommandError(
        .failed, "the path of the belfry binary is unknown.", hint: "Check that /proc is mounted.")
    }
    self.command = command
    folder =
      try CommandContext.folder("XDG_CONFIG_HOME", ".config", context.environment)
      + "/systemd/user"
    user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
  }

  /// The environment variables that the service gets, because it does not inherit those of the shell.
  private static let passedVariables = [
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "BELFRY_DEVICE", "TZ",
  ]

  /// Returns the systemd units and the crontab line.
  ///
  /// - Parameters:
  ///   - wakes: true to wake the machine from sleep for alarms.
  ///   - isSandboxed: true to restrict the daemon and its hooks.
  func units(
    _ form: ServiceUnits.Form, wakes: Bool, isSandboxed: Bool = false
  ) -> ServiceUnits {
    ServiceUnits(
      form: form, command: command, store: context.storePath, wakes: wakes,
      isSandboxed: isSandboxed,
      variables: context.environment.filter { name, value in
        // Neither unit files nor crontabs can contain a line break in a value.
        ServiceManager.passedVariables.contains(name)
          && !value.unicodeScalars.contains { $0.value < 0x20 }
      })
  }

  /// True if a cron daemon runs; nil if that is unknown.
  var cronRuns: Bool? { CronProcess.isRunning(in: context.environment["BELFRY_PROC"] ?? "/proc") }

  // MARK: Installation

  /// Installs the units, or a line of the crontab if systemd does not run for this user.
  ///
  /// - Throws: `CommandError` if systemd rejects the units, or the crontab cannot be changed.
  func install(_ units: ServiceUnits) async throws -> Method {
    guard await run("systemctl", ["--user", "show-environment"]) != nil else {
      try await installCrontab(units)
      return .cron
    }
    // Otherwise the daemon and the timer could both be installed.
    _ = try await removeUnits()
    do {
      _ = try await removeCrontabLine()
    } catch let error as CommandError {
      // An additional scheduler does no harm.
      Console.error("belfry: warning: \(error.message)")
      Console.error(ServiceManager.removalByHand)
    }
    try DurableFile.makeFolder(folder, mode: 0o755)
    for (name, text) in units.files {
      try DurableFile.write(
        Array(text.utf8), to: "\(folder)/\(name)", temporary: "\(folder)/.\(name).new")
    }
    try await systemctl(["daemon-reload"])
    try await systemctl(["enable", "--now", units.main])
    return .systemd
  }

  /// Removes the units and the line of the crontab.
  ///
  /// - Returns: the names of the removed parts.
  /// - Throws: `CommandError` if the crontab cannot be read; it is not changed then.
  func uninstall() async throws -> [String] {
    var removed = try await removeUnits()
    do {
      if try await removeCrontabLine() { removed.append("the crontab line") }
    } catch let error as CommandError {
      let units =
        removed.isEmpty ? "" : "\(removed.joined(separator: ", ")) removed, but "
      throw CommandError(error.code, units + error.message, hint: error.hint)
    }
    return removed
  }

  /// Removes the units and returns their names.
  private func removeUnits() async throws -> [String] {
    var removed: [String] = []
    for name in ServiceUnits.all where access("\(folder)/\(name)", F_OK) == 0 {
      // Disabling fails for a unit that was never enabled; its file is removed anyway.
      _ = await run("systemctl", ["--user", "disable", "--now", name])
      guard unlink("\(folder)/\(name)") == 0 else { throw FileError("remove", "\(folder)/\(name)") }
      removed.append(name)
    }
    if !removed.isEmpty { _ = await run("systemctl", ["--user", "daemon-reload"]) }
    return removed
  }

  /// Removes Belfry's line from the crontab. Returns false if there is none.
  private func removeCrontabLine() async throws -> Bool {
    let lines: [String]
    do {
      lines = try await crontab() ?? []
    } catch let error as CommandError {
      throw CommandError(error.code, error.message, hint: ServiceManager.removalByHand)
    }
    guard lines.contains(where: { $0.hasSuffix(ServiceUnits.mark) }) else { return false }
    try await setCrontab(lines.filter { !$0.hasSuffix(ServiceUnits.mark) })
    return true
  }

  /// Returns the states of the installed units, and whether the crontab has Belfry's line.
  func status() async -> (units: [(name: String, state: String)], isInCrontab: Bool) {
    var units: [(name: String, state: String)] = []
    for name in ServiceUnits.all where access("\(folder)/\(name)", F_OK) == 0 {
      if name == "belfry-tick.service" { continue }
      let state = await run("systemctl", ["--user", "is-active", name], anyStatus: true)
      let firstLine = state?.split(separator: "\n").first.map(String.init) ?? ""
      units.append((name, firstLine.isEmpty ? "systemd does not run for your user" : firstLine))
    }
    return (units, await isInCrontab)
  }

  /// True if the user's crontab has Belfry's line; false if the crontab cannot be read.
  var isInCrontab: Bool {
    get async {
      let lines = (try? await crontab()) ?? []
      return lines.contains { !$0.hasPrefix("#") && $0.hasSuffix(ServiceUnits.mark) }
    }
  }

  /// Returns true if the user's services run while nobody is logged in; nil if that is unknown.
  func lingers() async -> Bool? {
    switch await run("loginctl", ["show-user", user, "--property=Linger", "--value"]) {
    case "yes\n": true
    case "no\n": false
    default: nil
    }
  }

  /// Sets a systemd timer that wakes the machine and runs a tick. It replaces a timer for another time.
  func wake(at moment: Instant) async throws {
    let name = "belfry-wake-\(moment.seconds)"
    if await run("systemctl", ["--user", "is-active", "--quiet", "\(name).timer"]) != nil {
      return
    }
    _ = await run("systemctl", ["--user", "stop", "belfry-wake-*.timer"])
    let civil = TimeZoneRules.utc.civil(at: moment)
    let outcome = await TimedProcess.run(
      .name("systemd-run"),
      [
        "--user", "--unit=\(name)", "--timer-property=WakeSystem=true",
        "--timer-property=AccuracySec=1s", "--on-calendar=\(civil.date) \(civil.time):00 UTC",
        "systemctl", "--user", "start", "belfry-tick.service",
      ], seconds: 30)
    if case .ended(0, _, _) = outcome { return }
    Console.error("belfry: warning: systemd cannot wake the machine for the next alarm.")
  }

  private func systemctl(_ arguments: [String]) async throws {
    let outcome = await TimedProcess.run(
      .name("systemctl"), ["--user"] + arguments, seconds: 60)
    if case .ended(0, _, _) = outcome { return }
    var reason = "timed out after 60 s"
    if case .ended(_, _, let error) = outcome {
      reason = error.split(separator: "\n").last.map(String.init) ?? "failed"
    }
    throw CommandError(
      .failed, "systemctl --user \(arguments[0]): \(Printable.text(reason)).",
      hint: "See 'systemctl --user status belfry.service'.")
  }

  // MARK: The crontab

  private func installCrontab(_ units: ServiceUnits) async throws {
    let known: [String]?
    do {
      known = try await crontab()
    } catch let error as CommandError {
      throw CommandError(
        error.code, error.message,
        hint: "Add this line yourself with 'crontab -e': \(units.crontab)")
    }
    do {
      guard let known else { throw ServiceManager.noCron }
      try await setCrontab(known.filter { !$0.hasSuffix(ServiceUnits.mark) } + [units.crontab])
    } catch let error as CommandError {
      throw CommandError(
        .failed, error.message,
        hint: "Run this every minute: \(units.crontab.dropFirst(10))")
    }
  }

  private static let noCron = CommandError(
    .failed, "neither systemd nor cron is available for your user.", hint: "Install cron.")

  private static let removalByHand =
    "If it has a line that ends in '\(ServiceUnits.mark)', remove the line yourself: crontab -e"

  /// The maximum size of a crontab, in bytes.
  private static let maxCrontabSize = 1 << 20

  /// Returns the lines of the user's crontab; nil if the program `crontab` is not installed.
  ///
  /// - Throws: `CommandError` if the crontab cannot be read. It may have lines of the user, so it must not be
  ///   replaced.
  private func crontab() async throws -> [String]? {
    guard context.hasProgram("crontab") else { return nil }
    let outcome = await TimedProcess.run(
      .name("crontab"), ["-l"], variables: ["LC_ALL": "C"], seconds: 30,
      limit: ServiceManager.maxCrontabSize)
    let reason: String
    switch outcome {
    case .ended(0, let output, _):
      if let text = String(validating: output, as: UTF8.self) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
      }
      reason = "it is not UTF-8"
    case .ended(1, _, let error) where error.contains("no crontab"): return []
    case .ended(let status, _, let error):
      reason = error.split(separator: "\n").first.map(String.init) ?? "exit status \(status)"
    case .timedOut: reason = "'crontab -l' timed out after 30 s"
    case .failed(let message): reason = message
    }
    throw CommandError(
      .failed, "your crontab cannot be read, so it was not changed: \(Printable.text(reason)).")
  }

  private func setCrontab(_ lines: [String]) async throws {
    let outcome = await TimedProcess.run(
      .name("crontab"), ["-"], input: Array((lines.joined(separator: "\n") + "\n").utf8),
      seconds: 60)
    if case .ended(0, _, _) = outcome { return }
    throw ServiceManager.noCron
  }

  /// Returns the standard output of a program; nil if it is not installed or fails.
  ///
  /// - Parameter anyStatus: true to return the output also for an exit status other than 0.
  private func run(
    _ program: String, _ arguments: [String], anyStatus: Bool = false
  ) async -> String? {
    let outcome = await TimedProcess.run(.name(program), arguments, seconds: 30)
    guard case .ended(let status, let output, _) = outcome, status == 0 || anyStatus else {
      return nil
    }
    return String(decoding: output, as: UTF8.self)
  }
}
