import BelfryScheduler
import BelfryTerminal

/// The installation of the background service, with its report and the question about lingering.
struct ServiceInstallation {
  let context: CommandContext
  let units: ServiceUnits
  private let manager: ServiceManager

  /// True to keep the service running while the user is logged out, false not to; nil to ask on a terminal.
  var lingering: Bool?

  /// Prepares the installation. It changes nothing.
  ///
  /// - Parameters:
  ///   - form: a daemon or a timer.
  ///   - wakes: true to wake the machine from sleep for alarms.
  ///   - isSandboxed: true to restrict the daemon and its hooks.
  /// - Throws: `CommandError` if the path of the binary is unknown.
  init(
    _ context: CommandContext, _ form: ServiceUnits.Form = .daemon, wakes: Bool = false,
    isSandboxed: Bool = false
  ) throws {
    self.context = context
    manager = try ServiceManager(context)
    units = manager.units(form, wakes: wakes, isSandboxed: isSandboxed)
  }

  /// The parts that were installed.
  struct Result {
    let method: ServiceManager.Method
    /// True if a cron daemon runs; nil with systemd, or if that is unknown.
    let cronRuns: Bool?
  }

  /// Installs the service for the store, which is created if there is none: a service never creates one.
  ///
  /// - Throws: `CommandError` if systemd rejects the units, or the crontab cannot be changed; `StoreError`.
  func run() async throws -> Result {
    _ = try context.open(.creating, welcome: false)
    let method = try await manager.install(units)
    return Result(method: method, cronRuns: method == .cron ? manager.cronRuns : nil)
  }

  /// Prints what was installed.
  func report(_ result: Result) {
    switch result.method {
    case .systemd:
      Console.line("Installed \(units.main). It runs now, and whenever you are logged in.")
      Console.line("To see its log: journalctl --user -u \(units.files.last?.name ?? units.main)")
    case .cron:
      Console.line("systemd does not run for your user, so cron runs a tick every minute:")
      Console.line("  \(units.crontab)")
      if units.form == .timer || units.wakes || units.isSandboxed {
        CommandDiagnostic.warn("--timer, --wake and --sandbox need systemd.")
      }
    }
  }

  // MARK: Lingering

  /// Enables lingering, or asks for it on a terminal, or warns that the service ends with the user's last login.
  ///
  /// - Returns: true if the service runs while the user is logged out; nil if that is unknown.
  /// - Throws: `CommandError` if lingering is wanted and cannot be enabled.
  func setLingering(_ result: Result) async throws -> Bool? {
    guard result.method == .systemd else { return nil }
    let lingers = await manager.systemd.lingers()
    if lingers == true || lingering == false { return lingers }
    let user = manager.systemd.user
    if lingering == nil {
      if lingers == false, Style.canAsk, !context.isQuiet {
        Console.prompt(
          "The service stops when you log out, and then no alarm rings. Keep it running, from boot on?"
        )
        guard Console.confirmed() else { return lingers }
      } else {
        CommandDiagnostic.warn(
          "the service stops when you log out, and then no alarm rings.",
          hints: [
            "To keep it running: belfry service install --linger. Or: sudo loginctl enable-linger \(user)"
          ])
        return lingers
      }
    }
    if let reason = await manager.systemd.enableLingering() {
      throw CommandError(
        .failed,
        "the service is installed, but cannot stay while you are logged out: \(Printable.text(reason)).",
        hint: "As root: sudo loginctl enable-linger \(user)")
    }
    Console.error("The service keeps running while you are logged out.")
    return true
  }

  /// Throws if the crontab runs Belfry, but nothing runs the crontab.
  func expectCron(_ result: Result) throws {
    guard result.cronRuns == false else { return }
    throw CommandError(
      .notPossible, "your crontab runs Belfry, but no cron process runs, so nothing rings.",
      hint: CronProcess.remedy)
  }
}
