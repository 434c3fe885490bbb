import ArgumentParser
import BelfryCore
import BelfryScheduler
import BelfryStore
import Git
import Glibc
import Subprocess

struct Service: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Have Belfry at work whenever you are logged in, or the machine runs.",
    discussion: """
      With systemd it is a user service, or with --timer a look at the clock every minute; where there is none, a
      line of your crontab.

        belfry service install
        belfry service status
      """,
    subcommands: [ServiceInstall.self, ServiceUninstall.self, ServiceStatus.self],
    defaultSubcommand: ServiceStatus.self)

  @ParentCommand var root: Belfry
}

struct ServiceInstall: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install", abstract: "Start it now, and at every login.",
    discussion: """
      A user service runs as long as you are logged in. To have it run from the machine's start on, also while
      nobody is logged in (a server), let your user linger:

        sudo loginctl enable-linger "$USER"

      --wake lets what is due wake a machine that sleeps. That takes the right to set such a timer: systemd 254 and
      later give it to users who are logged in; before that: sudo setcap cap_wake_alarm+ep PATH-OF-BELFRY

      --sandbox limits what the daemon and its hooks can do (no new privileges, fewer system calls). Hooks that use
      sudo, or a mail program with a group of its own, fail in it; so does the setcap above.
      """)

  @Flag(help: "A timer of systemd's that looks at the clock every minute, instead of the daemon.")
  var timer = false

  @Flag(help: "Wake the machine from sleep for what is due.")
  var wake = false

  @Flag(help: "Run the daemon and its hooks in a sandbox of systemd.")
  var sandbox = false

  @Flag(help: "Show what would be written, and write nothing.")
  var dryRun = false

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Service

  func run() async throws {
    let context = try common.context(parent.root)
    // Where there is no store yet, it is made: the service must find one.
    if !dryRun { _ = try context.open(welcome: false) }
    let manager = try ServiceManager(context)
    let units = manager.units(timer ? .timer : .daemon, wakes: wake, isSandboxed: sandbox)
    if dryRun { return show(units, context) }
    let how = try await manager.install(units)
    let cronRuns = how == .cron ? manager.cronRuns : nil
    if common.json {
      Console.write(
        JSON.object(omittingNil: [
          "installed": .string(how.rawValue), "form": .string(units.form.rawValue),
          "cronRuns": cronRuns.map { .bool($0) },
        ]).document)
    } else {
      await tell(how, units, manager)
    }
    guard cronRuns == false else { return }
    throw CommandError(
      .notPossible, "the line is in your crontab, but no cron process runs, so nothing rings.",
      hint: CronProcess.remedy)
  }

  private func tell(_ how: ServiceManager.Way, _ units: ServiceUnits, _ manager: ServiceManager)
    async
  {
    switch how {
    case .systemd:
      Console.line("Installed \(units.main): it runs now, and whenever you are logged in.")
      if await manager.lingers() != true {
        Console.line("Also while nobody is logged in: sudo loginctl enable-linger \(manager.user)")
      }
      Console.line("What it does: journalctl --user -u \(units.files.last?.name ?? units.main)")
    case .cron:
      Console.line("No systemd runs for you here, so cron looks at the clock every minute:")
      Console.line("  \(units.crontab)")
      if timer || wake || sandbox {
        Console.error("belfry: warning: --timer, --wake and --sandbox need systemd.")
      }
    }
  }

  private func show(_ units: ServiceUnits, _ context: CommandContext) {
    if common.json {
      return Console.write(
        JSON.object([
          "units": .object(
            Dictionary(
              uniqueKeysWithValues: units.files.map { ($0.name, JSON.string($0.text)) })),
          "crontab": .string(units.crontab),
        ]).document)
    }
    for (name, text) in units.files {
      Console.line("# \(name)")
      Console.write(text)
      Console.line("")
    }
    Console.line("# without systemd, in the crontab")
    Console.line(units.crontab)
  }
}

struct ServiceUninstall: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uninstall", abstract: "Stop it, and take it away.")

  @OptionGroup var common: CommonOptions
  @ParentCommand var parent: Service

  func run() async throws {
    let manager = try ServiceManager(try common.context(parent.root))
    let removed = try await manager.uninstall()
    if common.json {
      return Console.write(
        JSON.object(["removed": .array(removed.map { .string($0) })]).document)
    }
    Console.line(
      removed.isEmpty
        ? "There was nothing to remove." : "Removed \(removed.joined(separator: ", ")).")
  }
}

