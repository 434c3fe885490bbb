import ArgumentParser
import BelfryScheduler

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
      await show(method, units, manager.systemd)
    }
    guard cronRuns == false else { return }
    throw CommandError(
      .notPossible, "your crontab runs Belfry, but no cron process runs, so nothing rings.",
      hint: CronProcess.remedy)
  }

  private func show(
    _ method: ServiceManager.Method, _ units: ServiceUnits, _ systemd: SystemdService
  ) async {
    switch method {
    case .systemd:
      Console.line("Installed \(units.main). It runs now, and whenever you are logged in.")
      if await systemd.lingers() != true {
        Console.line(
          "To run it also while you are logged out: sudo loginctl enable-linger \(systemd.user)")
      }
      Console.line("To see its log: journalctl --user -u \(units.files.last?.name ?? units.main)")
    case .cron:
      Console.line("systemd does not run for your user, so cron runs a tick every minute:")
      Console.line("  \(units.crontab)")
      if timer || wake || sandbox {
        CommandDiagnostic.warn("--timer, --wake and --sandbox need systemd.")
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