struct ServiceStatus: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Tell whether something looks at the clock.")

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
      Console.write(
        JSON.object(omittingNil: [
          "units": .object(
            Dictionary(uniqueKeysWithValues: status.units.map { ($0.name, JSON.string($0.state)) })),
          "crontab": .bool(status.isInCrontab), "cronRuns": cronRuns.map { .bool($0) },
          "daemon": .bool(daemon.isRunning),
          "daemonResponds": daemon == .absent ? nil : .bool(daemon.isRunning),
          "lingers": lingers.map { .bool($0) },
          "lastLook": store?.lastTick.map { .string(context.storeContext.zones.text($0)) },
        ]).document)
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
      .notPossible, "nothing looks at the clock, so nothing rings.",
      hint: status.units.isEmpty
        ? "belfry service install" : "systemctl --user restart \(status.units[0].name)")
  }

  private func tell(
    _ status: (units: [(name: String, state: String)], isInCrontab: Bool), _ daemon: DaemonState,
    _ cronRuns: Bool?, _ lingers: Bool?, _ store: Store?, _ context: CommandContext,
    _ manager: ServiceManager
  ) {
    for (name, state) in status.units { Console.line("\(name): \(state).") }
    if status.isInCrontab, cronRuns != false {
      Console.line("Cron looks at the clock every minute.")
    }
    if case .running(let process) = daemon {
      Console.line("The daemon runs: \(Printable.text(process)).")
    }
    if let last = store?.lastTick {
      Console.line(
        "The clock was last looked at: \(AlarmOutput(now: context.storeContext.now, zones: context.storeContext.zones, style: context.style).when(last))."
      )
    }
    if lingers == false, !status.units.isEmpty {
      Console.line(
        "It ends when you log out. To have it stay: sudo loginctl enable-linger \(manager.user)")
    }
  }
}

/// The advice about a daemon that does not respond.
enum DaemonRemedy {
  static let restart =
    "Restart it: systemctl --user restart belfry. If you started it yourself, end it with kill -9 and start it again."
}

/// Puts the service where the system looks for it: systemd's user units, or the crontab.
struct ServiceManager {
  enum Way: String {
    case systemd, cron
  }

  private let context: CommandContext
  private let command: String
  private let folder: String
  let user: String

  init(_ context: CommandContext) throws {
    self.context = context
    guard let command = context.executable else {
      throw CommandError(
        .failed, "the path of the binary cannot be told.", hint: "Is /proc mounted?")
    }
    self.command = command
    folder =
      try CommandContext.folder("XDG_CONFIG_HOME", ".config", context.environment)
      + "/systemd/user"
    user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
  }

  /// What a service has to be told, as it gets none of a shell's variables.
  private static let kept = [
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "BELFRY_DEVICE", "TZ",
  ]

  func units(
    _ form: ServiceUnits.Form, wakes: Bool, isSandboxed: Bool = false
  ) -> ServiceUnits {
    ServiceUnits(
      form: form, command: command, store: context.storePath, wakes: wakes,
      isSandboxed: isSandboxed,
      variables: context.environment.filter { name, value in
        // Neither file has a way to write a line's end within a value.
        ServiceManager.kept.contains(name) && !value.unicodeScalars.contains { $0.value < 0x20 }
      })
  }

  /// True if a cron daemon runs; nil where that is unknown.
  var cronRuns: Bool? { CronProcess.isRunning(in: context.environment["BELFRY_PROC"] ?? "/proc") }

  // MARK: At work

  /// Installs the units, or a line of the crontab where systemd does not run for this user.
  func install(_ units: ServiceUnits) async throws -> Way {
    guard await run("systemctl", ["--user", "show-environment"]) != nil else {
      try await installCrontab(units)
      return .cron
    }
    // The other form would look at the clock too.
    _ = try await removeUnits()
    do {
      _ = try await removeCrontabLine()
    } catch let error as CommandError {
      // Two that look at the clock do no harm.
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

  /// Removes the units and the line of the crontab. Returns the names of those that there were.
  ///
  /// - Throws: `CommandError` when the crontab cannot be read, which then stays as it is.
  func uninstall() async throws -> [String] {
    var removed = try await removeUnits()
    do {
      if try await removeCrontabLine() { removed.append("the line of the crontab") }
    } catch let error as CommandError {
      let units =
        removed.isEmpty ? "" : "\(removed.joined(separator: ", ")) removed, but "
      throw CommandError(error.code, units + error.message, hint: error.hint)
    }
    return removed
  }

  /// Removes the units. Returns the names of those that there were.
  private func removeUnits() async throws -> [String] {
    var removed: [String] = []
    for name in ServiceUnits.all where access("\(folder)/\(name)", F_OK) == 0 {
      // One that was never started can be removed all the same.
      _ = await run("systemctl", ["--user", "disable", "--now", name])
      guard unlink("\(folder)/\(name)") == 0 else { throw FileError("remove", "\(folder)/\(name)") }
      removed.append(name)
    }
    if !removed.isEmpty { _ = await run("systemctl", ["--user", "daemon-reload"]) }
    return removed
  }

  /// Removes Belfry's line from the crontab. Returns false where there was none.
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

  func status() async -> (units: [(name: String, state: String)], isInCrontab: Bool) {
    var units: [(name: String, state: String)] = []
    for name in ServiceUnits.all where access("\(folder)/\(name)", F_OK) == 0 {
      if name == "belfry-tick.service" { continue }
      let state = await run("systemctl", ["--user", "is-active", name], anyStatus: true)
      let words = state?.split(separator: "\n").first.map(String.init) ?? ""
      units.append((name, words.isEmpty ? "systemd does not run for you here" : words))
    }
    return (units, await isInCrontab)
  }

  /// True if the user's crontab has Belfry's line; false also for a crontab that cannot be read.
  var isInCrontab: Bool {
    get async {
      let lines = (try? await crontab()) ?? []
      return lines.contains { !$0.hasPrefix("#") && $0.hasSuffix(ServiceUnits.mark) }
    }
  }

  /// Whether the user's services run while nobody is logged in; nil where that cannot be told.
  func lingers() async -> Bool? {
    switch await run("loginctl", ["show-user", user, "--property=Linger", "--value"]) {
    case "yes\n": true
    case "no\n": false
    default: nil
    }
  }

  /// Has systemd wake the machine at a moment, and look at the clock then, unless it is to already.
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
    Console.error("belfry: warning: systemd would not wake the machine for what is due next.")
  }

  private func systemctl(_ arguments: [String]) async throws {
    let outcome = await TimedProcess.run(
      .name("systemctl"), ["--user"] + arguments, seconds: 60)
    if case .ended(0, _, _) = outcome { return }
    var words = "it did not end"
    if case .ended(_, _, let error) = outcome {
      words = error.split(separator: "\n").last.map(String.init) ?? "it failed"
    }
    throw CommandError(
      .failed, "systemctl --user \(arguments[0]): \(Printable.text(words)).",
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
        hint: "Add this line to it yourself, with 'crontab -e': \(units.crontab)")
    }
    do {
      guard let known else { throw ServiceManager.noCron }
      try await setCrontab(known.filter { !$0.hasSuffix(ServiceUnits.mark) } + [units.crontab])
    } catch let error as CommandError {
      throw CommandError(
        .failed, error.message,
        hint: "Have something run this every minute: \(units.crontab.dropFirst(10))")
    }
  }

  private static let noCron = CommandError(
    .failed, "neither systemd nor cron is to be had for you here.", hint: "Install cron.")

  private static let removalByHand =
    "If it has a line that ends in '\(ServiceUnits.mark)', remove it yourself: crontab -e"

  /// The largest crontab that is read, in bytes.
  private static let largestCrontab = 1 << 20

  /// Returns the lines of the user's crontab; nil where the program `crontab` is not installed.
  ///
  /// - Throws: `CommandError` when the crontab cannot be read. It may have lines of the user's, so it must not be
  ///   replaced.
  private func crontab() async throws -> [String]? {
    guard context.hasProgram("crontab") else { return nil }
    let outcome = await TimedProcess.run(
      .name("crontab"), ["-l"], variables: ["LC_ALL": "C"], seconds: 30,
      limit: ServiceManager.largestCrontab)
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
    case .failed(let words): reason = words
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

  /// What a program says; nil when it is not there or fails.
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
